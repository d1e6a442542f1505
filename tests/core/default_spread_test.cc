// SPDX-License-Identifier: Apache-2.0
#include "tests/core/rig.h"
#include "tests/support/catch.h"

namespace tutti::core {

namespace {

// Two nodes, of which the better one, which is roomier, holds the pod that runs.
void MakeNodes(Rig& rig) {
  rig.AddNode("big", 64, 0, {{"kubernetes.io/hostname", "big"}, {"topology.kubernetes.io/zone", "z1"}});
  rig.AddNode("small", 8, 0, {{"kubernetes.io/hostname", "small"}, {"topology.kubernetes.io/zone", "z2"}});
}

void AddMember(Rig& rig, const std::string& name, const sim::Json& spec = sim::Json::object()) {
  Rig::PodArgs args;
  args.role = "web";  // the label that the Service selects by
  args.spec = spec;
  rig.AddPod(name, args);
}

void AddService(Rig& rig) {
  const sim::Json service = {{"apiVersion", "v1"},
                             {"kind", "Service"},
                             {"metadata", {{"name", "web"}, {"namespace", "default"}}},
                             {"spec", {{"selector", {{"role", "web"}}}}}};
  REQUIRE(rig.store.Create(service));
}

}  // namespace

TEST_CASE("pods of a Service go to different nodes, others to the roomiest") {
  Rig rig;
  MakeNodes(rig);
  SECTION("without a Service") {
    for (const char* name : {"a", "b", "c"}) AddMember(rig, name), rig.Settle();
    CHECK(rig.NodeOf("b") == "big");
    CHECK(rig.NodeOf("c") == "big");
  }
  SECTION("with one") {
    AddService(rig);
    for (const char* name : {"a", "b"}) AddMember(rig, name), rig.Settle();
    CHECK(rig.NodeOf("a") == "big");
    CHECK(rig.NodeOf("b") == "small");
  }
}

TEST_CASE("a Service that comes, or goes, after a pod that waits counts when the pod is planned") {
  Rig rig;
  MakeNodes(rig);
  AddMember(rig, "a");
  rig.Settle();
  REQUIRE(rig.NodeOf("a") == "big");
  const sim::Json gated = {{"schedulingGates", {{{"name", "wait"}}}}};
  const auto open = [&](const std::string& name) {
    REQUIRE(rig.store.Modify(sim::kPods, "default", name,
                             [](sim::Json& pod) { pod["spec"]["schedulingGates"] = sim::Json::array(); }));
    rig.Settle();
  };
  AddMember(rig, "b", gated);
  AddMember(rig, "c", gated);
  rig.Settle();
  AddService(rig);
  rig.Settle();
  open("b");
  CHECK(rig.NodeOf("b") == "small");
  REQUIRE(rig.store.Delete({"", "services"}, "default", "web"));
  rig.Settle();
  open("c");
  CHECK(rig.NodeOf("c") == "big");
}

}  // namespace tutti::core
