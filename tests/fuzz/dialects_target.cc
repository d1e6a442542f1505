// SPDX-License-Identifier: Apache-2.0
// A JSON array of objects, pods and nodes. All dialects hear of the objects, twice each; every gang and queue is
// reported in every state; then all is dropped. What a dialect answers must only change as it says that it does, what
// it writes must be about the object that it was told of, and of what was dropped nothing must be left.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/json.h"
#include "base/text.h"
#include "cluster/json_decode.h"
#include "cluster/json_text.h"
#include "dialects/dialect.h"
#include "tests/fuzz/target.h"

namespace tutti::dialects {
namespace {

using Json = base::Json;

constexpr size_t kMostObjects = 32;
constexpr size_t kLongestText = 4096;

// What may be asked about: the same before and after.
struct Questions {
  std::vector<model::Pod> pods;
  std::vector<model::Node> nodes;
  std::set<model::GangKey> gangs;
  std::set<std::string> queues;
};

struct Answers {
  std::map<model::GangKey, model::GangSpec> gangs;
  std::map<std::string, std::optional<model::QueueSpec>> queues;
  std::vector<std::optional<Membership>> memberships;
  std::vector<model::StringMap> labels;
};

template <typename T>
bool SameValue(const std::shared_ptr<const T>& a, const std::shared_ptr<const T>& b) {
  return a && b ? *a == *b : a == b;
}

bool Same(const std::optional<Membership>& a, const std::optional<Membership>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->gang == b->gang && a->role == b->role && a->head == b->head && a->needs_head == b->needs_head &&
         a->lone == b->lone && SameValue(a->declared, b->declared) && SameValue(a->topology, b->topology) &&
         (a->unit && b->unit ? a->unit->spec == b->unit->spec && a->unit->name == b->unit->name : a->unit == b->unit);
}

// --- Texts ---

void CheckLine(std::string_view text) {
  TUTTI_CHECK(text.size() <= kLongestText, "a text without end");
  for (size_t at = 0; at < text.size();) {
    const size_t length = base::CharacterAt(text, at);
    TUTTI_CHECK(length > 0, "a text that is no UTF-8");
    const auto c = static_cast<unsigned char>(text[at]);
    TUTTI_CHECK(c >= 0x20 && c != 0x7F, "a control character in a text");
    at += length;
  }
}

void CollectTexts(const Json& value, std::set<std::string>* texts) {
  if (value.is_string()) texts->insert(value.get<std::string>());
  if (value.is_structured())
    for (const Json& item : value) CollectTexts(item, texts);
}

// --- Asking ---

Answers Ask(Dialect& dialect, const Questions& questions) {
  Answers answers;
  for (const model::GangKey& key : questions.gangs)
    if (key.dialect == dialect.name()) {
      model::GangSpec spec = dialect.Describe(key);
      TUTTI_CHECK(spec.min_member >= 0, "a minimum below zero");
      CheckLine(spec.problem);
      answers.gangs.emplace(key, std::move(spec));
    }
  for (const std::string& name : questions.queues) {
    auto queue = dialect.DescribeQueue(name);
    if (queue) CheckLine(queue->problem);
    answers.queues.emplace(name, std::move(queue));
  }
  for (const model::Pod& pod : questions.pods) {
    answers.memberships.push_back(dialect.MembershipOf(pod));
    if (const auto& membership = answers.memberships.back()) {
      TUTTI_CHECK(membership->gang.ns == pod.meta.ns, "a gang in another namespace");
      if (membership->declared) CheckLine(membership->declared->problem);
    }
  }
  dialects::Touched touched;
  for (const model::Node& node : questions.nodes) dialect.AddNodeLabels(node, &answers.labels.emplace_back(), &touched);
  return answers;
}

void CheckTold(const Answers& before, const Answers& after, const Touched& touched) {
  for (const auto& [key, spec] : after.gangs)
    TUTTI_CHECK(spec == before.gangs.at(key) || touched.declarations || touched.gangs.contains(key),
                "a gang is declared otherwise, and this was not told");
  for (const auto& [name, spec] : after.queues)
    TUTTI_CHECK(spec == before.queues.at(name) || touched.queues.contains(name),
                "a queue is declared otherwise, and this was not told");
  for (size_t i = 0; i < after.memberships.size(); ++i) {
    const auto &was = before.memberships[i], &is = after.memberships[i];
    const auto named = [&](const auto& one) { return one && touched.members.contains(one->gang); };
    TUTTI_CHECK(Same(was, is) || touched.memberships || named(was) || named(is),
                "a pod is of another gang, and this was not told");
  }
  TUTTI_CHECK(before.labels == after.labels || touched.nodes, "a node has other labels, and this was not told");
}

void CheckUntouched(const Touched& touched) {
  TUTTI_CHECK(touched.gangs.empty() && touched.members.empty() && touched.desires.empty() && touched.queues.empty() &&
                  !touched.memberships && !touched.declarations && !touched.nodes,
              "what is as it was counts as changed");
}

// --- One dialect and what it was told ---

class Told {
 public:
  Told(Dialect& dialect, const Questions& questions)
      : dialect_(dialect), questions_(questions), fresh_(Ask(dialect, questions)), now_(fresh_) {}

  void Put(const Json& body) {
    for (const model::ObjectKind& kind : dialect_.Kinds()) {
      if (body.value("kind", Json()) != kind.kind) continue;
      Json typed = body;
      typed["apiVersion"] = kind.group + "/" + kind.versions.front();
      const auto decoded = cluster::DecodeObject(kind, std::make_shared<const Json>(std::move(typed)));
      if (!decoded) continue;
      const auto object = std::make_shared<const model::Object>(*decoded);
      objects_[{kind.Name(), object->meta.ns, object->meta.name}] = object;
      Change([&](Touched* touched) { dialect_.Put(object, touched); });
      Touched again;
      dialect_.Put(object, &again);
      CheckUntouched(again);
    }
  }

  void ReportAll() {
    for (const auto& [key, spec] : now_.gangs) Report(key, spec);
    for (const auto& membership : now_.memberships)
      if (membership && membership->declared) Report(membership->gang, *membership->declared);
    for (const auto& [name, spec] : now_.queues)
      if (spec) ReportQueue(name, *spec);
  }

  void DropAll() {
    for (const auto& [place, object] : objects_) {
      const auto& [kind, ns, name] = place;
      Change([&](Touched* touched) { dialect_.Drop(kind, ns, name, touched); });
      Touched again;
      dialect_.Drop(kind, ns, name, &again);
      CheckUntouched(again);
    }
    CheckTold(fresh_, now_, {});
    for (const auto& [key, spec] : now_.gangs) {
      TUTTI_CHECK(!dialect_.EventTarget(key), "Events about an object that is gone");
      TUTTI_CHECK(dialect_.SchedulerName(key).empty(), "a gang without object and pods");
      TUTTI_CHECK(DesiredFor(spec).empty(), "a write to an object that is gone");
    }
  }

 private:
  template <typename Work>
  void Change(Work work) {
    Touched touched;
    work(&touched);
    Answers then = Ask(dialect_, questions_);
    CheckTold(now_, then, touched);
    now_ = std::move(then);
  }

  // What was desired last, as if it were written and not seen.
  struct Echoless final : cluster::Unseen {
    const Json* Written(const cluster::ObjectRef&) const override { return fields ? &*fields : nullptr; }
    std::shared_ptr<const model::Object> Created(const cluster::ObjectRef&) const override { return nullptr; }
    std::optional<Json> fields;
  };

  std::vector<cluster::DesiredObject> DesiredFor(const model::GangSpec& spec) const {
    std::vector<cluster::DesiredObject> desired;
    Echoless unseen;
    GangReport report;
    report.spec = &spec;
    report.sentence = spec.problem;
    report.total = 6;
    report.pending_reasons = {{"Unschedulable", 3}};
    for (int state = 0; state <= static_cast<int>(GangState::kFinished); ++state) {
      report.state = static_cast<GangState>(state);
      report.running = state, report.pending = 6 - state;
      dialect_.Desire(report, unseen, &desired);
      unseen.fields.reset();
      if (state % 2 == 1 && !desired.empty()) unseen.fields = desired.back().fields;
    }
    return desired;
  }

  void Report(const model::GangKey& key, const model::GangSpec& spec) {
    for (const auto& desired : DesiredFor(spec)) CheckDesired(desired, key.ns, key.name);
    // Kueue's gangs are named as their Workloads, and a job that has none yet is told itself.
    if (const auto target = dialect_.EventTarget(key))
      CheckHeld(*target, key.ns, dialect_.name() == "kueue" ? target->name() : key.name);
  }

  void ReportQueue(const std::string& name, const model::QueueSpec& spec) {
    std::vector<cluster::DesiredObject> all;
    Echoless unseen;
    QueueReport report;
    report.spec = &spec;
    for (const int64_t amount : {0, 5, 5, 0}) {
      report.allocated.Set("cpu", amount), report.allocated.Set("pods", amount);
      report.pending = report.running = amount;
      dialect_.DesireOfQueue(report, unseen, &all);
      unseen.fields.reset();
      if (amount != 0 && !all.empty()) unseen.fields = all.back().fields;
    }
    for (const auto& desired : all) CheckDesired(desired, "", name);
  }

  // An object that is made or deleted, or of which more than a status is written, is one of the gang's namespace.
  void CheckOther(const cluster::DesiredObject& desired, const std::string& ns) const {
    using Mode = cluster::DesiredObject::Mode;
    TUTTI_CHECK(desired.ref.ns() == ns, "a write to another namespace");
    if (desired.mode == Mode::kExists) {
      TUTTI_CHECK(desired.fields.is_object() && desired.fields.contains("kind"), "a creation of nothing");
      return;
    }
    TUTTI_CHECK(desired.seen.get() == &Held(desired.ref), "another object than the one that was put counts as seen");
    TUTTI_CHECK(desired.mode == Mode::kGone || desired.Agrees(desired.fields), "what is desired is not as desired");
  }

  const model::Object& Held(const cluster::ObjectRef& ref) const {
    const auto held = std::ranges::find_if(objects_, [&](const auto& entry) {
      const model::Object& object = *entry.second;
      return object.group == ref.group && object.resource == ref.resource && object.meta.name == ref.name() &&
             object.meta.ns == ref.ns();
    });
    TUTTI_CHECK(held != objects_.end(), "a write to an object that was never put");
    TUTTI_CHECK(held->second->meta.uid == ref.uid(), "a write to an object of another UID");
    return *held->second;
  }

  // It is the object of that name that the dialect was told of last.
  const model::Object& CheckHeld(const cluster::ObjectRef& ref, const std::string& ns, const std::string& name) const {
    const model::Object& object = Held(ref);
    TUTTI_CHECK(object.meta.name == name && (ns.empty() || object.meta.ns == ns), "a write to another's object");
    return object;
  }

  // What is created for a gang is in its namespace, and belongs to the object that declares the gang.
  void CheckMade(const cluster::DesiredObject& desired, const std::string& ns, const std::string& name) const {
    TUTTI_CHECK(desired.ref.ns() == ns, "another namespace's object");
    if (desired.mode == cluster::DesiredObject::Mode::kGone) return;
    const Json& meta = desired.fields.at("metadata");
    TUTTI_CHECK(meta.at("namespace") == ns && meta.at("name") == desired.ref.name(), "another object than is named");
    TUTTI_CHECK(meta.at("ownerReferences").size() == 1 && meta["ownerReferences"][0].at("name") == name,
                "an object that does not belong to what declares it");
  }

  void CheckDesired(const cluster::DesiredObject& desired, const std::string& ns, const std::string& name) const {
    using Mode = cluster::DesiredObject::Mode;
    if (dialect_.name() == "kueue" && (desired.mode != Mode::kFields || !desired.status))
      return CheckOther(desired, ns);
    if (desired.mode != Mode::kFields) return CheckMade(desired, ns, name);
    TUTTI_CHECK(desired.status, "a dialect writes statuses alone into what is there");
    const model::Object& object = CheckHeld(desired.ref, ns, name);
    TUTTI_CHECK(desired.seen.get() == &object, "another object than the one that was put counts as seen");
    TUTTI_CHECK(desired.Agrees(desired.fields), "what is desired is not as desired");
    const Json& body = desired.fields;
    TUTTI_CHECK(body.is_object() && body.size() == 1 && body.contains("status"), "a write that is no status");
    std::set<std::string> written, others;  // what others wrote there stays as it is
    CollectTexts(body, &written);
    CollectTexts(object.body->value("status", Json()), &others);
    for (const std::string& text : written)
      if (!others.contains(text)) CheckLine(text);
  }

  Dialect& dialect_;
  const Questions& questions_;
  const Answers fresh_;
  Answers now_;
  std::map<std::tuple<std::string, std::string, std::string>, std::shared_ptr<const model::Object>> objects_;
};

std::string TextAt(const Json& object, std::initializer_list<const char*> path) {
  const Json* at = &object;
  for (const char* key : path) {
    if (!at->is_object() || !at->contains(key)) return {};
    at = &(*at)[key];
  }
  return at->is_string() ? at->get<std::string>() : std::string();
}

Questions QuestionsAbout(const std::vector<Json>& objects, const DialectList& all) {
  Questions questions;
  questions.queues = {"default", "root", "missing"};
  std::vector<std::string> problems;
  for (const Json& object : objects) {
    const std::string kind = TextAt(object, {"kind"});
    if (kind == "Pod") questions.pods.push_back(cluster::DecodePodLeniently(object, &problems));
    if (kind == "Node") questions.nodes.push_back(cluster::DecodeNodeLeniently(object, &problems));
    const std::string ns = TextAt(object, {"metadata", "namespace"}), name = TextAt(object, {"metadata", "name"});
    for (const auto& dialect : all) questions.gangs.insert({std::string(dialect->name()), ns, name});
    for (const std::string& queue :
         {name, TextAt(object, {"spec", "queue"}), TextAt(object, {"metadata", "labels", "kai.scheduler/queue"})})
      if (!queue.empty()) questions.queues.insert(queue);
  }
  for (const model::Pod& pod : questions.pods)
    for (const auto& dialect : all)
      if (const auto membership = dialect->MembershipOf(pod)) questions.gangs.insert(membership->gang);
  return questions;
}

}  // namespace
}  // namespace tutti::dialects

TUTTI_FUZZ_TARGET(dialects) {
  using namespace tutti;
  const auto json = cluster::ParseJson(input);
  if (!json.is_array()) return;
  std::vector<base::Json> objects;
  for (const auto& one : json)
    if (one.is_object() && objects.size() < dialects::kMostObjects) objects.push_back(one);
  const dialects::DialectList all = dialects::MakeDialects();
  const dialects::Questions questions = dialects::QuestionsAbout(objects, all);
  for (const auto& dialect : all) {
    dialects::Told told(*dialect, questions);
    for (const auto& object : objects) told.Put(object);
    told.ReportAll();
    told.DropAll();
  }
}
