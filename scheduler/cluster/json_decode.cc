// SPDX-License-Identifier: Apache-2.0
#include "cluster/json_decode.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/json.h"
#include "cluster/json_reader.h"
#include "model/list_limit.h"

namespace tutti::cluster {
namespace {

using Json = base::Json;
using model::ContainerRequests;
using model::Full;

model::ObjectMeta ReadMeta(JsonReader& read, const JsonField& object) {
  const JsonField meta = object["metadata"];
  model::ObjectMeta out;
  out.ns = read.Text(meta["namespace"]);
  out.name = read.Text(meta["name"]);
  out.uid = read.Text(meta["uid"]);
  out.resource_version = read.Text(meta["resourceVersion"]);
  out.generation = read.Integer(meta["generation"], 0);
  out.created_ms = read.Time(meta["creationTimestamp"], 0);
  out.deleted_ms = read.Time(meta["deletionTimestamp"], -1);
  out.labels = read.Map(meta["labels"]);
  out.annotations = read.Map(meta["annotations"]);
  read.Items(meta["ownerReferences"], [&](const JsonField& owner) {
    if (read.Flag(owner["controller"]))
      out.controller = model::OwnerReference{read.Text(owner["kind"]), read.Text(owner["name"]),
                                             read.Text(owner["uid"]), read.Text(owner["apiVersion"])};
  });
  if (out.name.empty()) read.Problem(meta["name"], "is missing");
  return out;
}

// --- Requests ---

// requests, and limits for what they leave out, as the API server defaults them.
model::ResourceList ReadRequests(JsonReader& read, const JsonField& resources) {
  model::ResourceList requests = read.Resources(resources["requests"]);
  for (const auto& [name, amount] : read.Resources(resources["limits"])) {
    if (!requests.Has(name)) requests.Set(name, amount);
  }
  return requests;
}

// What a bound pod, or a container of it, holds by now: during a resize that may be more than the spec asks for
// (component-helpers resource.PodRequests with UseStatusResources).
struct HeldResources {
  std::map<std::string, model::ResourceList> by_container;
  std::optional<model::ResourceList> by_pod;
  bool infeasible_resize = false;

  model::ResourceList Effective(const model::ResourceList& asked, const model::ResourceList& held) const {
    model::ResourceList effective = held;
    if (!infeasible_resize) effective.MaxAll(asked);
    return effective;
  }
};

// What `status`, of a pod or a container, says of it; nullopt: it says nothing.
std::optional<model::ResourceList> ReadActual(JsonReader& read, const JsonField& status) {
  const JsonField resources = status["resources"];
  if (!resources.present()) return std::nullopt;
  model::ResourceList amounts = read.Resources(resources["requests"]);
  amounts.MaxAll(read.Resources(status["allocatedResources"]));
  return amounts;
}

HeldResources ReadHeld(JsonReader& read, const JsonField& status) {
  HeldResources held;
  for (const char* list : {"initContainerStatuses", "containerStatuses"})
    read.Items(status[list], [&](const JsonField& container) {
      if (auto amounts = ReadActual(read, container))
        held.by_container[read.Text(container["name"])] = *std::move(amounts);
    });
  held.by_pod = ReadActual(read, status);
  bool seen = false;
  read.Items(status["conditions"], [&](const JsonField& condition) {
    if (read.Text(condition["type"]) != "PodResizePending" || std::exchange(seen, true)) return;
    held.infeasible_resize = read.Text(condition["reason"]) == "Infeasible";
  });
  return held;
}

// The containers of a pod: as they ask, and as they hold.
struct Containers {
  std::vector<ContainerRequests> init, ordinary;
};

Containers ReadAsked(JsonReader& read, const JsonField& spec, const auto& read_resources) {
  Containers asked;
  read.Items(spec["initContainers"], [&](const JsonField& container) {
    asked.init.push_back({read_resources(container["resources"]), read.Text(container["restartPolicy"]) == "Always"});
  });
  read.Items(spec["containers"], [&](const JsonField& container) {
    asked.ordinary.push_back({read_resources(container["resources"]), false});
  });
  return asked;
}

// An init container that does not restart has run, whatever its status says.
Containers ReadHolding(JsonReader& read, const JsonField& spec, const HeldResources& held, Containers asked) {
  if (held.by_container.empty()) return asked;
  const auto hold = [&](const JsonField& list, std::vector<ContainerRequests>* containers, bool all) {
    size_t i = 0;
    read.Items(list, [&](const JsonField& container) {
      ContainerRequests& one = (*containers)[i++];
      const auto at = held.by_container.find(read.Text(container["name"]));
      if (at == held.by_container.end() || !(all || one.restartable_init)) return;
      one.requests = held.Effective(one.requests, at->second);
    });
  };
  hold(spec["initContainers"], &asked.init, false);
  hold(spec["containers"], &asked.ordinary, true);
  return asked;
}

PodLevelResources ReadPodLevel(JsonReader& read, const JsonField& spec, const Containers& asked) {
  const JsonField resources = spec["resources"];
  PodLevelResources pod{read.Resources(resources["requests"]), read.Resources(resources["limits"])};
  if (pod.requests.empty() && pod.limits.empty()) return pod;
  const auto of_limits = [&](const JsonField& of) { return read.Resources(of["limits"]); };
  const Containers limits = ReadAsked(read, spec, of_limits);
  for (const auto& [name, amount] : model::AggregateRequests(limits.init, limits.ordinary))
    if (name.starts_with("hugepages-") && !pod.requests.Has(name) && !pod.limits.Has(name))
      pod.limits.Set(name, amount);
  if (pod.limits.empty()) return pod;
  for (const auto& [name, amount] : model::AggregateRequests(asked.init, asked.ordinary))
    if ((name == model::kCpu || name == model::kMemory) && !pod.requests.Has(name)) pod.requests.Set(name, amount);
  for (const auto& [name, amount] : pod.limits)
    if (model::IsPodLevelResource(name) && !pod.requests.Has(name)) pod.requests.Set(name, amount);
  return pod;
}

void ReadAllRequests(JsonReader& read, const JsonField& spec, const HeldResources& held, model::CountedAs as,
                     model::PodSpec* out) {
  Containers asked = ReadAsked(read, spec, [&](const JsonField& of) { return ReadRequests(read, of); });
  model::ResourceList pod_level = ReadPodLevel(read, spec, asked).requests;
  if (held.by_pod) {
    const model::ResourceList effective = held.Effective(pod_level, *held.by_pod);
    for (const auto& [name, amount] : model::ResourceList(pod_level)) pod_level.Set(name, effective.Get(name));
  }
  const Containers holding = ReadHolding(read, spec, held, std::move(asked));
  model::SetEffectiveRequests(holding.init, holding.ordinary, pod_level, read.Resources(spec["overhead"]), as, out);
}

void ReadHostPorts(JsonReader& read, const JsonField& container, bool host_network, model::PodSpec* spec) {
  read.Items(container["ports"], [&](const JsonField& port) {
    int64_t number = read.Integer(port["hostPort"], 0);
    if (number == 0 && host_network) number = read.Integer(port["containerPort"], 0);
    if (number <= 0) return;
    spec->host_ports.push_back({read.Text(port["hostIP"]), read.Text(port["protocol"]), static_cast<int32_t>(number)});
  });
}

void ReadContainers(JsonReader& read, const JsonField& spec, model::PodSpec* out) {
  const bool host_network = read.Flag(spec["hostNetwork"]);
  const auto note = [&](const JsonField& container, bool ports) {
    if (std::string image = read.Text(container["image"]); !image.empty()) out->images.push_back(std::move(image));
    ++out->container_count;
    if (ports) ReadHostPorts(read, container, host_network, out);
  };
  read.Items(spec["initContainers"],
             [&](const JsonField& container) { note(container, read.Text(container["restartPolicy"]) == "Always"); });
  read.Items(spec["containers"], [&](const JsonField& container) { note(container, true); });
  std::ranges::sort(out->host_ports);
  const auto repeats = std::ranges::unique(out->host_ports);
  out->host_ports.erase(repeats.begin(), repeats.end());
  model::Cut(&out->host_ports);
}

// --- Where it may run ---

model::NodeSelectorTerm ReadNodeTerm(JsonReader& read, const JsonField& term) {
  return {read.Requirements(term["matchExpressions"]), read.Requirements(term["matchFields"])};
}

void ReadNodeAffinity(JsonReader& read, const JsonField& affinity, model::PodSpec* out) {
  const JsonField required = affinity["requiredDuringSchedulingIgnoredDuringExecution"];
  if (required.present()) {
    out->required_node_affinity.emplace();
    read.Items(required["nodeSelectorTerms"], [&, &terms = out->required_node_affinity->terms](const JsonField& term) {
      if (!Full(terms)) terms.push_back(ReadNodeTerm(read, term));
    });
  }
  read.Items(affinity["preferredDuringSchedulingIgnoredDuringExecution"], [&](const JsonField& item) {
    if (Full(out->preferred_node_affinity)) return;
    out->preferred_node_affinity.push_back(
        {static_cast<int32_t>(read.Integer(item["weight"], 0)), ReadNodeTerm(read, item["preference"])});
  });
}

model::PodAffinityTerm ReadPodTerm(JsonReader& read, const JsonField& term) {
  return {read.Selector(term["labelSelector"]),     read.Texts(term["namespaces"]),
          read.Selector(term["namespaceSelector"]), read.Text(term["topologyKey"]),
          read.Texts(term["matchLabelKeys"]),       read.Texts(term["mismatchLabelKeys"])};
}

model::PodAffinity ReadPodAffinity(JsonReader& read, const JsonField& affinity) {
  model::PodAffinity out;
  read.Items(affinity["requiredDuringSchedulingIgnoredDuringExecution"], [&](const JsonField& term) {
    if (!Full(out.required)) out.required.push_back(ReadPodTerm(read, term));
  });
  read.Items(affinity["preferredDuringSchedulingIgnoredDuringExecution"], [&](const JsonField& item) {
    if (Full(out.preferred)) return;
    out.preferred.push_back(
        {static_cast<int32_t>(read.Integer(item["weight"], 0)), ReadPodTerm(read, item["podAffinityTerm"])});
  });
  return out;
}

void ReadSpread(JsonReader& read, const JsonField& spec, model::PodSpec* out) {
  read.Items(spec["topologySpreadConstraints"], [&](const JsonField& item) {
    if (Full(out->spread)) return;
    model::TopologySpread spread;
    spread.max_skew = static_cast<int32_t>(read.Integer(item["maxSkew"], 1));
    spread.topology_key = read.Text(item["topologyKey"]);
    spread.hard = read.Text(item["whenUnsatisfiable"]) != "ScheduleAnyway";
    spread.selector = read.Selector(item["labelSelector"]);
    if (const JsonField domains = item["minDomains"]; domains.present()) {
      spread.min_domains = static_cast<int32_t>(read.Integer(domains, 1));
    }
    spread.node_affinity_policy = read.Text(item["nodeAffinityPolicy"]);
    spread.node_taints_policy = read.Text(item["nodeTaintsPolicy"]);
    spread.match_label_keys = read.Texts(item["matchLabelKeys"]);
    out->spread.push_back(std::move(spread));
  });
}

void ReadTolerations(JsonReader& read, const JsonField& spec, model::PodSpec* out) {
  read.Items(spec["tolerations"], [&](const JsonField& item) {
    out->tolerations.push_back(
        {read.Text(item["key"]), read.Text(item["operator"]), read.Text(item["value"]), read.Text(item["effect"])});
  });
}

// --- Volumes ---

using Source = model::PodVolume::Source;

// A disk that a pod names itself, of one of the sources that are served by CSI drivers by now.
void ReadDisk(JsonReader& read, const JsonField& volume, const char* source, const char* id, Source as,
              model::PodSpec* out) {
  const JsonField disk = volume[source];
  if (!disk.present()) return;
  model::PodVolume& made = out->volumes.emplace_back();
  made.source = as;
  made.disk = read.Text(disk[id]);
  made.csi = model::MovedDisk(source, made.disk, "");
  made.read_only = read.Flag(disk["readOnly"]);
}

void ReadVolume(JsonReader& read, const JsonField& volume, model::PodSpec* out) {
  if (const JsonField image = volume["image"]; image.present())
    if (std::string reference = read.Text(image["reference"]); !reference.empty())
      out->images.push_back(std::move(reference));
  if (Full(out->volumes)) return;
  if (volume["persistentVolumeClaim"].present()) out->volumes.emplace_back().source = Source::kClaim;
  if (volume["ephemeral"].present()) out->volumes.emplace_back().source = Source::kEphemeral;
  ReadDisk(read, volume, "gcePersistentDisk", "pdName", Source::kGcePersistentDisk, out);
  ReadDisk(read, volume, "awsElasticBlockStore", "volumeID", Source::kAwsElasticBlockStore, out);
  ReadDisk(read, volume, "iscsi", "iqn", Source::kIscsi, out);
  ReadDisk(read, volume, "azureDisk", "diskURI", Source::kMoved, out);
  ReadDisk(read, volume, "cinder", "volumeID", Source::kMoved, out);
  ReadDisk(read, volume, "portworxVolume", "volumeID", Source::kMoved, out);
  if (const JsonField rbd = volume["rbd"]; rbd.present()) {
    model::PodVolume& made = out->volumes.emplace_back();
    made.source = Source::kRbd;
    made.disk = model::RbdDisk(read.Text(rbd["pool"]), read.Text(rbd["image"]));
    made.monitors = read.Texts(rbd["monitors"]);
    made.read_only = read.Flag(rbd["readOnly"]);
  }
}

// The claims are the pod's own, not its class's.
void ReadClaims(JsonReader& read, const JsonField& spec, model::Pod* pod) {
  read.Items(spec["volumes"], [&](const JsonField& volume) {
    if (Full(pod->claims)) return;
    const JsonField claim = volume["persistentVolumeClaim"];
    if (claim.present()) pod->claims.push_back({read.Text(claim["claimName"]), false});
    if (volume["ephemeral"].present()) pod->claims.push_back({pod->meta.name + "-" + read.Text(volume["name"]), true});
  });
}

std::shared_ptr<model::PodSpec> ReadSpec(JsonReader& read, const JsonField& spec, const HeldResources& held,
                                         model::CountedAs as) {
  auto out = std::make_shared<model::PodSpec>();
  out->scheduler_name = read.Text(spec["schedulerName"]);
  if (out->scheduler_name.empty()) out->scheduler_name = "default-scheduler";
  out->priority = static_cast<int32_t>(read.Integer(spec["priority"], 0));
  out->never_preempts = read.Text(spec["preemptionPolicy"]) == model::kNeverPreempts;
  ReadContainers(read, spec, out.get());
  ReadAllRequests(read, spec, held, as, out.get());
  out->node_selector = read.Map(spec["nodeSelector"]);
  const JsonField affinity = spec["affinity"];
  ReadNodeAffinity(read, affinity["nodeAffinity"], out.get());
  out->pod_affinity = ReadPodAffinity(read, affinity["podAffinity"]);
  out->pod_anti_affinity = ReadPodAffinity(read, affinity["podAntiAffinity"]);
  ReadTolerations(read, spec, out.get());
  ReadSpread(read, spec, out.get());
  read.Items(spec["volumes"], [&](const JsonField& volume) { ReadVolume(read, volume, out.get()); });
  std::ranges::sort(out->images);
  read.Items(spec["resourceClaims"], [&](const JsonField&) { out->has_claims = true; });
  return out;
}

// --- Status ---

void ReadStatus(JsonReader& read, const JsonField& status, model::Pod* pod) {
  pod->phase = model::ParsePhase(read.Text(status["phase"]));
  pod->nominated_node = read.Text(status["nominatedNodeName"]);
  pod->started_ms = read.Time(status["startTime"], 0);
  read.Items(status["conditions"], [&](const JsonField& condition) {
    const std::string type = read.Text(condition["type"]);
    const bool status = read.Text(condition["status"]) == "True";
    if (type == "PodScheduled") {
      pod->scheduled = {true, status, read.Text(condition["reason"]), read.Text(condition["message"]),
                        read.Integer(condition["observedGeneration"], 0)};
      if (status) pod->bound_ms = read.Time(condition["lastTransitionTime"], 0);
    }
    if (type == model::kPreemptingCondition && status)
      pod->preempting = std::make_shared<const std::string>(read.Text(condition["message"]));
    if (type != model::kDisruptionTarget) return;
    pod->undo_begun = status && read.Text(condition["reason"]) == model::kUndoReason;
    pod->preempted = status && read.Text(condition["reason"]) == model::kPreemptionReason;
  });
}

// Whether two maps are the same but for this key.
bool SameBut(const Json& a, const Json& b, std::string_view key) {
  if (base::IsShared(a, b)) return true;
  if (!a.is_object() || !b.is_object()) return a == b;
  const auto &mine = a.get_ref<const Json::object_t&>(), &other = b.get_ref<const Json::object_t&>();
  const auto skip = [key](auto at, auto end) { return at != end && at->first == key ? std::next(at) : at; };
  auto x = mine.begin(), y = other.begin();
  while (true) {
    x = skip(x, mine.end());
    y = skip(y, other.end());
    if (x == mine.end() || y == other.end()) return x == mine.end() && y == other.end();
    if (*x != *y) return false;
    ++x, ++y;
  }
}

// The value of the key; null where there is none.
const Json& At(const Json& map, std::string_view key) {
  static const Json null;
  const auto* object = map.get_ptr<const Json::object_t*>();
  const auto at = object ? object->find(key) : Json::object_t::const_iterator();
  return object && at != object->end() ? at->second : null;
}

bool IsText(const Json& value, std::string_view text) {
  const auto* held = value.get_ptr<const std::string*>();
  return held != nullptr && *held == text;
}

// Whether ReadHeld finds the same in both for certain.
bool SameHeld(const Json& a, const Json& b) {
  const auto same = [](const Json& x, const Json& y) {
    return At(x, "resources") == At(y, "resources") && At(x, "allocatedResources") == At(y, "allocatedResources");
  };
  const auto same_container = [&](const Json& x, const Json& y) {
    return At(x, "name") == At(y, "name") && same(x, y);
  };
  for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
    const Json &x = At(a, list), &y = At(b, list);
    if (x.type() != y.type() || !std::equal(x.begin(), x.end(), y.begin(), y.end(), same_container)) return false;
  }
  const auto resizes = [](const Json& status) {
    return std::ranges::any_of(At(status, "conditions"),
                               [](const Json& condition) { return IsText(At(condition, "type"), "PodResizePending"); });
  };
  return same(a, b) && !resizes(a) && !resizes(b);
}

// `same_spec`: null: it is read.
model::Pod ReadPod(JsonReader& read, const Json& json, std::shared_ptr<const model::PodSpec> same_spec = nullptr) {
  const JsonField root(json), spec = root["spec"], status = root["status"], group = spec["schedulingGroup"];
  model::Pod pod;
  pod.meta = ReadMeta(read, root);
  pod.node_name = read.Text(spec["nodeName"]);
  pod.run_limit_ms = model::RunLimit(read.Integer(spec["activeDeadlineSeconds"], 0));
  pod.scheduling_group = read.Text(group["podGroupName"]);
  read.Items(spec["schedulingGates"],
             [&](const JsonField& gate) { pod.scheduling_gates.push_back(read.Text(gate["name"])); });
  ReadClaims(read, spec, &pod);
  ReadStatus(read, status, &pod);
  if (same_spec && read.ok()) {
    pod.spec = std::move(same_spec);
    return pod;
  }
  auto decoded = pod.bound() ? ReadSpec(read, spec, ReadHeld(read, status), model::CountedAs::kOccupant)
                             : ReadSpec(read, spec, {}, model::CountedAs::kWaiting);
  if (!read.ok()) decoded->saturated = true;
  pod.spec = std::move(decoded);
  return pod;
}

model::Node ReadNode(JsonReader& read, const Json& json) {
  const JsonField root(json), spec = root["spec"], status = root["status"];
  model::Node node;
  node.meta = ReadMeta(read, root);
  node.allocatable = read.Resources(status["allocatable"]);
  node.unschedulable = read.Flag(spec["unschedulable"]);
  read.Items(spec["taints"], [&](const JsonField& taint) {
    node.taints.push_back({read.Text(taint["key"]), read.Text(taint["value"]), read.Text(taint["effect"])});
  });
  // Manifests for offline use rarely carry conditions: a node that says nothing of itself counts as ready.
  read.Items(status["conditions"], [&](const JsonField& condition) {
    if (read.Text(condition["type"]) == "Ready") node.ready = read.Text(condition["status"]) == "True";
  });
  read.Items(status["images"], [&](const JsonField& image) {
    node.images.push_back({read.Texts(image["names"]), read.Integer(image["sizeBytes"], 0)});
  });
  return node;
}

template <typename T>
base::Result<T> Checked(JsonReader& read, T value) {
  if (!read.ok()) return base::Invalid(read.problem());
  return value;
}

}  // namespace

base::Result<model::Pod> DecodePod(const Json& pod) {
  JsonReader read;
  model::Pod decoded = ReadPod(read, pod);
  return Checked(read, std::move(decoded));
}

PodLevelResources DefaultPodLevel(const Json& spec) {
  JsonReader read;
  const JsonField root(spec);
  return ReadPodLevel(read, root, ReadAsked(read, root, [&](const JsonField& of) { return ReadRequests(read, of); }));
}

base::Result<model::Node> DecodeNode(const Json& node) {
  JsonReader read;
  model::Node decoded = ReadNode(read, node);
  return Checked(read, std::move(decoded));
}

model::Selection DecodeSelection(model::Selection::Kind kind, const Json& object, std::vector<std::string>* problems) {
  using Kind = model::Selection::Kind;
  JsonReader read;
  const JsonField root(object), meta = root["metadata"], spec = root["spec"], selector = spec["selector"];
  model::Selection selection;
  selection.kind = kind;
  selection.ns = read.Text(meta["namespace"]);
  selection.name = read.Text(meta["name"]);
  if (kind == Kind::kService || kind == Kind::kReplicationController)
    selection.selector.match_labels = read.Map(selector);
  else
    selection.selector = read.Selector(selector).value_or(model::LabelSelector());
  *problems = read.TakeProblems();
  return selection;
}

base::Result<model::Object> DecodeObject(const model::ObjectKind& kind, std::shared_ptr<const Json> object) {
  JsonReader read;
  const JsonField root(*object);
  model::Object decoded;
  const std::string api_version = read.Text(root["apiVersion"]);
  const size_t slash = api_version.find('/');
  decoded.group = slash == std::string::npos ? "" : api_version.substr(0, slash);
  decoded.version = slash == std::string::npos ? api_version : api_version.substr(slash + 1);
  decoded.resource = kind.resource;
  decoded.labelled = !kind.label.empty();
  decoded.kind = read.Text(root["kind"]);
  if (decoded.kind.empty()) decoded.kind = kind.kind;  // items of a list do not repeat it
  if (api_version.empty()) decoded.group = kind.group;
  decoded.meta = ReadMeta(read, root);
  decoded.body = std::move(object);
  return Checked(read, std::move(decoded));
}

model::Pod DecodePodLeniently(const Json& pod, std::vector<std::string>* problems) {
  JsonReader read;
  model::Pod decoded = ReadPod(read, pod);
  *problems = read.TakeProblems();
  return decoded;
}

model::Pod DecodePodLeniently(const Json& pod, std::shared_ptr<const model::PodSpec> spec,
                              std::vector<std::string>* problems) {
  JsonReader read;
  model::Pod decoded = ReadPod(read, pod, std::move(spec));
  *problems = read.TakeProblems();
  return decoded;
}

bool SameSpec(const Json& a, const Json& b) {
  const Json &x = At(a, "spec"), &y = At(b, "spec");
  const auto is_bound = [](const Json& spec) {
    const auto* node = At(spec, "nodeName").get_ptr<const std::string*>();
    return node != nullptr && !node->empty();
  };
  const bool bound = is_bound(x);
  return bound == is_bound(y) && SameBut(x, y, "nodeName") && (!bound || SameHeld(At(a, "status"), At(b, "status")));
}

model::ResourceList DecodeRequests(const Json& pod) {
  JsonReader read;
  const JsonField root(pod), spec = root["spec"], status = root["status"];
  const bool bound = !read.Text(spec["nodeName"]).empty();
  model::PodSpec out;
  ReadAllRequests(read, spec, bound ? ReadHeld(read, status) : HeldResources(),
                  bound ? model::CountedAs::kOccupant : model::CountedAs::kWaiting, &out);
  return out.requests;
}

model::Node DecodeNodeLeniently(const Json& node, std::vector<std::string>* problems) {
  JsonReader read;
  model::Node decoded = ReadNode(read, node);
  *problems = read.TakeProblems();
  return decoded;
}

}  // namespace tutti::cluster
