// SPDX-License-Identifier: Apache-2.0
#include "tests/negative/plants.h"

#include <algorithm>
#include <limits>

#include "base/json.h"

namespace tutti::negative {

using base::Bug;
using cluster::Command;
using cluster::FeedEvent;
using simulation::Plant;

namespace {

using OnEvent = std::function<Plant::Handling(FeedEvent&, bool)>;
using OnCommand = std::function<void(Command&)>;

class Around final : public Plant {
 public:
  Around(OnEvent event, OnCommand command) : event_(std::move(event)), command_(std::move(command)) {}
  Handling Event(FeedEvent& event, bool first_list) override {
    return event_ ? event_(event, first_list) : Handling::kKeep;
  }
  void Commands(std::vector<Command>& commands) override {
    for (Command& command : commands)
      if (command_) command_(command);
  }

 private:
  OnEvent event_;
  OnCommand command_;
};

PlantedBug InCore(std::string name, Bug bug) { return {std::move(name), bug, nullptr}; }
PlantedBug InEvents(std::string name, OnEvent event) {
  return {std::move(name), Bug::kNone, [event] { return std::make_unique<Around>(event, nullptr); }};
}
PlantedBug InCommands(std::string name, OnCommand command) {
  return {std::move(name), Bug::kNone, [command] { return std::make_unique<Around>(nullptr, command); }};
}

// Another dialect's words, but for what `change` makes of each declaration.
class Lying final : public dialects::Dialect {
 public:
  using Change = std::function<void(model::GangSpec&)>;
  Lying(std::unique_ptr<dialects::Dialect> honest, Change change)
      : honest_(std::move(honest)), change_(std::move(change)) {}
  std::string_view name() const override { return honest_->name(); }
  std::vector<model::ObjectKind> Kinds() const override { return honest_->Kinds(); }
  void Put(std::shared_ptr<const model::Object> o, dialects::Touched* t) override { honest_->Put(std::move(o), t); }
  void Drop(std::string_view k, std::string_view ns, std::string_view n, dialects::Touched* t) override {
    honest_->Drop(k, ns, n, t);
  }
  void Served(std::string_view k, bool served, dialects::Touched* t) override { honest_->Served(k, served, t); }
  std::optional<dialects::Membership> MembershipOf(const model::Pod& pod) const override {
    return honest_->MembershipOf(pod);
  }
  model::GangSpec Describe(const model::GangKey& key) const override {
    model::GangSpec spec = honest_->Describe(key);
    change_(spec);
    return spec;
  }
  std::optional<model::QueueSpec> DescribeQueue(std::string_view name) const override {
    return honest_->DescribeQueue(name);
  }
  void Report(const dialects::GangReport& r, std::vector<cluster::CommandBody>* out) override {
    honest_->Report(r, out);
  }
  void ReportQueue(const dialects::QueueReport& r, std::vector<cluster::CommandBody>* out) override {
    honest_->ReportQueue(r, out);
  }
  void ReportLost(const model::GangKey& key) override { honest_->ReportLost(key); }
  void QueueReportLost(std::string_view name) override { honest_->QueueReportLost(name); }
  std::optional<cluster::ObjectRef> EventTarget(const model::GangKey& key) const override {
    return honest_->EventTarget(key);
  }

 private:
  std::unique_ptr<dialects::Dialect> honest_;
  Change change_;
};

class LyingDialects final : public Plant {
 public:
  explicit LyingDialects(Lying::Change change) : change_(std::move(change)) {}
  dialects::DialectList Dialects(dialects::DialectList dialects) override {
    for (auto& dialect : dialects) dialect = std::make_unique<Lying>(std::move(dialect), change_);
    return dialects;
  }

 private:
  Lying::Change change_;
};

PlantedBug InDialects(std::string name, Lying::Change change) {
  return {std::move(name), Bug::kNone, [change] { return std::make_unique<LyingDialects>(change); }};
}

constexpr base::Millis kNever = std::numeric_limits<base::Millis>::max();

class NeverOver final : public Plant {
 public:
  base::Millis Over(base::Millis) override { return kNever; }
};

class WritesOn final : public Plant {
 public:
  base::Millis Writable(base::Millis) override { return kNever; }
  base::Millis Over(base::Millis) override { return kNever; }  // which bounds the other
};

// The writer takes silence for an answer, perhaps soon.
class HearsAnswers final : public Plant {
 public:
  HearsAnswers(int status, base::Millis patience_ms) : status_(status), patience_ms_(patience_ms) {}
  base::Millis Patience(base::Millis timeout_ms) override { return std::min(timeout_ms, patience_ms_); }
  void Response(kube::Response& response, bool bind) override {
    if (!bind || response.failure != kube::Response::Failure::kTimeout) return;
    response = {};
    response.status = status_;
  }

 private:
  const int status_;
  const base::Millis patience_ms_;
};

// A watch that was cut goes on at the present, not where it ended.
class SkipsAhead final : public Plant {
 public:
  void Watch(std::string& target) override {
    constexpr std::string_view kFrom = "&resourceVersion=";
    if (const size_t at = target.find(kFrom); at != std::string::npos)
      target.replace(at, kFrom.size(), "&sendInitialEvents=false&instead=");
  }
};

template <class P, class... Arguments>
PlantedBug Made(std::string name, Arguments... arguments) {
  return {std::move(name), Bug::kNone, [=] { return std::make_unique<P>(arguments...); }};
}

// Sooner seen in that scenario than in others.
PlantedBug In(std::string world, PlantedBug bug) {
  bug.world = std::move(world);
  return bug;
}

cluster::Answer* AsAnswer(FeedEvent& event) { return std::get_if<cluster::Answer>(&event); }

void Replace(std::string& text, std::string_view from, std::string_view to) {
  if (const size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
}

void RewriteEvidence(Command& command, const std::function<void(base::Json&, const cluster::Bind&)>& change) {
  auto* bind = std::get_if<cluster::Bind>(&command.body);
  if (!bind) return;
  for (auto& [key, value] : bind->annotations) {
    base::Json evidence = base::Json::parse(value);
    change(evidence, *bind);
    value = evidence.dump();
  }
}

}  // namespace

std::vector<PlantedBug> AllBugs() {
  using Handling = Plant::Handling;
  return {
      InCore("the reservation is skipped", Bug::kSkipReservation),
      InCore("a pod that leaves wakes nobody", Bug::kForgetToWake),
      In("restarts", InCore("a forged annotation is believed", Bug::kBelieveForgery)),
      InCore("a gang that was whole is taken for half done", Bug::kUndoWhole),
      InCore("the last bind goes out with the others", Bug::kLastIsNotLast),
      In("queues", InCore("a reservation is not charged to its queue", Bug::kForgetCharge)),
      In("standby", InCore("planning begins before every kind is listed", Bug::kPlanUnsynced)),
      In("standby", Made<NeverOver>("a leader's last writes outlive its lease")),
      Made<WritesOn>("a leader writes on when its lease has run out"),
      In("volumes", Made<HearsAnswers>("an unanswered bind is taken for refused", 422, base::Millis{200})),
      Made<HearsAnswers>("an unanswered bind is taken for done", 201, kNever),
      In("wire", Made<SkipsAhead>("a watch that was cut goes on at the present")),
      InEvents("pods that go are not noticed",
               [](FeedEvent& event, bool) {
                 return std::holds_alternative<cluster::PodGone>(event) ? Handling::kLose : Handling::kKeep;
               }),
      InEvents("changes of nodes are not noticed",
               [](FeedEvent& event, bool first_list) {
                 return !first_list && std::holds_alternative<cluster::NodeChanged>(event) ? Handling::kLose
                                                                                           : Handling::kKeep;
               }),
      InEvents("after a restart an old list is believed",
               [](FeedEvent& event, bool first_list) {
                 const auto* pod = std::get_if<cluster::PodChanged>(&event);
                 return first_list && pod && pod->pod->bound() ? Handling::kLose : Handling::kKeep;
               }),
      InEvents("a good answer to a status is taken for a bad one",
               [](FeedEvent& event, bool) {
                 if (cluster::Answer* answer = AsAnswer(event); answer && answer->http_status == 200)
                   answer->outcome = cluster::Outcome::kRefused, answer->http_status = 500;
                 return Handling::kKeep;
               }),
      In("nodes", InCommands("a delete names no UID",
                             [](Command& command) {
                               if (auto* gone = std::get_if<cluster::Delete>(&command.body)) {
                                 auto meta = std::make_shared<model::ObjectMeta>(*gone->object.meta);
                                 meta->uid.clear();
                                 gone->object.meta = std::move(meta);
                               }
                             })),
      InCommands("a bind names no resourceVersion",
                 [](Command& command) {
                   if (auto* bind = std::get_if<cluster::Bind>(&command.body)) bind->pod.resource_version.clear();
                 }),
      In("nodes", InCommands("undoing is not announced",
                             [](Command& command) {
                               if (auto* patch = std::get_if<cluster::Patch>(&command.body))
                                 Replace(patch->body, "DisruptionTarget", "SomethingElse");
                             })),
      InCommands("a waiting pod is told nothing",
                 [](Command& command) {
                   if (auto* patch = std::get_if<cluster::Patch>(&command.body))
                     Replace(patch->body, "PodScheduled", "SomethingElse");
                 }),
      InCommands("every member is written down as the last",
                 [](Command& command) {
                   RewriteEvidence(command, [](base::Json& evidence, const cluster::Bind& bind) {
                     evidence["commit"] = bind.pod.uid();
                   });
                 }),
      InCommands("binds go to a node that was not planned",
                 [](Command& command) {
                   if (auto* bind = std::get_if<cluster::Bind>(&command.body)) bind->node = "n1";
                 }),
      InDialects("a minimum is read as one less",
                 [](model::GangSpec& spec) {
                   if (spec.min_member > 1) --spec.min_member;
                 }),
      In("queues", InDialects("queues are not charged", [](model::GangSpec& spec) { spec.queue.clear(); })),
  };
}

}  // namespace tutti::negative
