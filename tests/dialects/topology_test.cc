// SPDX-License-Identifier: Apache-2.0
// Topology in the words of each ecosystem.
#include <fmt/format.h>

#include "dialects/topology_annotations.h"
#include "dialects/upstream.h"
#include "dialects/volcano.h"
#include "dialects/wording.h"
#include "tests/dialects/objects.h"

namespace tutti::dialects {
namespace {

model::TopologyRequest ReadTopology(const std::string& annotations, const std::string& role = "w") {
  const auto request = TopologyOfPod(PodFrom(R"({"annotations":)" + annotations + "}"), role);
  return request ? *request : model::TopologyRequest{};
}

TEST_CASE("Kueue's annotations are about the pod set") {
  const auto request = ReadTopology(R"({"kueue.x-k8s.io/podset-required-topology":"cloud.com/block",
                                "kueue.x-k8s.io/podset-slice-required-topology":"cloud.com/rack","kueue.x-k8s.io/podset-slice-size":"4"})");
  CHECK(request.required == "cloud.com/block");
  CHECK(request.slice_level == "cloud.com/rack");
  CHECK(request.slice_size == 4);
  CHECK(request.subset == "kueue/w");
  CHECK(ReadTopology(R"({"kueue.x-k8s.io/podset-preferred-topology":"rack"})").preferred ==
        std::vector<std::string>{"rack"});
  CHECK(ReadTopology(R"({"kueue.x-k8s.io/podset-unconstrained-topology":"true"})").empty());
  CHECK(
      ReadTopology(R"({"kueue.x-k8s.io/podset-required-topology":"rack","kueue.x-k8s.io/podset-group-name":"g"})", "a")
          .subset ==
      ReadTopology(R"({"kueue.x-k8s.io/podset-required-topology":"rack","kueue.x-k8s.io/podset-group-name":"g"})", "b")
          .subset);
  CHECK_THAT(ReadTopology(R"({"kueue.x-k8s.io/podset-slice-size":"4"})").problem, Catch::Contains("go together"));
  for (const char* key : {"a b", "kueue.x-k8s.io/levels/", "kueue.x-k8s.io/levels/block,rack", "a/b/c"})
    CHECK_THAT(ReadTopology(fmt::format(R"({{"kueue.x-k8s.io/podset-required-topology":"{}"}})", key)).problem,
               Catch::Contains("is no label key"));
}

TEST_CASE("KAI's annotations are about all of the workload, on pods and on what declares the gang") {
  CHECK(ReadTopology(R"({"kai.scheduler/topology":"t","kai.scheduler/topology-required-placement":"rack"})", "a") ==
        ReadTopology(R"({"kai.scheduler/topology":"t","kai.scheduler/topology-required-placement":"rack"})", "b"));
  CHECK(TopologyOfGang({{"kai.scheduler/topology-preferred-placement", "rack"}}).preferred ==
        std::vector<std::string>{"rack"});
}

TEST_CASE("KAI's segments are slices of a role") {
  const std::string asked =
      R"({"kai.scheduler/segment-topology-required-placement":"rack","kai.scheduler/segment-size":"4"})";
  const model::TopologyRequest request = ReadTopology(asked.c_str(), "workers");
  CHECK(request.slice_level == "rack");
  CHECK(request.slice_size == 4);
  CHECK(request.subset != ReadTopology(asked.c_str(), "others").subset);
  CHECK_THAT(ReadTopology(R"({"kai.scheduler/segment-topology-required-placement":"rack"})").problem,
             Catch::Contains("needs kai.scheduler/segment-size"));
}

TEST_CASE("Our own annotations have a scope") {
  CHECK(ReadTopology(R"({"tutti.dev/topology-required":"rack","tutti.dev/topology-scope":"role"})", "a").subset ==
        "tutti/a");
  CHECK(ReadTopology(R"({"tutti.dev/topology-preferred":"rack,block"})").preferred ==
        std::vector<std::string>{"rack", "block"});
  CHECK(ReadTopology(R"({"tutti.dev/topology-balanced":"zone"})").balanced == "zone");
  CHECK_THAT(ReadTopology(R"({"tutti.dev/topology-required":"rack","tutti.dev/topology-scope":"all"})").problem,
             Catch::Contains("neither gang nor role"));
}

TEST_CASE("Of more than sixteen preferred levels none is read") {
  const auto asked = [](int levels) {
    std::string value = "rack-0";
    for (int i = 1; i < levels; ++i) value += ",rack-" + std::to_string(i);
    return TopologyOfGang({{"tutti.dev/topology-preferred", value}});
  };
  CHECK(asked(16).preferred.size() == 16);
  CHECK(asked(16).problem == "");
  CHECK(asked(17).preferred.empty());
  CHECK(asked(17).problem ==
        "annotation tutti.dev/topology-preferred: 17 levels are more than the 16 that are looked at; name fewer");
}

TEST_CASE("Upstream's constraint is required of the group") {
  Upstream upstream;
  Put(upstream, ObjectFrom("scheduling.k8s.io/v1beta1", "podgroups",
                           R"({"kind":"PodGroup","metadata":{"name":"g","namespace":"ns"},
                               "spec":{"schedulingPolicy":{"gang":{"minCount":2}},"schedulingConstraints":{"topology":[{"key":"rack"}]}}})"));
  const model::GangSpec gang = upstream.Describe({"upstream", "ns", "g"});
  CHECK(gang.problem == "");
  CHECK(gang.topology.required == "rack");
}

TEST_CASE("No pattern of a HyperNode costs more than its length, and what is none matches nothing") {
  HyperNodes hyper_nodes;
  const std::string name = std::string(62, 'a') + "b";
  const model::Node node = [&] {
    model::Node it;
    it.meta.name = name;
    return it;
  }();
  const auto matches = [&](const std::string& pattern) {
    const Json member = {{"type", "Node"}, {"selector", {{"regexMatch", {{"pattern", pattern}}}}}};
    const Json body = {
        {"kind", "HyperNode"}, {"metadata", {{"name", "h"}}}, {"spec", {{"tier", 1}, {"members", {member}}}}};
    hyper_nodes.Put(*ObjectFrom("topology.volcano.sh/v1alpha1", "hypernodes", body.dump()));
    model::StringMap labels;
    hyper_nodes.AddLabels(node, &labels);
    return !labels.empty();
  };
  CHECK(matches("^a+b$"));
  CHECK_FALSE(matches("^(a+)+$"));
  CHECK_FALSE(matches("((a*)*)*c"));
  CHECK_FALSE(matches("["));
  CHECK_FALSE(matches(std::string(100'000, '(')));
  CHECK_FALSE(matches(std::string(100'000, '(') + std::string(100'000, ')') + "c"));
  CHECK_FALSE(matches("(a{1,1000}){1,1000}c"));
}

TEST_CASE("HyperNodes become labels of nodes, and a PodGroup's tiers levels") {
  Volcano volcano;
  const auto hyper_node = [&](const std::string& name, int tier, const std::string& type, const std::string& selector) {
    return Put(volcano,
               ObjectFrom("topology.volcano.sh/v1alpha1", "hypernodes",
                          Json{{"kind", "HyperNode"},
                               {"metadata", {{"name", name}}},
                               {"spec",
                                {{"tier", tier}, {"members", {{{"type", type}, {"selector", Json::parse(selector)}}}}}}}
                              .dump()));
  };
  CHECK(hyper_node("leaf-a", 1, "Node", R"({"regexMatch":{"pattern":"^a-"}})").nodes);
  hyper_node("leaf-b", 1, "Node", R"({"labelMatch":{"matchLabels":{"side":"b"}}})");
  hyper_node("spine", 2, "HyperNode", R"({"regexMatch":{"pattern":"^leaf-"}})");
  const auto labels = [&](const std::string& name, const model::StringMap& own) {
    model::Node node;
    node.meta.name = name;
    node.meta.labels = own;
    model::StringMap added;
    Touched touched;
    volcano.AddNodeLabels(node, &added, &touched);
    return added;
  };
  CHECK(labels("a-1", {}) == model::StringMap{{HyperNodes::LabelFor(1), "leaf-a"}, {HyperNodes::LabelFor(2), "spine"}});
  CHECK(labels("x", {{"side", "b"}}) ==
        model::StringMap{{HyperNodes::LabelFor(1), "leaf-b"}, {HyperNodes::LabelFor(2), "spine"}});
  CHECK(labels("x", {}).empty());

  const auto topology = [&](const std::string& spec) {
    Put(volcano,
        ObjectFrom(
            "scheduling.volcano.sh/v1beta1", "podgroups",
            R"({"kind":"PodGroup","metadata":{"name":"g","namespace":"ns"},"spec":{"minMember":2,"networkTopology":)" +
                spec + "}}"));
    return volcano.Describe({"volcano", "ns", "g"}).topology;
  };
  CHECK(topology(R"({"mode":"hard","highestTierAllowed":1})").required == HyperNodes::LabelFor(1));
  const auto two = topology(R"({"highestTierAllowed":2})");
  CHECK(two.required == HyperNodes::LabelFor(2));
  CHECK(two.preferred == std::vector<std::string>{HyperNodes::LabelFor(1), HyperNodes::LabelFor(2)});
  hyper_node("top", 3, "HyperNode", R"({"exactMatch":{"name":"spine"}})");
  CHECK(topology(R"({"highestTierAllowed":3})").preferred.size() == 3);
  Touched touched;
  volcano.Drop("hypernodes.topology.volcano.sh", "", "top", &touched);
  CHECK(topology(R"({"highestTierAllowed":3})").preferred == two.preferred);
  const auto soft = topology(R"({"mode":"soft"})");
  CHECK(soft.required.empty());
  CHECK(soft.preferred.size() == 2);
  // Volcano takes no tier for no constraint (JobInfo.IsHardTopologyMode), and KubeRay's label alone writes none.
  for (const char* without : {"{}", R"({"mode":"hard"})"}) {
    CHECK(topology(without).required.empty());
    CHECK(topology(without).preferred == two.preferred);
  }
}

TEST_CASE("A HyperNode that says what it said touches nothing") {
  Volcano volcano;
  Put(volcano, ObjectFrom("scheduling.volcano.sh/v1beta1", "podgroups",
                          R"({"kind":"PodGroup","metadata":{"name":"g","namespace":"ns"},
                              "spec":{"networkTopology":{"highestTierAllowed":1}}})"));
  const auto put = [&](int tier, int nodes) {
    return Put(volcano, ObjectFrom("topology.volcano.sh/v1alpha1", "hypernodes",
                                   Json{{"kind", "HyperNode"},
                                        {"metadata", {{"name", "h"}, {"resourceVersion", std::to_string(nodes)}}},
                                        {"spec", {{"tier", tier}}},
                                        {"status", {{"nodeCount", nodes}}}}
                                       .dump()));
  };
  CHECK(put(1, 0).nodes);
  const Touched status = put(1, 4);
  CHECK_FALSE(status.nodes);
  CHECK(status.gangs.empty());
  CHECK(put(0, 4).nodes);
  Touched touched;
  volcano.Drop("hypernodes.topology.volcano.sh", "", "h", &touched);
  CHECK(touched.nodes);
  CHECK(put(0, 4).nodes);
}

TEST_CASE("People are told of HyperNodes, not of the labels that are made of them") {
  const std::string tier = HyperNodes::LabelFor(2);
  CHECK(NamedLevel(tier) == "HyperNodes of tier 2 or below");
  CHECK(NobodyIn(tier) == "no HyperNode of tier 2 or below holds a node");
  for (const std::string& other : {std::string("rack"), tier + "x", tier.substr(0, tier.size() - 1)}) {
    CHECK(NamedLevel(other) == other);
    CHECK(NobodyIn(other) == "no node has the label " + other);
  }
}

TEST_CASE("A Volcano subgroup's pods ask for its topology, each subgroup for itself") {
  Volcano volcano;
  const auto put = [&](const std::string& policies) {
    return Put(volcano,
               ObjectFrom("scheduling.volcano.sh/v1beta1", "podgroups",
                          R"({"kind":"PodGroup","metadata":{"name":"g","namespace":"ns"},"spec":{"subGroupPolicy":)" +
                              policies + "}}"));
  };
  const auto asked = [&](const model::StringMap& labels) {
    model::Pod pod;
    pod.meta.ns = "ns";
    pod.meta.name = "p";
    pod.meta.annotations = {{"scheduling.k8s.io/group-name", "g"}};
    pod.meta.labels = labels;
    return volcano.MembershipOf(pod)->topology;
  };
  Put(volcano, ObjectFrom("topology.volcano.sh/v1alpha1", "hypernodes",
                          R"({"kind":"HyperNode","metadata":{"name":"h"},"spec":{"tier":2}})"));
  CHECK(put(R"([{"name":"workers","labelSelector":{"matchLabels":{"role":"worker"}},"matchLabelKeys":["replica"],
                 "networkTopology":{"highestTierAllowed":1}},
                {"name":"rest","labelSelector":{"matchExpressions":[{"key":"role","operator":"Exists"}]}}])")
            .members.size() == 1);
  CHECK(volcano.Describe({"volcano", "ns", "g"}).problem == "");
  const auto first = asked({{"replica", "0"}, {"role", "worker"}});
  REQUIRE(first);
  CHECK(first->required == HyperNodes::LabelFor(1));
  CHECK(*asked({{"replica", "0"}, {"role", "worker"}, {"x", "y"}}) == *first);
  CHECK(asked({{"replica", "1"}, {"role", "worker"}})->subset != first->subset);
  CHECK_FALSE(asked({{"replica", ""}, {"role", "worker"}}));
  CHECK_FALSE(asked({{"replica", "0"}, {"role", "head"}}));
  CHECK_FALSE(asked({}));

  CHECK(put(R"([{"networkTopology":{"highestTierAllowed":2}}])").members.size() == 1);
  REQUIRE(asked({}));
  CHECK(asked({})->required == HyperNodes::LabelFor(2));
  CHECK(put(R"([{"networkTopology":{"highestTierAllowed":2}}])").members.empty());
  Touched touched;
  volcano.Drop("podgroups.scheduling.volcano.sh", "ns", "g", &touched);
  CHECK(touched.members.size() == 1);
  CHECK_FALSE(asked({}));
}

}  // namespace
}  // namespace tutti::dialects
