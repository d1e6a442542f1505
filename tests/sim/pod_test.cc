// SPDX-License-Identifier: Apache-2.0
#include "sim/store/strategy.h"
#include "tests/sim/cluster.h"

namespace tutti::sim {
namespace {

using namespace testing;

TEST_CASE("a pod is defaulted and admitted as on a cluster") {
  Cluster c;
  Json pod = Pod("p");
  pod["spec"]["containers"][0]["resources"]["limits"] = {{"cpu", 0.5}, {"memory", "1024Mi"}};
  pod["status"] = {{"phase", "Running"}};
  const Object made = Make(c.store, pod);
  const Json& spec = Child(*made, "spec");
  CHECK(DigString(spec, "schedulerName") == "default-scheduler");
  CHECK(DigString(spec, "restartPolicy") == "Always");
  CHECK(Dig(spec, "terminationGracePeriodSeconds") == 30);
  CHECK(Dig(spec, "priority") == 0);
  CHECK(spec["containers"][0]["resources"]["requests"] == Json({{"cpu", "500m"}, {"memory", "1Gi"}}));
  CHECK(spec["tolerations"].size() == 2);
  CHECK(spec["tolerations"][0]["tolerationSeconds"] == 300);
  CHECK(DigString(*made, "status", "phase") == "Pending");
  CHECK(DigString(*made, "status", "qosClass") == "Guaranteed");
}

TEST_CASE("a limit range gives a namespace's containers what they leave out") {
  Cluster c;
  Make(c.store, ParseJson(R"({"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"l"},"spec":{"limits":[
    {"type":"Pod","max":{"cpu":"64"}},
    {"type":"Container","default":{"cpu":"6"},"defaultRequest":{"memory":"1Gi"},"max":{"memory":"2048Mi"},
     "min":{"ephemeral-storage":"1Mi"}}]}})"));
  const auto resources = [&](const char* name, const Json& given, const char* ns = "default") {
    Json pod = Pod(name);
    pod["metadata"]["namespace"] = ns;
    if (!given.is_null()) pod["spec"]["containers"][0]["resources"] = given;
    return Dig(*Make(c.store, pod), "spec", "containers")[0]["resources"];
  };
  CHECK(resources("p", nullptr) == ParseJson(R"({"limits":{"cpu":"6","memory":"2Gi"},
    "requests":{"cpu":"6","memory":"1Gi","ephemeral-storage":"1Mi"}})"));
  CHECK(
      resources("q", ParseJson(R"({"limits":{"cpu":"1"},"requests":{"memory":"1Mi"}})")) ==
      ParseJson(
          R"({"limits":{"cpu":"1","memory":"2Gi"},"requests":{"cpu":"1","memory":"1Mi","ephemeral-storage":"1Mi"}})"));
  CHECK(resources("r", nullptr, "kube-system").empty());
  Json bound = Pod("old");
  bound["spec"]["nodeName"] = "n";
  const auto restored = c.store.Create(bound, {.restore = true});
  REQUIRE(restored);
  CHECK(Dig(**restored, "spec", "containers")[0]["resources"].empty());
}

TEST_CASE("pods of one template share their spec, as long as nothing that decides about it has changed") {
  Cluster c;
  Json given = Child(Pod(""), "spec");
  base::Freeze(given);
  const auto make = [&](const char* name, const char* ns = "default") {
    Json pod = Pod(name);
    pod["metadata"]["namespace"] = ns;
    pod["spec"] = given;
    return Child(*Make(c.store, pod), "spec");
  };
  const auto priority = [](const Json& spec) { return IntOf(Child(spec, "priority"), -1); };
  const Json first = make("a"), second = make("b"), elsewhere = make("c", "kube-system");
  CHECK(base::IsShared(first, second));
  CHECK(first == elsewhere);
  Make(c.store, {{"apiVersion", "scheduling.k8s.io/v1"},
                 {"kind", "PriorityClass"},
                 {"metadata", {{"name", "all"}}},
                 {"value", 5},
                 {"globalDefault", true}});
  CHECK(priority(make("d")) == 5);
  CHECK(priority(second) == 0);
  Make(c.store, ParseJson(R"({"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"l"},"spec":{"limits":[
    {"type":"Container","default":{"cpu":"6"}}]}})"));
  CHECK(DigString(Child(make("e"), "containers")[0], "resources", "limits", "cpu") == "6");
  CHECK(Dig(Child(make("f", "kube-system"), "containers")[0], "resources").empty());
}

TEST_CASE("a field that is not known goes from each pod of a template") {
  Cluster c;
  Json given = Child(Pod(""), "spec");
  given["containers"][0]["typo"] = 1;
  base::Freeze(given);
  for (const char* name : {"a", "b"}) {
    Json pod = Pod(name);
    pod["spec"] = given;
    CHECK_FALSE(Dig(*Make(c.store, pod), "spec", "containers")[0].contains("typo"));
    CHECK_FALSE(c.store.templates().IsDecoded(given));
  }
}

TEST_CASE("a spec that is refused once is refused again") {
  Cluster c;
  for (const char* spec : {R"({"containers":[{"name":"main","image":"i","imagePullPolicy":"x"}]})",
                           R"({"containers":[{"name":1,"image":"i"}]})",
                           R"({"containers":[{"name":"main","image":"i"}],"priorityClassName":"x"})"}) {
    Json given = ParseJson(spec);
    base::Freeze(given);
    Json pod = Pod("p");
    pod["spec"] = given;
    const auto once = c.store.Create(pod), again = c.store.Create(pod);
    REQUIRE_FALSE((once || again));
    CHECK(once.error().message == again.error().message);
  }
}

TEST_CASE("label keys become part of their selectors when a pod is created") {
  Cluster c;
  Json pod = Pod("p");
  pod["metadata"]["labels"] = {{"app", "a"}, {"hash", "1"}};
  const Json term = {{"topologyKey", "kubernetes.io/hostname"},
                     {"labelSelector", {{"matchLabels", {{"app", "a"}}}}},
                     {"matchLabelKeys", {"hash", "absent"}},
                     {"mismatchLabelKeys", {"app"}}};
  pod["spec"]["affinity"]["podAntiAffinity"] = {
      {"requiredDuringSchedulingIgnoredDuringExecution", {term}},
      {"preferredDuringSchedulingIgnoredDuringExecution", {{{"weight", 1}, {"podAffinityTerm", term}}}}};
  pod["spec"]["topologySpreadConstraints"] = {{{"maxSkew", 1},
                                               {"topologyKey", "zone"},
                                               {"whenUnsatisfiable", "DoNotSchedule"},
                                               {"labelSelector", {{"matchLabels", {{"app", "a"}}}}},
                                               {"matchLabelKeys", {"hash"}}}};
  const Json in = {{"key", "hash"}, {"operator", "In"}, {"values", {"1"}}},
             not_in = {{"key", "app"}, {"operator", "NotIn"}, {"values", {"a"}}};
  const Object made = Make(c.store, pod);
  const Json& spec = Child(*made, "spec");
  const Json& apart = Dig(spec, "affinity", "podAntiAffinity");
  for (const Json& merged : {apart["requiredDuringSchedulingIgnoredDuringExecution"][0],
                             apart["preferredDuringSchedulingIgnoredDuringExecution"][0]["podAffinityTerm"]})
    CHECK(Dig(merged, "labelSelector", "matchExpressions") == Json({in, not_in}));
  CHECK(Dig(spec["topologySpreadConstraints"][0], "labelSelector", "matchExpressions") == Json({in}));

  Json again = *made;  // from a dump: it is in already
  MergeLabelKeys(again);
  CHECK(again == *made);
}

TEST_CASE("priority comes from the class, and only from there") {
  Cluster c;
  Make(c.store, ParseJson(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},
    "value":1000,"preemptionPolicy":"Never"})"));
  Json pod = Pod("p");
  pod["spec"]["priorityClassName"] = "high";
  const Object made = Make(c.store, pod);
  CHECK(Dig(*made, "spec", "priority") == 1000);
  CHECK(DigString(*made, "spec", "preemptionPolicy") == "Never");

  Json critical = Pod("critical");
  critical["spec"]["priorityClassName"] = "system-node-critical";
  CHECK(Dig(*Make(c.store, critical), "spec", "priority") == 2'000'001'000);

  Json unknown = Pod("u");
  unknown["spec"]["priorityClassName"] = "nope";
  CHECK(c.store.Create(unknown).error().message ==
        "pods \"u\" is forbidden: no PriorityClass with name nope was found");

  Json own = Pod("own");
  own["spec"]["priority"] = 7;
  CHECK(c.store.Create(own).error().code == 403);

  Make(c.store, ParseJson(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"usual"},
    "value":10,"globalDefault":true})"));
  const Object plain = Make(c.store, Pod("plain"));
  CHECK(Dig(*plain, "spec", "priority") == 10);
  CHECK(DigString(*plain, "spec", "priorityClassName") == "usual");
}

TEST_CASE("a gated pod says so from the start") {
  Cluster c;
  Json pod = Pod("p");
  pod["spec"]["schedulingGates"] = {{{"name", "x.io/wait"}}};
  const Object made = Make(c.store, pod);
  CHECK(DigString(ConditionOf(*made, "PodScheduled"), "reason") == "SchedulingGated");
  CHECK(c.store.Bind(BindingOf("p", "n")).error().message ==
        "Operation cannot be fulfilled on pods/binding \"p\": pod p has non-empty .spec.schedulingGates");
  CHECK(c.store.Modify(kPods, "default", "p", [](Json& o) { o["spec"].erase("schedulingGates"); }));
  CHECK(c.store.Modify(kPods, "default", "p", [](Json& o) { o["spec"]["schedulingGates"] = {{{"name", "again"}}}; })
            .error()
            .code == 422);
}

TEST_CASE("a pod that no cluster would take is refused with the field") {
  Cluster c;
  const auto refusal = [&](Json pod) { return c.store.Create(std::move(pod)).error().message; };
  Json pod = Pod("p");
  SECTION("no container") {
    pod["spec"].erase("containers");
    CHECK(refusal(pod) == "Pod \"p\" is invalid: spec.containers: Required value");
  }
  SECTION("containers that are no list") {
    pod["spec"]["containers"] = "many";
    CHECK_THAT(refusal(pod), Catch::Contains("spec.containers"));
  }
  SECTION("a negative request") {
    pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "-1";
    CHECK(refusal(pod) ==
          "Pod \"p\" is invalid: spec.containers[0].resources.requests[cpu]: Invalid value: \"-1\": must be greater "
          "than or equal to 0");
  }
  SECTION("no quantity at all") {
    pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "abc";
    CHECK_THAT(refusal(pod), Catch::Contains("quantities must match the regular expression"));
  }
  SECTION("a request above its limit") {
    pod["spec"]["containers"][0]["resources"] = {{"limits", {{"cpu", "1"}}}, {"requests", {{"cpu", "2"}}}};
    CHECK_THAT(refusal(pod), Catch::Contains("must be less than or equal to cpu limit of 1"));
  }
  SECTION("half a GPU") {
    pod["spec"]["containers"][0]["resources"] = {{"limits", {{"nvidia.com/gpu", "500m"}}}};
    CHECK_THAT(refusal(pod), Catch::Contains("must be an integer"));
  }
  SECTION("two containers of one name") {
    pod["spec"]["containers"].push_back(pod["spec"]["containers"][0]);
    CHECK_THAT(refusal(pod), Catch::Contains("spec.containers[1].name: Duplicate value: \"main\""));
  }
}

TEST_CASE("a binding binds once, and carries its annotations and labels into the pod") {
  Cluster c;
  Make(c.store, Pod("p"));
  Json binding = BindingOf("p", "no-such-node");
  binding["metadata"]["annotations"] = {{"tutti.dev/plan", "42"}};
  binding["metadata"]["labels"] = {{"l", "1"}};
  const auto bound = c.store.Bind(binding);
  REQUIRE(bound);
  CHECK(DigString(**bound, "spec", "nodeName") == "no-such-node");
  CHECK(AnnotationOf(**bound, "tutti.dev/plan") == "42");
  CHECK(LabelOf(**bound, "l") == "1");
  CHECK(DigString(ConditionOf(**bound, "PodScheduled"), "status") == "True");

  const ApiError again = c.store.Bind(BindingOf("p", "n2")).error();
  CHECK(again.code == 409);
  CHECK(again.message ==
        "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to node \"no-such-node\"");
  CHECK(c.store.Bind(BindingOf("q", "n2")).error().code == 404);
}

TEST_CASE("a binding's uid and resourceVersion are preconditions") {
  Cluster c;
  const Object pod = Make(c.store, Pod("p"));
  Json binding = BindingOf("p", "n");
  SECTION("another uid") {
    binding["metadata"]["uid"] = "other";
    const ApiError error = c.store.Bind(binding).error();
    CHECK(error.code == 409);
    CHECK_THAT(error.message, Catch::Contains("Precondition failed: UID in precondition: other, UID in object meta: "));
  }
  SECTION("a version that has passed") {
    binding["metadata"]["resourceVersion"] = DigString(*pod, "metadata", "resourceVersion");
    REQUIRE(c.store.Modify(kPods, "default", "p", [](Json& o) { o["metadata"]["annotations"]["touched"] = "1"; }));
    CHECK(c.store.Bind(binding).error().code == 409);
    CHECK(DigString(*c.store.Find(kPods, "default", "p"), "spec", "nodeName").empty());
  }
  SECTION("both as they are") {
    binding["metadata"]["uid"] = UidOf(*pod);
    binding["metadata"]["resourceVersion"] = DigString(*pod, "metadata", "resourceVersion");
    CHECK(c.store.Bind(binding));
  }
}

TEST_CASE("an unbound pod goes at once, a bound one waits for its kubelet") {
  Cluster c;
  Make(c.store, Pod("p"));
  CHECK(c.store.Delete(kPods, "default", "p")->removed);

  Make(c.store, Pod("p"));
  REQUIRE(c.store.Bind(BindingOf("p", "n")));
  const DeleteResult graceful = *c.store.Delete(kPods, "default", "p");
  CHECK_FALSE(graceful.removed);
  CHECK(DigString(*graceful.object, "metadata", "deletionTimestamp") == "2026-01-01T00:00:30Z");
  CHECK(c.store.Bind(BindingOf("p", "n")).error().message ==
        "Operation cannot be fulfilled on pods/binding \"p\": pod p is being deleted, cannot be assigned to a host");

  const DeleteResult sooner = *c.store.Delete(kPods, "default", "p", {.grace_seconds = 5});
  CHECK_FALSE(sooner.removed);
  CHECK(DigString(*sooner.object, "metadata", "deletionTimestamp") == "2026-01-01T00:00:05Z");
  CHECK(c.store.Delete(kPods, "default", "p", {.grace_seconds = 0})->removed);
}

TEST_CASE("a finished pod needs no grace") {
  Cluster c;
  Make(c.store, Pod("p"));
  REQUIRE(c.store.Bind(BindingOf("p", "n")));
  REQUIRE(c.store.Modify(kPods, "default", "p", [](Json& o) { o["status"]["phase"] = "Succeeded"; }, Part::kStatus));
  CHECK(c.store.Delete(kPods, "default", "p")->removed);
}

TEST_CASE("a pod's spec is frozen but for what Kubernetes lets change") {
  Cluster c;
  Make(c.store, Pod("p"));
  const auto change = [&](const std::function<void(Json&)>& edit) {
    return c.store.Modify(kPods, "default", "p", edit);
  };
  CHECK(change([](Json& o) { o["spec"]["containers"][0]["image"] = "busybox:1.37"; }));
  CHECK(change([](Json& o) { o["spec"]["tolerations"].push_back({{"key", "k"}, {"operator", "Exists"}}); }));
  CHECK(change([](Json& o) { o["spec"]["tolerations"].erase(2); }).error().code == 422);
  CHECK(change([](Json& o) { o["spec"]["nodeName"] = "n"; }).error().code == 422);
  CHECK_THAT(change([](Json& o) { o["spec"]["nodeSelector"] = {{"a", "b"}}; }).error().message,
             Catch::Contains("spec: Forbidden: pod updates may not change fields other than"));
}

}  // namespace
}  // namespace tutti::sim
