// SPDX-License-Identifier: Apache-2.0
#include "sim/nodes/kubelet.h"

#include <fmt/format.h>

#include <utility>

#include "base/duration.h"
#include "base/log.h"
#include "cluster/json_decode.h"
#include "sim/objects/lifetime.h"

namespace tutti::sim {
namespace {

constexpr int64_t kDefaultGraceSeconds = 30;
constexpr int64_t kTerminatedBySignal = 143;

std::optional<base::Millis> DurationOf(const Json& pod, const char* annotation) {
  const std::string& text = AnnotationOf(pod, annotation);
  if (text.empty()) return std::nullopt;
  const auto duration = base::ParseSpan(text);
  if (duration) return *duration;
  base::LogWarn("annotation cannot be read",
                {{"pod", KeyOf(pod)}, {"annotation", annotation}, {"problem", duration.error().message}});
  return std::nullopt;
}

int64_t ExitCode(const Json& pod) {
  const std::string& text = AnnotationOf(pod, kExitCodeAnnotation);
  return text.empty() ? 0 : std::atoll(text.c_str());
}

model::ResourceList RequestsOf(const Json& pod) {
  model::ResourceList requests = cluster::DecodeRequests(pod);
  requests.Set(model::kPods, 1);
  return requests;
}

// What the spec asks for, whatever the status says.
model::ResourceList AskedBy(const Json& pod) {
  Json asked = pod;
  asked.erase("status");
  return RequestsOf(asked);
}

bool IsSidecar(const Json& container) { return DigString(container, "restartPolicy") == "Always"; }

// What the pod was given (status...allocatedResources), or else asks for; what its containers still use is more during
// a resize, but a kubelet does not count that when it admits another. An init container that has run holds nothing, so
// the status counts of sidecars alone.
model::ResourceList AllocatedTo(const Json& pod) {
  Json given = pod;
  given.erase("status");
  for (const auto& [list, statuses] :
       {std::pair("containers", "containerStatuses"), std::pair("initContainers", "initContainerStatuses")}) {
    if (!Child(given["spec"], list).is_array()) continue;
    for (Json& container : given["spec"][list]) {
      if (list == std::string_view("initContainers") && !IsSidecar(container)) continue;
      for (const Json& status : ArrayOf(Dig(pod, "status", statuses)))
        if (const Json& allocated = Child(status, "allocatedResources");
            allocated.is_object() && DigString(status, "name") == DigString(container, "name"))
          container["resources"]["requests"] = allocated;
    }
  }
  if (const Json& allocated = Dig(pod, "status", "allocatedResources");
      allocated.is_object() && Dig(pod, "spec", "resources").is_object())
    given["spec"]["resources"]["requests"] = allocated;
  return RequestsOf(given);
}

// Says of the pod, or of a container of it, that it has been given what it asks for.
void SetGiven(const Json& resources, Json& status) {
  if (resources.empty()) return;
  status["resources"] = resources;
  if (const Json& requests = Child(resources, "requests"); requests.is_object())
    status["allocatedResources"] = requests;
}

void SetAllGiven(const Json& spec, Json& status) {
  for (const auto& [list, statuses] :
       {std::pair("containers", "containerStatuses"), std::pair("initContainers", "initContainerStatuses")}) {
    if (!Child(status, statuses).is_array()) continue;
    for (Json& one : status[statuses])
      for (const Json& container : ArrayOf(Child(spec, list)))
        if (DigString(container, "name") == DigString(one, "name")) SetGiven(Child(container, "resources"), one);
  }
  SetGiven(Child(spec, "resources"), status);
}

void DropCondition(Json& pod, std::string_view type) {
  Json& status = pod["status"];
  if (!Child(status, "conditions").is_array()) return;
  Json kept = Json::array();
  for (const Json& condition : status["conditions"])
    if (DigString(condition, "type") != type) kept.push_back(condition);
  status["conditions"] = std::move(kept);
}

Json ContainerStatus(const Json& container, Json state, bool running, bool ready) {
  return Fields("image", DigString(container, "image"), "imageID", "", "lastState", Json::object(), "name",
                DigString(container, "name"), "ready", ready, "restartCount", 0, "started", running, "state",
                std::move(state));
}

Json Running(const std::string& since) { return Fields("running", Fields("startedAt", since)); }

Json Terminated(const std::string& since, const std::string& until, int64_t exit_code) {
  return Fields("terminated", Fields("exitCode", exit_code, "finishedAt", until, "reason",
                                     exit_code == 0 ? "Completed" : "Error", "startedAt", since));
}

// Of containers that start now, and what they and the pod were given.
Json StartedStatus(const Json& spec, const std::string& since) {
  Json status = Json::object(), containers = Json::array(), init_containers = Json::array();
  for (const Json& container : ArrayOf(Child(spec, "containers")))
    containers.push_back(ContainerStatus(container, Running(since), true, true));
  for (const Json& container : ArrayOf(Child(spec, "initContainers"))) {
    const bool stays = IsSidecar(container);
    init_containers.push_back(
        ContainerStatus(container, stays ? Running(since) : Terminated(since, since, 0), stays, true));
  }
  status["containerStatuses"] = std::move(containers);
  if (!init_containers.empty()) status["initContainerStatuses"] = std::move(init_containers);
  SetAllGiven(spec, status);
  return status;
}

// What `pod` asks for more than `allocatable` has left: the first in the order in which kubelets look.
std::optional<std::string> FirstShortage(const model::ResourceList& requests, const model::ResourceSum& used,
                                         const model::ResourceList& allocatable) {
  const auto is_short = [&](std::string_view name) {
    const int64_t asked = requests.Get(name);
    return asked > 0 && asked > allocatable.Get(name) - used.Get(name);
  };
  for (const std::string_view name : {model::kPods, model::kCpu, model::kMemory, model::kEphemeralStorage}) {
    if (is_short(name)) return std::string(name);
  }
  // As in a real kubelet, an extended resource that the node does not list is for others to count, such as a scheduler
  // extender.
  const auto counts = [&](std::string_view name) {
    return allocatable.Has(name) || name.find('/') == std::string_view::npos;
  };
  for (const auto& [name, amount] : requests) {
    if (is_short(name) && counts(name)) return name;
  }
  return std::nullopt;
}

}  // namespace

Kubelet::Kubelet(Store& store, Decoded& decoded, const base::Clock& clock, KubeletOptions options)
    : store_(store), decoded_(decoded), clock_(clock), options_(options), events_(store) {}

model::ResourceList Kubelet::UsedOn(const std::string& node) const {
  const auto it = nodes_.find(node);
  return it == nodes_.end() ? model::ResourceList{} : it->second.used.Seen();
}

void Kubelet::Observe(const WatchEvent& event) {
  if (event.resource == kPods) OnPod(event);
  if (event.resource == kNodes) OnNode(event);
}

void Kubelet::OnPod(const WatchEvent& event) {
  const std::string& node = DigString(*event.object, "spec", "nodeName");
  if (node.empty()) return;
  const ObjectKey key = KeyFor(*event.object);
  if (event.type == EventType::kDeleted) {
    nodes_[node].bound.erase(key);
    decoded_.Drop(UidOf(*event.object));
  } else {
    nodes_[node].bound.insert(key);
  }
  queue_.Add(key);
}

void Kubelet::OnNode(const WatchEvent& event) {
  NodeState& node = nodes_[NameOf(*event.object)];
  node.present = event.type != EventType::kDeleted;
  const bool was_ready = node.ready;
  node.ready = node.present && IsTrue(*event.object, "Ready");
  if (!node.present) return decoded_.Drop(UidOf(*event.object));
  node.allocatable = decoded_.Node(event.object)->allocatable;
  if (was_ready || !node.ready) return;
  for (const ObjectKey& key : node.bound) queue_.Add(key);
}

bool Kubelet::Work() {
  bool worked = false;
  while (const auto key = queue_.Take(clock_.MonotonicMs())) {
    Reconcile(*key);
    worked = true;
  }
  return worked;
}

void Kubelet::Reconcile(const ObjectKey& key) {
  const Object object = store_.Find(kPods, key.ns, key.name);
  const auto known = admitted_.find(key);
  if (known != admitted_.end() && (!object || known->second.uid != UidOf(*object))) Release(key);
  if (!object) return;
  const Json& pod = *object;
  const auto node = nodes_.find(DigString(pod, "spec", "nodeName"));
  if (node == nodes_.end()) return;
  if (IsFinishedPod(pod)) Release(key);
  if (!node->second.ready) return;
  if (IsTerminating(pod)) return Stop(key, pod);
  if (IsFinishedPod(pod)) return;
  if (!admitted_.contains(key)) return Admit(key, object, node->second);
  Run(key, admitted_[key], pod);
}

void Kubelet::Release(const ObjectKey& key) {
  const auto it = admitted_.find(key);
  if (it == admitted_.end()) return;
  NodeState& node = nodes_[it->second.node];
  node.used.Subtract(it->second.requests);
  node.deferred.erase(key);
  for (const ObjectKey& waiting : node.deferred) queue_.Add(waiting);
  admitted_.erase(it);
}

void Kubelet::Admit(const ObjectKey& key, const Object& object, NodeState& node) {
  const Json& pod = *object;
  model::ResourceList requests;
  if (const Json& status = Child(pod, "status");
      status.contains("containerStatuses") || status.contains("allocatedResources")) {
    requests = AllocatedTo(pod);
  } else {
    requests = decoded_.Pod(object)->spec->requests;
    requests.Set(model::kPods, 1);
  }
  // A pod that runs already was admitted before this kubelet was watching.
  const bool running = DigString(pod, "status", "phase") == "Running";
  if (!running) {
    if (const auto resource = FirstShortage(requests, node.used, node.allocatable)) {
      return Reject(
          pod, *resource,
          fmt::format("Node didn't have enough resource: {}, requested: {}, used: {}, capacity: {}", *resource,
                      requests.Get(*resource), node.used.Get(*resource), node.allocatable.Get(*resource)));
    }
  }
  node.used.Add(requests);
  Admitted& admitted = admitted_[key];
  admitted = {UidOf(pod),
              DigString(pod, "spec", "nodeName"),
              std::move(requests),
              IntOf(Dig(pod, "metadata", "generation")),
              clock_.MonotonicMs() + options_.start_ms,
              {},
              {}};
  Run(key, admitted, pod);
}

void Kubelet::Reject(const Json& pod, const std::string& resource, const std::string& message) {
  const std::string reason = "OutOf" + resource;
  if (written_ != EventsWritten::kNone) events_.EmitAbout(pod, {true, reason, "", message, "kubelet"});
  store_.Modify(
      kPods, NamespaceOf(pod), NameOf(pod),
      [&](Json& next) {
        next["status"]["phase"] = "Failed";
        next["status"]["reason"] = reason;
        next["status"]["message"] = "Pod was rejected: " + message;
        next["status"]["startTime"] = base::FormatTime(store_.now_ms());
      },
      Part::kStatus);
}

// One step further: start, or finish, when its time has come.
void Kubelet::Run(const ObjectKey& key, Admitted& admitted, const Json& pod) {
  const base::Millis now = clock_.MonotonicMs();
  if (DigString(pod, "status", "phase") != "Running") {
    if (now < admitted.start_at_ms) return queue_.AddAt(key, admitted.start_at_ms);
    return Start(pod);
  }
  Resize(key, admitted, pod);
  const auto limit = model::RunLimit(IntOf(Dig(pod, "spec", "activeDeadlineSeconds")));
  auto run_for = RunTime(pod);
  const bool is_cut_off = limit > 0 && (!run_for || limit < *run_for);
  if (is_cut_off) run_for = limit;
  if (!admitted.finish_at_ms) {
    if (!run_for) return;
    const auto started = base::ParseTime(DigString(pod, "status", "startTime"));
    const base::Millis ran = started ? store_.now_ms() - *started : 0;
    // Times in a status are whole seconds: one that just started has run for less than one of them.
    admitted.finish_at_ms = now + *run_for - (ran < 1000 ? 0 : ran);
  }
  if (now < *admitted.finish_at_ms) return queue_.AddAt(key, *admitted.finish_at_ms);
  MarkEnded(pod, is_cut_off ? kTerminatedBySignal : ExitCode(pod), is_cut_off ? "DeadlineExceeded" : "");
}

void Kubelet::Resize(const ObjectKey& key, Admitted& admitted, const Json& pod) {
  NodeState& node = nodes_[admitted.node];
  const int64_t generation = IntOf(Dig(pod, "metadata", "generation"));
  if (generation == std::exchange(admitted.generation, generation) && !node.deferred.contains(key)) return;
  model::ResourceList asked = AskedBy(pod);
  model::ResourceSum others = node.used;
  others.Subtract(admitted.requests);
  const auto missing = FirstShortage(asked, others, node.allocatable);
  const bool never = missing && FirstShortage(asked, {}, node.allocatable);
  if (missing && !never)
    node.deferred.insert(key);
  else
    node.deferred.erase(key);
  if (!missing) {
    const model::ResourceList before = std::exchange(admitted.requests, std::move(asked));
    node.used.Subtract(before);
    node.used.Add(admitted.requests);
    for (const ObjectKey& waiting : node.deferred) queue_.Add(waiting);
  }
  store_.Modify(
      kPods, key.ns, key.name,
      [&](Json& next) {
        if (!missing) {
          SetAllGiven(Child(pod, "spec"), next["status"]);
          return DropCondition(next, "PodResizePending");
        }
        SetCondition(next,
                     {"PodResizePending", "True", never ? "Infeasible" : "Deferred",
                      fmt::format("Node didn't have enough resource: {}", *missing)},
                     store_.now_ms());
      },
      Part::kStatus);
}

const Kubelet::Begun& Kubelet::BeginNow(const Json& spec) {
  const Json &containers = Child(spec, "containers"), &init = Child(spec, "initContainers"),
             &resources = Child(spec, "resources");
  const base::Millis now = store_.now_ms();
  if (begun_.at_ms == now && begun_.containers == containers && begun_.init_containers == init &&
      begun_.resources == resources)
    return begun_;
  begun_ = {now, containers, init, resources, StartedStatus(spec, base::FormatTime(now)), Json::array()};
  for (const char* type : {"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady"})
    begun_.conditions.push_back(ConditionJson({type, "True", "", ""}, now));
  base::Freeze(begun_.status);
  base::Freeze(begun_.conditions);
  return begun_;
}

void Kubelet::Start(const Json& pod) {
  const base::Millis now = store_.now_ms();
  const Begun& begun = BeginNow(Child(pod, "spec"));
  const std::string ip = NextPodIp();
  const Object node = store_.Find(kNodes, "", DigString(pod, "spec", "nodeName"));
  std::string host_ip;
  for (const Json& address : node ? ArrayOf(Dig(*node, "status", "addresses")) : Json()) {
    if (DigString(address, "type") == "InternalIP") host_ip = DigString(address, "address");
  }
  store_.Modify(
      kPods, NamespaceOf(pod), NameOf(pod),
      [&](Json& next) {
        Json& status = next["status"];
        status["phase"] = "Running";
        status["startTime"] = base::FormatTime(now);
        status["podIP"] = ip;
        status["podIPs"] = Json::array({Fields("ip", ip)});
        if (!host_ip.empty()) {
          status["hostIP"] = host_ip;
          status["hostIPs"] = Json::array({Fields("ip", host_ip)});
        }
        for (const auto& [field, value] : begun.status.get_ref<const Json::object_t&>()) status[field] = value;
        for (const Json& condition : begun.conditions) {
          const std::string& type = DigString(condition, "type");
          if (ConditionOf(next, type).is_null() && Child(status, "conditions").is_array())
            status["conditions"].push_back(condition);
          else
            SetCondition(next, {type, "True", "", ""}, now);
        }
      },
      Part::kStatus);
}

void Kubelet::MarkEnded(const Json& pod, int64_t exit_code, const char* why) {
  const base::Millis now = store_.now_ms();
  store_.Modify(
      kPods, NamespaceOf(pod), NameOf(pod),
      [&](Json& next) {
        const std::string since = DigString(next, "status", "startTime");
        Json& status = next["status"];
        status["phase"] = exit_code == 0 ? "Succeeded" : "Failed";
        if (*why != '\0') status["reason"] = why;
        if (!since.empty()) status["containerStatuses"] = Json::array();
        for (const Json& container : since.empty() ? Json::array() : Dig(pod, "spec", "containers")) {
          status["containerStatuses"].push_back(
              ContainerStatus(container, Terminated(since, base::FormatTime(now), exit_code), false, false));
        }
        const std::string reason = exit_code == 0 ? "PodCompleted" : "PodFailed";
        for (const char* type : {"Ready", "ContainersReady"}) SetCondition(next, {type, "False", reason, ""}, now);
      },
      Part::kStatus);
}

void Kubelet::Stop(const ObjectKey& key, const Json& pod) {
  const base::Millis now = clock_.MonotonicMs();
  const auto admitted = admitted_.find(key);
  if (admitted != admitted_.end() && DigString(pod, "status", "phase") == "Running") {
    if (!admitted->second.stop_at_ms) {
      const int64_t grace = IntOf(Dig(pod, "metadata", "deletionGracePeriodSeconds"), kDefaultGraceSeconds);
      const base::Millis takes = DurationOf(pod, kStopAfterAnnotation).value_or(options_.stop_ms);
      admitted->second.stop_at_ms = now + std::min(takes, grace * 1000);
    }
    if (now < *admitted->second.stop_at_ms) return queue_.AddAt(key, *admitted->second.stop_at_ms);
  }
  // A controller that keeps the pod to count it (a Job) reads how it ended, also if it never ran.
  if (!IsFinishedPod(pod) && !Dig(pod, "metadata", "finalizers").empty()) MarkEnded(pod, kTerminatedBySignal, "");
  DeleteOptions options;
  options.grace_seconds = 0;
  options.uid = UidOf(pod);
  store_.Delete(kPods, key.ns, key.name, options);
}

std::optional<base::Millis> Kubelet::RunTime(const Json& pod) {
  if (const auto said = DurationOf(pod, kRunForAnnotation)) return said;
  if (DigString(ControllerOf(pod), "kind") == "Job") return options_.job_pods_run_ms;
  return std::nullopt;
}

std::string Kubelet::NextPodIp() {
  const uint32_t n = ++next_ip_;
  return fmt::format("10.{}.{}.{}", 128 + (n / 64516) % 64, (n / 254) % 254 + 1, n % 254 + 1);
}

}  // namespace tutti::sim
