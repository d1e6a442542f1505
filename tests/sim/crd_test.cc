// SPDX-License-Identifier: Apache-2.0
#include "sim/schema/crd.h"

#include "tests/sim/cluster.h"

namespace tutti::sim {
namespace {

using namespace testing;

const GroupResource kGangs{"x.io", "gangs"};

Json Definition() {
  return ParseJson(R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":"gangs.x.io"},
    "spec":{"group":"x.io","scope":"Namespaced","names":{"plural":"gangs","kind":"Gang","shortNames":["gg"]},
      "versions":[
        {"name":"v1alpha1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object",
          "x-kubernetes-preserve-unknown-fields":true}}},
        {"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
         "schema":{"openAPIV3Schema":{"type":"object","required":["spec"],"properties":{
           "spec":{"type":"object","required":["min"],"properties":{
              "min":{"type":"integer","minimum":0,"format":"int32"},
              "mode":{"type":"string","enum":["Hard","Soft"],"default":"Hard"},
              "roles":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},
                "count":{"type":"integer","default":1}}}},
              "free":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
              "limit":{"x-kubernetes-int-or-string":true}}},
           "status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}})");
}

Json Gang(const char* spec) {
  return {{"apiVersion", "x.io/v1"}, {"kind", "Gang"}, {"metadata", {{"name", "g"}}}, {"spec", ParseJson(spec)}};
}

TEST_CASE("a definition serves its resource at once, in all its versions") {
  Cluster c;
  const Object crd = Make(c.store, Definition());
  CHECK(DigString(ConditionOf(*crd, "Established"), "status") == "True");
  const ApiResource* resource = c.store.resources().Find(kGangs);
  REQUIRE(resource);
  CHECK(resource->versions[0].name == "v1");
  CHECK(resource->singular == "gang");

  Json old = Gang(R"({"min":3})");
  old["apiVersion"] = "x.io/v1alpha1";
  CHECK(DigString(*Make(c.store, old), "apiVersion") == "x.io/v1");
}

TEST_CASE("a status that is written leaves the spec shared, and is itself pruned and validated") {
  Cluster c;
  Json definition = Definition();
  Json& status = definition["spec"]["versions"][1]["schema"]["openAPIV3Schema"]["properties"]["status"];
  status = ParseJson(R"({"type":"object","properties":{"up":{"type":"integer"},"of":{"type":"integer","default":3}}})");
  Make(c.store, definition);
  const Object before = Make(c.store, Gang(R"({"min":1,"roles":[{"name":"head"}]})"));
  const auto write = [&](const char* patch) {
    return c.store.Patch(kGangs, "default", "g", PatchType::kMerge, ParseJson(patch), Part::kStatus);
  };
  REQUIRE(write(R"({"status":{"up":1,"typo":2}})"));
  const Object after = c.store.Find(kGangs, "default", "g");
  CHECK((*after)["status"] == ParseJson(R"({"up":1,"of":3})"));
  CHECK(base::IsShared((*after)["spec"], (*before)["spec"]));
  CHECK_THAT(write(R"({"status":{"up":"no"}})").error().message, Catch::Contains("status.up in body must be of type"));
}

TEST_CASE("a definition that changes counts for what was stored before it did") {
  Cluster c;
  Make(c.store, Definition());
  Make(c.store, Gang(R"({"min":1,"roles":[{"name":"head"}]})"));
  REQUIRE(c.store.Modify(kCustomResourceDefinitions, "", "gangs.x.io", [](Json& next) {
    Json& of_spec = next["spec"]["versions"][1]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"];
    of_spec.erase("roles");
    of_spec["more"] = {{"type", "integer"}, {"default", 5}};
  }));
  REQUIRE(c.store.Patch(kGangs, "default", "g", PatchType::kMerge, {{"status", {{"up", 1}}}}, Part::kStatus));
  CHECK((*c.store.Find(kGangs, "default", "g"))["spec"] == ParseJson(R"({"min":1,"mode":"Hard","more":5})"));
}

TEST_CASE("a custom resource is defaulted, pruned and validated by its schema") {
  Cluster c;
  Make(c.store, Definition());
  SECTION("defaults and pruning") {
    const Object gang =
        Make(c.store, Gang(R"({"min":1,"roles":[{"name":"head","typo":1}],"free":{"any":[1]},"gone":1})"));
    CHECK((*gang)["spec"] ==
          ParseJson(R"({"min":1,"mode":"Hard","roles":[{"name":"head","count":1}],"free":{"any":[1]}})"));
  }
  SECTION("what is wrong is named") {
    const auto refusal = [&](const char* spec) { return c.store.Create(Gang(spec)).error().message; };
    CHECK(refusal("{}") == "Gang.x.io \"g\" is invalid: spec.min: Required value");
    CHECK(refusal(R"({"min":-1})") ==
          "Gang.x.io \"g\" is invalid: spec.min: Invalid value: -1: spec.min in body should be greater than or equal "
          "to 0");
    CHECK_THAT(refusal(R"({"min":"many"})"), Catch::Contains("spec.min in body must be of type integer: \"string\""));
    CHECK_THAT(refusal(R"({"min":1,"mode":"X"})"),
               Catch::Contains("spec.mode: Unsupported value: \"X\": supported values: \"Hard\", \"Soft\""));
    CHECK_THAT(refusal(R"({"min":4294967296})"), Catch::Contains("int32"));
    CHECK_THAT(refusal(R"({"min":1,"limit":[]})"), Catch::Contains("integer,string"));
  }
}

TEST_CASE("a custom status goes through its own door, and must name the version it updates") {
  Cluster c;
  Make(c.store, Definition());
  Json gang = Gang(R"({"min":1})");
  gang["status"] = {{"phase", "Running"}};
  const Object made = Make(c.store, gang);
  CHECK_FALSE(made->contains("status"));
  Json next = *made;
  next["status"] = {{"phase", "Running"}};
  next["metadata"]["labels"] = {{"ignored", "here"}};
  const Object written = *c.store.Update(next, Part::kStatus);
  CHECK(DigString(*written, "status", "phase") == "Running");
  CHECK(Dig(*written, "metadata", "labels").is_null());
  CHECK(Dig(*written, "metadata", "generation") == 1);

  Json blind = Gang(R"({"min":2})");
  CHECK_THAT(c.store.Update(blind).error().message, Catch::Contains("must be specified for an update"));
  CHECK(c.store.Patch(kGangs, "default", "g", PatchType::kStrategic, Json::object()).error().code == 415);
}

TEST_CASE("a definition goes after its objects, which go with it") {
  Cluster c;
  Make(c.store, Definition());
  Json held = Gang(R"({"min":1})");
  held["metadata"]["finalizers"] = {"x.io/hold"};
  Make(c.store, held);
  CHECK_FALSE(c.store.Delete(kCustomResourceDefinitions, "", "gangs.x.io")->removed);
  CHECK(c.store.resources().Find(kGangs) != nullptr);
  REQUIRE(c.store.Modify(kGangs, "default", "g", [](Json& o) { o["metadata"].erase("finalizers"); }));
  CHECK(c.store.Find(kCustomResourceDefinitions, "", "gangs.x.io") == nullptr);
  CHECK(c.store.resources().Find(kGangs) == nullptr);
  CHECK(c.store.Create(Gang(R"({"min":1})")).error().code == 404);
  Make(c.store, Definition());
  CHECK(c.store.Count(kGangs) == 0);
}

TEST_CASE("a malformed definition is refused with the field") {
  Cluster c;
  Json crd = Definition();
  SECTION("name") {
    crd["metadata"]["name"] = "gang.x.io";
    CHECK_THAT(c.store.Create(crd).error().message, Catch::Contains("must be spec.names.plural"));
  }
  SECTION("no storage version") {
    crd["spec"]["versions"][1]["storage"] = false;
    CHECK_THAT(c.store.Create(crd).error().message, Catch::Contains("exactly one version marked as storage"));
  }
  SECTION("nothing at all") {
    crd["spec"] = Json::object();
    CHECK(c.store.Create(crd).error().code == 422);
  }
}

}  // namespace
}  // namespace tutti::sim
