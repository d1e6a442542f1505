// SPDX-License-Identifier: Apache-2.0
#include "kube/decode_pod_spec.h"

#include <algorithm>
#include <unordered_map>

#include "kube/decode_affinity.h"
#include "kube/decode_meta.h"
#include "kube/wire.h"
#include "model/list_limit.h"

namespace tutti::kube {
namespace {

using model::ContainerRequests;
using model::ResourceList;

enum SpecField : uint32_t {
  kVolumes = 1,
  kContainers = 2,
  kNodeSelector = 7,
  kHostNetwork = 11,
  kAffinity = 18,
  kSchedulerName = 19,
  kInitContainers = 20,
  kTolerations = 22,
  kPriority = 25,
  kOverhead = 32,
  kTopologySpread = 33,
  kResourceClaims = 39,
  kResources = 40,
};

enum ContainerField : uint32_t { kImage = 2, kPorts = 6, kContainerResources = 8, kRestartPolicy = 24 };

// --- Volumes ---

using Source = model::PodVolume::Source;

// A field of VolumeSource: what it is, and where in its message the disk's name and `readOnly` are.
struct SourceField {
  uint32_t field;
  Source source;
  const char* name;
  uint32_t disk, read_only;
};
constexpr uint32_t kClaimField = 10, kRbdField = 11, kEphemeralField = 29, kImageField = 30;
constexpr SourceField kSources[] = {
    {3, Source::kGcePersistentDisk, "gcePersistentDisk", 1, 4},
    {4, Source::kAwsElasticBlockStore, "awsElasticBlockStore", 1, 4},
    {8, Source::kIscsi, "iscsi", 2, 6},
    {13, Source::kMoved, "cinder", 1, 3},
    {22, Source::kMoved, "azureDisk", 2, 5},
    {24, Source::kMoved, "portworxVolume", 1, 3},
};

model::PodVolume DecodeRbd(std::string_view message) {
  model::PodVolume volume;
  volume.source = Source::kRbd;
  std::string image, pool;
  for (WireReader r(message); r.Next();) switch (r.field()) {
      case 1: volume.monitors.push_back(r.text()); break;
      case 2: image = r.text(); break;
      case 4: pool = r.text(); break;
      case 8: volume.read_only = r.flag(); break;
    }
  volume.disk = model::RbdDisk(pool, image);
  return volume;
}

model::PodVolume DecodeDisk(const SourceField& field, std::string_view message) {
  model::PodVolume volume;
  volume.source = field.source;
  for (WireReader r(message); r.Next();) {
    if (r.field() == field.disk) volume.disk = r.text();
    if (r.field() == field.read_only) volume.read_only = r.flag();
  }
  volume.csi = model::MovedDisk(field.name, volume.disk, "");
  return volume;
}

void DecodeVolume(std::string_view volume, model::PodSpec* spec) {
  const bool full = model::Full(spec->volumes);
  for (WireReader r(FindBytes(volume, 2)); r.Next();) {
    if (r.field() == kImageField)
      if (std::string image(FindBytes(r.bytes(), 1)); !image.empty()) spec->images.push_back(std::move(image));
    if (full) continue;
    if (r.field() == kClaimField) spec->volumes.emplace_back().source = Source::kClaim;
    if (r.field() == kEphemeralField) spec->volumes.emplace_back().source = Source::kEphemeral;
    if (r.field() == kRbdField) spec->volumes.push_back(DecodeRbd(r.bytes()));
    for (const SourceField& field : kSources)
      if (r.field() == field.field) spec->volumes.push_back(DecodeDisk(field, r.bytes()));
  }
}

// --- The key ---

// Fields of containers and of statuses are moved out of the way of the spec's own numbers.
constexpr uint32_t kInContainer = 1000, kInStatus = 2000, kInVolume = 3000;

void AppendTagged(uint32_t field, std::string_view bytes, std::string* key) { WireWriter(key).Bytes(field, bytes); }

// Of a claim, only that it is one.
void AppendVolumeKey(std::string_view volume, std::string* key) {
  for (WireReader r(FindBytes(volume, 2)); r.Next();) {
    if (r.field() == kClaimField || r.field() == kEphemeralField) AppendTagged(kInVolume + r.field(), "", key);
    const bool disk = std::ranges::any_of(kSources, [&](const SourceField& field) { return field.field == r.field(); });
    if (disk || r.field() == kRbdField || r.field() == kImageField) AppendTagged(kInVolume + r.field(), r.bytes(), key);
  }
}

void AppendContainerKey(std::string_view container, bool named, std::string* key) {
  for (WireReader r(container); r.Next();) switch (r.field()) {
      case 1:
        if (named) AppendTagged(kInContainer + 1, r.bytes(), key);
        break;
      case kImage:
      case kPorts:
      case kContainerResources:
      case kRestartPolicy: AppendTagged(kInContainer + r.field(), r.bytes(), key); break;
    }
}

void AppendHeldKey(const HeldResources& held, std::string* key) {
  for (const std::string_view status : held.container_statuses) {
    std::string_view name;
    for (WireReader r(status); r.Next();) {
      if (r.field() == 1) name = r.bytes();
      if (r.field() != 10 && r.field() != 11) continue;
      AppendTagged(kInStatus + 1, name, key);
      AppendTagged(kInStatus + r.field(), r.bytes(), key);
    }
  }
  if (held.pod_resources) {
    AppendTagged(kInStatus + 20, *held.pod_resources, key);
    for (const std::string_view entry : held.pod_allocated) AppendTagged(kInStatus + 19, entry, key);
  }
  if (held.infeasible_resize) AppendTagged(kInStatus, "", key);
}

// --- Resources ---

// `claims` in resources are has_claims, which PodSpec.resourceClaims says already.
struct Requests {
  ResourceList requests, limits;
};

Requests DecodeRequirements(std::string_view message, bool* bad) {
  Requests result;
  for (WireReader r(message); r.Next();) {
    if (r.field() == 1) *bad |= !SetResource(r.bytes(), &result.limits);
    if (r.field() == 2) *bad |= !SetResource(r.bytes(), &result.requests);
  }
  return result;
}

using HeldByName = std::unordered_map<std::string_view, ResourceList>;

// During a resize a pod, or a container of it, holds the larger of what it asks for and what it has been given
// (component-helpers resource.PodRequests with UseStatusResources).
ResourceList Effective(const ResourceList& asked, const ResourceList& given, bool infeasible_resize) {
  ResourceList effective = given;
  if (!infeasible_resize) effective.MaxAll(asked);
  return effective;
}

void HoldPodLevel(const HeldResources& held, ResourceList* pod_level, bool* bad) {
  if (!held.pod_resources) return;
  ResourceList given = DecodeRequirements(*held.pod_resources, bad).requests;
  for (const std::string_view entry : held.pod_allocated) {
    ResourceList one;
    *bad |= !SetResource(entry, &one);
    given.MaxAll(one);
  }
  const ResourceList effective = Effective(*pod_level, given, held.infeasible_resize);
  for (const auto& [name, amount] : ResourceList(*pod_level)) pod_level->Set(name, effective.Get(name));
}

HeldByName DecodeHeld(const HeldResources& held, bool* bad) {
  HeldByName by_name;
  for (const std::string_view status : held.container_statuses) {
    std::string_view name;
    ResourceList amounts;
    bool present = false;
    for (WireReader r(status); r.Next();) switch (r.field()) {
        case 1: name = r.bytes(); break;
        case 10: {
          ResourceList one;
          *bad |= !SetResource(r.bytes(), &one);
          amounts.MaxAll(one);
          break;
        }
        case 11:
          present = true;
          amounts.MaxAll(DecodeRequirements(r.bytes(), bad).requests);
          break;
      }
    if (present) by_name[name] = std::move(amounts);
  }
  return by_name;
}

// --- Containers ---

struct Container {
  ContainerRequests requests;
  std::string_view image;
  std::vector<std::string_view> ports;
};

// `ordinary`: no init container. Of those, one that does not restart has run, whatever its status says.
Container DecodeContainer(std::string_view message, bool ordinary, const HeldByName& held, bool infeasible_resize,
                          bool* bad) {
  Container container;
  std::string_view name;
  Requests own;
  for (WireReader r(message); r.Next();) switch (r.field()) {
      case 1: name = r.bytes(); break;
      case kImage: container.image = r.bytes(); break;
      case kPorts: container.ports.push_back(r.bytes()); break;
      case kContainerResources: own = DecodeRequirements(r.bytes(), bad); break;
      case kRestartPolicy: container.requests.restartable_init = !ordinary && r.bytes() == "Always"; break;
    }
  container.requests.requests = std::move(own.requests);  // the API server has defaulted them from the limits
  if (const auto at = held.find(name); at != held.end() && (ordinary || container.requests.restartable_init))
    container.requests.requests = Effective(container.requests.requests, at->second, infeasible_resize);
  return container;
}

void AddHostPorts(const Container& container, bool host_network, model::PodSpec* spec) {
  for (const std::string_view message : container.ports) {
    model::HostPort port;
    int64_t container_port = 0;
    for (WireReader r(message); r.Next();) switch (r.field()) {
        case 2: port.port = static_cast<int32_t>(r.number()); break;
        case 3: container_port = r.number(); break;
        case 4: port.protocol = r.text(); break;
        case 5: port.ip = r.text(); break;
      }
    if (port.port == 0 && host_network) port.port = static_cast<int32_t>(container_port);
    if (port.port > 0) spec->host_ports.push_back(std::move(port));
  }
}

void SortPorts(model::PodSpec* spec) {
  std::ranges::sort(spec->host_ports);
  const auto repeats = std::ranges::unique(spec->host_ports);
  spec->host_ports.erase(repeats.begin(), repeats.end());
  model::Cut(&spec->host_ports);
}

void DecodeContainers(std::string_view message, const HeldResources& held, model::PodSpec* spec, bool* bad) {
  const HeldByName by_name = DecodeHeld(held, bad);
  std::vector<ContainerRequests> init, containers;
  std::vector<Container> with_ports;
  ResourceList overhead;
  Requests pod_level;
  bool host_network = false;
  for (WireReader r(message); r.Next();) switch (r.field()) {
      case kHostNetwork: host_network = r.flag(); break;
      case kOverhead: *bad |= !SetResource(r.bytes(), &overhead); break;
      case kResources: pod_level = DecodeRequirements(r.bytes(), bad); break;
      case kContainers:
      case kInitContainers: {
        const bool ordinary = r.field() == kContainers;
        Container container = DecodeContainer(r.bytes(), ordinary, by_name, held.infeasible_resize, bad);
        ++spec->container_count;
        if (!container.image.empty()) spec->images.emplace_back(container.image);
        (ordinary ? containers : init).push_back(container.requests);
        if (ordinary || container.requests.restartable_init) with_ports.push_back(std::move(container));
        break;
      }
    }
  for (const Container& container : with_ports) AddHostPorts(container, host_network, spec);
  SortPorts(spec);
  HoldPodLevel(held, &pod_level.requests, bad);
  const auto as = held.bound ? model::CountedAs::kOccupant : model::CountedAs::kWaiting;
  model::SetEffectiveRequests(init, containers, pod_level.requests, overhead, as, spec);
}

model::Toleration DecodeToleration(std::string_view message) {
  model::Toleration toleration;
  for (WireReader r(message); r.Next();) switch (r.field()) {
      case 1: toleration.key = r.text(); break;
      case 2: toleration.op = r.text(); break;
      case 3: toleration.value = r.text(); break;
      case 4: toleration.effect = r.text(); break;
    }
  return toleration;
}

}  // namespace

void AppendSpecKey(std::string_view spec, const HeldResources& held, std::string* key) {
  AppendHeldKey(held, key);
  const bool named = !key->empty();
  for (WireReader r(spec); r.Next();) switch (r.field()) {
      case kVolumes: AppendVolumeKey(r.bytes(), key); break;
      case kContainers:
      case kInitContainers:
        AppendTagged(r.field(), "", key);
        AppendContainerKey(r.bytes(), named, key);
        break;
      case kHostNetwork:
      case kPriority: WireWriter(key).Number(r.field(), r.number()); break;
      case kResourceClaims: AppendTagged(r.field(), "", key); break;
      case kNodeSelector:
      case kAffinity:
      case kSchedulerName:
      case kTolerations:
      case kOverhead:
      case kTopologySpread: AppendTagged(r.field(), r.bytes(), key); break;
      case kResources:  // a bound pod that asks for some itself counts otherwise than one that waits: CountedAs
        AppendTagged(r.field(), r.bytes(), key);
        if (held.bound) AppendTagged(kInStatus + 1, "", key);
        break;
    }
}

model::PodSpec DecodePodSpec(std::string_view message, const HeldResources& held) {
  model::PodSpec spec;
  bool bad = false;
  DecodeContainers(message, held, &spec, &bad);
  WireReader r(message);
  while (r.Next()) switch (r.field()) {
      case kVolumes: DecodeVolume(r.bytes(), &spec); break;
      case kNodeSelector: AddEntry(r.bytes(), &spec.node_selector); break;
      case kAffinity: DecodeAffinity(r.bytes(), &spec); break;
      case kSchedulerName: spec.scheduler_name = r.text(); break;
      case kTolerations: spec.tolerations.push_back(DecodeToleration(r.bytes())); break;
      case kPriority: spec.priority = static_cast<int32_t>(r.number()); break;
      case kTopologySpread:
        if (!model::Full(spec.spread)) spec.spread.push_back(DecodeSpread(r.bytes()));
        break;
      case kResourceClaims: spec.has_claims = true; break;
    }
  SortMap(&spec.node_selector);
  std::ranges::sort(spec.images);
  spec.saturated |= bad || !r.ok();
  return spec;
}

}  // namespace tutti::kube
