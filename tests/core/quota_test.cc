// SPDX-License-Identifier: Apache-2.0
// Gangs whose queue gives quota before there are pods: quota and nodes are given together.
#include "tests/core/quota_rig.h"

namespace tutti::core {
namespace {

using dialects::GangState;

sim::Json Workers(int count, const char* cpu = "1") { return {{"worker", {{"count", count}, {"cpu", cpu}}}}; }

TEST_CASE("quota: a gang is admitted with quota and nodes of its flavor, and its pods take those nodes") {
  QuotaRig rig;
  rig.AddFlavor("big", {{"size", "big"}});
  rig.AddLeaf("q", {{"big", 4}});
  rig.AddNode("small", 8);
  rig.AddNode("n1", 8, 0, {{"size", "big"}});
  rig.Declare("g", "q", Workers(2));
  rig.Settle();
  CHECK(rig.Report("g").state == GangState::kAdmitted);
  REQUIRE(rig.Has("g"));
  CHECK(rig.Report("g").quota.has->roles.at(0).flavors.at("cpu") == "big");
  CHECK(rig.Report("g").nodes_by_role.at("worker") == std::map<std::string, int64_t>{{"n1", 2}});
  CHECK(rig.world.events == std::vector<std::string>{"reserved g"});
  const sim::Json spec = {{"nodeSelector", {{"size", "big"}}}};
  for (const char* name : {"w0", "w1"}) rig.AddPod(name, {.gang = "g", .role = "worker", .spec = spec});
  rig.Settle();
  CHECK(rig.NodeOf("w0") == "n1");
  CHECK(rig.Report("g").state == GangState::kWhole);
}

TEST_CASE("quota: a gang without quota makes no promise, and says what its queue says") {
  QuotaRig rig;
  rig.AddLeaf("q", {{"f", 3}});
  rig.AddNode("n1", 8);
  rig.Declare("a", "q", Workers(2));
  rig.Settle();
  rig.Declare("b", "q", Workers(2));
  rig.Settle();
  CHECK(rig.Has("a"));
  CHECK_FALSE(rig.Has("b"));
  CHECK(rig.Report("b").state == GangState::kWaitingForQueue);
  CHECK(rig.Report("b").quota.reason == "WaitingForQuota");
  CHECK(rig.Decision("b").members.empty());
  CHECK(rig.Decision("b").message.find("1 more needed") != std::string::npos);
  CHECK(rig.Decision("b").quota->state == observe::QuotaDecision::State::kPending);
  CHECK(rig.Decision("b").queue_dialect == "asking");
  rig.Withdraw("a");
  rig.Settle();
  CHECK(rig.Has("b"));
  CHECK(rig.Report("b").state == GangState::kAdmitted);
}

TEST_CASE("quota: what finds no nodes gets no quota, and starts when there are some") {
  QuotaRig rig;
  rig.AddLeaf("q", {{"f", 8}});
  rig.AddNode("n1", 2);
  rig.Declare("big", "q", Workers(1, "4"));
  rig.Settle();
  CHECK_FALSE(rig.Has("big"));
  CHECK(rig.Report("big").state == GangState::kWaitingForNodes);
  CHECK(rig.Report("big").quota.reason == "TopologyPlacementFailed");
  rig.Declare("small", "q", Workers(2));  // it has the quota that the other could not use
  rig.Settle();
  CHECK(rig.Has("small"));
  rig.AddNode("n2", 4);
  rig.Settle();
  CHECK(rig.Has("big"));
  CHECK(rig.Report("big").nodes_by_role.at("worker").contains("n2"));
}

TEST_CASE("quota: the next flavor is tried where the first one has no nodes") {
  QuotaRig rig;
  rig.AddFlavor("spot", {{"type", "spot"}});
  rig.AddFlavor("standard", {{"type", "standard"}});
  rig.AddLeaf("q", {{"spot", 8}, {"standard", 8}});
  rig.AddNode("n1", 1, 0, {{"type", "spot"}});
  rig.AddNode("n2", 4, 0, {{"type", "standard"}});
  rig.Declare("g", "q", Workers(2));
  rig.Settle();
  REQUIRE(rig.Has("g"));
  CHECK(rig.Report("g").quota.has->roles.at(0).flavors.at("cpu") == "standard");
  CHECK(rig.Report("g").nodes_by_role.at("worker") == std::map<std::string, int64_t>{{"n2", 2}});
}

TEST_CASE("quota: a gang that may start with fewer members starts with as many as have quota and nodes") {
  QuotaRig rig;
  rig.AddLeaf("q", {{"f", 5}});
  rig.AddNode("n1", 4);
  rig.Declare("g", "q", {{"worker", {{"count", 8}, {"min", 2}}}});
  rig.Settle();
  REQUIRE(rig.Has("g"));
  CHECK(rig.Report("g").quota.has->roles.at(0).count == 4);
  CHECK(rig.Report("g").state == GangState::kAdmitted);
}

TEST_CASE("quota: a victim keeps its quota and nodes until its job has stopped and its pods are gone") {
  QuotaRig rig;
  rig.lingers = true;
  rig.AddLeaf("q", {{"f", 2}}).preemption.within_queue = model::PreemptionPolicy::kLowerPriority;
  rig.AddNode("n1", 2);
  rig.Declare("low", "q", Workers(2));
  rig.Settle();
  REQUIRE(rig.Has("low"));
  rig.Annotate("low", "released", "true");
  for (const char* name : {"w0", "w1"}) rig.AddPod(name, {.gang = "low", .role = "worker"});
  rig.Settle();
  REQUIRE(rig.Bound() == 2);
  rig.Declare("high", "q", Workers(2), {{"priority", "10"}});
  rig.Settle();
  CHECK(rig.Report("low").quota.evicted_reason == "InClusterQueue");
  CHECK(rig.Report("low").quota.has->evicted);
  CHECK_FALSE(rig.Has("high"));
  rig.Annotate("low", "released", "false");
  rig.Settle();
  CHECK_FALSE(rig.Has("high"));
  for (const char* name : {"w0", "w1"}) rig.Delete(name);
  rig.Settle();
  CHECK(rig.Has("high"));
  CHECK_FALSE(rig.Has("low"));
  CHECK(rig.Report("low").quota.reason == "WaitingForQuota");
  CHECK(rig.Report("high").state == GangState::kAdmitted);
  CHECK(rig.world.events == std::vector<std::string>{"reserved low", "evicted low", "reserved high"});
}

TEST_CASE("quota: no gang has to leave for one that would find no nodes in its place") {
  QuotaRig rig;
  rig.AddLeaf("q", {{"f", 2}}).preemption.within_queue = model::PreemptionPolicy::kLowerPriority;
  rig.AddNode("n1", 1);
  rig.AddNode("n2", 1);
  rig.Declare("low", "q", Workers(2));
  rig.Settle();
  REQUIRE(rig.Has("low"));
  rig.Declare("high", "q", Workers(1, "2"), {{"priority", "10"}});
  rig.Settle();
  CHECK(rig.Has("low"));
  CHECK(rig.Report("low").quota.evictions == 0);
  CHECK(rig.Report("high").state == GangState::kWaitingForNodes);
  rig.AddNode("n3", 2);
  rig.Settle();
  CHECK(rig.Has("high"));
  CHECK(rig.Report("low").quota.evictions == 1);
}

TEST_CASE("quota: the first of a strict line blocks it also where it is nodes that it lacks") {
  QuotaRig rig;
  rig.AddLeaf("q", {{"f", 8}}).strategy = model::QueueingStrategy::kStrictFifo;
  rig.AddNode("n1", 2);
  rig.Declare("first", "q", Workers(1, "4"), {{"priority", "1"}});
  rig.Declare("second", "q", Workers(1));
  rig.Settle();
  CHECK_FALSE(rig.Has("first"));
  CHECK_FALSE(rig.Has("second"));
  rig.AddNode("n2", 4);
  rig.Settle();
  CHECK(rig.Has("first"));
  CHECK(rig.Has("second"));
}

TEST_CASE("quota: a victim keeps its quota until its object says that it has to leave") {
  QuotaRig rig;
  rig.AddLeaf("q", {{"f", 2}}).preemption.within_queue = model::PreemptionPolicy::kLowerPriority;
  rig.AddNode("n1", 8);
  rig.Declare("low", "q", Workers(2), {{"has", "q"}});
  rig.Settle();
  REQUIRE(rig.Has("low"));
  rig.Declare("high", "q", Workers(2), {{"priority", "10"}});
  rig.Settle();
  REQUIRE(rig.Report("low").quota.has);
  CHECK(rig.Report("low").quota.has->evicted);
  CHECK_FALSE(rig.Has("high"));  // or the next leader would find that both have it
  rig.Annotate("low", "evicted", "true");
  rig.Settle();
  CHECK(rig.Has("high"));
  CHECK_FALSE(rig.Has("low"));
}

TEST_CASE("quota: what an object says it has it has after a restart, and nothing is admitted twice") {
  QuotaRig rig;
  rig.AddLeaf("q", {{"f", 2}});
  rig.AddNode("n1", 8);
  rig.Declare("b", "q", Workers(2));
  rig.Declare("a", "q", Workers(2), {{"has", "q"}});
  rig.Settle();
  CHECK(rig.Has("a"));
  CHECK_FALSE(rig.Has("b"));
  CHECK(rig.Report("a").state == GangState::kAdmitted);
  CHECK(rig.world.events.empty());
  rig.Restart();
  rig.Settle();
  CHECK(rig.Has("a"));
  CHECK_FALSE(rig.Has("b"));
}

TEST_CASE("quota: a gang that is barred gives its quota back, and gets none") {
  QuotaRig rig;
  rig.AddLeaf("q", {{"f", 2}});
  rig.AddNode("n1", 8);
  rig.Declare("g", "q", Workers(2));
  rig.Settle();
  REQUIRE(rig.Has("g"));
  rig.Annotate("g", "barred", "Deactivated");
  rig.Settle();
  CHECK_FALSE(rig.Has("g"));
  CHECK(rig.Report("g").quota.evicted_reason == "Deactivated");
  rig.Annotate("g", "barred", "");
  rig.Settle();
  CHECK(rig.Has("g"));
}

TEST_CASE("quota: a gang that waits for checks has quota and no nodes; by quota alone it is admitted without nodes") {
  QuotaRig rig;
  rig.AddLeaf("q", {{"f", 4}});
  rig.Declare("checked", "q", Workers(1), {{"checks", "true"}});
  rig.Declare("alone", "q", Workers(1), {{"fit", "quota"}});
  rig.Settle();
  CHECK(rig.Has("checked"));
  CHECK(rig.Decision("checked").reason == "AwaitsChecks");
  CHECK(rig.Decision("checked").quota->state == observe::QuotaDecision::State::kReserved);
  CHECK(rig.Has("alone"));
  CHECK(rig.Report("alone").state == GangState::kAdmitted);
  rig.AddNode("n1", 4);
  rig.Annotate("checked", "checks", "false");
  rig.Settle();
  CHECK(rig.Report("checked").state == GangState::kAdmitted);
  rig.AddPod("w", {.gang = "alone", .role = "worker"});
  rig.Settle();
  CHECK(rig.NodeOf("w") == "n1");
}

TEST_CASE("quota: a gang whose members have all ended gives back what it has to give back") {
  QuotaRig rig;
  rig.AddLeaf("q", {{"f", 1}});
  rig.AddNode("n1", 1);
  rig.Declare("g", "q", Workers(1));
  rig.Settle();
  rig.Annotate("g", "released", "true");
  rig.AddPod("w", {.gang = "g", .role = "worker"});
  rig.Settle();
  REQUIRE(rig.Report("g").state == GangState::kWhole);
  rig.SetPhase("w", "Succeeded");
  rig.Annotate("g", "barred", "Deactivated");
  rig.Annotate("g", "released", "false");
  rig.Settle();
  CHECK_FALSE(rig.Has("g"));
}

TEST_CASE("quota: a pod that is deleted before it has a node keeps no quota, whatever finalizer it has") {
  QuotaRig rig;
  rig.AddLeaf("q", {{"f", 1}});
  rig.AddNode("n1", 1);
  rig.AddPod("elsewhere", {});
  rig.Settle();
  rig.Declare("g", "q", Workers(1), {{"fit", "quota"}});
  rig.AddPod("w", {.gang = "g", .role = "worker"});
  rig.Settle();
  REQUIRE(rig.Has("g"));
  rig.Annotate("g", "barred", "Deactivated");
  rig.Settle();
  CHECK(rig.Has("g"));
  REQUIRE(rig.store.Modify(sim::kPods, "default", "w", [](sim::Json& pod) {
    pod["metadata"]["finalizers"] = {"example.com/kept"};
  }));
  rig.Delete("w");
  rig.Settle();
  CHECK_FALSE(rig.Has("g"));
}

TEST_CASE("quota: a gang that was half bound gives back all its places with its quota") {
  QuotaRig rig;
  rig.AddLeaf("q", {{"f", 4}});
  rig.AddNode("n1", 4);
  rig.Declare("g", "q", Workers(3));
  rig.Settle();
  rig.fate = [](const cluster::Command& command) {
    const auto* bind = std::get_if<cluster::Bind>(&command.body);
    return bind && bind->pod.name() == "w1" ? sim::Fate{.kind = sim::Fate::Kind::kRefuse, .http_status = 422}
                                            : sim::Fate{};
  };
  for (const char* name : {"w0", "w1", "w2"}) rig.AddPod(name, {.gang = "g", .role = "worker"});
  rig.Settle();
  rig.Delete("w1");  // its place is held for the pod that is to come
  rig.Settle();
  REQUIRE((rig.NodeOf("w0") + rig.NodeOf("w2")) == "n1");
  REQUIRE(rig.Report("g").state == GangState::kAdmitted);
  rig.Annotate("g", "barred", "Deactivated");
  rig.Settle();
  rig.Annotate("g", "barred", "");  // it may have quota again as soon as its pods are gone
  rig.Settle();
  REQUIRE(rig.Report("g").quota.evicted_reason == "Deactivated");
  for (const char* name : {"w0", "w2"}) rig.Delete(name);
  rig.Settle();
  CHECK(rig.Report("g").state == GangState::kAdmitted);
  rig.Annotate("g", "barred", "Deactivated");
  rig.Settle();
  rig.AddPod("other", {.cpu = "4"});
  rig.Settle();
  CHECK(rig.NodeOf("other") == "n1");
}

TEST_CASE("quota: gangs of several queues that lack the same nodes are each woken by them") {
  QuotaRig rig;
  rig.AddLeaf("a", {{"f", 4}});
  rig.AddLeaf("b", {{"f", 4}});
  rig.AddNode("n1", 1);
  for (const char* queue : {"a", "b"}) {
    rig.Declare(std::string("of-") + queue, queue, Workers(1, "4"));
    rig.Settle();
  }
  rig.Declare("small", "a", Workers(1));
  rig.Settle();
  REQUIRE(rig.Has("small"));
  rig.AddNode("n2", 4);
  rig.Settle();
  CHECK_FALSE(rig.Has("of-a"));  // its queue has too little left
  CHECK(rig.Has("of-b"));
}

TEST_CASE("quota: members that have done their work count for the minimum, also when they are gone") {
  QuotaRig rig;
  rig.AddLeaf("q", {{"f", 8}});
  rig.AddNode("n1", 8);
  rig.Declare("g", "q", Workers(3), {{"done", "2"}});
  rig.Settle();
  REQUIRE(rig.Has("g"));
  CHECK(rig.Report("g").nodes_by_role.at("worker") == std::map<std::string, int64_t>{{"n1", 1}});
  rig.AddPod("w", {.gang = "g", .role = "worker"});
  rig.Settle();
  CHECK(rig.NodeOf("w") == "n1");
  CHECK(rig.Report("g").state == GangState::kWhole);
}

TEST_CASE("quota: a gang that starts again has places for all that follow members that have ended") {
  QuotaRig rig;
  rig.AddLeaf("q", {{"f", 2}});
  rig.AddNode("n1", 2);
  rig.Declare("g", "q", Workers(2));
  rig.Settle();
  for (const char* name : {"w0", "w1"}) rig.AddPod(name, {.gang = "g", .role = "worker"});
  rig.Settle();
  REQUIRE(rig.Report("g").state == GangState::kWhole);
  rig.SetPhase("w0", "Succeeded");  // another one would follow it
  rig.SetPhase("w1", "Succeeded");
  rig.Annotate("g", "barred", "Deactivated");
  rig.Settle();
  REQUIRE_FALSE(rig.Has("g"));
  rig.Annotate("g", "barred", "");
  rig.Settle();
  CHECK(rig.Report("g").state == GangState::kAdmitted);
  CHECK(rig.Report("g").nodes_by_role.at("worker") == std::map<std::string, int64_t>{{"n1", 2}});
}

TEST_CASE("quota: a gang whose node went, and that finds no other, gives its quota back") {
  QuotaRig rig;
  rig.AddLeaf("q", {{"f", 2}});
  rig.AddNode("n1", 2);
  rig.Declare("g", "q", Workers(2));
  rig.Settle();
  REQUIRE(rig.Has("g"));
  rig.DeleteNode("n1");
  rig.Settle();
  CHECK_FALSE(rig.Has("g"));
  CHECK(rig.Report("g").quota.evicted_reason == "NodeFailures");
  rig.AddNode("n2", 2);
  rig.Settle();
  CHECK(rig.Has("g"));
}

// A gang of one worker that runs, and may grow.
void StartElastic(QuotaRig& rig, sim::Json annotations) {
  annotations["elastic"] = "true";
  annotations["released"] = "true";
  rig.Declare("g", "q", Workers(1), std::move(annotations));
  rig.Settle();
  rig.AddPod("g0", {.gang = "g", .role = "worker"});
  rig.Settle();
  REQUIRE(rig.Report("g").state == GangState::kWhole);
}

void Grow(QuotaRig& rig, int count) { rig.Annotate("g", "roles", Workers(count).dump()); }

TEST_CASE("quota: the nodes that victims leave for a gang that grows are kept for its pods, also for those to come") {
  QuotaRig rig;
  rig.lingers = true;
  rig.AddLeaf("q", {{"f", 3}}).preemption.within_queue = model::PreemptionPolicy::kLowerPriority;
  rig.AddNode("n1", 1);
  rig.AddNode("n2", 1);
  rig.AddNode("n3", 1);
  StartElastic(rig, {{"priority", "10"}});
  for (const char* victim : {"v1", "v2"}) {
    rig.Declare(victim, "q", Workers(1), {{"released", "true"}});
    rig.Settle();
    rig.AddPod(std::string(victim) + "-pod", {.gang = victim, .role = "worker"});
    rig.Settle();
  }
  REQUIRE(rig.Bound() == 3);
  rig.AddPod("g1", {.gang = "g", .role = "worker"});
  Grow(rig, 3);
  rig.Settle();
  REQUIRE(rig.Report("v1").quota.has->evicted);
  REQUIRE(rig.Report("v2").quota.has->evicted);
  // One of them is gone. The gang gets no part of what it asks for, and no other gets that either.
  rig.Annotate("v1", "released", "false");
  rig.Delete("v1-pod");
  rig.AddPod("stranger", {});
  rig.Settle();
  CHECK(rig.NodeOf("stranger").empty());
  rig.AddPod("g2", {.gang = "g", .role = "worker"});
  rig.Settle();
  CHECK(rig.NodeOf("stranger").empty());
  CHECK(rig.Bound() == 2);
  SECTION("until it has them") {
    rig.Annotate("v2", "released", "false");
    rig.Delete("v2-pod");
    rig.Settle();
    CHECK_FALSE(rig.NodeOf("g1").empty());
    CHECK_FALSE(rig.NodeOf("g2").empty());
    CHECK(rig.NodeOf("stranger").empty());
  }
  SECTION("or asks for no more") {
    CHECK_FALSE(rig.Has("v1"));
    Grow(rig, 1);
    rig.Settle();
    CHECK((rig.Has("v1") || !rig.NodeOf("stranger").empty()));  // what was kept is free
    CHECK(rig.Report("g").quota.has->roles.at(0).count == 1);
  }
}

TEST_CASE("quota: a gang that grows by sums alone is tried again when there is another node") {
  QuotaRig rig;
  rig.AddLeaf("q", {{"f", 8}});
  rig.AddNode("n1", 2);
  StartElastic(rig, {{"fit", "aggregate"}});
  for (const char* name : {"g1", "g2"}) rig.AddPod(name, {.gang = "g", .role = "worker"});
  Grow(rig, 3);
  rig.Settle();
  CHECK(rig.Report("g").quota.more_reason == "TopologyPlacementFailed");
  CHECK(rig.Bound() == 1);
  // Another one has what it could not use.
  rig.Declare("small", "q", Workers(1), {{"fit", "aggregate"}});
  rig.Settle();
  CHECK(rig.Has("small"));
  rig.AddNode("n2", 2);
  rig.Settle();
  CHECK(rig.Report("g").quota.more_reason.empty());
  CHECK(rig.Bound() == 3);
}

TEST_CASE("quota: what a waiting gang needs is created ahead of statuses, and behind binds") {
  QuotaRig rig;
  rig.world.makes_maps = true;
  std::vector<cluster::Lane> lanes;
  rig.fate = [&lanes](const cluster::Command& command) {
    if (std::holds_alternative<cluster::Create>(command.body)) lanes.push_back(command.lane);
    return sim::Fate{};
  };
  rig.AddLeaf("q", {{"f", 0}});
  rig.Declare("g", "q", Workers(2));
  rig.Settle();
  CHECK(lanes == std::vector{cluster::Lane::kPrepare});
}

TEST_CASE("quota: queues are told what their gangs have") {
  QuotaRig rig;
  rig.AddLeaf("q", {{"f", 3}});
  rig.AddNode("n1", 8);
  rig.Declare("a", "q", Workers(2));
  rig.Declare("b", "q", Workers(2));
  rig.Pass(1'000);
  for (const char* name : {"q", "default/q"}) {
    const dialects::SharingReport& told = rig.world.sharing.at(name);
    CHECK(told.pending == 1);
    CHECK(told.reserving == 1);
    CHECK(told.admitted == 1);
    REQUIRE(told.cells.size() == 1);
    CHECK(told.cells[0].reserved == 2'000);
    CHECK(told.cells[0].used == 2'000);
    CHECK(told.cells[0].nominal == 3'000);
  }
}

}  // namespace
}  // namespace tutti::core
