// SPDX-License-Identifier: Apache-2.0
// Gangs whose members have volumes, and what becomes of those.
#include <fmt/format.h>

#include "tests/simulation/workload.h"
#include "tests/simulation/workload_objects.h"

namespace tutti::simulation {

using base::Random;
using sim::Json;

// A claim for each pod, or one for all.
std::string Workload::ArriveVolumes(Random& random) {
  if (Full()) return {};
  const bool shared = random.OneIn(2);
  Gang gang{fmt::format("v{}", ++made_),
            random.OneIn(2) ? "volcano" : "plugins",
            shared ? "ReplicaSet" : "",
            random.Between(1, 4),
            0,
            shared || random.OneIn(2) ? kNetwork : kDisks};
  gang.size = gang.min + random.Between(0, 1);
  gang.declaration = Declaration(random, gang);
  Json pods = PodTemplate(random, gang);
  pods["spec"]["volumes"] = {{{"name", "data"}, {"persistentVolumeClaim", {{"claimName", gang.name}}}}};
  (void)store_.Create(gang.declaration);
  const bool pods_first = random.OneIn(3);
  if (pods_first) MakePods(gang, pods);
  if (shared) MakeClaim(gang, gang.name, "ReadWriteMany");
  for (int64_t i = 0; i < gang.size && !shared; ++i)
    MakeClaim(gang, fmt::format("{}-{}", gang.name, i), "ReadWriteOnce");
  if (!pods_first) MakePods(gang, pods);
  gangs_.push_back(gang);
  return fmt::format("{} gang {} of {} pods, {} needed, arrives with {} of class {}", gang.dialect, gang.name,
                     gang.size, gang.min, shared ? "one claim" : "a claim each", gang.volume_class);
}

void Workload::MakeClaim(const Gang& gang, const std::string& name, const char* mode) {
  MustCreate(store_, {{"apiVersion", "v1"},
                      {"kind", "PersistentVolumeClaim"},
                      {"metadata", {{"name", name}, {"namespace", kNamespace}, {"labels", {{"app", gang.name}}}}},
                      {"spec",
                       {{"accessModes", {mode}},
                        {"storageClassName", gang.volume_class},
                        {"resources", {{"requests", {{"storage", "5Gi"}}}}}}}});
}

void Workload::MakeDisk(const std::string& name, const std::string& node) {
  const Json here = {{{"key", "kubernetes.io/hostname"}, {"operator", "In"}, {"values", {node}}}};
  MustCreate(store_, {{"apiVersion", "v1"},
                      {"kind", "PersistentVolume"},
                      {"metadata", {{"name", name}}},
                      {"spec",
                       {{"capacity", {{"storage", "10Gi"}}},
                        {"accessModes", {"ReadWriteOnce"}},
                        {"storageClassName", kDisks},
                        {"persistentVolumeReclaimPolicy", "Retain"},
                        {"local", {{"path", "/mnt"}}},
                        {"nodeAffinity", {{"required", {{"nodeSelectorTerms", {{{"matchExpressions", here}}}}}}}}}}});
}

// An operator wipes a disk whose claim is gone, so that it can be used again.
std::string Workload::WipeDisk(Random& random) {
  std::vector<sim::Object> released;
  for (const sim::Object& volume : store_.All(kVolumes))
    if (sim::DigString(*volume, "status", "phase") == "Released") released.push_back(volume);
  if (released.empty()) return {};
  const std::string name = sim::NameOf(*released[random.Below(released.size())]);
  store_.Delete(kVolumes, "", name);
  MakeDisk(name, name.substr(0, name.find('-')));
  return "disk " + name + " is wiped";
}

// A claim is deleted under its pods, and made again.
std::string Workload::DropClaim(Random& random) {
  const Gang* gang = PickGang(random);
  if (!gang || gang->volume_class.empty()) return {};
  for (const sim::Object& claim : store_.All(kClaims)) {
    if (sim::LabelOf(*claim, "app") != gang->name) continue;
    const std::string name = sim::NameOf(*claim);
    const std::string mode = sim::Dig(*claim, "spec", "accessModes")[0].get<std::string>();
    if (!store_.Delete(kClaims, kNamespace, name)) return {};
    MakeClaim(*gang, name, mode.c_str());
    return "claim " + name + " is deleted, and made again";
  }
  return {};
}

}  // namespace tutti::simulation
