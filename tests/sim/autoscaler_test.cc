// SPDX-License-Identifier: Apache-2.0
#include "sim/nodes/autoscaler.h"

#include "cluster/json_decode.h"
#include "sim/port/feed.h"
#include "sim/port/writer.h"
#include "tests/sim/world_fixture.h"

namespace tutti::sim {
namespace {

const GroupResource kProvisioningRequests{"autoscaling.x-k8s.io", "provisioningrequests"};

constexpr const char* kDefinition = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: provisioningrequests.autoscaling.x-k8s.io}
spec:
  group: autoscaling.x-k8s.io
  scope: Namespaced
  names: {kind: ProvisioningRequest, plural: provisioningrequests}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
)";

constexpr const char* kShape = R"(
apiVersion: v1
kind: Node
metadata:
  name: pool
  labels: {pool: gpu}
  annotations: {sim.tutti.dev/most: "4"}
spec:
  taints: [{key: nvidia.com/gpu, value: present, effect: NoSchedule}]
status:
  allocatable: {cpu: "4", memory: 16Gi, nvidia.com/gpu: "2", pods: "110"}
)";

Json ParseOne(const char* text) { return ParseManifests(text, "test")->front().object; }

NodeShape Shape() {
  auto shape = ParseNodeShape(ParseOne(kShape));
  REQUIRE(shape);
  return *shape;
}

Json PodSpec(const std::string& gpus, const std::string& cpu = "1") {
  return {{"tolerations", {{{"key", "nvidia.com/gpu"}, {"operator", "Exists"}}}},
          {"containers",
           {{{"name", "c"}, {"image", "i"}, {"resources", {{"requests", {{"cpu", cpu}, {"nvidia.com/gpu", gpus}}}}}}}}};
}

PodDemand Demand(const std::string& gpus, int64_t count, const std::string& cpu = "1") {
  std::vector<std::string> problems;
  return {"t", cluster::DecodePodLeniently({{"spec", PodSpec(gpus, cpu)}}, &problems), count};
}

// Counts what becomes of nodes, and refuses as many deletions as it is told.
struct NodeWrites final : Interceptor {
  Fate Decide(const cluster::Command& command) override {
    if (std::holds_alternative<cluster::Create>(command.body)) ++created;
    if (!std::holds_alternative<cluster::Delete>(command.body) || refuses == 0) return {};
    --refuses;
    return {.kind = Fate::Kind::kRefuse};
  }
  int created = 0, refuses = 0;
};

// The autoscaler on a world with nodes that become Ready, driven step by step.
struct AutoscalerFixture : WorldFixture {
  struct Inbox final : cluster::EventSink {
    void Post(cluster::FeedEvent event) override { events.push_back(std::move(event)); }
    std::vector<cluster::FeedEvent> events;
  };

  AutoscalerFixture() { ApplyYaml(kDefinition); }

  void Start() {
    options.shape = Shape();
    autoscaler.emplace(options, writer, clock);
    feed.Start(Autoscaler::Kinds());
    Settle();
  }
  void Settle() {
    for (int round = 0; round < 100; ++round) {
      const bool worked = world.Pump();
      const bool news = feed.Pump() > 0;
      autoscaler->RunOnce(std::exchange(inbox.events, {}));
      if (writer.Pump() == 0 && !worked && !news && inbox.events.empty()) return;
    }
    FAIL("it does not come to rest");
  }
  void Pass(base::Millis ms) {
    for (base::Millis passed = 0; passed < ms; passed += 500) {
      clock.Advance(500);
      Settle();
    }
  }
  void Ask(const std::string& name, const std::string& gpus, int64_t count, Json parameters = Json::object(),
           const char* provisioning_class = "queued-provisioning.gke.io") {
    Apply({{"apiVersion", "v1"},
           {"kind", "PodTemplate"},
           {"metadata", {{"name", "ppt-" + name}, {"namespace", "default"}}},
           {"template", {{"spec", PodSpec(gpus)}}}});
    Apply({{"apiVersion", "autoscaling.x-k8s.io/v1"},
           {"kind", "ProvisioningRequest"},
           {"metadata", {{"name", name}, {"namespace", "default"}}},
           {"spec",
            {{"provisioningClassName", provisioning_class},
             {"parameters", std::move(parameters)},
             {"podSets", {{{"count", count}, {"podTemplateRef", {{"name", "ppt-" + name}}}}}}}}});
    Settle();
  }
  // "Accepted=True Provisioned=False ..."
  std::string Conditions(const std::string& name) {
    std::string text;
    for (const Json& each : Dig(*Get(kProvisioningRequests, name), "status", "conditions"))
      text += (text.empty() ? "" : " ") + DigString(each, "type") + "=" + DigString(each, "status");
    return text;
  }
  std::string Reason(const std::string& name, const char* type) {
    return DigString(ConditionOf(*Get(kProvisioningRequests, name), type), "reason");
  }
  std::vector<Object> Nodes() { return store().All(kNodes); }
  void Say(const std::string& name, const char* what) {
    Modify(kProvisioningRequests, name,
           [&](Json& request) { request["metadata"]["annotations"][kProvisioningAnnotation] = what; });
    Settle();
  }

  Autoscaler::Options options;
  Inbox inbox;
  Feed feed{store(), inbox};
  NodeWrites writes;
  Writer writer{store(), inbox, clock, &writes};
  std::optional<Autoscaler> autoscaler;
};

TEST_CASE("Pods are packed onto as many nodes of a shape as they need") {
  CHECK(*NodesFor(Shape(), {Demand("1", 1)}) == 1);
  CHECK(*NodesFor(Shape(), {Demand("1", 3)}) == 2);
  CHECK(*NodesFor(Shape(), {Demand("2", 2), Demand("0", 4)}) == 2);
  CHECK(*NodesFor(Shape(), {Demand("0", 7, "2")}) == 4);
}

TEST_CASE("What no node of the shape holds, and what is more than there may be, is said") {
  CHECK(NodesFor(Shape(), {Demand("3", 1)}).error().message ==
        "no node of pool holds a pod of t: it asks for 3 nvidia.com/gpu, and a node has 2");
  CHECK(NodesFor(Shape(), {Demand("2", 5)}).error().message == "more than 4 nodes of pool would be needed");
  CHECK(NodesFor(Shape(), {Demand("2", 2'000'000'000)}).error().message == "more than 4 nodes of pool would be needed");
  PodDemand intolerant = Demand("1", 1), elsewhere = Demand("1", 1);
  std::vector<std::string> problems;
  intolerant.pod = cluster::DecodePodLeniently({{"spec", {{"containers", Json::array()}}}}, &problems);
  CHECK(NodesFor(Shape(), {intolerant}).error().message ==
        "no node of pool holds a pod of t: it does not tolerate the taint nvidia.com/gpu");
  Json spec = PodSpec("1");
  spec["nodeSelector"] = {{"pool", "cpu"}};
  elsewhere.pod = cluster::DecodePodLeniently({{"spec", spec}}, &problems);
  CHECK(NodesFor(Shape(), {elsewhere}).error().message ==
        "no node of pool holds a pod of t: its nodeSelector asks for pool=cpu");
}

TEST_CASE("A shape that is none is refused, and its capacity may stand for what is allocatable") {
  CHECK_FALSE(ParseNodeShape({{"kind", "Pod"}}));
  CHECK_FALSE(ParseNodeShape({{"kind", "Node"}, {"metadata", {{"name", "n"}}}}));
  Json shape = ParseOne(kShape);
  shape["status"] = Json{{"capacity", shape["status"]["allocatable"]}};
  CHECK(ParseNodeShape(shape)->allocatable == Shape().allocatable);
  shape["metadata"]["annotations"][kMostNodesAnnotation] = "many";
  CHECK_FALSE(ParseNodeShape(shape));
}

TEST_CASE_METHOD(AutoscalerFixture,
                 "A request is refused at first, accepted, and provisioned when its nodes are Ready") {
  Start();
  Ask("r", "1", 3);
  CHECK(Conditions("r") == "Accepted=False Provisioned=False Failed=False");
  CHECK(Reason("r", kAccepted) == "NotAccepted");
  Pass(1'000);
  CHECK(Conditions("r") == "Accepted=True Provisioned=False Failed=False");
  CHECK(Reason("r", kAccepted) == "SuccessfullyQueued");
  CHECK(Nodes().empty());
  Pass(3'000);
  CHECK(Conditions("r") == "Accepted=True Provisioned=True Failed=False");
  CHECK(Reason("r", kProvisioned) == "Provisioned");
  REQUIRE(Nodes().size() == 2);
  const Object node = Nodes()[0];
  CHECK(NameOf(*node).starts_with("pool-"));
  CHECK(LabelOf(*node, "pool") == "gpu");
  CHECK(LabelOf(*node, kRequestLabel) == UidOf(*Get(kProvisioningRequests, "r")));
  CHECK(DigString(Dig(*node, "spec", "taints")[0], "key") == "nvidia.com/gpu");
  CHECK(DigString(*node, "status", "allocatable", "nvidia.com/gpu") == "2");
}

TEST_CASE_METHOD(AutoscalerFixture, "It is not Provisioned while a node of it is not Ready") {
  Start();
  Ask("r", "1", 3);
  Pass(1'000);
  // The first node comes, and falls silent before the autoscaler sees it.
  clock.Advance(2'500);
  feed.Pump();
  autoscaler->RunOnce(std::exchange(inbox.events, {}));
  writer.Pump();
  world.Pump();
  REQUIRE(Nodes().size() == 2);
  world.nodes().Silence(NameOf(*Nodes()[0]));
  Settle();
  CHECK(Conditions("r") == "Accepted=True Provisioned=False Failed=False");
  world.nodes().Revive(NameOf(*Nodes()[0]));
  Settle();
  CHECK(Conditions("r") == "Accepted=True Provisioned=True Failed=False");
}

TEST_CASE_METHOD(AutoscalerFixture, "An autoscaler that waits makes nodes when the request says so") {
  options.waits = true;
  Start();
  Ask("r", "1", 1);
  Pass(60'000);
  CHECK(Conditions("r") == "Accepted=True Provisioned=False Failed=False");
  CHECK(Reason("r", kProvisioned) == "ResourcePoolExhausted");
  Say("r", "provide");
  Pass(2'000);
  CHECK(Conditions("r") == "Accepted=True Provisioned=True Failed=False");
}

TEST_CASE_METHOD(AutoscalerFixture, "The first attempt fails, the next one gets its nodes") {
  Start();
  Ask("r-1", "1", 1, {{"provisioning", "fail-once"}});
  Pass(5'000);
  CHECK(Conditions("r-1") == "Accepted=True Provisioned=False Failed=True");
  CHECK(Nodes().empty());
  Ask("r-2", "1", 1, {{"provisioning", "fail-once"}});
  Pass(5'000);
  CHECK(Conditions("r-2") == "Accepted=True Provisioned=True Failed=False");
}

TEST_CASE_METHOD(AutoscalerFixture, "What cannot be held fails, and says why") {
  Start();
  Ask("r", "3", 1);
  Pass(5'000);
  CHECK(Conditions("r") == "Accepted=True Provisioned=False Failed=True");
  CHECK(
      DigString(ConditionOf(*Get(kProvisioningRequests, "r"), kFailed), "message").find("asks for 3 nvidia.com/gpu") !=
      std::string::npos);
}

TEST_CASE_METHOD(AutoscalerFixture, "A request waits while others have the nodes that there may be") {
  Start();
  Ask("a", "2", 3);
  Pass(5'000);
  Ask("b", "2", 2);
  Pass(5'000);
  CHECK(Reason("b", kProvisioned) == "ResourcePoolExhausted");
  CHECK(Nodes().size() == 3);
  Say("a", "revoke");
  Pass(5'000);
  CHECK(Reason("a", kCapacityRevoked) == "CapacityRevoked");
  CHECK(Conditions("b") == "Accepted=True Provisioned=True Failed=False");
}

TEST_CASE_METHOD(AutoscalerFixture, "A booking expires, and capacity is revoked once its nodes are gone") {
  options.booking_ms = 30'000;
  Start();
  Ask("r", "1", 1);
  Pass(5'000);
  CHECK(Conditions("r") == "Accepted=True Provisioned=True Failed=False");
  Pass(40'000);
  CHECK(Conditions("r") == "Accepted=True Provisioned=True Failed=False BookingExpired=True");
  CHECK(Nodes().size() == 1);
  Say("r", "revoke");
  CHECK(Nodes().empty());
  CHECK(Conditions("r") == "Accepted=True Provisioned=True Failed=False BookingExpired=True CapacityRevoked=True");
}

TEST_CASE_METHOD(AutoscalerFixture, "A node whose deletion was refused is deleted later") {
  Start();
  Ask("r", "1", 1);
  Pass(5'000);
  writes.refuses = 1;
  Say("r", "revoke");
  CHECK(Nodes().size() == 1);
  Pass(5'000);
  CHECK(Nodes().empty());
  CHECK(Reason("r", kCapacityRevoked) == "CapacityRevoked");
}

TEST_CASE_METHOD(AutoscalerFixture, "A node is asked for once while the feed does not show it") {
  Start();
  feed.BreakWatch("nodes");
  Ask("r", "1", 1);
  Pass(5'000);
  CHECK(writes.created == 1);
  feed.MendWatch("nodes");
  Pass(5'000);
  CHECK(writes.created == 1);
  CHECK(Conditions("r") == "Accepted=True Provisioned=True Failed=False");
}

TEST_CASE_METHOD(AutoscalerFixture, "The open autoscaler has its own words; other classes are left to others") {
  Start();
  Ask("ca", "1", 1, Json::object(), "best-effort-atomic-scale-up.autoscaling.x-k8s.io");
  Ask("other", "1", 1, Json::object(), "another-class");
  CHECK(Conditions("ca").empty());
  Pass(5'000);
  CHECK(Conditions("ca") == "Accepted=True Provisioned=True");
  CHECK(Reason("ca", kProvisioned) == "CapacityIsProvisioned");
  CHECK(Conditions("other").empty());
}

TEST_CASE_METHOD(AutoscalerFixture,
                 "One that is started again goes on where the last one was, and makes no node twice") {
  Start();
  Ask("r", "1", 3);
  Pass(4'000);
  autoscaler.emplace(options, writer, clock);
  Inbox fresh;
  Feed again(store(), fresh);
  again.Start(Autoscaler::Kinds());
  again.Pump();
  autoscaler->RunOnce(fresh.events);
  writer.Pump();
  CHECK(Nodes().size() == 2);
  CHECK(Conditions("r") == "Accepted=True Provisioned=True Failed=False");
}

}  // namespace
}  // namespace tutti::sim
