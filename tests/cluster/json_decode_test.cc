// SPDX-License-Identifier: Apache-2.0
#include "cluster/json_decode.h"

#include "base/json.h"
#include "tests/support/catch.h"

namespace tutti::cluster {
namespace {

using json = base::Json;

json PodWith(const char* spec) {
  json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", "p"}, {"namespace", "ns"}}}};
  pod["spec"] = json::parse(spec);
  return pod;
}

TEST_CASE("A pod's identity, owner and times are read") {
  const json object = json::parse(R"({"metadata": {"name": "p", "namespace": "ns", "uid": "u", "resourceVersion": "7",
      "generation": 3, "creationTimestamp": "1970-01-01T00:00:05Z", "deletionTimestamp": "1970-01-01T00:01:00Z",
      "labels": {"b": "2", "a": "1"}, "ownerReferences": [
        {"apiVersion": "ray.io/v1", "kind": "RayCluster", "name": "c", "uid": "cu", "controller": true}]},
      "spec": {"nodeName": "n1", "schedulingGroup": {"podGroupName": "g"}, "schedulingGates": [{"name": "x"}]},
      "status": {"phase": "Failed", "reason": "OutOfcpu", "conditions": [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "m"},
        {"type": "tutti.dev/Preempting", "status": "False", "message": "m"},
        {"type": "DisruptionTarget", "status": "True"}]}})");
  const auto pod = DecodePod(object);
  REQUIRE(pod);
  CHECK(pod->meta.created_ms == 5000);
  CHECK(pod->meta.deleted_ms == 60000);
  CHECK(pod->meta.labels == model::StringMap{{"a", "1"}, {"b", "2"}});
  REQUIRE(pod->meta.Controller());
  CHECK(pod->meta.Controller()->uid == "cu");
  CHECK(pod->node_name == "n1");
  CHECK(pod->scheduling_group == "g");
  CHECK(pod->scheduling_gates == std::vector<std::string>{"x"});
  CHECK(pod->phase == model::PodPhase::kFailed);
  CHECK(pod->scheduled == model::ScheduledCondition{true, false, "Unschedulable", "m"});
  CHECK(!pod->undo_begun);  // another writer's condition
  CHECK(!pod->preempting);  // taken back
  CHECK(pod->spec->scheduler_name == "default-scheduler");
}

TEST_CASE("Requests default from limits, sidecars add up and ordinary init containers peak") {
  const auto pod = DecodePod(PodWith(R"({"containers": [
      {"name": "a", "resources": {"requests": {"cpu": "500m"}, "limits": {"cpu": 1, "nvidia.com/gpu": "2"}}},
      {"name": "b", "resources": {"requests": {"memory": "1Gi"}}}],
    "initContainers": [
      {"name": "side", "restartPolicy": "Always", "resources": {"requests": {"cpu": "100m"}}},
      {"name": "once", "resources": {"requests": {"cpu": "3"}}}],
    "overhead": {"cpu": "10m"}})"));
  REQUIRE(pod);
  CHECK(pod->spec->requests.Get("cpu") == 3110);
  CHECK(pod->spec->requests.Get("memory") == int64_t{1} << 30);
  CHECK(pod->spec->requests.Get("nvidia.com/gpu") == 2);
  CHECK(pod->spec->container_count == 4);
}

TEST_CASE("An init container adds to the sidecars that were started before it, resource by resource") {
  const auto pod =
      DecodePod(PodWith(R"({"containers": [{"name": "a", "resources": {"requests": {"x/a": "1", "x/b": "1"}}}],
    "initContainers": [
      {"name": "early", "resources": {"requests": {"x/a": "3", "x/c": "5"}}},
      {"name": "side", "restartPolicy": "Always", "resources": {"requests": {"x/a": "4", "x/d": "2"}}},
      {"name": "late", "resources": {"requests": {"x/d": "1", "x/b": "9"}}},
      {"name": "other", "restartPolicy": "Always", "resources": {"requests": {"x/d": "2"}}}]})"));
  REQUIRE(pod);
  CHECK(pod->spec->requests.items() ==
        std::vector<model::ResourceList::Item>{{"x/a", 5}, {"x/b", 9}, {"x/c", 5}, {"x/d", 4}});
  CHECK(pod->spec->nonzero_cpu == 3 * 100);
}

TEST_CASE("A pod-level limit counts only for what no container asks for") {
  const auto pod = DecodePod(PodWith(R"({"resources": {"limits": {"cpu": "8", "memory": "4Gi"}},
    "containers": [{"name": "a", "resources": {"requests": {"cpu": "1"}}}]})"));
  REQUIRE(pod);
  CHECK(pod->spec->requests.Get("cpu") == 1000);
  CHECK(pod->spec->requests.Get("memory") == int64_t{4} << 30);
}

TEST_CASE("A bound pod in the middle of a resize holds the larger of old and new") {
  json object = PodWith(R"({"nodeName": "n", "containers": [{"name": "a", "resources": {"requests": {"cpu": "1"}}}]})");
  object["status"] = json::parse(R"({"containerStatuses": [
      {"name": "a", "resources": {"requests": {"cpu": "4"}}, "allocatedResources": {"cpu": "3"}}]})");
  CHECK(DecodePod(object)->spec->requests.Get("cpu") == 4000);
  object["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "9";
  CHECK(DecodePod(object)->spec->requests.Get("cpu") == 9000);
  object["status"]["conditions"] =
      json::parse(R"([{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}])");
  CHECK(DecodePod(object)->spec->requests.Get("cpu") == 4000);
}

TEST_CASE("A pod with requests of its own holds the larger of old and new in the middle of a resize") {
  json object = PodWith(R"({"nodeName": "n", "resources": {"requests": {"cpu": "1"}}, "containers": [{"name": "a"}]})");
  object["status"] = json::parse(R"({"resources": {"requests": {"cpu": "4", "memory": "1Gi"}},
                                     "allocatedResources": {"cpu": "6"}})");
  CHECK(DecodePod(object)->spec->requests.Get("cpu") == 6000);
  CHECK_FALSE(DecodePod(object)->spec->requests.Has("memory"));  // it does not ask for that as a whole
  object["spec"]["resources"]["requests"]["cpu"] = "9";
  CHECK(DecodePod(object)->spec->requests.Get("cpu") == 9000);
  object["status"]["conditions"] =
      json::parse(R"([{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}])");
  CHECK(DecodePod(object)->spec->requests.Get("cpu") == 6000);
  object["spec"].erase("nodeName");  // of one that waits, the status says nothing
  CHECK(DecodePod(object)->spec->requests.Get("cpu") == 9000);
}

TEST_CASE("The status of an init container counts only if it restarts") {
  json object = PodWith(R"({"nodeName": "n", "initContainers": [{"name": "i", "resources": {"requests": {"cpu": "2"}}}],
                            "containers": [{"name": "a", "resources": {"requests": {"cpu": "1"}}}]})");
  object["status"] =
      json::parse(R"({"initContainerStatuses": [{"name": "i", "resources": {"requests": {"cpu": "7"}}}]})");
  CHECK(DecodePod(object)->spec->requests.Get("cpu") == 2000);
  object["spec"]["initContainers"][0]["restartPolicy"] = "Always";
  CHECK(DecodePod(object)->spec->requests.Get("cpu") == 8000);
}

TEST_CASE("A pod-level limit is a request if no container asks for that") {
  const auto cpu = [](const char* spec) { return DecodePod(PodWith(spec))->spec->requests.Get("cpu"); };
  CHECK(cpu(R"({"resources": {"limits": {"cpu": "5"}},
                "containers": [{"name": "a", "resources": {"requests": {"cpu": "2"}}}, {"name": "b"}]})") == 2000);
  CHECK(cpu(R"({"resources": {"limits": {"cpu": "5"}}, "containers": [{"name": "a"}]})") == 5000);
  CHECK(cpu(R"({"resources": {"limits": {"cpu": "5"}, "requests": {"cpu": "3"}},
                "containers": [{"name": "a", "resources": {"requests": {"cpu": "2"}}}]})") == 3000);
  // Sidecars and init containers are among what the containers ask for together.
  CHECK(cpu(R"({"resources": {"limits": {"cpu": "9"}}, "initContainers": [
                {"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}},
                {"name": "i", "resources": {"requests": {"cpu": "4"}}}],
                "containers": [{"name": "a", "resources": {"requests": {"cpu": "2"}}}]})") == 5000);
}

TEST_CASE("Placement rules are read whole") {
  const auto pod = DecodePod(PodWith(R"({"containers": [{"name": "a", "image": "i",
        "ports": [{"containerPort": 80, "hostPort": 8080}, {"containerPort": 81}]}],
    "priority": -5, "preemptionPolicy": "Never", "schedulerName": "tutti", "nodeSelector": {"disk": "ssd"},
    "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}],
    "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]}]}},
      "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "host", "labelSelector": {"matchLabels": {"app": "x"}}}]}},
    "topologySpreadConstraints": [{"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}],
    "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}, {"name": "w", "ephemeral": {}},
                {"name": "d", "awsElasticBlockStore": {"volumeID": "aws://z/vol-1"}}, {"name": "j", "image": {"reference": "j"}}],
    "resourceClaims": [{"name": "r"}]})"));
  REQUIRE(pod);
  const model::PodSpec& spec = *pod->spec;
  CHECK(spec.priority == -5);
  CHECK(spec.host_ports == std::vector<model::HostPort>{{"", "", 8080}});
  CHECK(spec.tolerations == std::vector<model::Toleration>{{"k", "Exists", "", "NoSchedule"}});
  REQUIRE(spec.required_node_affinity);
  CHECK(spec.required_node_affinity->terms[0].match_expressions[0].op == model::Operator::kIn);
  REQUIRE(spec.pod_anti_affinity.required.size() == 1);
  CHECK(spec.pod_anti_affinity.required[0].selector->match_labels == model::StringMap{{"app", "x"}});
  REQUIRE(spec.spread.size() == 1);
  CHECK_FALSE(spec.spread[0].hard);
  using Source = model::PodVolume::Source;
  REQUIRE(spec.volumes.size() == 3);
  CHECK(spec.volumes[0].source == Source::kClaim);
  CHECK(spec.volumes[1].source == Source::kEphemeral);
  CHECK(spec.volumes[2].csi == model::CsiDisk{"ebs.csi.aws.com", "vol-1"});
  CHECK(pod->claims == std::vector<model::PodClaim>{{"c", false}, {"p-w", true}});
  CHECK(spec.images == std::vector<std::string>{"i", "j"});
  CHECK(spec.has_claims);
}

TEST_CASE("Volumes that any node can mount do not count") {
  const auto pod =
      DecodePod(PodWith(R"({"volumes": [{"name": "m", "emptyDir": {}}, {"name": "c", "configMap": {}}]})"));
  REQUIRE(pod);
  CHECK(pod->spec->volumes.empty());
  CHECK(pod->claims.empty());
}

TEST_CASE("An unreadable field is named with its path, value and remedy") {
  const auto broken = [](const char* spec) { return DecodePod(PodWith(spec)).error().message; };
  CHECK_THAT(broken(R"({"containers": [{"resources": {"requests": {"cpu": "abc"}}}]})"),
             Catch::StartsWith("spec.containers[0].resources.requests.cpu: \"abc\" is not a quantity"));
  CHECK_THAT(broken(R"({"containers": [{"resources": {"limits": {"nvidia.com/gpu": "-1"}}}]})"),
             Catch::StartsWith("spec.containers[0].resources.limits[\"nvidia.com/gpu\"]: \"-1\" is negative"));
  CHECK(broken(R"({"containers": {"a": 1}})") == "spec.containers: {\"a\":1} is not a list");
  CHECK(broken(R"({"priority": "high"})") == "spec.priority: \"high\" is not a whole number");
}

TEST_CASE("An unreadable pod does not vanish, and fits nowhere") {
  std::vector<std::string> problems;
  const model::Pod pod = DecodePodLeniently(
      PodWith(R"({"nodeName": "n", "containers": [{"resources": {"requests": {"cpu": "abc", "memory": "1Gi"}}}]})"),
      &problems);
  CHECK(problems.size() == 1);
  CHECK(pod.meta.name == "p");
  CHECK(pod.node_name == "n");
  CHECK(pod.spec->requests.Get("memory") == int64_t{1} << 30);
  CHECK(pod.spec->saturated);
}

TEST_CASE("A quantity beyond all bounds saturates instead of wrapping") {
  const auto pod = DecodePod(PodWith(R"({"containers": [{"resources": {"requests": {"cpu": "1e30"}}}]})"));
  REQUIRE(pod);
  CHECK(pod->spec->saturated);
}

TEST_CASE("A node gives its allocatable, taints and readiness") {
  const auto node = DecodeNode(json::parse(R"({"metadata": {"name": "n"},
    "spec": {"unschedulable": true, "taints": [{"key": "k", "effect": "NoSchedule"}]},
    "status": {"allocatable": {"cpu": "7500m", "pods": "110"}, "capacity": {"cpu": "8"},
      "conditions": [{"type": "Ready", "status": "Unknown"}], "images": [{"names": ["a", "b"], "sizeBytes": 5}]}})"));
  REQUIRE(node);
  CHECK(node->allocatable.Get("cpu") == 7500);
  CHECK(node->unschedulable);
  CHECK_FALSE(node->ready);
  CHECK(node->taints == std::vector<model::Taint>{{"k", "", "NoSchedule"}});
  CHECK(node->images == std::vector<model::ContainerImage>{{{"a", "b"}, 5}});
}

TEST_CASE("Any other kind is kept whole, under the plural it is served by") {
  const model::ObjectKind kind{"scheduling.volcano.sh", "podgroups", "PodGroup", {"v1beta1"}};
  auto body = std::make_shared<const json>(
      json::parse(R"({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "g"}})"));
  const auto object = DecodeObject(kind, body);
  REQUIRE(object);
  CHECK(object->group == "scheduling.volcano.sh");
  CHECK(object->version == "v1beta1");
  CHECK(object->resource == "podgroups");
  CHECK(object->meta.name == "g");
  CHECK(object->body == body);
  CHECK(DecodeObject(kind, std::make_shared<const json>(json::object())).error().message ==
        "metadata.name: is missing");
}

}  // namespace
}  // namespace tutti::cluster
