// SPDX-License-Identifier: Apache-2.0
#include "kube/decode_pod_spec.h"

#include <algorithm>
#include <unordered_map>

#include "kube/decode_affinity.h"
#include "kube/decode_meta.h"
#include "kube/field_numbers.h"
#include "kube/wire.h"
#include "model/list_limit.h"

namespace tutti::kube {
namespace {

using model::ContainerRequests;
using model::ResourceList;

using Spec = field::PodSpec;

// --- Volumes ---

using Source = model::PodVolume::Source;

// A field of VolumeSource: its kind, and the field numbers of the disk's name and of `readOnly` in its message.
struct SourceField {
  uint32_t number;
  Source source;
  const char* name;
  uint32_t disk, read_only;
};
using In = field::VolumeSource;
template <uint32_t number, typename Disk>
constexpr SourceField Of(Source source, const char* name, uint32_t disk) {
  return {number, source, name, disk, Disk::kReadOnly};
}
using GceDisk = field::GCEPersistentDiskVolumeSource;
using AwsDisk = field::AWSElasticBlockStoreVolumeSource;
using IscsiDisk = field::ISCSIVolumeSource;
using CinderDisk = field::CinderVolumeSource;
using AzureDisk = field::AzureDiskVolumeSource;
using PortworxDisk = field::PortworxVolumeSource;
constexpr SourceField kSources[] = {
    Of<In::kGcePersistentDisk, GceDisk>(Source::kGcePersistentDisk, "gcePersistentDisk", GceDisk::kPdName),
    Of<In::kAwsElasticBlockStore, AwsDisk>(Source::kAwsElasticBlockStore, "awsElasticBlockStore", AwsDisk::kVolumeID),
    Of<In::kIscsi, IscsiDisk>(Source::kIscsi, "iscsi", IscsiDisk::kIqn),
    Of<In::kCinder, CinderDisk>(Source::kMoved, "cinder", CinderDisk::kVolumeID),
    Of<In::kAzureDisk, AzureDisk>(Source::kMoved, "azureDisk", AzureDisk::kDiskURI),
    Of<In::kPortworxVolume, PortworxDisk>(Source::kMoved, "portworxVolume", PortworxDisk::kVolumeID),
};

model::PodVolume DecodeRbd(std::string_view message) {
  using F = field::RBDVolumeSource;
  model::PodVolume volume;
  volume.source = Source::kRbd;
  std::string image, pool;
  for (WireReader r(message); r.Next();) switch (r.field()) {
      case F::kMonitors: volume.monitors.push_back(r.text()); break;
      case F::kImage: image = r.text(); break;
      case F::kPool: pool = r.text(); break;
      case F::kReadOnly: volume.read_only = r.flag(); break;
    }
  volume.disk = model::RbdDisk(pool, image);
  return volume;
}

model::PodVolume DecodeDisk(const SourceField& from, std::string_view message) {
  model::PodVolume volume;
  volume.source = from.source;
  for (WireReader r(message); r.Next();) {
    if (r.field() == from.disk) volume.disk = r.text();
    if (r.field() == from.read_only) volume.read_only = r.flag();
  }
  volume.csi = model::MovedDisk(from.name, volume.disk, "");
  return volume;
}

void DecodeVolume(std::string_view volume, model::PodSpec* spec) {
  const bool full = model::Full(spec->volumes);
  for (WireReader r(FindBytes(volume, field::Volume::kVolumeSource)); r.Next();) {
    if (r.field() == In::kImage)
      if (std::string image(FindBytes(r.bytes(), field::ImageVolumeSource::kReference)); !image.empty())
        spec->images.push_back(std::move(image));
    if (full) continue;
    if (r.field() == In::kPersistentVolumeClaim) spec->volumes.emplace_back().source = Source::kClaim;
    if (r.field() == In::kEphemeral) spec->volumes.emplace_back().source = Source::kEphemeral;
    if (r.field() == In::kRbd) spec->volumes.push_back(DecodeRbd(r.bytes()));
    for (const SourceField& from : kSources)
      if (r.field() == from.number) spec->volumes.push_back(DecodeDisk(from, r.bytes()));
  }
}

// --- The key ---

// Offsets that keep the field numbers of containers, statuses and volumes apart from the spec's own.
constexpr uint32_t kInContainer = 1000, kInStatus = 2000, kInVolume = 3000;

void AppendTagged(uint32_t number, std::string_view bytes, std::string* key) { WireWriter(key).Bytes(number, bytes); }

// Appends the key of a volume. A claim's key has no name.
void AppendVolumeKey(std::string_view volume, std::string* key) {
  for (WireReader r(FindBytes(volume, field::Volume::kVolumeSource)); r.Next();) {
    if (r.field() == In::kPersistentVolumeClaim || r.field() == In::kEphemeral)
      AppendTagged(kInVolume + r.field(), "", key);
    const bool disk = std::ranges::any_of(kSources, [&](const SourceField& from) { return from.number == r.field(); });
    if (disk || r.field() == In::kRbd || r.field() == In::kImage) AppendTagged(kInVolume + r.field(), r.bytes(), key);
  }
}

void AppendContainerKey(std::string_view container, bool named, std::string* key) {
  using F = field::Container;
  for (WireReader r(container); r.Next();) switch (r.field()) {
      case F::kName:
        if (named) AppendTagged(kInContainer + F::kName, r.bytes(), key);
        break;
      case F::kImage:
      case F::kPorts:
      case F::kResources:
      case F::kRestartPolicy: AppendTagged(kInContainer + r.field(), r.bytes(), key); break;
    }
}

void AppendHeldKey(const HeldResources& held, std::string* key) {
  using Status = field::ContainerStatus;
  using PodStatus = field::PodStatus;
  for (const std::string_view status : held.container_statuses) {
    std::string_view name;
    for (WireReader r(status); r.Next();) {
      if (r.field() == Status::kName) name = r.bytes();
      if (r.field() != Status::kAllocatedResources && r.field() != Status::kResources) continue;
      AppendTagged(kInStatus + Status::kName, name, key);
      AppendTagged(kInStatus + r.field(), r.bytes(), key);
    }
  }
  if (held.pod_resources) {
    AppendTagged(kInStatus + PodStatus::kResources, *held.pod_resources, key);
    for (const std::string_view entry : held.pod_allocated)
      AppendTagged(kInStatus + PodStatus::kAllocatedResources, entry, key);
  }
  if (held.infeasible_resize) AppendTagged(kInStatus, "", key);
}

// --- Resources ---

// Requests and limits of a container. `claims` is ignored, because PodSpec.resourceClaims sets has_claims.
struct Requests {
  ResourceList requests, limits;
};

Requests DecodeRequirements(std::string_view message, bool* bad) {
  Requests result;
  for (WireReader r(message); r.Next();) {
    if (r.field() == field::ResourceRequirements::kLimits) *bad |= !SetResource(r.bytes(), &result.limits);
    if (r.field() == field::ResourceRequirements::kRequests) *bad |= !SetResource(r.bytes(), &result.requests);
  }
  return result;
}

using HeldByName = std::unordered_map<std::string_view, ResourceList>;

// Returns the resources of a pod or container during a resize: the larger of what it asks for and what it was given
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
  using F = field::ContainerStatus;
  HeldByName by_name;
  for (const std::string_view status : held.container_statuses) {
    std::string_view name;
    ResourceList amounts;
    bool present = false;
    for (WireReader r(status); r.Next();) switch (r.field()) {
        case F::kName: name = r.bytes(); break;
        case F::kAllocatedResources: {
          ResourceList one;
          *bad |= !SetResource(r.bytes(), &one);
          amounts.MaxAll(one);
          break;
        }
        case F::kResources:
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

// Decodes a container. `ordinary`: it is no init container. The status of an init container that does not restart is
// ignored, because it has ended.
Container DecodeContainer(std::string_view message, bool ordinary, const HeldByName& held, bool infeasible_resize,
                          bool* bad) {
  using F = field::Container;
  Container container;
  std::string_view name;
  Requests own;
  for (WireReader r(message); r.Next();) switch (r.field()) {
      case F::kName: name = r.bytes(); break;
      case F::kImage: container.image = r.bytes(); break;
      case F::kPorts: container.ports.push_back(r.bytes()); break;
      case F::kResources: own = DecodeRequirements(r.bytes(), bad); break;
      case F::kRestartPolicy: container.requests.restartable_init = !ordinary && r.bytes() == "Always"; break;
    }
  container.requests.requests = std::move(own.requests);  // the API server has set defaults from the limits
  if (const auto at = held.find(name); at != held.end() && (ordinary || container.requests.restartable_init))
    container.requests.requests = Effective(container.requests.requests, at->second, infeasible_resize);
  return container;
}

void AddHostPorts(const Container& container, bool host_network, model::PodSpec* spec) {
  using F = field::ContainerPort;
  for (const std::string_view message : container.ports) {
    model::HostPort port;
    int64_t container_port = 0;
    for (WireReader r(message); r.Next();) switch (r.field()) {
        case F::kHostPort: port.port = static_cast<int32_t>(r.number()); break;
        case F::kContainerPort: container_port = r.number(); break;
        case F::kProtocol: port.protocol = r.text(); break;
        case F::kHostIP: port.ip = r.text(); break;
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
      case Spec::kHostNetwork: host_network = r.flag(); break;
      case Spec::kOverhead: *bad |= !SetResource(r.bytes(), &overhead); break;
      case Spec::kResources: pod_level = DecodeRequirements(r.bytes(), bad); break;
      case Spec::kContainers:
      case Spec::kInitContainers: {
        const bool ordinary = r.field() == Spec::kContainers;
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
  using F = field::Toleration;
  model::Toleration toleration;
  for (WireReader r(message); r.Next();) switch (r.field()) {
      case F::kKey: toleration.key = r.text(); break;
      case F::kOperator: toleration.op = r.text(); break;
      case F::kValue: toleration.value = r.text(); break;
      case F::kEffect: toleration.effect = r.text(); break;
    }
  return toleration;
}

}  // namespace

void AppendSpecKey(std::string_view spec, const HeldResources& held, std::string* key) {
  AppendHeldKey(held, key);
  const bool named = !key->empty();
  for (WireReader r(spec); r.Next();) switch (r.field()) {
      case Spec::kVolumes: AppendVolumeKey(r.bytes(), key); break;
      case Spec::kContainers:
      case Spec::kInitContainers:
        AppendTagged(r.field(), "", key);
        AppendContainerKey(r.bytes(), named, key);
        break;
      case Spec::kHostNetwork:
      case Spec::kPriority: WireWriter(key).Number(r.field(), r.number()); break;
      case Spec::kResourceClaims: AppendTagged(r.field(), "", key); break;
      case Spec::kNodeSelector:
      case Spec::kAffinity:
      case Spec::kSchedulerName:
      case Spec::kTolerations:
      case Spec::kPreemptionPolicy:
      case Spec::kOverhead:
      case Spec::kTopologySpreadConstraints: AppendTagged(r.field(), r.bytes(), key); break;
      case Spec::kResources:  // pod-level requests of a bound pod count differently from those of a pod that waits:
                              // CountedAs
        AppendTagged(r.field(), r.bytes(), key);
        if (held.bound) AppendTagged(kInStatus + field::ContainerStatus::kName, "", key);
        break;
    }
}

model::PodSpec DecodePodSpec(std::string_view message, const HeldResources& held) {
  model::PodSpec spec;
  bool bad = false;
  DecodeContainers(message, held, &spec, &bad);
  WireReader r(message);
  while (r.Next()) switch (r.field()) {
      case Spec::kVolumes: DecodeVolume(r.bytes(), &spec); break;
      case Spec::kNodeSelector: AddEntry(r.bytes(), &spec.node_selector); break;
      case Spec::kAffinity: DecodeAffinity(r.bytes(), &spec); break;
      case Spec::kSchedulerName: spec.scheduler_name = r.text(); break;
      case Spec::kTolerations: spec.tolerations.push_back(DecodeToleration(r.bytes())); break;
      case Spec::kPriority: spec.priority = static_cast<int32_t>(r.number()); break;
      case Spec::kPreemptionPolicy: spec.never_preempts = r.bytes() == model::kNeverPreempts; break;
      case Spec::kTopologySpreadConstraints:
        if (!model::Full(spec.spread)) spec.spread.push_back(DecodeSpread(r.bytes()));
        break;
      case Spec::kResourceClaims: spec.has_claims = true; break;
    }
  SortMap(&spec.node_selector);
  std::ranges::sort(spec.images);
  spec.saturated |= bad || !r.ok();
  return spec;
}

}  // namespace tutti::kube
