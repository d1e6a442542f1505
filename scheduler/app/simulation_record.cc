// SPDX-License-Identifier: Apache-2.0
#include "app/simulation_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "model/quantity.h"
#include "observe/reason_json.h"

namespace tutti::app {
namespace {

using sim::DigString;
using sim::IsFinishedPod;
using Json = nlohmann::ordered_json;

const std::string& NodeOf(const sim::Json& pod) { return DigString(pod, "spec", "nodeName"); }

// Whether the scheduler evicted the pod: it sets this condition, and other components that delete pods do not.
bool Disrupted(const sim::Json& pod) { return sim::IsTrue(pod, "DisruptionTarget"); }

bool IsGpu(std::string_view resource) { return resource.ends_with("/gpu"); }

// Sums up the GPUs in a map of resources. A value that is no quantity counts as 0; the store refuses it anyway.
int64_t GpusIn(const sim::Json& resources) {
  int64_t gpus = 0;
  for (const auto& [name, amount] : sim::MapOf(resources).items())
    if (IsGpu(name) && amount.is_string())
      if (const auto value = model::ParseUnits(amount.get_ref<const std::string&>())) gpus += value->value;
  return gpus;
}

int64_t GpusOfNode(const sim::Json& node) { return GpusIn(sim::Dig(node, "status", "allocatable")); }

int64_t GpusOfPod(const sim::Json& pod) {
  int64_t gpus = 0;
  for (const sim::Json& container : sim::ArrayOf(sim::Dig(pod, "spec", "containers")))
    gpus += GpusIn(sim::Dig(container, "resources", "requests"));
  return gpus;
}

// Adds a step. Changes at one instant are one step.
void AddGpus(base::Millis at, int64_t used, int64_t capacity, std::vector<SimulationSummary::GpuUse>* steps) {
  if (used == 0 && capacity == 0) return;
  if (steps->empty() || steps->back().at_ms != at) {
    steps->push_back(steps->empty() ? SimulationSummary::GpuUse() : steps->back());
    steps->back().at_ms = at;
  }
  steps->back().used += used;
  steps->back().capacity += capacity;
}

// Writes whole seconds as integers: 5, not 5.0.
Json Seconds(base::Millis ms) {
  if (ms % 1000 == 0) return ms / 1000;
  return static_cast<double>(ms) / 1000;
}

std::string FullName(const std::string& ns, const std::string& name) { return ns + "/" + name; }

// An object of these fields, in this order: OrderedFields("name", name, "ready", true).
template <class... KeysAndValues>
Json OrderedFields(KeysAndValues&&... of) {
  Json object = Json::object();
  auto& fields = object.get_ref<Json::object_t&>();
  fields.reserve(sizeof...(of) / 2);
  const auto add = [&fields](auto&& self, auto&& key, auto&& value, auto&&... more) -> void {
    fields.emplace_back(key, std::forward<decltype(value)>(value));
    if constexpr (sizeof...(more) > 0) self(self, std::forward<decltype(more)>(more)...);
  };
  add(add, std::forward<KeysAndValues>(of)...);
  return object;
}

Json GangLine(const observe::Decision& decision) {
  int64_t bound = 0;
  for (const observe::MemberDecision& member : decision.members) bound += member.bound ? 1 : 0;
  Json line = {{"namespace", decision.gang.ns},
               {"name", decision.gang.name},
               {"dialect", decision.gang.dialect},
               {"queue", decision.queue},
               {"minMember", decision.min_member},
               {"members", decision.members.size()},
               {"bound", bound},
               {"state", observe::Word(decision.state)},
               {"reason", decision.reason},
               {"message", decision.message}};
  if (decision.why) line["why"] = observe::ToJson(*decision.why);
  return line;
}

Json WorkloadLine(const observe::Decision& decision) {
  const observe::QuotaDecision& quota = *decision.quota;
  Json sets = Json::array();
  for (const observe::QuotaDecision::Role& role : quota.roles) {
    Json set = {{"name", role.name}, {"count", role.count}, {"flavors", role.flavors}};
    if (!role.domains.empty()) set["topology"] = role.domains;
    sets.push_back(std::move(set));
  }
  return {{"namespace", decision.gang.ns},
          {"name", decision.gang.name},
          {"queue", quota.local_queue},
          {"clusterQueue", quota.leaf},
          {"state", observe::Word(quota.state)},
          {"podSets", std::move(sets)},
          {"reason", quota.reason},
          {"message", quota.message}};
}

}  // namespace

SimulationRecord::SimulationRecord(sim::Store& store, const base::Clock& clock)
    : store_(store), clock_(clock), start_ms_(clock.MonotonicMs()) {
  subscription_ = store_.Subscribe([this](const sim::WatchEvent& event) {
    if (event.resource == sim::kPods) CountGpus(event), OnPod(event);
    if (event.resource == sim::kNodes) OnNode(event);
  });
}

SimulationRecord::~SimulationRecord() { store_.Unsubscribe(subscription_); }

void SimulationRecord::Note(const core::Scheduler& scheduler) {
  if (const auto changes = scheduler.DecisionsAfter(noted_)) {
    for (const observe::Decision& decision : changes->decisions) NoteOne(decision);
    for (const model::GangKey& key : changes->gone)
      if (const auto story = stories_.find(key); story != stories_.end() && !story->second.ended_ms)
        story->second.ended_ms = Now();
  } else {  // the journal does not keep that many changes
    for (const observe::Decision& decision : scheduler.Decisions()) NoteOne(decision);
  }
  noted_ = scheduler.decision_sequence();
}

void SimulationRecord::NoteOne(const observe::Decision& decision) {
  using dialects::GangState;
  TellStory(decision);
  std::string gang = FullName(decision.gang.ns, decision.gang.name);
  for (const observe::MemberDecision& member : decision.members) gang_of_[member.uid] = gang;
  if (decision.quota) return;  // it is told by steps
  const bool started = decision.state == GangState::kAdmitted || decision.state == GangState::kBinding ||
                       decision.state == GangState::kWhole;
  if (!started || decision.queue.empty() || !admitted_.insert(decision.gang).second) return;
  AddStep("admit", "", "", std::move(gang));
}

void SimulationRecord::Note(const observe::Observer::QuotaStep& step) {
  using Kind = observe::Observer::QuotaStep::Kind;
  if (step.kind == Kind::kReleased) return;
  const char* action = step.kind == Kind::kReserved ? "reserve" : step.kind == Kind::kAdmitted ? "admit" : "evict";
  const std::string gang = FullName(step.gang.ns, step.gang.name);
  Json& line = AddStep(action, "", "", gang);
  line["workload"] = gang;
  line["by"] = step.by ? FullName(step.by->ns, step.by->name) : "";
  line["reason"] = step.reason;
}

Json& SimulationRecord::AddStep(const char* action, std::string pod, std::string node, std::string gang) {
  return timeline_.emplace_back(OrderedFields("atSeconds", Seconds(Now()), "action", action, "pod", std::move(pod),
                                              "node", std::move(node), "gang", std::move(gang)));
}

void SimulationRecord::Happened(const char* action, const sim::Json& pod, const std::string& node) {
  const auto gang = gang_of_.find(sim::UidOf(pod));
  AddStep(action, FullName(sim::NamespaceOf(pod), sim::NameOf(pod)), node,
          gang == gang_of_.end() ? "" : gang->second);
}

void SimulationRecord::OnPod(const sim::WatchEvent& event) {
  if (event.type == sim::EventType::kAdded) return;
  const sim::Json& now = *event.object;
  const sim::Json& before = *event.previous;
  if (event.type == sim::EventType::kDeleted || NodeOf(now) != NodeOf(before) ||
      IsFinishedPod(now) != IsFinishedPod(before))
    last_event_ms_ = Now();
  if (event.type == sim::EventType::kDeleted) {
    if (!Disrupted(now) || IsFinishedPod(now)) return;
    Happened("evict", now, NodeOf(now));
    Json line = PodLine(now, nullptr);
    line["state"] = "evicted";
    line["reason"] = DigString(sim::ConditionOf(now, "DisruptionTarget"), "reason");
    line["message"] = DigString(sim::ConditionOf(now, "DisruptionTarget"), "message");
    evicted_.emplace_back(sim::Store::Key(sim::NamespaceOf(now), sim::NameOf(now)), std::move(line));
    return;
  }
  if (NodeOf(before).empty() && !NodeOf(now).empty()) Happened("bind", now, NodeOf(now));
  if (!IsFinishedPod(before) && IsFinishedPod(now)) Happened("finish", now, NodeOf(now));
}

// Records how a gang's state changed. A gang without members asks for nothing, so its record begins with its first
// member. One whose queue gives quota before there are pods asks for that from the beginning.
void SimulationRecord::TellStory(const observe::Decision& decision) {
  using dialects::GangState;
  const auto known = stories_.find(decision.gang);
  const bool is_there = !decision.members.empty() || decision.quota || decision.state == GangState::kInvalid;
  if (known == stories_.end() && !is_there) return;
  auto& story = known != stories_.end() ? known->second : stories_[decision.gang];
  if (story.name.empty()) {
    story.name = FullName(decision.gang.ns, decision.gang.name);
    story.arrived_ms = Now();
  }
  const bool ended = decision.state == GangState::kFinished || !is_there;
  if (decision.state == GangState::kWhole && !story.whole_ms) {
    story.whole_ms = Now();
    ++whole_gangs_;
  }
  if (!ended)
    story.ended_ms.reset();
  else if (!story.ended_ms)
    story.ended_ms = Now();
}

void SimulationRecord::OnNode(const sim::WatchEvent& event) {
  int64_t change = 0;
  if (event.type != sim::EventType::kDeleted) change += GpusOfNode(*event.object);
  if (event.previous) change -= GpusOfNode(*event.previous);
  if (event.type == sim::EventType::kDeleted && !event.previous) change -= GpusOfNode(*event.object);
  AddGpus(Now(), 0, change, &gpus_);
}

void SimulationRecord::CountGpus(const sim::WatchEvent& event) {
  const auto holds = [](const sim::Json& pod) { return !NodeOf(pod).empty() && !IsFinishedPod(pod); };
  const bool now = event.type != sim::EventType::kDeleted && holds(*event.object);
  const bool before = event.previous && holds(*event.previous);
  if (now && before && sim::Child(*event.object, "spec") == sim::Child(*event.previous, "spec")) return;
  AddGpus(Now(), (now ? GpusOfPod(*event.object) : 0) - (before ? GpusOfPod(*event.previous) : 0), 0, &gpus_);
}

SimulationSummary SimulationRecord::Summary(const std::vector<observe::Decision>& decisions) const {
  SimulationSummary summary;
  auto stories = stories_;
  for (const observe::Decision& decision : decisions) {
    const auto story = stories.find(decision.gang);
    const bool all_started = decision.state == dialects::GangState::kWhole && decision.message.empty();
    if (story == stories.end() || story->second.ended_ms || all_started) continue;
    story->second.waits_for = decision.message.empty() ? decision.reason : decision.message;
  }
  for (auto& [key, story] : stories) summary.gangs.push_back(std::move(story));
  std::ranges::stable_sort(summary.gangs, {}, &SimulationSummary::Gang::arrived_ms);
  if (std::ranges::any_of(gpus_, [](const auto& use) { return use.capacity > 0; })) summary.gpus = gpus_;
  summary.end_ms = last_event_ms_;
  return summary;
}

Json SimulationRecord::PodLine(const sim::Json& pod, const observe::MemberDecision* member) const {
  std::string state = "pending", reason, message;
  const sim::Json& scheduled = sim::ConditionOf(pod, "PodScheduled");
  if (IsFinishedPod(pod)) {
    state = "finished";
    reason = DigString(pod, "status", "reason");
    if (reason.empty()) reason = DigString(pod, "status", "phase");
    message = DigString(pod, "status", "message");
  } else if (!NodeOf(pod).empty()) {
    state = "bound";
  } else if (DigString(scheduled, "status") == "False") {
    reason = DigString(scheduled, "reason");
    message = DigString(scheduled, "message");
  } else if (member != nullptr) {
    reason = member->reason;
    message = member->message;
  } else {
    reason = "NotServed";
    message = fmt::format(
        "no profile serves schedulerName \"{}\"; add one to the KubeSchedulerConfiguration that --config names",
        DigString(pod, "spec", "schedulerName"));
  }
  return OrderedFields("namespace", sim::NamespaceOf(pod), "name", sim::NameOf(pod), "node", NodeOf(pod), "state",
                       state, "reason", reason, "message", message);
}

Json SimulationRecord::Result(const std::vector<observe::Decision>& decisions) && {
  std::unordered_map<std::string_view, const observe::MemberDecision*> members;
  Json gangs = Json::array(), workloads = Json::array();
  for (const observe::Decision& decision : decisions) {
    if (decision.quota) workloads.push_back(WorkloadLine(decision));
    for (const observe::MemberDecision& member : decision.members) members[member.uid] = &member;
    gangs.push_back(GangLine(decision));
  }
  // Several pods may have had one name: the one that is there comes last.
  std::ranges::stable_sort(evicted_, {}, &Evicted::first);
  auto evicted = evicted_.begin();
  Json pods = Json::array();
  const auto add_evicted = [&](const auto& belongs) {
    for (; evicted != evicted_.end() && belongs(evicted->first); ++evicted) pods.push_back(std::move(evicted->second));
  };
  store_.ForEach(sim::kPods, [&](const sim::Store::Key& key, const sim::Object& pod) {
    add_evicted([&](const sim::Store::Key& of) { return of <= key; });
    const auto member = members.find(sim::UidOf(*pod));
    pods.push_back(PodLine(*pod, member == members.end() ? nullptr : member->second));
  });
  add_evicted([](const sim::Store::Key&) { return true; });
  Json result = {{"apiVersion", "tutti.dev/v1alpha1"}, {"kind", "SimulationResult"}};
  result["gangs"] = std::move(gangs);
  result["pods"] = std::move(pods);
  if (!workloads.empty()) result["workloads"] = std::move(workloads);
  result["timeline"] = std::move(timeline_);
  return result;
}

}  // namespace tutti::app
