// SPDX-License-Identifier: Apache-2.0
// Gangs whose members have volumes: the real core and the real volume controller, which acts when the test says so.
#include "model/storage.h"
#include "sim/controllers/volume_controller.h"
#include "tests/core/rig.h"

namespace tutti::core {
namespace {

const sim::GroupResource kVolumes{"", "persistentvolumes"};
const sim::GroupResource kClaims{"", "persistentvolumeclaims"};

sim::Fate Dropped() {
  sim::Fate fate;
  fate.kind = sim::Fate::Kind::kDrop;
  return fate;
}

sim::Json Using(const std::string& claim) {
  return {{"volumes", {{{"name", "data"}, {"persistentVolumeClaim", {{"claimName", claim}}}}}}};
}

class VolumeRig {
 public:
  explicit VolumeRig(const std::string& provisioner = model::kNoProvisioner) {
    subscription_ = rig.store.Subscribe([this](const sim::WatchEvent& event) { controller_.Observe(event); });
    Create({{"apiVersion", "storage.k8s.io/v1"},
            {"kind", "StorageClass"},
            {"metadata", {{"name", "wait"}}},
            {"provisioner", provisioner},
            {"volumeBindingMode", "WaitForFirstConsumer"}});
    rig.fate = [this](const cluster::Command& command) {
      if (std::holds_alternative<cluster::Bind>(command.body)) ++binds;
      return sim::Fate{};
    };
  }
  ~VolumeRig() { rig.store.Unsubscribe(subscription_); }

  void Create(const sim::Json& object) {
    const auto created = rig.store.Create(object);
    if (!created) FAIL(created.error().message);
  }
  void AddNode(const std::string& name) {
    Create({{"apiVersion", "v1"},
            {"kind", "Node"},
            {"metadata", {{"name", name}, {"labels", {{"kubernetes.io/hostname", name}}}}},
            {"status", {{"allocatable", {{"cpu", "8"}, {"memory", "64Gi"}, {"pods", "110"}}}}}});
  }
  // A disk of the node.
  void AddVolume(const std::string& name, const std::string& node) {
    Create({{"apiVersion", "v1"},
            {"kind", "PersistentVolume"},
            {"metadata", {{"name", name}}},
            {"spec",
             {{"capacity", {{"storage", "10Gi"}}},
              {"accessModes", {"ReadWriteOnce"}},
              {"storageClassName", "wait"},
              {"persistentVolumeReclaimPolicy", "Retain"},
              {"local", {{"path", "/mnt"}}},
              {"nodeAffinity",
               {{"required",
                 {{"nodeSelectorTerms",
                   {{{"matchExpressions",
                      {{{"key", "kubernetes.io/hostname"}, {"operator", "In"}, {"values", {node}}}}}}}}}}}}}}});
    Control();
  }
  // Of each name a node and "disk-<name>" on it.
  void AddNodesWithDisks(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      AddNode(name);
      AddVolume(fmt::format("disk-{}", name), name);
    }
  }
  // Of so many members, all of which are its minimum.
  void AddGang(int members) {
    for (int i = 0; i < members; ++i) AddMember(i, members);
  }
  void AddMember(int ordinal, int min) {
    const std::string name = fmt::format("g-{}", ordinal);
    AddClaim(name);
    rig.AddPod(name, {.gang = "g", .min = std::to_string(min), .spec = Using(name)});
  }
  void AddClaim(const std::string& name, const std::string& mode = "ReadWriteOnce") {
    Create({{"apiVersion", "v1"},
            {"kind", "PersistentVolumeClaim"},
            {"metadata", {{"name", name}, {"namespace", "default"}}},
            {"spec",
             {{"accessModes", {mode}},
              {"storageClassName", "wait"},
              {"resources", {{"requests", {{"storage", "5Gi"}}}}}}}});
  }
  // The volume controller works off what happened.
  void Control() {
    while (controller_.Work()) {
    }
  }
  std::string Volume(const std::string& name, const char* field) const {
    return sim::DigString(*rig.store.Find(kVolumes, "", name), "spec", "claimRef", field);
  }
  std::string SelectedNode(const std::string& claim) const {
    return sim::AnnotationOf(*rig.store.Find(kClaims, "default", claim), model::kSelectedNode);
  }
  std::string VolumeOf(const std::string& claim) const {
    return sim::DigString(*rig.store.Find(kClaims, "default", claim), "spec", "volumeName");
  }

  Rig rig;
  int binds = 0;

 private:
  sim::VolumeController controller_{rig.store, rig.clock};
  int64_t subscription_ = 0;
};

TEST_CASE("A gang is bound only when the volumes of all its members are") {
  VolumeRig world;
  world.AddNodesWithDisks({"a", "b", "c"});
  world.AddGang(3);
  world.rig.Settle();
  CHECK(world.binds == 0);
  REQUIRE(world.rig.scheduler->Decisions().size() == 1);
  CHECK(world.rig.scheduler->Decisions()[0].reason == "BindingVolumes");
  CHECK(world.rig.scheduler->Decisions()[0].message == "3 of its volumes are still to be bound");
  for (const char* disk : {"disk-a", "disk-b", "disk-c"}) {
    CHECK(world.Volume(disk, "name").starts_with("g-"));
    CHECK_FALSE(world.Volume(disk, "uid").empty());
  }
  world.Control();
  world.rig.Settle();
  CHECK(world.rig.Bound() == 3);
  for (const char* pod : {"g-0", "g-1", "g-2"}) CHECK(world.VolumeOf(pod) == "disk-" + world.rig.NodeOf(pod));
}

TEST_CASE("A gang whose declaration goes while its volumes are being bound does not start without one") {
  VolumeRig world;
  world.AddNodesWithDisks({"a", "b", "c"});
  world.AddGang(3);
  world.rig.Settle();
  const auto declare = [&](const std::string& problem) {
    for (const char* name : {"g-0", "g-1", "g-2"})
      REQUIRE(world.rig.store.Modify(sim::kPods, "default", name, [&](sim::Json& pod) {
        pod["metadata"]["annotations"]["problem"] = problem;
        if (problem.empty()) pod["metadata"]["annotations"].erase("problem");
      }));
  };
  declare("there is none");
  world.Control();
  world.rig.Pass(5'000);
  CHECK(world.binds == 0);
  declare("");
  world.rig.Pass(120'000);
  CHECK(world.rig.Bound() == 3);
}

TEST_CASE("Members whose volumes are being bound say why they wait when another goes") {
  VolumeRig world;
  world.AddNodesWithDisks({"a", "b", "c"});
  world.AddGang(3);
  world.rig.Settle();
  world.rig.Delete("g-0");
  world.Control();
  world.rig.Pass(10'000);
  CHECK(world.binds == 0);
  for (const char* name : {"g-1", "g-2"}) CHECK(world.rig.Waits(name).find("2 of 3 exist") != std::string::npos);
}

TEST_CASE("A driver that goes takes its limit with it, and wakes the pods that waited for its room") {
  VolumeRig world("csi.example.com");
  world.Create({{"apiVersion", "storage.k8s.io/v1"},
                {"kind", "CSIDriver"},
                {"metadata", {{"name", "csi.example.com"}}},
                {"spec", {{"storageCapacity", true}}}});
  world.AddNode("a");
  world.AddGang(1);
  world.rig.Settle();
  CHECK_THAT(world.rig.Waits("g-0"), Catch::Contains("did not have enough free storage"));
  REQUIRE(world.rig.store.Delete({"storage.k8s.io", "csidrivers"}, "", "csi.example.com", {}));
  world.rig.Settle();
  CHECK(world.SelectedNode("g-0") == "a");
}

TEST_CASE("Volumes are made for the nodes that were planned, and one that cannot be made is tried elsewhere") {
  VolumeRig world("csi.example.com");
  world.AddNode("a");
  world.AddNode("b");
  world.AddGang(2);
  world.rig.Settle();
  CHECK(world.binds == 0);
  const std::string node = world.SelectedNode("g-0");
  CHECK_FALSE(node.empty());
  // How a provisioner gives up.
  REQUIRE(world.rig.store.Modify(kClaims, "default", "g-0", [](sim::Json& claim) {
    claim["metadata"]["annotations"].erase(model::kSelectedNode);
  }));
  world.rig.Settle();
  CHECK(world.rig.Waits("g-0") == "SchedulerError: binding volumes: provisioning failed for claim default/g-0");
  CHECK(world.SelectedNode("g-0") != node);
  CHECK_FALSE(world.SelectedNode("g-0").empty());
  world.Control();
  world.rig.Settle();
  CHECK(world.rig.Bound() == 2);
  CHECK(world.rig.NodeOf("g-0") == world.SelectedNode("g-0"));
}

TEST_CASE("A claim that cannot be written is not tried for one node after another") {
  VolumeRig world("csi.example.com");
  for (int i = 0; i < 100; ++i) world.AddNode(fmt::format("n{}", i));
  int writes = 0;
  world.rig.fate = [&writes](const cluster::Command& command) {
    const auto* patch = std::get_if<cluster::Patch>(&command.body);
    return patch && patch->object.resource == kClaims.resource ? ++writes, Refused() : sim::Fate{};
  };
  world.AddGang(1);
  world.rig.Pass(60'000);
  CHECK(writes >= 9);
  CHECK(writes <= 30);
  world.rig.fate = nullptr;
  world.rig.Pass(10'000);
  world.Control();
  world.rig.Pass(10'000);
  CHECK(world.rig.Bound() == 1);
}

TEST_CASE("A scheduler that dies while volumes are bound leaves what the next one finishes") {
  VolumeRig world;
  world.AddNodesWithDisks({"a", "b", "c"});
  world.AddGang(2);
  int writes = 0;
  world.rig.fate = [&](const cluster::Command& command) {
    // One of the two reservations is made; then it dies.
    if (std::holds_alternative<cluster::Patch>(command.body) && ++writes == 2) return Dropped();
    return sim::Fate{};
  };
  world.rig.Settle();
  world.rig.fate = nullptr;
  world.rig.Restart();
  world.rig.Settle();
  CHECK(world.rig.Bound() == 0);
  world.Control();
  world.rig.Settle();
  CHECK(world.rig.Bound() == 2);
  int reserved = 0;
  for (const char* disk : {"disk-a", "disk-b", "disk-c"}) reserved += !world.Volume(disk, "uid").empty();
  CHECK(reserved == 2);
}

TEST_CASE("Volumes that are not bound in time are given up, and the gang is tried again from there") {
  VolumeRig world;
  world.AddNode("a");
  world.AddVolume("disk-a", "a");
  world.AddMember(0, 1);
  world.rig.Settle();
  CHECK(world.Volume("disk-a", "name") == "g-0");
  std::vector<std::string> notes;
  world.rig.fate = [&](const cluster::Command& command) {
    if (const auto* event = std::get_if<cluster::EmitEvent>(&command.body)) notes.push_back(event->note);
    return sim::Fate{};
  };
  world.rig.Pass(599'000);
  CHECK(notes.empty());
  world.rig.Pass(2'000);
  REQUIRE_FALSE(notes.empty());
  CHECK(notes.front() == "binding volumes: timed out waiting for the volumes to be bound");
  CHECK(world.rig.Bound() == 0);
  world.Control();
  world.rig.Pass(70'000);
  CHECK(world.rig.NodeOf("g-0") == "a");
}

TEST_CASE("A claim that one pod may use keeps a second member out") {
  VolumeRig world("csi.example.com");
  world.AddNode("a");
  world.AddClaim("data", "ReadWriteOncePod");
  for (const char* name : {"g-0", "g-1"}) world.rig.AddPod(name, {.gang = "g", .min = "2", .spec = Using("data")});
  world.rig.Settle();
  CHECK(world.binds == 0);
  CHECK(world.rig.Waits("g-1").find("ReadWriteOncePod access mode already in-use") != std::string::npos);
}

TEST_CASE("The claim that takes a planned volume first has it") {
  VolumeRig world;
  world.AddNodesWithDisks({"a", "b"});
  world.AddMember(0, 1);
  bool taken = false;
  world.rig.fate = [&](const cluster::Command& command) {
    const auto* patch = std::get_if<cluster::Patch>(&command.body);
    if (!patch || patch->object.resource != "persistentvolumes" || std::exchange(taken, true)) return sim::Fate{};
    REQUIRE(world.rig.store.Modify(kVolumes, "", patch->object.name(), [](sim::Json& volume) {
      volume["spec"]["claimRef"] = {{"namespace", "default"}, {"name", "another"}, {"uid", "u"}};
    }));
    return sim::Fate{};
  };
  world.rig.Pass(5'000);
  world.Control();
  world.rig.Pass(5'000);
  CHECK(taken);
  CHECK_FALSE(world.rig.NodeOf("g-0").empty());
  CHECK(world.VolumeOf("g-0") == "disk-" + world.rig.NodeOf("g-0"));
}

TEST_CASE("A claim that is made again after its volume was bound, and before the gang is, is bound again first") {
  VolumeRig world;
  world.AddNodesWithDisks({"a", "b", "c"});
  world.AddGang(2);
  int writes = 0, unbound = 0;
  world.rig.fate = [&](const cluster::Command& command) {
    // One of the two reservations is made at once, the other at its second try.
    if (std::holds_alternative<cluster::Patch>(command.body) && ++writes == 2) return Dropped();
    if (const auto* bind = std::get_if<cluster::Bind>(&command.body))
      unbound += world.VolumeOf(bind->pod.name()).empty();
    return sim::Fate{};
  };
  world.rig.Settle();
  world.Control();
  world.rig.Settle();
  const std::string settled = world.VolumeOf("g-0").empty() ? "g-1" : "g-0";
  REQUIRE_FALSE(world.VolumeOf(settled).empty());
  REQUIRE(world.rig.store.Delete(kClaims, "default", settled));
  world.AddClaim(settled);
  for (int i = 0; i < 10; ++i) {
    world.Control();
    world.rig.Pass(10'000);
  }
  CHECK(unbound == 0);
  CHECK(world.rig.Bound() == 2);
}

TEST_CASE("A gang that loses one of its planned volumes binds no pod until there is a place for all again") {
  VolumeRig world;
  world.AddNodesWithDisks({"a", "b"});
  world.AddGang(2);
  bool taken = false;
  int binds = 0;
  world.rig.fate = [&](const cluster::Command& command) {
    binds += std::holds_alternative<cluster::Bind>(command.body);
    const auto* patch = std::get_if<cluster::Patch>(&command.body);
    if (!patch || patch->object.resource != "persistentvolumes" || std::exchange(taken, true)) return sim::Fate{};
    REQUIRE(world.rig.store.Modify(kVolumes, "", patch->object.name(), [](sim::Json& volume) {
      volume["spec"]["claimRef"] = {{"namespace", "default"}, {"name", "another"}, {"uid", "u"}};
    }));
    return sim::Fate{};
  };
  for (int i = 0; i < 4; ++i) {
    world.rig.Pass(3'000);
    world.Control();
  }
  CHECK(taken);
  CHECK(binds == 0);
  world.AddNode("c");
  world.AddVolume("disk-c", "c");
  for (int i = 0; i < 4; ++i) {
    world.rig.Pass(3'000);
    world.Control();
  }
  CHECK(world.rig.Bound() == 2);
}

TEST_CASE("What a gang holds while its volumes are made is free at once when it cannot become whole any more") {
  VolumeRig world;
  world.AddNodesWithDisks({"a", "b", "c"});
  world.AddGang(3);
  world.rig.Settle();
  REQUIRE(world.rig.scheduler->Decisions()[0].reason == "BindingVolumes");
  world.rig.AddPod("other", {.cpu = "8"});  // a whole node
  world.rig.Settle();
  REQUIRE(world.rig.NodeOf("other").empty());
  std::string planned;  // where g-0 was to go
  for (const char* node : {"a", "b", "c"})
    if (world.Volume(fmt::format("disk-{}", node), "name") == "g-0") planned = node;
  const auto modify_node = [&](const std::function<void(sim::Json&)>& how, sim::Part part = sim::Part::kMain) {
    REQUIRE(world.rig.store.Modify(sim::kNodes, "", planned, how, part));
  };

  SECTION("a member went") { world.rig.Delete("g-0"); }
  SECTION("a node went") { world.rig.DeleteNode(planned); }
  SECTION("a node was cordoned") {
    modify_node([](sim::Json& node) { node["spec"]["unschedulable"] = true; });
  }
  SECTION("a node was tainted") {
    modify_node([](sim::Json& node) { node["spec"]["taints"] = {{{"key", "k"}, {"effect", "NoSchedule"}}}; });
  }
  SECTION("a node became too small") {
    modify_node([](sim::Json& node) { node["status"]["allocatable"]["cpu"] = "500m"; }, sim::Part::kStatus);
  }
  SECTION("a claim failed") {
    REQUIRE(world.rig.store.Modify(kVolumes, "", "disk-" + planned, [](sim::Json& volume) {
      volume["spec"]["claimRef"] = {{"namespace", "default"}, {"name", "another"}, {"uid", "u"}};
    }));
  }
  SECTION("its minimum is not known") {
    REQUIRE(world.rig.store.Modify(sim::kPods, "default", "g-0", [](sim::Json& pod) {
      pod["metadata"]["annotations"]["problem"] = "it cannot be read";
    }));
  }
  world.rig.Pass(2'000);
  CHECK_FALSE(world.rig.NodeOf("other").empty());
  CHECK_FALSE(world.rig.Waits("g-1").empty());
  CHECK(world.binds == 1);
}

TEST_CASE("A node that changes while volumes are made, and still takes its member, keeps it") {
  VolumeRig world;
  world.AddNodesWithDisks({"a", "b"});
  world.AddGang(2);
  world.rig.Settle();
  for (const char* node : {"a", "b"}) {
    REQUIRE(world.rig.store.Modify(sim::kNodes, "", node, [](sim::Json& object) {
      object["metadata"]["labels"]["note"] = "changed";
      object["spec"]["taints"] = {{{"key", "k"}, {"effect", "PreferNoSchedule"}}};
    }));
    REQUIRE(world.rig.store.Modify(
        sim::kNodes, "", node, [](sim::Json& object) { object["status"]["allocatable"]["cpu"] = "1"; },
        sim::Part::kStatus));
  }
  world.rig.Pass(2'000);
  CHECK(world.rig.scheduler->Decisions()[0].reason == "BindingVolumes");
  world.Control();
  world.rig.Settle();
  CHECK(world.rig.Bound() == 2);
}

TEST_CASE(
    "A node that another scheduler's pod fills while a volume is made does not get the pod that was planned for it") {
  VolumeRig world("csi.example.com");
  for (const char* node : {"a", "b"}) world.AddNode(node);
  world.AddGang(2);
  world.rig.Settle();
  const std::string filled = world.SelectedNode("g-0");
  REQUIRE_FALSE(filled.empty());
  world.rig.AddPod("other", {.cpu = "8", .spec = {{"schedulerName", "another"}, {"nodeName", filled}}});
  for (int i = 0; i < 4; ++i) {
    world.rig.Settle();
    world.Control();
    world.rig.Pass(3'000);
  }
  for (const char* member : {"g-0", "g-1"}) {
    CHECK_FALSE(world.rig.NodeOf(member).empty());
    CHECK(world.rig.NodeOf(member) != filled);
  }
}

TEST_CASE("A node that is cordoned while a volume is made does not get the pod that joins a gang that was whole") {
  VolumeRig world("csi.example.com");
  for (const char* node : {"a", "b"}) world.AddNode(node);
  const auto go_on = [&] {
    for (int i = 0; i < 4; ++i) {
      world.rig.Pass(3'000);
      world.Control();
    }
  };
  world.AddMember(0, 1);
  world.rig.Settle();
  go_on();
  REQUIRE(world.rig.Bound() == 1);
  world.AddMember(1, 1);
  world.rig.Settle();
  const std::string planned = world.SelectedNode("g-1");
  REQUIRE_FALSE(planned.empty());
  REQUIRE(
      world.rig.store.Modify(sim::kNodes, "", planned, [](sim::Json& node) { node["spec"]["unschedulable"] = true; }));
  world.rig.Settle();
  go_on();
  CHECK(world.rig.Bound() == 2);
  CHECK(world.rig.NodeOf("g-1") != planned);
}

TEST_CASE("A gang that cannot be completed where it was planned starts where there is room for all of it") {
  VolumeRig world;
  for (const char* name : {"a", "b", "c", "d"}) world.AddNode(name);
  for (const char* name : {"a", "b", "c", "d"})
    REQUIRE(world.rig.store.Modify(sim::kNodes, "", name, [&](sim::Json& node) {
      node["metadata"]["labels"]["rack"] = *name <= 'b' ? "r1" : "r2";
    }));
  world.AddVolume("disk-b", "b");
  const sim::Json in_one_rack = {{"tutti.dev/topology-required", "rack"}};
  world.AddClaim("data");
  world.rig.AddPod("g-0", {.gang = "g", .min = "2", .annotations = in_one_rack});
  world.rig.AddPod("g-1", {.gang = "g", .min = "2", .annotations = in_one_rack, .spec = Using("data")});
  world.rig.Settle();
  REQUIRE(world.Volume("disk-b", "name") == "data");
  // The claim is made again: disk-b stays with the old one.
  REQUIRE(world.rig.store.Delete(kClaims, "default", "data"));
  world.AddClaim("data");
  world.rig.Settle();
  CHECK(world.binds == 0);
  world.AddVolume("disk-d", "d");
  world.rig.Pass(2'000);
  world.Control();
  world.rig.Pass(2'000);
  CHECK(world.rig.NodeOf("g-1") == "d");
  CHECK((world.rig.NodeOf("g-0") == "c" || world.rig.NodeOf("g-0") == "d"));
}

}  // namespace
}  // namespace tutti::core
