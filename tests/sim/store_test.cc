// SPDX-License-Identifier: Apache-2.0
#include "sim/store/store.h"

#include "tests/sim/cluster.h"

namespace tutti::sim {
namespace {

using namespace testing;

TEST_CASE("a created object gets its identity from the clock and the seed, the same each time") {
  Cluster one, two;
  const Object a = Make(one.store, ConfigMap("c"));
  const Object b = Make(two.store, ConfigMap("c"));
  CHECK(*a == *b);
  CHECK(DigString(*a, "metadata", "creationTimestamp") == "2026-01-01T00:00:00Z");
  CHECK(NamespaceOf(*a) == "default");
  CHECK(UidOf(*a).size() == 36);
  CHECK(UidOf(*a)[14] == '4');
  CHECK(ResourceVersionOf(*a) == one.store.resource_version());
}

TEST_CASE("generateName makes distinct names of Kubernetes' alphabet") {
  Cluster c;
  Json object = ConfigMap("");
  object["metadata"] = {{"generateName", "worker-"}};
  const std::string first = NameOf(*Make(c.store, object));
  const std::string second = NameOf(*Make(c.store, object));
  CHECK(first != second);
  CHECK(first.size() == 12);
  CHECK(first.substr(7).find_first_not_of("bcdfghjklmnpqrstvwxz2456789") == std::string::npos);
}

TEST_CASE("refusals carry Kubernetes' codes, reasons and words") {
  Cluster c;
  Make(c.store, ConfigMap("c"));
  SECTION("a name that is taken") {
    const ApiError error = c.store.Create(ConfigMap("c")).error();
    CHECK(error.code == 409);
    CHECK(error.reason == "AlreadyExists");
    CHECK(error.message == "configmaps \"c\" already exists");
  }
  SECTION("an object that is not there") {
    const ApiError error = c.store.Get(kConfigMaps, "default", "nope").error();
    CHECK(error.message == "configmaps \"nope\" not found");
    CHECK(error.ToStatus()["details"] == Json({{"name", "nope"}, {"kind", "configmaps"}}));
  }
  SECTION("a namespace that is not there") {
    Json object = ConfigMap("d");
    object["metadata"]["namespace"] = "nowhere";
    CHECK(c.store.Create(object).error().message == "namespaces \"nowhere\" not found");
  }
  SECTION("a stale update") {
    Json object = ConfigMap("c");
    object["metadata"]["resourceVersion"] = "1";
    const ApiError error = c.store.Update(object).error();
    CHECK(error.code == 409);
    CHECK(error.message ==
          "Operation cannot be fulfilled on configmaps \"c\": the object has been modified; please apply your changes "
          "to the latest version and try again");
  }
  SECTION("a bad name") {
    const ApiError error = c.store.Create(ConfigMap("Upper")).error();
    CHECK(error.code == 422);
    CHECK_THAT(error.message, Catch::StartsWith("ConfigMap \"Upper\" is invalid: metadata.name: Invalid value: "
                                                "\"Upper\": a lowercase RFC 1123 subdomain must"));
    CHECK(error.details["causes"][0]["field"] == "metadata.name");
  }
  SECTION("a bad label") {
    Json object = ConfigMap("d");
    object["metadata"]["labels"] = {{"a b", "c"}};
    CHECK(c.store.Create(object).error().code == 422);
  }
  SECTION("a kind that is not served") {
    CHECK(c.store.Create({{"apiVersion", "x.io/v1"}, {"kind", "Y"}, {"metadata", {{"name", "n"}}}}).error().message ==
          "no matches for kind \"Y\" in version \"x.io/v1\"");
  }
  SECTION("metadata of the wrong shape") {
    Json object = ConfigMap("d");
    object["metadata"]["labels"] = "none";
    CHECK(c.store.Create(object).error().message ==
          "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal string into Go struct "
          "field ObjectMeta.metadata.labels of type map[string]string");
    object["metadata"] = "none";
    CHECK(c.store.Create(object).error().code == 422);
  }
}

TEST_CASE("a write that changes nothing makes no event and no new version") {
  Cluster c;
  const Object object = Make(c.store, ConfigMap("c"));
  int events = 0;
  c.store.Subscribe([&](const WatchEvent&) { ++events; });
  const auto same = c.store.Update(*object);
  REQUIRE(same);
  CHECK(**same == *object);
  CHECK(events == 0);
}

TEST_CASE("spec and status are written apart, and only the spec counts as a generation") {
  Cluster c;
  Json rs = ParseJson(R"({"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"r"},
    "spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}},
      "template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}},
    "status":{"replicas":9}})");
  const Object made = Make(c.store, rs);
  CHECK(Dig(*made, "status", "replicas") == 0);
  CHECK(Dig(*made, "metadata", "generation") == 1);

  Json with_status = *made;
  with_status["status"]["replicas"] = 2;
  with_status["spec"]["replicas"] = 5;
  const Object status_written = *c.store.Update(with_status, Part::kStatus);
  CHECK(Dig(*status_written, "status", "replicas") == 2);
  CHECK(Dig(*status_written, "spec", "replicas") == 2);
  CHECK(Dig(*status_written, "metadata", "generation") == 1);

  Json with_spec = *status_written;
  with_spec["spec"]["replicas"] = 5;
  with_spec["status"]["replicas"] = 7;
  const Object spec_written = *c.store.Update(with_spec);
  CHECK(Dig(*spec_written, "spec", "replicas") == 5);
  CHECK(Dig(*spec_written, "status", "replicas") == 2);
  CHECK(Dig(*spec_written, "metadata", "generation") == 2);
}

TEST_CASE("finalizers keep a deleted object until the last one goes") {
  Cluster c;
  Json object = ConfigMap("c");
  object["metadata"]["finalizers"] = {"x.io/hold"};
  Make(c.store, object);
  const DeleteResult held = *c.store.Delete(kConfigMaps, "default", "c");
  CHECK_FALSE(held.removed);
  CHECK(IsTerminating(*held.object));

  Json more = *held.object;
  more["metadata"]["finalizers"].push_back("x.io/late");
  CHECK(c.store.Update(more).error().code == 422);

  REQUIRE(c.store.Modify(kConfigMaps, "default", "c", [](Json& o) { o["metadata"].erase("finalizers"); }));
  CHECK(c.store.Find(kConfigMaps, "default", "c") == nullptr);
}

TEST_CASE("a delete's preconditions are checked") {
  Cluster c;
  const Object object = Make(c.store, ConfigMap("c"));
  CHECK(c.store.Delete(kConfigMaps, "default", "c", {.uid = "other"}).error().code == 409);
  CHECK(c.store.Delete(kConfigMaps, "default", "c", {.resource_version = "1"}).error().code == 409);
  CHECK(c.store.Delete(kConfigMaps, "default", "c", {.uid = UidOf(*object)})->removed);
  CHECK(c.store.Delete(kConfigMaps, "default", "c").error().code == 404);
}

TEST_CASE("dry runs answer as the write would and leave nothing") {
  Cluster c;
  CHECK(c.store.Create(ConfigMap("c"), {.restore = false, .dry_run = true}));
  CHECK(c.store.Find(kConfigMaps, "default", "c") == nullptr);
  Make(c.store, ConfigMap("c"));
  CHECK(c.store.Delete(kConfigMaps, "default", "c", {.dry_run = true}));
  CHECK(c.store.Find(kConfigMaps, "default", "c") != nullptr);
}

TEST_CASE("a restored object keeps the identity and status of its own cluster") {
  Cluster c;
  Json pod = Pod("p");
  pod["metadata"]["uid"] = "11111111-2222-4333-8444-555555555555";
  pod["metadata"]["resourceVersion"] = "99999";
  pod["spec"]["nodeName"] = "n1";
  pod["spec"]["priorityClassName"] = "of-another-cluster";
  pod["spec"]["priority"] = 5;
  pod["status"] = {{"phase", "Running"}};
  CHECK(c.store.Create(pod).error().code == 400);
  const auto restored = c.store.Create(pod, {.restore = true});
  REQUIRE(restored);
  CHECK(UidOf(**restored) == "11111111-2222-4333-8444-555555555555");
  CHECK(DigString(**restored, "status", "phase") == "Running");
  CHECK(Dig(**restored, "spec", "priority") == 5);
}

TEST_CASE("a list in pages shows one state throughout") {
  Cluster c;
  for (int i = 0; i < 5; ++i) Make(c.store, ConfigMap("c" + std::to_string(i)));
  const ListResult first = *c.store.List(kConfigMaps, "default", {.limit = 2});
  CHECK(first.items.size() == 2);
  CHECK(first.remaining == 3);
  Make(c.store, ConfigMap("a-late-one"));
  const ListResult second = *c.store.List(kConfigMaps, "default", {.limit = 2, .continue_token = first.continue_token});
  const ListResult third = *c.store.List(kConfigMaps, "default", {.limit = 2, .continue_token = second.continue_token});
  CHECK(NameOf(*second.items[0]) == "c2");
  CHECK(third.items.size() == 1);
  CHECK(third.continue_token.empty());
  CHECK(third.resource_version == first.resource_version);
  CHECK(c.store.List(kConfigMaps, "default", {.continue_token = "77:0"}).error().code == 410);
}

TEST_CASE("an Event is one object in both of its APIs") {
  Cluster c;
  Make(c.store, ParseJson(R"({"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"e"},
    "regarding":{"kind":"Pod","name":"p","namespace":"default"},"note":"hello","reason":"Scheduled","type":"Normal",
    "reportingController":"tutti","reportingInstance":"t-0","action":"Binding","eventTime":"2026-01-01T00:00:00.000000Z"})"));
  const Object core = c.store.Find(kEvents, "default", "e");
  REQUIRE(core);
  CHECK(DigString(*core, "message") == "hello");
  CHECK(DigString(*core, "involvedObject", "name") == "p");
  CHECK(c.store.Find({"events.k8s.io", "events"}, "default", "e") == core);
}

}  // namespace
}  // namespace tutti::sim
