// SPDX-License-Identifier: Apache-2.0
#include "sim/store/gc.h"

#include "tests/sim/cluster.h"

namespace tutti::sim {
namespace {

using namespace testing;

Json OwnedBy(const Json& owner, const std::string& name) {
  Json object = ConfigMap(name);
  object["metadata"]["ownerReferences"] = {ControllerReference(owner)};
  return object;
}

TEST_CASE("dependents go with their owner, however deep") {
  Cluster c;
  const Object root = Make(c.store, ConfigMap("root"));
  const Object middle = Make(c.store, OwnedBy(*root, "middle"));
  Make(c.store, OwnedBy(*middle, "leaf"));
  REQUIRE(c.store.Delete(kConfigMaps, "default", "root"));
  CHECK(c.store.Count(kConfigMaps) == 0);
}

TEST_CASE("orphaned dependents stay and lose the reference") {
  Cluster c;
  const Object root = Make(c.store, ConfigMap("root"));
  Make(c.store, OwnedBy(*root, "leaf"));
  REQUIRE(c.store.Delete(kConfigMaps, "default", "root", {.propagation = Propagation::kOrphan}));
  CHECK(c.store.Find(kConfigMaps, "default", "root") == nullptr);
  const Object leaf = c.store.Find(kConfigMaps, "default", "leaf");
  REQUIRE(leaf);
  CHECK(Dig(*leaf, "metadata", "ownerReferences").is_null());
}

TEST_CASE("a foreground deletion keeps the owner until its last dependent is gone") {
  Cluster c;
  const Object root = Make(c.store, ConfigMap("root"));
  Json pod = Pod("p");
  pod["metadata"]["ownerReferences"] = {ControllerReference(*root)};
  Make(c.store, pod);
  REQUIRE(c.store.Bind(BindingOf("p", "n")));
  CHECK_FALSE(c.store.Delete(kConfigMaps, "default", "root", {.propagation = Propagation::kForeground})->removed);
  CHECK(IsTerminating(*c.store.Find(kPods, "default", "p")));
  CHECK(c.store.Find(kConfigMaps, "default", "root") != nullptr);
  REQUIRE(c.store.Delete(kPods, "default", "p", {.grace_seconds = 0}));
  CHECK(c.store.Find(kConfigMaps, "default", "root") == nullptr);
}

TEST_CASE("a foreground deletion without dependents is over at once") {
  Cluster c;
  Make(c.store, ConfigMap("root"));
  REQUIRE(c.store.Delete(kConfigMaps, "default", "root", {.propagation = Propagation::kForeground}));
  CHECK(c.store.Find(kConfigMaps, "default", "root") == nullptr);
}

TEST_CASE("a dependent with another living owner stays") {
  Cluster c;
  const Object a = Make(c.store, ConfigMap("a"));
  const Object b = Make(c.store, ConfigMap("b"));
  Json leaf = OwnedBy(*a, "leaf");
  Json second = ControllerReference(*b);
  second["controller"] = false;
  leaf["metadata"]["ownerReferences"].push_back(second);
  Make(c.store, leaf);
  REQUIRE(c.store.Delete(kConfigMaps, "default", "a"));
  REQUIRE(c.store.Find(kConfigMaps, "default", "leaf"));
  REQUIRE(c.store.Delete(kConfigMaps, "default", "b"));
  CHECK(c.store.Find(kConfigMaps, "default", "leaf") == nullptr);
}

TEST_CASE("a dependent that comes after its owner went is collected; one of an unknown owner is not") {
  Cluster c;
  const Object root = Make(c.store, ConfigMap("root"));
  REQUIRE(c.store.Delete(kConfigMaps, "default", "root"));
  Make(c.store, OwnedBy(*root, "late"));
  CHECK(c.store.Find(kConfigMaps, "default", "late") == nullptr);

  Json stranger = *root;
  stranger["metadata"]["uid"] = "never-seen";
  Make(c.store, OwnedBy(stranger, "loaded"));
  CHECK(c.store.Find(kConfigMaps, "default", "loaded") != nullptr);
}

TEST_CASE("a namespace goes when its last object has gone, and takes nothing new meanwhile") {
  Cluster c;
  Make(c.store, {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "ray"}}}});
  Json pod = Pod("p");
  pod["metadata"]["namespace"] = "ray";
  Make(c.store, pod);
  Json map = ConfigMap("c");
  map["metadata"]["namespace"] = "ray";
  Make(c.store, map);
  Json binding = BindingOf("p", "n");
  binding["metadata"]["namespace"] = "ray";
  REQUIRE(c.store.Bind(binding));

  CHECK_FALSE(c.store.Delete(kNamespaces, "", "ray")->removed);
  CHECK(c.store.Find(kConfigMaps, "ray", "c") == nullptr);
  CHECK(DigString(*c.store.Find(kNamespaces, "", "ray"), "status", "phase") == "Terminating");
  const ApiError late = c.store.Create(map).error();
  CHECK(late.code == 403);
  CHECK_THAT(late.message, Catch::Contains("because it is being terminated"));
  REQUIRE(c.store.Delete(kPods, "ray", "p", {.grace_seconds = 0}));
  CHECK(c.store.Find(kNamespaces, "", "ray") == nullptr);
}

}  // namespace
}  // namespace tutti::sim
