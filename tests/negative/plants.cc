// SPDX-License-Identifier: Apache-2.0
#include "tests/negative/plants.h"

#include <algorithm>
#include <limits>
#include <map>

#include "base/json.h"
#include "cluster/json_text.h"
#include "framework/verdict.h"

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
PlantedBug Forgets(std::string name, framework::Wake what) {
  PlantedBug bug = InCore(std::move(name), Bug::kForgetToWake);
  bug.forgets = static_cast<uint32_t>(what);
  return bug;
}
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
  const std::vector<model::ObjectKind>& Kinds() const override { return honest_->Kinds(); }
  void Put(std::shared_ptr<const model::Object> o, dialects::Touched* t) override { honest_->Put(std::move(o), t); }
  void Drop(std::string_view k, std::string_view ns, std::string_view n, dialects::Touched* t) override {
    honest_->Drop(k, ns, n, t);
  }
  void Served(std::string_view k, bool served, dialects::Touched* t) override { honest_->Served(k, served, t); }
  std::optional<dialects::Membership> MembershipOf(const model::Pod& pod) const override {
    return honest_->MembershipOf(pod);
  }
  std::string_view SchedulerName(const model::GangKey& key) const override { return honest_->SchedulerName(key); }
  void AddNodeLabels(const model::Node& node, model::StringMap* labels, dialects::Touched* t) override {
    honest_->AddNodeLabels(node, labels, t);
  }
  void DropNode(std::string_view name) override { honest_->DropNode(name); }
  model::GangSpec Describe(const model::GangKey& key) const override {
    model::GangSpec spec = honest_->Describe(key);
    change_(spec);
    return spec;
  }
  std::optional<model::QueueSpec> DescribeQueue(std::string_view name) const override {
    return honest_->DescribeQueue(name);
  }
  base::Millis Desire(const dialects::GangReport& r, const cluster::Unseen& unseen,
                      std::vector<cluster::DesiredObject>* out) const override {
    return honest_->Desire(r, unseen, out);
  }
  void DesireOfQueue(const dialects::QueueReport& r, const cluster::Unseen& unseen,
                     std::vector<cluster::DesiredObject>* out) const override {
    honest_->DesireOfQueue(r, unseen, out);
  }
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

// A wake that is missing may also be found by the flush.
constexpr const char* kFlushed = "no gang is placed by a flush alone";
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

class BeginsAtOnce final : public Plant {
 public:
  base::Millis Begins(base::Millis) override { return 0; }
};

// A standby takes the leader's lease to last a second.
class TakesTooEarly final : public Plant {
 public:
  void LeaseSeen(std::string& body) override {
    base::Json lease = cluster::ParseJson(body);
    if (!lease.is_object() || !lease.contains("spec")) return;
    lease["spec"]["leaseDurationSeconds"] = 1;
    body = lease.dump();
  }
};

// To make room, it says, another scheduler's pod is deleted, too.
class DeletesOthers final : public Plant {
 public:
  Handling Event(FeedEvent& event, bool) override {
    const auto* changed = std::get_if<cluster::PodChanged>(&event);
    if (changed && changed->pod->spec->scheduler_name == "another") other_ = changed->pod;
    return Handling::kKeep;
  }
  void Commands(std::vector<Command>& commands) override {
    for (Command& command : commands)
      if (other_ && std::holds_alternative<cluster::Patch>(command.body))
        command.body = cluster::Delete{cluster::RefOf(std::exchange(other_, nullptr))};
  }

 private:
  std::shared_ptr<const model::Pod> other_;
};

template <class P, class... Arguments>
PlantedBug Made(std::string name, Arguments... arguments) {
  return {std::move(name), Bug::kNone, [=] { return std::make_unique<P>(arguments...); }};
}

// For the scheduler a node's labels, taints and cordon stay as they were when it first came.
class SeesOldMarks final : public Plant {
 public:
  Handling Event(FeedEvent& event, bool) override {
    auto* changed = std::get_if<cluster::NodeChanged>(&event);
    if (!changed) return Handling::kKeep;
    const auto& first = first_.try_emplace(changed->node->meta.name, changed->node).first->second;
    auto node = std::make_shared<model::Node>(*changed->node);
    node->meta.labels = first->meta.labels;
    node->taints = first->taints;
    node->unschedulable = first->unschedulable;
    changed->node = std::move(node);
    return Handling::kKeep;
  }

 private:
  std::map<std::string, std::shared_ptr<const model::Node>> first_;
};

class KeepsFinished final : public Plant {
 public:
  Handling Event(FeedEvent& event, bool) override {
    const auto* changed = std::get_if<cluster::PodChanged>(&event);
    const auto* gone = std::get_if<cluster::PodGone>(&event);
    if (changed && changed->pod->done()) ended_.insert(changed->pod->meta.uid);
    return gone && ended_.contains(gone->uid) ? Handling::kLose : Handling::kKeep;
  }

 private:
  std::set<std::string> ended_;
};

// Every pod is as `change` makes it.
PlantedBug InPods(std::string name, std::function<void(model::Pod&)> change) {
  return InEvents(std::move(name), [change](FeedEvent& event, bool) {
    if (auto* changed = std::get_if<cluster::PodChanged>(&event)) {
      auto pod = std::make_shared<model::Pod>(*changed->pod);
      change(*pod);
      changed->pod = std::move(pod);
    }
    return Plant::Handling::kKeep;
  });
}

// Every object of the kind is as `change` makes it.
PlantedBug InObjects(std::string name, std::string_view kind, std::function<void(base::Json&)> change) {
  return InEvents(std::move(name), [kind, change](FeedEvent& event, bool) {
    auto* changed = std::get_if<cluster::ObjectChanged>(&event);
    if (!changed || changed->object->kind != kind) return Plant::Handling::kKeep;
    auto object = std::make_shared<model::Object>(*changed->object);
    base::Json body = *object->body;
    change(body);
    object->body = std::make_shared<const base::Json>(std::move(body));
    changed->object = std::move(object);
    return Plant::Handling::kKeep;
  });
}

cluster::CommandReply* AsAnswer(FeedEvent& event) { return std::get_if<cluster::CommandReply>(&event); }

void Replace(std::string& text, std::string_view from, std::string_view to) {
  if (const size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
}

// Patches say `to` where they would say `from`.
PlantedBug InPatches(std::string name, std::string_view from, std::string_view to) {
  return InCommands(std::move(name), [from, to](Command& command) {
    if (auto* patch = std::get_if<cluster::Patch>(&command.body)) Replace(patch->body, from, to);
  });
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

PlantedBug PlantedBug::SeenBy(std::set<std::string> invariants) const {
  PlantedBug bug = *this;
  bug.expects = std::move(invariants);
  return bug;
}

PlantedBug PlantedBug::In(std::string scenario) const {
  PlantedBug bug = *this;
  bug.world = std::move(scenario);
  return bug;
}

std::vector<PlantedBug> AllBugs() {
  using Handling = Plant::Handling;
  return {
      InCore("the reservation is skipped", Bug::kSkipReservation).SeenBy({"no node is over its allocatable"}),
      Forgets("a pod that leaves wakes no gang", framework::Wake::kPodGone)
          .SeenBy({"a gang that can start is woken", kFlushed, "what a gang needs comes before what it takes besides"})
          .In("priorities"),
      Forgets("a node that comes wakes no gang", framework::Wake::kNodeAdded)
          .SeenBy({"a gang that can start is woken", kFlushed}),
      Forgets("a node that grows wakes no gang", framework::Wake::kNodeCapacity)
          .SeenBy({"a gang that can start is woken", kFlushed}),
      Forgets("a node's new labels wake no gang", framework::Wake::kNodeLabels)
          .SeenBy({"a gang that can start is woken", kFlushed})
          .In("lease"),
      Forgets("a node that is opened wakes no gang", framework::Wake::kNodeTaints)
          .SeenBy({"a gang that can start is woken", kFlushed}),
      InCore("room in a queue wakes no gang", Bug::kWakeNobody)
          .SeenBy({"a gang that can start is woken", kFlushed})
          .In("queues"),
      InCore("nothing wakes a gang", Bug::kSleepOn).SeenBy({"nothing is forgotten", kFlushed}),
      InCore("figures are never brought up to date", Bug::kStaleFigures)
          .SeenBy({"a figure is current", "a reason is current"}),
      InCore("figures are brought up to date too late", Bug::kOldFigures)
          .SeenBy({"a figure is current", "a reason is current"}),
      InCore("a gang's census is kept when a member's pod changes", Bug::kOldCensus)
          .SeenBy({"CHECK(!gang.census || *gang.census == TakeCensus(gang, state_))"}),
      InCore("a repair never times out", Bug::kKeepHalf).SeenBy({"no gang settles in between"}),
      InCore("a forged annotation is believed", Bug::kBelieveForgery)
          .SeenBy({"a gang that was whole is not undone", "what others bound is not undone"})
          .In("restarts"),
      InCore("a gang that was whole is taken for half done", Bug::kUndoWhole)
          .SeenBy({"a gang that was whole is not undone"}),
      InCore("the last bind goes out with the others", Bug::kLastIsNotLast).SeenBy({"the last bind is the last"}),
      InCore("a reservation is not charged to its queue", Bug::kForgetCharge)
          .SeenBy({"no bind beyond a queue's capability"})
          .In("queues"),
      InCore("what a member holds is charged twice", Bug::kChargeTwice)
          .SeenBy({"CHECK(used_.charges() == held && pending_.charges() == asked)"})
          .In("queues"),
      InCore("planning begins before every kind is listed", Bug::kPlanUnsynced)
          .SeenBy({"nothing is decided before every kind is listed"})
          .In("standby"),
      InCore("what an earlier scheduler has sent is not fenced off", Bug::kDropFence)
          .SeenBy({"what is being undone is not made whole", "a gang that was whole is not undone"})
          .In("strays"),
      InCore("each scheduler numbers its plans from one", Bug::kReusePlanId)
          .SeenBy({"a plan's id is of one gang"})
          .In("restarts"),
      InCore("workers start though no head has a place", Bug::kHeadless)
          .SeenBy({"no worker starts without a head"})
          .In("parts"),
      InCore("what is taken besides comes before what is needed", Bug::kSurplusFirst)
          .SeenBy({"what a gang needs comes before what it takes besides"})
          .In("parts"),
      InCore("a pod that has done its work does not count for the minimum", Bug::kForgetRan)
          .SeenBy({"a PodGroup's phase is true"}),
      InCore("a reason says that one more fits than do", Bug::kOneMoreFits).SeenBy({"a count in a reason is true"}),
      InCore("a gang that was whole is said to be whole", Bug::kWasIsWhole).SeenBy({"a PodGroup's phase is true"}),
      InCore("a condition that holds again is not renewed", Bug::kOldCondition)
          .SeenBy({"the newest condition is true"}),
      InCore("a status is written twice at a time", Bug::kWriteTwice).SeenBy({"one write of an object at a time"}),
      InCore("a pod that could be spared is evicted, too", Bug::kGangVictimTooMany)
          .SeenBy({"no eviction is useless"})
          .In("gangs-preempt"),
      InCore("a head is evicted as surplus", Bug::kSpareHead).SeenBy({"no eviction is useless"}).In("gangs-preempt"),
      InCore("what victims held of a queue is free twice", Bug::kFreeTwice)
          .SeenBy({"no bind beyond a queue's capability"})
          .In("reclaim"),
      InCore("no budget protects a pod", Bug::kIgnoreBudgets)
          .SeenBy({"a budget is broken only where it has to be"})
          .In("priorities"),
      InCore("binds do not wait for volumes", Bug::kIgnoreVolumes)
          .SeenBy({"volumes are bound before pods"})
          .In("volumes"),
      InCore("a gang is bound before its victims are gone", Bug::kCrowdOut)
          .SeenBy({"no node is over its allocatable"})
          .In("victims"),
      InCore("the room that victims leave is not held", Bug::kForgetVictimsRoom)
          .SeenBy({"no node is over its allocatable"})
          .In("victims"),
      InCore("the victims of a gang are forgotten in a restart", Bug::kForgetVictims)
          .SeenBy({"a gang has one set of victims at a time"})
          .In("victims"),
      Made<TakesTooEarly>("a lease is taken before it is over").SeenBy({"one has the lease at a time"}).In("standby"),
      Made<BeginsAtOnce>("a new leader does not wait for the former one's writes")
          .SeenBy({"the former leader's writes are over"})
          .In("restarts"),
      Made<DeletesOthers>("another scheduler's pod makes room").SeenBy({"others' pods are left alone"}).In("nodes"),
      Made<NeverOver>("a leader's last writes outlive its lease").SeenBy({"no write outlives its lease"}).In("standby"),
      Made<WritesOn>("a leader writes on when its lease has run out")
          .SeenBy({"no write outlives its lease", "the former leader's writes are over"}),
      Made<HearsAnswers>("an unanswered bind is taken for refused", 422, base::Millis{200})
          .SeenBy({"no node is over its allocatable"})
          .In("volumes"),
      Made<HearsAnswers>("an unanswered bind is taken for done", 201, kNever)
          .SeenBy({"the last bind is the last", "no gang settles in between"}),
      Made<SkipsAhead>("a watch that was cut goes on at the present")
          .SeenBy({"a reason is true", "every waiting pod says why", "no gang settles in between"})
          .In("wire"),
      Made<SeesOldMarks>("changes of a node's labels and taints are not noticed")
          .SeenBy({"no bind where the pod may not be"})
          .In("nodes"),
      InCore("a member whose node has lost its zone does not count", Bug::kForgetUnlabelled)
          .SeenBy({"a gang that must be is in one zone"}),
      InPods("that a gang must be in one zone is not read",
             [](model::Pod& pod) {
               std::erase_if(pod.meta.annotations,
                             [](const auto& each) { return each.first == "tutti.dev/topology-required"; });
             })
          .SeenBy({"a gang that must be is in one zone"}),
      InPods("a Job's pods pass for a ReplicaSet's",
             [](model::Pod& pod) {
               if (!pod.meta.Controller() || pod.meta.Controller()->kind != "Job") return;
               model::OwnerReference controller = *pod.meta.Controller();
               controller.kind = "ReplicaSet";
               pod.meta.controller = controller;
             })
          .SeenBy({"no pod is deleted that is not recreated"})
          .In("arrivals"),
      InPods("that a pod has finished is not noticed",
             [](model::Pod& pod) {
               if (pod.done()) pod.phase = model::PodPhase::kRunning;
             })
          .SeenBy({"a pod that has finished is not deleted"})
          .In("nodes"),
      InCommands("a pod that waits is deleted",
                 [](Command& command) {
                   auto* patch = std::get_if<cluster::Patch>(&command.body);
                   if (patch && patch->body.find("PodScheduled") != std::string::npos)
                     command.body = cluster::Delete{patch->object};
                 })
          .SeenBy({"a pod that waits is not deleted"}),
      InEvents("pods that go are not noticed",
               [](FeedEvent& event, bool) {
                 return std::holds_alternative<cluster::PodGone>(event) ? Handling::kLose : Handling::kKeep;
               })
          .SeenBy({"no gang settles in between", "nothing is forgotten"}),
      InEvents("nodes that go are not noticed",
               [](FeedEvent& event, bool) {
                 return std::holds_alternative<cluster::NodeGone>(event) ? Handling::kLose : Handling::kKeep;
               })
          .SeenBy({"the last bind is the last"}),
      InEvents("changes of nodes are not noticed",
               [](FeedEvent& event, bool first_list) {
                 return !first_list && std::holds_alternative<cluster::NodeChanged>(event) ? Handling::kLose
                                                                                           : Handling::kKeep;
               })
          .SeenBy({"a reason is true"}),
      InEvents("after a restart an old list is believed",
               [](FeedEvent& event, bool first_list) {
                 const auto* pod = std::get_if<cluster::PodChanged>(&event);
                 return first_list && pod && pod->pod->bound() ? Handling::kLose : Handling::kKeep;
               })
          .SeenBy({"no node is over its allocatable"}),
      InEvents("a good answer to a status is taken for a bad one",
               [](FeedEvent& event, bool) {
                 if (cluster::CommandReply* answer = AsAnswer(event); answer && answer->http_status == 200)
                   answer->outcome = cluster::Outcome::kRefused, answer->http_status = 500;
                 return Handling::kKeep;
               })
          .SeenBy({"no write without a cause"}),
      Made<KeepsFinished>("that a pod which had ended goes is not noticed").SeenBy({"memory is bounded"}),
      InCommands("a delete names no UID",
                 [](Command& command) {
                   if (auto* gone = std::get_if<cluster::Delete>(&command.body)) {
                     auto meta = std::make_shared<model::ObjectMeta>(*gone->object.meta);
                     meta->uid.clear();
                     gone->object.meta = std::move(meta);
                   }
                 })
          .SeenBy({"delete without precondition"})
          .In("nodes"),
      InCommands("a bind names no resourceVersion",
                 [](Command& command) {
                   if (auto* bind = std::get_if<cluster::Bind>(&command.body)) bind->pod.resource_version.clear();
                 })
          .SeenBy({"bind without precondition"}),
      InCommands("the word that a pod waits names no resourceVersion",
                 [](Command& command) {
                   auto* patch = std::get_if<cluster::Patch>(&command.body);
                   if (patch && patch->body.find("PodScheduled") != std::string::npos)
                     Replace(patch->body, "\"resourceVersion\"", "\"was\"");
                 })
          .SeenBy({"a reason is true"}),
      InCommands("a bind has no annotation",
                 [](Command& command) {
                   if (auto* bind = std::get_if<cluster::Bind>(&command.body)) bind->annotations.clear();
                 })
          .SeenBy({"every bind names its plan"}),
      InPatches("undoing is not announced", "DisruptionTarget", "SomethingElse")
          .SeenBy({"undoing is announced"})
          .In("nodes"),
      InCommands("a victim is not told that it leaves",
                 [](Command& command) {
                   auto* patch = std::get_if<cluster::Patch>(&command.body);
                   if (patch && patch->body.find(model::kPreemptionReason) != std::string::npos)
                     Replace(patch->body, "DisruptionTarget", "SomethingElse");
                 })
          .SeenBy({"eviction is announced"})
          .In("victims"),
      InPatches("a waiting pod is told nothing", "PodScheduled", "SomethingElse")
          .SeenBy({"every waiting pod says why"}),
      InCore("one pod more is evicted than has to go", Bug::kLoneVictimTooMany)
          .SeenBy({"no victim could have stayed"})
          .In("priorities"),
      InEvents("a budget is not read",
               [](FeedEvent& event, bool) {
                 const auto* put = std::get_if<cluster::ObjectChanged>(&event);
                 const bool budget = put && put->object->kind == "PodDisruptionBudget";
                 return budget ? Handling::kLose : Handling::kKeep;
               })
          .SeenBy({"a budget is broken only where it has to be"})
          .In("priorities"),
      InPatches("the record of the victims has another name", "tutti.dev/Preempting", "tutti.dev/SomethingElse")
          .SeenBy({"victims are recorded first"})
          .In("victims"),
      InCore("pods of the same priority are evicted", Bug::kVictimsOfAll)
          .SeenBy({"victims are of lower priority"})
          .In("priorities"),
      InCore("a PodGroup without pods is not looked at", Bug::kForgetDeclared)
          .SeenBy({"every PodGroup has its phase"})
          .In("queues"),
      InPatches("that a queue lets a PodGroup in is not written", "\"phase\":\"Inqueue\"", "\"phase\":\"Pending\"")
          .SeenBy({"a status is current"})
          .In("queues"),
      InCommands("every member is written down as the last",
                 [](Command& command) {
                   RewriteEvidence(command, [](base::Json& evidence, const cluster::Bind& bind) {
                     evidence["commit"] = bind.pod.uid();
                   });
                 })
          .SeenBy({"the last bind is the last", "whole or nothing"}),
      InCommands("binds go to a node that was not planned",
                 [](Command& command) {
                   if (auto* bind = std::get_if<cluster::Bind>(&command.body)) bind->node = "n1";
                 })
          .SeenBy({"a bind is what its annotation says"}),
      InDialects("a minimum is read as one less",
                 [](model::GangSpec& spec) {
                   if (spec.min_member > 1) --spec.min_member;
                 })
          .SeenBy({"whole or nothing"}),
      InDialects("a gang that nothing declares starts", [](model::GangSpec& spec) { spec.problem.clear(); })
          .SeenBy({"nothing starts undeclared"}),
      InDialects("queues are not charged", [](model::GangSpec& spec) { spec.queue.clear(); })
          .SeenBy({"no bind beyond a queue's capability"})
          .In("queues"),
      InDialects("of roles only the sum is asked",
                 [](model::GangSpec& spec) {
                   int64_t sum = 0;
                   for (const model::RoleSpec& role : spec.roles) sum += role.min;
                   spec.min_member = std::max(spec.min_member, sum);
                   spec.roles.clear();
                 })
          .SeenBy({"whole or nothing"})
          .In("parts"),
      InDialects("of subgroups only the sum is asked", [](model::GangSpec& spec) { spec.units.clear(); })
          .SeenBy({"whole or nothing"})
          .In("parts"),
      InObjects("a ClusterQueue's quotas are read as ten times as much", "ClusterQueue",
                [](base::Json& body) {
                  for (base::Json& group : body["spec"]["resourceGroups"])
                    for (base::Json& flavor : group["flavors"])
                      for (base::Json& each : flavor["resources"])
                        each["nominalQuota"] = each["nominalQuota"].get<std::string>() + "0";
                })
          .SeenBy({"no quota is given beyond what there is"})
          .In("kueue"),
      InObjects("that a Workload has quota is not read", "Workload",
                [](base::Json& body) { body.erase("status"); })
          .SeenBy({"nothing is admitted twice", "no quota is given beyond what there is"})
          .In("kueue"),
      InPatches("that a Workload is admitted is not written", "\"Admitted\",\"status\":\"True\"",
                "\"Admitted\",\"status\":\"False\"")
          .SeenBy({"no job starts before it is admitted"})
          .In("kueue"),
      InPatches("a job is let go by another field", "\"suspend\":false", "\"suspended\":false")
          .SeenBy({"each job of a queue is held or admitted"})
          .In("kueue"),
      InCommands("what has quota is neither admitted nor let go",
                 [](Command& command) {
                   auto* patch = std::get_if<cluster::Patch>(&command.body);
                   if (!patch) return;
                   Replace(patch->body, "\"Admitted\",\"status\":\"True\"", "\"Admitted\",\"status\":\"False\"");
                   Replace(patch->body, "\"suspend\":false", "\"suspended\":false");
                   if (patch->object.resource == "pods" && !patch->status) patch->body = "{}";
                 })
          .SeenBy({"nothing stays half admitted"})
          .In("kueue"),
      InCommands("a Workload is made without its owner",
                 [](Command& command) {
                   auto* create = std::get_if<cluster::Create>(&command.body);
                   if (create && create->object.resource == "workloads")
                     Replace(create->body, "\"ownerReferences\"", "\"owners\"");
                 })
          .SeenBy({"a job has one Workload, and a Workload a job"})
          .In("kueue"),
      InDialects("a gang may be in any HyperNode", [](model::GangSpec& spec) { spec.topology = {}; })
          .SeenBy({"a gang that must be is in one zone"})
          .In("parts"),
  };
}

}  // namespace tutti::negative
