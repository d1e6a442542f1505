// SPDX-License-Identifier: Apache-2.0
#include "app/simulate.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "app/output.h"
#include "base/json.h"
#include "tests/support/catch.h"

namespace tutti::app {
namespace {

using Json = nlohmann::ordered_json;

base::Result<Json> Try(const std::string& yaml) {
  auto manifests = sim::ParseManifests(yaml, "test.yaml");
  if (!manifests) return tl::make_unexpected(manifests.error());
  return Simulate(*std::move(manifests), {});
}

Json Must(const std::string& yaml) {
  const auto result = Try(yaml);
  INFO((result ? "" : result.error().message));
  REQUIRE(result);
  return *result;
}

std::string Refusal(const std::string& yaml) {
  const auto result = Try(yaml);
  REQUIRE_FALSE(result);
  return result.error().message;
}

Json Find(const Json& list, const std::string& name) {
  for (const Json& one : list) {
    if (one["name"] == name) return one;
  }
  return nullptr;
}

std::string Node(const std::string& name, const std::string& cpu) {
  return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name + "}\nstatus: {allocatable: {cpu: '" + cpu +
         "', memory: 32Gi, pods: '110'}}\n";
}

struct PodText {
  std::string name;
  std::string cpu = "1";
  std::string group = "";        // scheduling.x-k8s.io/pod-group
  std::string annotations = "";  // "a: b, c: d"
  std::string scheduler = "tutti";

  std::string Text() const {
    const std::string labels = group.empty() ? "" : "scheduling.x-k8s.io/pod-group: " + group;
    return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", labels: {" + labels + "}, annotations: {" +
           annotations + "}}\nspec:\n  schedulerName: " + scheduler +
           "\n  containers: [{name: main, image: busybox, resources: {requests: {cpu: '" + cpu + "'}}}]\n";
  }
};

std::string Group(const std::string& name, const std::string& min_member) {
  return "---\napiVersion: scheduling.x-k8s.io/v1alpha1\nkind: PodGroup\nmetadata: {name: " + name +
         "}\nspec: {minMember: " + min_member + "}\n";
}

TEST_CASE("a gang that fits starts whole, and one that does not waits whole and says why") {
  const Json result =
      Must(Node("n1", "4") + Group("fits", "2") + PodText{.name = "a-0", .group = "fits"}.Text() +
           PodText{.name = "a-1", .group = "fits"}.Text() + Group("waits", "3") +
           PodText{.name = "b-0", .group = "waits"}.Text() + PodText{.name = "b-1", .group = "waits"}.Text() +
           PodText{.name = "b-2", .group = "waits"}.Text());
  CHECK(Find(result["pods"], "a-0")["state"] == "bound");
  CHECK(Find(result["pods"], "a-1")["node"] == "n1");
  for (const char* name : {"b-0", "b-1", "b-2"}) {
    const Json pod = Find(result["pods"], name);
    CHECK(pod["state"] == "pending");
    CHECK(pod["node"] == "");
    CHECK(pod["reason"] == "Unschedulable");
    CHECK(pod["message"].get<std::string>().find("Insufficient cpu") != std::string::npos);
  }
  CHECK(Find(result["gangs"], "fits")["state"] == "whole");
  CHECK(Find(result["gangs"], "fits")["bound"] == 2);
  CHECK(Find(result["gangs"], "waits")["state"] == "waiting-for-nodes");
  CHECK(Find(result["gangs"], "waits")["minMember"] == 3);
  CHECK(result["timeline"].size() == 2);
}

TEST_CASE("the same input gives the same bytes") {
  const std::string input = Node("n1", "4") + Group("g", "2") + PodText{.name = "p-0", .group = "g"}.Text() +
                            PodText{.name = "p-1", .group = "g", .annotations = "sim.tutti.dev/run-for: 30s"}.Text();
  CHECK(ToJsonText(Must(input)) == ToJsonText(Must(input)));
}

TEST_CASE("annotations give it time: what ends makes room for what waits, and what arrives later comes later") {
  const Json result =
      Must(Node("n1", "1") + PodText{.name = "first", .annotations = "sim.tutti.dev/run-for: 1m"}.Text() +
           PodText{.name = "late", .annotations = "sim.tutti.dev/arrive-at: 10s"}.Text());
  CHECK(Find(result["pods"], "first")["state"] == "finished");
  CHECK(Find(result["pods"], "late")["state"] == "bound");
  const Json& timeline = result["timeline"];
  REQUIRE(timeline.size() == 3);
  CHECK(timeline[0]["action"] == "bind");
  CHECK(timeline[0]["atSeconds"] == 0);
  CHECK(timeline[1]["action"] == "finish");
  CHECK(timeline[1]["atSeconds"] == 60);
  CHECK(timeline[2]["pod"] == "default/late");
  CHECK(timeline[2]["atSeconds"] == 60);
}

std::string Wrapper(const std::string& name, const std::string& limit_s) {
  return "---\napiVersion: mcad.ibm.com/v1beta1\nkind: AppWrapper\nmetadata: {name: " + name +
         "}\nspec:\n  schedulingSpec: {minAvailable: 0, dispatchDuration: {limit: " + limit_s +
         "}}\n  resources:\n    GenericItems:\n    - generictemplate:\n" +
         "        apiVersion: v1\n        kind: Pod\n        metadata: {name: " + name + "}\n" +
         "        spec: {containers: [{name: main, image: busybox, resources: {requests: {cpu: '1'}}}]}\n";
}

TEST_CASE("what a gang itself waits for comes, however often the figures of others are renewed until then") {
  std::string text = Node("n1", "1");
  for (int i = 0; i < 5'000; ++i) text += Wrapper(fmt::format("w{:04}", i), "36000");
  const Json result = Must(text);
  CHECK(Find(result["gangs"], "w0000")["state"] == "finished");
  const Json& timeline = result["timeline"];
  REQUIRE(timeline.size() >= 2);
  CHECK(timeline[0]["atSeconds"] == 0);
  CHECK(timeline[1]["atSeconds"] == 36'001);  // its status says a second later that it was dispatched
}

TEST_CASE("a pod of a schedulerName that is not served is pending, and says so") {
  const Json result = Must(Node("n1", "1") + PodText{.name = "other", .scheduler = "another"}.Text());
  const Json pod = Find(result["pods"], "other");
  CHECK(pod["state"] == "pending");
  CHECK(pod["reason"] == "NotServed");
}

TEST_CASE("hostile declarations get their own reason, and others are not held up") {
  for (const char* min_member : {"0", "-1", "2147483647", "abc", "1e30"}) {
    const Json result = Must(Node("n1", "4") + Group("bad", min_member) +
                             PodText{.name = "b-0", .group = "bad"}.Text() + PodText{.name = "good"}.Text());
    INFO(min_member);
    CHECK(Find(result["pods"], "b-0")["state"] == "pending");
    CHECK_FALSE(Find(result["pods"], "b-0")["message"].get<std::string>().empty());
    CHECK(Find(result["pods"], "good")["state"] == "bound");
  }
}

TEST_CASE("a queue of nonsense holds up its own gangs only") {
  for (const char* quantity : {"abc", "-1", "1e30"}) {
    INFO(quantity);
    const Json result = Must(Node("n1", "4") + PodText{.name = "good"}.Text() +
                             "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: q}\nspec: "
                             "{capability: {cpu: '" +
                             quantity +
                             "'}}\n---\napiVersion: scheduling.volcano.sh/v1beta1\n"
                             "kind: PodGroup\nmetadata: {name: g}\nspec: {minMember: 1, queue: q}\n" +
                             PodText{.name = "p", .annotations = "scheduling.k8s.io/group-name: g"}.Text());
    CHECK(Find(result["pods"], "good")["state"] == "bound");
    const bool countable = std::string(quantity) == "1e30";  // a lot, but a quantity: it caps nothing
    CHECK(Find(result["pods"], "p")["state"] == (countable ? "bound" : "pending"));
    const std::string message = Find(result["pods"], "p")["message"];
    CHECK((countable || message.find("capability") != std::string::npos));
  }
}

TEST_CASE("what an API server would refuse is refused with file, line and field") {
  CHECK(Refusal(Node("n1", "4") + PodText{.name = "p", .cpu = "abc"}.Text()).find("test.yaml:12: ") == 0);
  CHECK(Refusal(PodText{.name = "p", .cpu = "abc"}.Text()) ==
        "test.yaml:7: Pod \"p\": spec.containers[0].resources.requests[cpu]: \"abc\" is not a "
        "quantity; "
        "write it as \"500m\", \"2\" or \"4Gi\"");
  CHECK(Refusal(PodText{.name = "p", .cpu = "-1"}.Text()).find("must be greater than or equal to 0") !=
        std::string::npos);
  CHECK(Refusal(Node("n1", "lots")).find("test.yaml:5: ") == 0);
  CHECK(Refusal("a: [\n").find("test.yaml") == 0);
  CHECK(Refusal(PodText{.name = "p", .annotations = "sim.tutti.dev/arrive-at: soon"}.Text())
            .find("test.yaml:4: metadata.annotations[sim.tutti.dev/arrive-at]: \"soon\"") == 0);
  CHECK(Refusal(PodText{.name = "p", .annotations = "sim.tutti.dev/run-for: 5x"}.Text())
            .find("test.yaml:4: metadata.annotations[sim.tutti.dev/run-for]: \"5x\"") == 0);
  CHECK(Refusal("apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {template: {metadata: {annotations: "
                "{sim.tutti.dev/run-for: 5x}}, spec: {containers: [{name: c, image: i}]}}}\n")
            .find("test.yaml:4: spec.template.metadata.annotations[sim.tutti.dev/run-for]:") == 0);
  for (const char* wrong : {"exit-code: '256'", "exit-code: one", "exit-code: '-1'", "stop-after: 5x"})
    CHECK_THAT(
        Refusal(fmt::format("apiVersion: v1\nkind: Pod\nmetadata: {{name: p, annotations: {{sim.tutti.dev/{}}}}}\n"
                            "spec: {{containers: [{{name: c, image: i}}]}}\n",
                            wrong)),
        Catch::StartsWith("test.yaml:3: metadata.annotations[sim.tutti.dev/"));
  const std::string pod = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n";
  CHECK(Refusal(pod + "  containers: {name: c, image: i}\n") == "test.yaml:6: spec.containers must be a list");
  CHECK(Refusal(pod + "  nodeSelector: gpu\n  containers: [{name: c, image: i}]\n") ==
        "test.yaml:6: spec.nodeSelector must be a map");
  CHECK(Refusal(pod + "  containers:\n  - name: c\n    image: 5\n") ==
        "test.yaml:8: spec.containers[0].image must be a string; put it in quotes");
  CHECK(Refusal(pod + "  containers: [{name: c, image: i}]\n  priorityClassName: nosuch\n") ==
        "test.yaml:7: pods \"p\" is forbidden: no PriorityClass with name nosuch was found");
  CHECK_THAT(Refusal(pod + "  containers:\n  - name: c\n    image: i\n    resources:\n      limits:\n        "
                           "nvidia.com/gpu: 500m\n"),
             Catch::StartsWith("test.yaml:11: Pod \"p\" is invalid: "));
}

TEST_CASE("an item of a List is told of by its line, or by its place") {
  const std::string list =
      "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Node, metadata: {name: n1}}\n"
      "- {apiVersion: v1, kind: NodeList, items: [{metadata: {name: n2}, spec: {taints: [{key: a, effect: Not}]}}]}\n";
  CHECK_THAT(Refusal(list), Catch::StartsWith("test.yaml:5: Node \"n2\" is invalid: "));
  CHECK_THAT(Refusal("apiVersion: v1\nkind: List\nitems: [{}]\n"),
             Catch::StartsWith("test.yaml: document 1, line 1, items[0]: kind is missing"));
}

TEST_CASE("a misspelt field is refused in built-in kinds and in the dialects', whose bounds and types are not held") {
  CHECK_THAT(Refusal(Node("n1", "4") + Group("g", "3, minMembers: 3")),
             Catch::StartsWith("test.yaml: document 2, line") && Catch::Contains("unknown field \"spec.minMembers\""));
  CHECK_THAT(
      Refusal("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {nodeSelectorr: {a: b}, containers: "
              "[{name: c, image: i}]}\n"),
      Catch::StartsWith("test.yaml: document 1, line 1:") && Catch::Contains("unknown field \"spec.nodeSelectorr\""));
  const std::string volcano = "---\napiVersion: scheduling.volcano.sh/v1beta1\nmetadata: {name: g}\n";
  CHECK_THAT(Refusal(Node("n1", "4") + volcano + "kind: PodGroup\nspec: {minMembr: 3}\n"),
             Catch::Contains("unknown field \"spec.minMembr\""));
  CHECK_THAT(Refusal(Node("n1", "4") + volcano + "kind: Queue\nspec: {weigth: 3}\n"),
             Catch::Contains("unknown field \"spec.weigth\""));
  CHECK_THAT(Refusal(Node("n1", "4") + volcano + "kind: PodGroup\nspec: {networkTopology: {highestTierAlowed: 1}}\n"),
             Catch::Contains("unknown field \"spec.networkTopology.highestTierAlowed\" (line 10; did you mean "
                             "highestTierAllowed?)"));
  CHECK_THAT(Refusal(Node("n1", "4") + volcano + "kind: PodGroup\nspec: {subGroupPolicy: [{subGroupSizes: 1}]}\n"),
             Catch::Contains("did you mean subGroupSize?"));
  CHECK_THAT(Refusal(Node("n1", "4") + volcano + "kind: Queue\nspec: {guarantee: {cpu: 1}}\n"),
             Catch::Contains("unknown field \"spec.guarantee.cpu\""));
  CHECK_THAT(Refusal("apiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\nmetadata: {name: h}\n"
                     "spec: {tier: 1, members: [{type: Node, selector: {exactMach: {name: x}}}]}\n"),
             Catch::Contains("did you mean exactMatch?"));
  Must(Node("n1", "4") + volcano +
       "kind: PodGroup\nspec: {minMember: 1, minTaskMember: {a: 1}, networkTopology: {mode: hard}, subGroupPolicy: "
       "[{name: a, subGroupSize: 1}]}\n" +
       volcano +
       "kind: Queue\nspec: {weight: 1, guarantee: {resource: {cpu: 1}}, deserved: {cpu: 1}, reclaimable: true, "
       "priority: "
       "1, type: a, dequeueStrategy: fifo, affinity: {nodeGroupAffinity: {}}, extendClusters: [{name: c}]}\n");
}

std::vector<std::string> NotesOf(const std::string& yaml, const std::string& config = "") {
  SimulateOptions options;
  if (!config.empty()) REQUIRE(ReadConfig(config, "config.yaml", &options.config));
  std::vector<std::string> notes;
  options.notes = &notes;
  const auto manifests = sim::ParseManifests(yaml, "test.yaml");
  REQUIRE(manifests);
  REQUIRE(Simulate(*manifests, std::move(options)));
  return notes;
}

TEST_CASE("kinds that every cluster has are taken, and those that change nothing here are told of") {
  const auto meta = [](const char* version, const char* kind) {
    return std::string("---\napiVersion: ") + version + "\nkind: " + kind + "\nmetadata: {name: x}\n";
  };
  const std::string pod =
      "template: {metadata: {labels: {a: b}}, spec: {restartPolicy: Never, containers: [{name: c, "
      "image: i}]}}";
  const auto notes = NotesOf(
      Node("n1", "4") + meta("batch/v1", "CronJob") + "spec: {schedule: '* * * * *', jobTemplate: {spec: {" + pod +
      "}}}\n" + meta("autoscaling/v2", "HorizontalPodAutoscaler") +
      "spec: {maxReplicas: 3, scaleTargetRef: {kind: Deployment, name: d}}\n" + meta("node.k8s.io/v1", "RuntimeClass") +
      "handler: h\noverhead: {podFixed: {cpu: 250m}}\n" + meta("discovery.k8s.io/v1", "EndpointSlice") +
      "addressType: IPv4\nendpoints: []\nports: []\n" + meta("v1", "PodTemplate") + pod + "\n" +
      meta("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy") + "spec: {}\n");
  REQUIRE(notes.size() == 4);
  CHECK(notes[0] == "the embedded cluster has no controller for the kind CronJob: no pods are made (default/x)");
  CHECK_THAT(notes[1], Catch::StartsWith("the kind HorizontalPodAutoscaler has no effect"));
  CHECK(notes[2] ==
        "the kind RuntimeClass has no effect in the embedded cluster: its overhead and its nodes are not added to pods "
        "(x)");
  CHECK_THAT(notes[3], Catch::StartsWith("the kind ValidatingAdmissionPolicy has no effect"));
}

TEST_CASE("kinds that are not known are left out with one note a kind, unless they are to be errors") {
  const auto meta = [](const std::string& version, const std::string& kind, const std::string& name) {
    return fmt::format("---\napiVersion: {}\nkind: {}\nmetadata: {{name: {}, namespace: a}}\n", version, kind, name);
  };
  const std::string text = Node("n1", "4") + PodText{.name = "p"}.Text() +
                           meta("batch.volcano.sh/v1alpha1", "Job", "v") +
                           meta("monitoring.coreos.com/v1", "ServiceMonitor", "m1") +
                           meta("monitoring.coreos.com/v1", "ServiceMonitor", "m2") + meta("batch/v1", "CronJbo", "c");
  CHECK(Find(Must(text)["pods"], "p")["state"] == "bound");
  CHECK(NotesOf(text) == std::vector<std::string>{
                             "the kind Job of batch.volcano.sh/v1alpha1 is not known here: a/v is ignored",
                             "the kind CronJbo of batch/v1 is not known here: a/c is ignored; did you mean CronJob?",
                             "the kind ServiceMonitor of monitoring.coreos.com/v1 is not known here: a/m1, a/m2 are "
                             "ignored"});
  auto manifests = sim::ParseManifests(text, "test.yaml");
  SimulateOptions strict;
  strict.strict_kinds = true;
  CHECK_THAT(Simulate(*manifests, std::move(strict)).error().message,
             Catch::Contains("no matches for kind \"Job\" in version \"batch.volcano.sh/v1alpha1\""));
  // A definition that comes after its object in the file is known in time, and a version that is gone is an error.
  CHECK(NotesOf(
            Node("n1", "4") + meta("x.io/v1", "Thing", "t") +
            "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.x.io}\n"
            "spec: {group: x.io, scope: Namespaced, names: {plural: things, singular: thing, kind: Thing, listKind: "
            "ThingList}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: "
            "object}}}]}\n")
            .empty());
}

TEST_CASE("an object of a version that is not served is left out, with a note of those that are") {
  const std::string text =
      Node("n1", "4") + "---\napiVersion: batch/v1beta1\nkind: CronJob\nmetadata: {name: c}\n" +
      "---\napiVersion: scheduling.volcano.sh/v1\nkind: PodGroup\nmetadata: {name: g}\nspec: {minMember: 1}\n";
  CHECK(NotesOf(text) ==
        std::vector<std::string>{"the kind CronJob of batch/v1beta1 is not known here: c is ignored; it is "
                                 "served as batch/v1",
                                 "the kind PodGroup of scheduling.volcano.sh/v1 is not known here: g is "
                                 "ignored; it is served as scheduling.volcano.sh/v1beta1"});
  SimulateOptions strict;
  strict.strict_kinds = true;
  CHECK_THAT(Simulate(*sim::ParseManifests(text, "test.yaml"), std::move(strict)).error().message,
             Catch::EndsWith("; it is served as batch/v1"));
}

TEST_CASE("values that the dialects' definitions refuse are told of, and the scheduler says what it makes of them") {
  CHECK(NotesOf(Node("n1", "4") + Group("g", "'2'")) ==
        std::vector<std::string>{
            "test.yaml:10: PodGroup g: spec.minMember: Invalid value: \"string\": spec.minMember in body must be "
            "of type integer: \"string\"; an API server refuses it"});
  const auto notes = NotesOf(Node("n1", "4") +
                             "---\napiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\nmetadata: {name: h}\n" +
                             "spec: {tier: 1, members: [{type: node, selector: {exactMatch: {name: x}}}]}\n");
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0], Catch::StartsWith("test.yaml:10: HyperNode h: spec.members[0].type: Unsupported value"));
}

TEST_CASE("pods that are bound to a node that is not there are told of") {
  const std::string stray = PodText{.name = "stray"}.Text() + "  nodeName: ghost\n";
  CHECK(NotesOf(Node("n1", "4") + stray) ==
        std::vector<std::string>{
            "a pod whose node is not there is taken away after 40 s, as in a cluster (stray)"});
  CHECK(NotesOf(Node("n1", "4") + Node("ghost", "4") + stray).empty());
}

TEST_CASE("a job that names a queue is held as on a cluster, though no queue was given") {
  const std::string job =
      "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: j, labels: {kueue.x-k8s.io/queue-name: q}}\nspec: "
      "{template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}\n";
  const Json result = Must(Node("n1", "4") + job);
  CHECK(result["pods"].empty());
  CHECK(Must(Node("n1", "4") + job.substr(0, job.find(", labels")) + job.substr(job.find("}}\n") + 1))["pods"].size() ==
        1);
}

TEST_CASE("pods of a schedulerName that is not served are told of") {
  const auto notes = NotesOf(Node("n1", "4") + PodText{.name = "other", .scheduler = "tuti"}.Text());
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0],
             Catch::StartsWith("no scheduler here serves the schedulerName tuti, so such pods stay Pending") &&
                 Catch::EndsWith("(default/other)"));
}

TEST_CASE("what is surely not meant is told of: thousandths of a byte, and a priority that is no number") {
  const auto notes = NotesOf(
      Node("n1", "4") +
      "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {volcano.sh/task-priority: high}}\nspec: "
      "{containers: [{name: c, image: i, resources: {requests: {memory: 512m}}}]}\n");
  CHECK(notes == std::vector<std::string>{"annotation volcano.sh/task-priority: high is no whole number, so the pod's "
                                          "own priority counts (default/p)",
                                          "memory 512m is 512 thousandths of a byte; 512Mi or 512M may be meant "
                                          "(default/p)"});
}

TEST_CASE("without any Node a note says so, but not if one comes late") {
  REQUIRE(NotesOf(PodText{.name = "p"}.Text()).size() == 1);
  CHECK_THAT(NotesOf(PodText{.name = "p"}.Text())[0], Catch::StartsWith("no Node was given, so nothing can start"));
  CHECK(NotesOf("---\napiVersion: v1\nkind: Node\nmetadata: {name: n1, annotations: {sim.tutti.dev/arrive-at: 1m}}\n"
                "status: {allocatable: {cpu: '4', pods: '10'}}\n" +
                PodText{.name = "p"}.Text())
            .empty());
}

TEST_CASE("what arrives after the end is told of") {
  std::vector<std::string> notes;
  SimulateOptions options;
  options.notes = &notes;
  const auto late = sim::ParseManifests(
      Node("n1", "4") +
          "---\napiVersion: v1\nkind: Pod\nmetadata: {name: late, annotations: {sim.tutti.dev/arrive-at: 48h}}\nspec: "
          "{containers: [{name: c, image: i}]}\n",
      "test.yaml");
  REQUIRE(late);
  REQUIRE(Simulate(*late, std::move(options)));
  CHECK(notes ==
        std::vector<std::string>{"1 object to arrive after --until never came; the first is Pod late, at 172800 s"});
}

TEST_CASE("pods that are never made are told of: no controller, or one that cannot make them") {
  CHECK(NotesOf(Node("n1", "4") + PodText{.name = "p"}.Text()).empty());
  const std::string pods =
      "spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, "
      "image: i}]}}}\n";
  const auto notes =
      NotesOf(Node("n1", "4") + "---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: s}\n" + pods +
              "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: d}\n" + pods +
              "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {template: {spec: {restartPolicy: "
              "Never, priorityClassName: missing, containers: [{name: c, image: i}]}}}\n");
  REQUIRE(notes.size() == 2);
  CHECK(notes[0] == "the embedded cluster has no controller for the kind DaemonSet: no pods are made (default/d)");
  CHECK_THAT(notes[1], Catch::StartsWith("Job default/j: FailedCreate: Error creating: ") &&
                           Catch::Contains("no PriorityClass with name missing was found"));
}

TEST_CASE("of an AppWrapper, which the scheduler works off, no note is made") {
  CHECK(NotesOf(Node("n1", "1") + Wrapper("first", "60")).empty());
}

TEST_CASE("a workload that is suspended and a taint that evicts no pod are told of") {
  const auto notes = NotesOf(
      "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nspec: {taints: [{key: k, effect: NoExecute}]}\n"
      "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {suspend: true, template: {spec: "
      "{restartPolicy: "
      "Never, containers: [{name: c, image: i}]}}}\n");
  CHECK(notes ==
        std::vector<std::string>{
            "spec.suspend of a Job is true: no pods are made until it is made false (default/j)",
            "the embedded cluster evicts no pod for a taint with effect NoExecute; it keeps new ones away (n1)"});
}

TEST_CASE("what of the configuration has no effect is told of") {
  const auto notes = NotesOf(Node("n1", "4"),
                             "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
                             "extenders: [{urlPrefix: 'http://e/'}]\nprofiles:\n- schedulerName: a\n"
                             "  plugins: {multiPoint: {enabled: [{name: DynamicResources}]}}\n");
  REQUIRE(notes.size() == 2);
  CHECK_THAT(notes[0], Catch::StartsWith("extenders are not asked"));
  CHECK_THAT(notes[1], Catch::Contains("DynamicResources is not active yet"));
}

TEST_CASE("a RayCluster asks for a rack for each of its groups") {
  std::string yaml;
  for (const char* name : {"r1-a", "r1-b", "r2-a", "r2-b"}) {
    const std::string node = Node(name, "2"), labels = std::string(", labels: {rack: ") + std::string(name, 2) + "}}";
    yaml += node.substr(0, node.find("}\n")) + labels + node.substr(node.find("}\n") + 1);
  }
  const auto scope = GENERATE("role", "gang");
  const std::string pod =
      "template: {spec: {schedulerName: tutti, containers: [{name: ray, image: ray, resources: {requests: {cpu: "
      "'1'}}}]}}";
  yaml += fmt::format(
      "---\napiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {{name: c, annotations: {{tutti.dev/topology-required: "
      "rack, "
      "tutti.dev/topology-scope: {0}}}}}\nspec: {{headGroupSpec: {{rayStartParams: {{}}, {1}}}, workerGroupSpecs: "
      "[{{groupName: "
      "a, replicas: 3, rayStartParams: {{}}, {1}}}, {{groupName: b, replicas: 3, rayStartParams: {{}}, {1}}}]}}\n",
      scope, pod);
  const Json result = Must(yaml);
  std::map<std::string, std::set<std::string>> racks;  // by group
  size_t bound = 0;
  for (const Json& one : result["pods"]) {
    const auto name = one["name"].get<std::string>(), node = one["node"].get<std::string>();
    bound += !node.empty();
    racks[name.substr(0, name.find("-worker"))].insert(node.substr(0, 2));
  }
  CHECK(bound == (scope == std::string("role") ? 7 : 0));  // together they are more than a rack holds
  for (const auto& [group, in] : racks) CHECK(in.size() == 1);
}

TEST_CASE("a RayCluster whose pods are refused comes to an end, and says why") {
  const std::string containers =
      "spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 2}, limits: "
      "{cpu: 1}}}]}";
  const auto notes = NotesOf(
      Node("n1", "4") +
      "---\napiVersion: ray.io/v1\nkind: RayJob\nmetadata: {name: j}\nspec: {entrypoint: e, "
      "rayClusterSpec: {headGroupSpec: {rayStartParams: {}, template: {" +
      containers +
      "}}}}\n"
      "---\napiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: c}\nspec: {headGroupSpec: {rayStartParams: {}, "
      "template: {" +
      containers + "}}}\n");
  REQUIRE(notes.size() == 2);
  CHECK_THAT(notes[0], Catch::StartsWith("RayCluster default/c: FailedToCreateHeadPod:") &&
                           Catch::Contains("must be less than or equal to cpu limit"));
  CHECK_THAT(notes[1], Catch::StartsWith("RayCluster default/j-"));
}

}  // namespace
}  // namespace tutti::app
