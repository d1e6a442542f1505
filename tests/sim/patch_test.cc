// SPDX-License-Identifier: Apache-2.0
#include "sim/store/patch.h"

#include "tests/sim/cluster.h"

namespace tutti::sim {
namespace {

using namespace testing;

Json Patched(PatchType type, const char* patch, const char* target, const GroupResource& id = kPods) {
  const ResourceTable table;
  Json object = ParseJson(target);
  object["metadata"]["name"] = "x";
  auto done = ApplyPatch(*table.Find(id), type, ParseJson(patch), object);
  REQUIRE(done);
  object.erase("metadata");
  return object;
}

TEST_CASE("a strategic merge goes by merge keys") {
  const char* pod = R"({"spec":{"containers":[{"name":"a","image":"1","env":[{"name":"E","value":"x"}]},
                                               {"name":"b","image":"1"}]}})";
  CHECK(Patched(PatchType::kStrategic, R"({"spec":{"containers":[{"name":"b","image":"2"}]}})",
                pod)["spec"]["containers"][1]["image"] == "2");
  CHECK(
      Patched(PatchType::kStrategic, R"({"spec":{"containers":[{"name":"c","image":"3"}]}})", pod)["spec"]["containers"]
          .size() == 3);
  const Json deleted =
      Patched(PatchType::kStrategic, R"({"spec":{"containers":[{"name":"a","$patch":"delete"}]}})", pod);
  CHECK(deleted["spec"]["containers"].size() == 1);
  const Json replaced =
      Patched(PatchType::kStrategic, R"({"spec":{"containers":[{"$patch":"replace"},{"name":"z","image":"9"}]}})", pod);
  CHECK(replaced["spec"]["containers"] == ParseJson(R"([{"name":"z","image":"9"}])"));
  const Json ordered = Patched(
      PatchType::kStrategic,
      R"({"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}],"containers":[{"name":"a","image":"5"}]}})",
      pod);
  CHECK(ordered["spec"]["containers"][0]["name"] == "b");
  CHECK(ordered["spec"]["containers"][1]["image"] == "5");
  CHECK(ordered["spec"]["containers"][1]["env"].size() == 1);
}

TEST_CASE("conditions merge by type, taints and tolerations are replaced") {
  const Json merged =
      Patched(PatchType::kStrategic, R"({"status":{"conditions":[{"type":"PodScheduled","status":"True"}]}})",
              R"({"status":{"conditions":[{"type":"Ready","status":"False"}]}})");
  CHECK(merged["status"]["conditions"].size() == 2);
  const Json taints = Patched(PatchType::kStrategic, R"({"spec":{"taints":[{"key":"b","effect":"NoSchedule"}]}})",
                              R"({"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}})", kNodes);
  CHECK(taints["spec"]["taints"].size() == 1);
}

TEST_CASE("a null removes, in merge and strategic merge alike") {
  for (const PatchType type : {PatchType::kMerge, PatchType::kStrategic}) {
    CHECK(Patched(type, R"({"spec":{"a":null}})", R"({"spec":{"a":1,"b":2}})") == ParseJson(R"({"spec":{"b":2}})"));
  }
}

TEST_CASE("retainKeys and deleteFromPrimitiveList are obeyed") {
  CHECK(Patched(PatchType::kStrategic, R"({"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}})",
                R"({"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{}}}})")["spec"]["strategy"] ==
        ParseJson(R"({"type":"Recreate"})"));
  Json pod = ParseJson(R"({"kind":"Pod","metadata":{"name":"x","finalizers":["a","b"]}})");
  const ResourceTable table;
  REQUIRE(ApplyPatch(*table.Find(kPods), PatchType::kStrategic,
                     ParseJson(R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a"],"finalizers":["c"]}})"),
                     pod));
  CHECK(pod["metadata"]["finalizers"] == Json({"b", "c"}));
}

TEST_CASE("a JSON patch applies or is refused whole") {
  CHECK(Patched(PatchType::kJson, R"([{"op":"add","path":"/spec/n","value":1}])", R"({"spec":{}})")["spec"]["n"] == 1);
  const ResourceTable table;
  Json object = ParseJson(R"({"metadata":{}})");
  const auto refused = ApplyPatch(*table.Find(kPods), PatchType::kJson,
                                  ParseJson(R"([{"op":"test","path":"/spec/n","value":1}])"), object);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == 422);
}

TEST_CASE("an apply creates what is not there and then merges by force") {
  Cluster c;
  const auto made = c.store.Patch(kConfigMaps, "default", "c", PatchType::kApply, ConfigMap("c"));
  REQUIRE(made);
  Json more = ConfigMap("c");
  more["data"] = {{"other", "1"}};
  const auto merged = c.store.Patch(kConfigMaps, "default", "c", PatchType::kApply, more);
  REQUIRE(merged);
  CHECK((**merged)["data"] == Json({{"k", "v"}, {"other", "1"}}));
}

TEST_CASE("a patch may not rename an object, change its kind or its uid") {
  Cluster c;
  Make(c.store, ConfigMap("c"));
  const auto patch = [&](const char* text) {
    return c.store.Patch(kConfigMaps, "default", "c", PatchType::kMerge, ParseJson(text));
  };
  CHECK(patch(R"({"kind":"Secret"})").error().code == 400);
  CHECK(patch(R"({"metadata":{"uid":"u"}})").error().code == 409);
  CHECK(patch(R"({"metadata":{"resourceVersion":"1"}})").error().code == 409);
  const auto renamed = patch(R"({"metadata":{"name":"d"}})");
  CHECK((!renamed || NameOf(**renamed) == "c"));
}

}  // namespace
}  // namespace tutti::sim
