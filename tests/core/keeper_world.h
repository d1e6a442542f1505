// SPDX-License-Identifier: Apache-2.0
// A cluster of few objects behind an ObjectKeeper, and the code that desires them. A test says what is desired, what
// becomes of each write, and when the feed shows it.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "cluster/json_text.h"
#include "core/publish/object_keeper.h"
#include "tests/support/catch.h"

namespace tutti::core {

class KeeperWorld final : public ObjectKeeper::Owner, public cluster::ClusterWriter {
 public:
  using Json = base::Json;
  using Desired = std::vector<cluster::DesiredObject>;

  // What becomes of a write: whether it takes effect, and what its reply says.
  struct Fate {
    bool arrives = true;
    cluster::Outcome said = cluster::Outcome::kDone;  // kDone: the reply is the API server's
    int http_status = 0;                              // of any other reply
  };

  // What is desired now.
  std::function<Desired(const KeeperWorld&)> desire = [](const KeeperWorld&) { return Desired(); };
  std::function<Fate(const cluster::Command&)> fate = [](const cluster::Command&) { return Fate(); };
  bool feeds = true;      // the feed shows at once what happens
  bool replies = true;    // replies come at once
  cluster::Lane lane = cluster::Lane::kStatus;
  int writes = 0;         // the number of writes that have left
  int restated = 0;       // how often the keeper asked its owner

  base::VirtualClock clock{1'000'000};
  Outbox outbox;
  ObjectKeeper keeper{outbox, clock};
  const ObjectKeeper::Subject subject{this, {"test", "ns", "g"}};

  static cluster::ObjectRef Ref(const std::string& name, const std::string& uid = "") {
    return cluster::NewRef("test.tutti.dev", "v1", "things", "Thing", "ns", name, uid);
  }
  // Desires a status of an object that the feed has shown, or that was created.
  cluster::DesiredObject Status(const std::string& name, const Json& status) const {
    const auto seen = Known(name);
    return {
        .ref = seen ? cluster::RefOf(seen) : Ref(name), .status = true, .fields = {{"status", status}}, .seen = seen};
  }
  cluster::DesiredObject Exists(const std::string& name, const Json& body) const {
    return {.ref = Ref(name), .mode = cluster::DesiredObject::Mode::kExists, .fields = body, .seen = Shown(name)};
  }
  cluster::DesiredObject Gone(const std::string& name) const {
    const auto seen = Known(name);
    return {.ref = seen ? cluster::RefOf(seen) : Ref(name), .mode = cluster::DesiredObject::Mode::kGone, .seen = seen};
  }
  std::shared_ptr<const model::Object> Shown(const std::string& name) const {
    const auto at = shown_.find(name);
    return at == shown_.end() ? nullptr : at->second;
  }
  std::shared_ptr<const model::Object> Known(const std::string& name) const {
    const auto shown = Shown(name);
    return shown ? shown : keeper.Created(Ref(name));
  }

  // Does what other writers do.
  void Put(const std::string& name, Json body) {
    const auto at = objects_.find(name);
    Json meta = at == objects_.end() ? Json{{"uid", std::to_string(++uids_)}} : at->second["metadata"];
    if (body.contains("metadata") && body["metadata"].contains("deletionTimestamp")) meta["deletionTimestamp"] = 1;
    body["metadata"] = std::move(meta);
    body["metadata"]["resourceVersion"] = std::to_string(++versions_);
    objects_[name] = std::move(body);
    Happened(name);
  }
  void Remove(const std::string& name) {
    if (objects_.erase(name) > 0) Happened(name);
  }
  const Json* Find(const std::string& name) const {
    const auto at = objects_.find(name);
    return at == objects_.end() ? nullptr : &at->second;
  }

  void State() { due_ms_ = 0; }
  // Lets each part work that has something to do now.
  void Settle() {
    while (Step()) {
    }
  }
  bool Step() {
    bool moved = false;
    if (feeds) moved = ShowNext() || moved;
    if (replies) moved = ReplyNext() || moved;
    if (due_ms_ && *due_ms_ <= clock.MonotonicMs()) {
      due_ms_.reset();
      if (!keeper.AwaitsReply(subject)) keeper.Want(subject, lane, desire(*this));
      outbox.Flush(*this);
      moved = true;
    }
    return moved;
  }
  void Pass(base::Millis by_ms) {
    const base::Millis end = clock.MonotonicMs() + by_ms;
    for (Settle(); clock.MonotonicMs() < end; Settle()) clock.AdvanceTo(due_ms_ ? std::min(end, *due_ms_) : end);
  }
  // Shows the next change that the feed has not shown yet. False: there is none.
  bool ShowNext() {
    if (news_.empty()) return false;
    const auto [name, object] = std::move(news_.front());
    news_.pop_front();
    if (object) {
      shown_[name] = object;
      keeper.Saw(object);
    } else if (const auto gone = shown_.extract(name)) {
      keeper.Gone({"test.tutti.dev", "things", "Thing", {"v1"}}, "ns", name, gone.mapped()->meta.uid);
    }
    return true;
  }
  // Shows only the last of the changes that the feed has not shown yet.
  void ShowLatest() {
    while (news_.size() > 1) news_.pop_front();
    ShowNext();
  }
  bool ReplyNext() {
    if (answers_.empty()) return false;
    const cluster::CommandReply answer = std::move(answers_.front().second);
    under_way_.erase(answers_.front().first);
    answers_.pop_front();
    outbox.Deliver(answer);
    return true;
  }

  void Restate(const ObjectKeeper::Subject& of, base::Millis at_ms) override {
    CHECK(of == subject);
    ++restated;
    due_ms_ = std::min(due_ms_.value_or(at_ms), at_ms);
  }

  void Submit(std::vector<cluster::Command> commands) override {
    for (cluster::Command& command : commands) {
      ++writes;
      const std::string name = NameIn(command);
      if (!under_way_.insert(name).second) FAIL("two writes of " << name << " are on their way");
      const Fate fate_of_it = fate(command);
      cluster::CommandReply answer = fate_of_it.arrives ? Apply(command) : cluster::CommandReply{};
      if (fate_of_it.said != cluster::Outcome::kDone) answer = Says(fate_of_it.said, fate_of_it.http_status);
      answer.id = command.id;
      answers_.emplace_back(name, std::move(answer));
    }
  }

 private:
  static std::string NameIn(const cluster::Command& command) {
    if (const auto* patch = std::get_if<cluster::Patch>(&command.body)) return patch->object.name();
    if (const auto* gone = std::get_if<cluster::Delete>(&command.body)) return gone->object.name();
    return std::get<cluster::Create>(command.body).object.name();
  }
  static cluster::CommandReply Says(cluster::Outcome outcome, int status) {
    cluster::CommandReply answer;
    answer.outcome = outcome;
    answer.http_status = status;
    return answer;
  }
  static cluster::CommandReply No(int status) { return Says(cluster::Outcome::kRefused, status); }

  cluster::CommandReply Apply(const cluster::Command& command) {
    const std::string name = NameIn(command);
    const Json* there = Find(name);
    if (const auto* create = std::get_if<cluster::Create>(&command.body)) {
      if (there) return No(409);
      Put(name, cluster::ParseJson(create->body));
      cluster::CommandReply answer = Says(cluster::Outcome::kDone, 201);
      answer.object = Decoded(name);
      return answer;
    }
    if (!there) return No(404);
    const auto* gone = std::get_if<cluster::Delete>(&command.body);
    const auto* patch = std::get_if<cluster::Patch>(&command.body);
    const cluster::ObjectRef& ref = gone ? gone->object : patch->object;
    const Json& meta = (*there)["metadata"];
    if (ref.uid() != meta["uid"] || (!ref.resource_version.empty() && ref.resource_version != meta["resourceVersion"]))
      return No(409);
    if (gone) {
      Remove(name);
    } else {
      Json body = *there;
      body.merge_patch(cluster::ParseJson(patch->body));
      Put(name, std::move(body));
    }
    return Says(cluster::Outcome::kDone, 200);
  }

  std::shared_ptr<const model::Object> Decoded(const std::string& name) const {
    const Json& body = objects_.at(name);
    auto object = std::make_shared<model::Object>();
    object->group = "test.tutti.dev", object->version = "v1", object->resource = "things", object->kind = "Thing";
    object->meta.ns = "ns", object->meta.name = name;
    object->meta.uid = body["metadata"]["uid"];
    object->meta.resource_version = body["metadata"]["resourceVersion"];
    if (body["metadata"].contains("deletionTimestamp")) object->meta.deleted_ms = 1;
    object->body = std::make_shared<const Json>(body);
    return object;
  }
  void Happened(const std::string& name) {
    news_.emplace_back(name, objects_.contains(name) ? Decoded(name) : nullptr);
  }

  std::map<std::string, Json> objects_;
  int uids_ = 0, versions_ = 0;
  std::map<std::string, std::shared_ptr<const model::Object>> shown_;
  std::deque<std::pair<std::string, std::shared_ptr<const model::Object>>> news_;  // null: it is gone
  std::deque<std::pair<std::string, cluster::CommandReply>> answers_;
  std::set<std::string> under_way_;     // names of objects
  std::optional<base::Millis> due_ms_;  // monotonic; when the desired state is stated next
};

}  // namespace tutti::core
