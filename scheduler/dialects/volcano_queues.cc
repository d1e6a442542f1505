// SPDX-License-Identifier: Apache-2.0
#include "dialects/volcano_queues.h"

#include <fmt/format.h>

#include <limits>

#include "base/json.h"
#include "dialects/declaration.h"
#include "dialects/pod_groups.h"
#include "dialects/wording.h"

namespace tutti::dialects {
namespace {

using Json = base::Json;

constexpr int64_t kLargestWeight = 65535;

// Volcano's scheduler creates these two, so they need no object.
bool IsBuiltIn(std::string_view name) { return name == "root" || name == "default"; }

// Of a queue that names none.
std::string ParentOf(std::string_view name) { return name == "root" ? "" : "root"; }

model::QueueSpec Read(const model::Object& object) {
  cluster::JsonReader read;
  const cluster::JsonField root(*object.body), spec = root["spec"], status = root["status"];
  model::QueueSpec queue;
  queue.dialect = "volcano";
  queue.name = object.meta.name;
  queue.parent = read.Text(spec["parent"]);
  if (queue.parent.empty()) queue.parent = ParentOf(queue.name);  // as Volcano's controller does
  queue.weight = ReadCount(read, spec["weight"], 1, 1, kLargestWeight);
  queue.priority = static_cast<int32_t>(ReadCount(read, spec["priority"], 0, 0, std::numeric_limits<int32_t>::max()));
  queue.reclaimable = !spec["reclaimable"].present() || read.Flag(spec["reclaimable"]);
  queue.deserved = read.Resources(spec["deserved"]);
  const cluster::JsonField guarantee = spec["guarantee"];
  queue.guarantee = read.Resources(guarantee["resource"]);
  // A cap beyond all counting is no cap. Volcano has none on its root.
  for (const auto& [resource, amount] : read.Resources(spec["capability"]))
    if (amount != std::numeric_limits<int64_t>::max() && queue.name != "root") queue.capability.Set(resource, amount);
  const std::string state = read.Text(status["state"]);
  if (!state.empty() && state != "Open")
    queue.state = state == "Closing" ? model::QueueState::kClosing : model::QueueState::kClosed;
  queue.min_runtime_ms = ReadMinRuntime(read, object);
  queue.problem = ProblemIn(object, read);
  return queue;
}

Json Amounts(const model::ResourceList& list) {
  Json amounts = Json::object();
  for (const auto& [resource, amount] : list)
    if (amount != 0) amounts[resource] = model::FormatAmount(resource, amount);
  return amounts;
}

bool Stateless(const Json& status) {
  const auto state = status.find("state");
  return state == status.end() || state->is_null() || *state == "";
}

// All but the state. "4Gi" and "4294967296" are the same amount, however it is written; null is none.
Json Comparable(const Json& status) {
  Json comparable = Json::object();
  for (const char* field : {"pending", "inqueue", "running", "unknown", "completed"})
    if (const auto at = status.find(field); at != status.end() && !at->is_null() && *at != 0) comparable[field] = *at;
  Json allocated = status.value("allocated", Json());
  if (allocated.is_object())
    for (auto at = allocated.begin(); at != allocated.end();) at = at->is_null() ? allocated.erase(at) : std::next(at);
  cluster::JsonReader read;
  comparable["allocated"] = Amounts(read.Resources(cluster::JsonField(allocated)));
  if (!read.ok()) comparable["allocated"] = nullptr;
  return comparable;
}

// A state counts where one is desired: others are left alone.
bool QueueAgrees(const Json& fields, const Json& object) {
  const Json &desired = StatusIn(fields), &status = StatusIn(object);
  const auto state = desired.find("state");
  return Comparable(desired) == Comparable(status) &&
         (state == desired.end() || *state == status.value("state", Json()));
}

}  // namespace

model::ObjectKind VolcanoQueues::Kind() { return {"scheduling.volcano.sh", "queues", "Queue", {"v1beta1"}}; }

void VolcanoQueues::Put(const std::shared_ptr<const model::Object>& object, Touched* touched) {
  const std::string& name = object->meta.name;
  Queue& queue = queues_[name];
  model::QueueSpec spec = Read(*object);
  const bool changed = !queue.object || queue.object->meta.uid != object->meta.uid || queue.spec != spec;
  if (queue.object && queue.spec.parent != spec.parent) children_[queue.spec.parent].erase(name);
  children_[spec.parent].insert(name);
  queue.spec = std::move(spec);
  queue.object = object;
  if (changed) {
    TouchTree(name, touched);
    TouchBuiltIn(queue.spec.parent, touched);
  }
  if (commands_.Of(name, 0)) touched->queues.insert(name);
}

void VolcanoQueues::Drop(std::string_view name, Touched* touched) {
  const auto at = queues_.find(name);
  if (at == queues_.end()) return;
  TouchTree(name, touched);
  children_[at->second.spec.parent].erase(at->first);
  queues_.erase(at);
}

void VolcanoQueues::Mention(const std::string& name, Touched* touched) {
  if (mentions_[name]++ > 0 || queues_.contains(name)) return;
  touched->queues.insert(name);
  TouchBuiltIn(ParentOf(name), touched);
}

void VolcanoQueues::TouchBuiltIn(const std::string& name, Touched* touched) const {
  if (!IsBuiltIn(name) || queues_.contains(name)) return;
  touched->queues.insert(name);
  TouchBuiltIn(ParentOf(name), touched);
}

void VolcanoQueues::Forget(const std::string& name, Touched* touched) {
  const auto at = mentions_.find(name);
  if (--at->second > 0) return;
  mentions_.erase(at);
  if (!queues_.contains(name)) touched->queues.insert(name);
}

void VolcanoQueues::TouchTree(std::string_view name, Touched* touched) const {
  std::vector<std::string> open{std::string(name)};
  std::set<std::string> seen;  // parents may form a circle
  while (!open.empty()) {
    const std::string next = std::move(open.back());
    open.pop_back();
    if (!seen.insert(next).second) continue;
    if (const auto below = children_.find(next); below != children_.end())
      open.insert(open.end(), below->second.begin(), below->second.end());
  }
  touched->queues.merge(seen);
}

std::string VolcanoQueues::ProblemAbove(const Queue& queue) const {
  std::set<std::string_view> seen;
  const Queue* here = &queue;
  while (!here->spec.parent.empty()) {
    if (!seen.insert(here->spec.name).second)
      return fmt::format("Queue {}: spec.parent leads round in a circle; name another parent in one of them",
                         Named(here->spec.name));
    const auto parent = queues_.find(here->spec.parent);
    if (parent == queues_.end()) {
      if (IsBuiltIn(here->spec.parent)) return {};
      return fmt::format("Queue {}: spec.parent names Queue {}, which does not exist; create it or name another",
                         Named(here->spec.name), Named(here->spec.parent));
    }
    here = &parent->second;
    if (!here->spec.problem.empty()) return here->spec.problem;
  }
  return {};
}

std::optional<model::QueueSpec> VolcanoQueues::Describe(std::string_view name) const {
  if (const auto at = queues_.find(name); at != queues_.end()) {
    model::QueueSpec spec = at->second.spec;
    if (spec.problem.empty()) spec.problem = ProblemAbove(at->second);
    return spec;
  }
  if (!IsBuiltIn(name) && !mentions_.contains(name)) return std::nullopt;
  model::QueueSpec spec;
  spec.dialect = "volcano";
  spec.name = name;
  spec.parent = ParentOf(name);
  if (!IsBuiltIn(name))
    spec.problem = fmt::format(
        "queue {} does not exist; create a Queue of that name, or name another in the PodGroup's spec.queue",
        Named(name));
  return spec;
}

void VolcanoQueues::PutCommand(const std::shared_ptr<const model::Object>& object, Touched* touched) {
  if (const std::string queue = commands_.Put(object); !queue.empty()) touched->queues.insert(queue);
}

void VolcanoQueues::DropCommand(std::string_view ns, std::string_view name, Touched* touched) {
  if (const std::string queue = commands_.Drop(ns, name); !queue.empty()) touched->queues.insert(queue);
}

std::string VolcanoQueues::StateToWrite(const QueueReport& report, const Json& observed,
                                        std::optional<VolcanoCommands::Action> asked) {
  const bool stateless = Stateless(observed);
  const std::string state = stateless ? "" : observed["state"].is_string() ? observed["state"].get<std::string>() : "?";
  const bool has_gangs = report.pending + report.starting + report.incomplete + report.running + report.finished > 0;
  const bool closes = state == "Closing" || state == "Closed";
  if (asked == VolcanoCommands::Action::kClose && !closes) return has_gangs ? "Closing" : "Closed";
  if (asked == VolcanoCommands::Action::kOpen && state != "Open") return "Open";
  if (state == "Closing" && !has_gangs) return "Closed";
  return stateless ? "Open" : "";
}

void VolcanoQueues::Desire(const QueueReport& report, const cluster::Unseen& unseen,
                           std::vector<cluster::DesiredObject>* out) const {
  const auto at = queues_.find(report.spec->name);
  if (at == queues_.end()) return;
  const Queue& queue = at->second;
  const Json& observed = StatusOf(*queue.object);
  const Json* written = unseen.Written(cluster::RefOf(queue.object));
  // A command from before there was the queue was about an earlier one, or about none.
  const base::Millis created_ms = queue.object->meta.created_ms;
  const std::optional<VolcanoCommands::Action> asked = commands_.Of(report.spec->name, created_ms);
  const std::string state = StateToWrite(report, observed, asked);

  Json wanted = {{"allocated", Amounts(report.allocated)}};
  const std::pair<const char*, int64_t> counters[] = {{"pending", report.pending},
                                                      {"inqueue", report.starting},
                                                      {"running", report.running},
                                                      {"completed", report.finished},
                                                      {"unknown", report.incomplete}};
  // A merge patch takes out what is named with null, and nothing that is not named.
  for (const auto& [field, count] : counters) wanted[field] = count != 0 ? Json(count) : Json();
  Json& allocated = wanted["allocated"];
  const auto take_out_others = [&](const Json& status) {
    const auto old = status.find("allocated");
    if (old == status.end() || !old->is_object()) return;
    for (const auto& item : old->items())
      if (!allocated.contains(item.key())) allocated[item.key()] = nullptr;
  };
  take_out_others(observed);
  if (written) take_out_others(StatusIn(*written));
  if (!observed.contains("reservation")) wanted["reservation"] = Json::object();
  if (!state.empty()) wanted["state"] = state;

  cluster::DesiredObject desired = WithStatus(queue.object, std::move(wanted), QueueAgrees);
  // A state that is set between our look and our write stands.
  if (!state.empty()) desired.ref.resource_version = queue.object->meta.resource_version;
  out->push_back(std::move(desired));
  const bool is_open = report.spec->open();
  const bool done = asked && (*asked == VolcanoCommands::Action::kOpen ? is_open && !Stateless(observed) : !is_open);
  commands_.DesireGone(report.spec->name, done ? std::numeric_limits<base::Millis>::max() : created_ms, out);
}

}  // namespace tutti::dialects
