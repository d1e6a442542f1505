// SPDX-License-Identifier: Apache-2.0
// Claims and volumes, and what becomes of them without a word from the user: default classes, ephemeral volumes.
#include "tests/sim/world_fixture.h"

namespace tutti::sim {
namespace {

struct VolumeFixture : WorldFixture {
  void AddClass(const std::string& name, const std::string& annotations = "",
                const std::string& provisioner = "csi.x.io") {
    ApplyYaml("apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: " + name + ", annotations: {" +
              annotations + "}}\nprovisioner: " + provisioner + "\n");
  }
  void AddClaim(const std::string& name, const std::string& fields = "") {
    ApplyYaml("apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: " + name +
              ", namespace: default}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}" +
              fields + "}\n");
  }
  void AddVolume(const std::string& name, const std::string& size, const std::string& fields = "") {
    ApplyYaml("apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: " + name +
              "}\nspec: {accessModes: [ReadWriteOnce], hostPath: {path: /x}, capacity: {storage: " + size + "}" +
              fields + "}\n");
  }
  Json Claim(const std::string& name) { return *Get(kClaims, name); }
  std::string VolumeOf(const std::string& name) { return DigString(Claim(name), "spec", "volumeName"); }
  std::string ClassOf(const std::string& name) { return DigString(Claim(name), "spec", "storageClassName"); }
  std::string PhaseOfVolume(const std::string& name) {
    const Object volume = store().Find(kVolumes, "", name);
    return volume ? DigString(*volume, "status", "phase") : "gone";
  }
};

constexpr const char* kDefault = "storageclass.kubernetes.io/is-default-class: 'true'";

TEST_CASE_METHOD(VolumeFixture, "A claim takes the smallest free volume of its class that is large enough") {
  AddVolume("huge", "9Gi");
  AddVolume("other", "1Gi", ", storageClassName: c");
  AddVolume("small", "1Mi");
  AddVolume("fits", "2Gi");
  AddClaim("a");
  AddClaim("b");
  AddClaim("c");
  world.Pump();
  CHECK(VolumeOf("a") == "fits");
  CHECK(VolumeOf("b") == "huge");
  CHECK(VolumeOf("c").empty());
  CHECK(PhaseOfVolume("fits") == "Bound");
  CHECK(PhaseOfVolume("other") == "Available");
  AddVolume("late", "1Gi");
  world.Pump();
  CHECK(VolumeOf("c") == "late");
  REQUIRE(store().Delete(kClaims, "default", "a"));
  world.Pump();
  CHECK(PhaseOfVolume("fits") == "Released");
}

TEST_CASE_METHOD(VolumeFixture, "A volume that is reserved for a claim is bound to it, whichever of them comes first") {
  const std::string reserved = ", claimRef: {namespace: default, name: ";
  AddVolume("first", "5Gi", reserved + "a}");
  AddClaim("a");
  AddClaim("b");
  world.Pump();
  AddVolume("second", "5Gi", reserved + "b}");
  world.Pump();
  CHECK(VolumeOf("a") == "first");
  CHECK(VolumeOf("b") == "second");
}

TEST_CASE_METHOD(VolumeFixture, "A claim without a class is of the default one, also when that comes later") {
  AddClaim("early");
  AddClaim("none", ", storageClassName: ''");
  world.Pump();
  CHECK(ClassOf("early").empty());
  AddClass("plain");
  AddClass("a", kDefault);
  clock.Advance(1'000);
  AddClass("b", kDefault);
  AddClaim("late");
  CHECK(ClassOf("late") == "b");
  world.Pump();
  CHECK(ClassOf("early") == "b");
  CHECK(ClassOf("none").empty());
  CHECK(PhaseOfVolume(VolumeOf("late")) == "Bound");
  CHECK(PhaseOfVolume(VolumeOf("early")) == "Bound");
  CHECK(VolumeOf("none").empty());
}

TEST_CASE_METHOD(VolumeFixture, "A generic ephemeral volume gets a claim that lives as long as its pod") {
  AddClass("c", kDefault);
  ApplyYaml(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: default}\nspec:\n  containers: [{name: c, image: i}]\n"
      "  volumes: [{name: v, ephemeral: {volumeClaimTemplate: {metadata: {labels: {a: b}}, spec: {accessModes: "
      "[ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]\n");
  world.Pump();
  const Json claim = Claim("p-v");
  CHECK(DigString(ControllerOf(claim), "uid") == UidOf(*Pod("p")));
  CHECK(LabelOf(claim, "a") == "b");
  CHECK(PhaseOfVolume(VolumeOf("p-v")) == "Bound");
  REQUIRE(store().Delete(kClaims, "default", "p-v"));
  world.Pump();
  CHECK(UidOf(Claim("p-v")) != UidOf(claim));
  REQUIRE(store().Delete(kPods, "default", "p", {.grace_seconds = 0}));
  world.Pump();
  CHECK(store().All(kClaims).empty());
}

TEST_CASE_METHOD(VolumeFixture, "Another owner's claim of an ephemeral volume's name is left alone") {
  AddClaim("p-v");
  ApplyYaml(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: default}\nspec:\n  containers: [{name: c, image: i}]\n"
      "  volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce]}}}}]\n");
  world.Pump();
  CHECK(ControllerOf(Claim("p-v")).is_null());
}

}  // namespace
}  // namespace tutti::sim
