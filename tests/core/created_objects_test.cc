// SPDX-License-Identifier: Apache-2.0
// Objects that are created for a gang once it has its places: each once, whatever becomes of the writes.
#include "base/random.h"
#include "dialects/appwrapper.h"
#include "sim/manifests/manifest.h"
#include "tests/core/rig.h"

namespace tutti::core {
namespace {

const sim::GroupResource kWrappers{"mcad.ibm.com", "appwrappers"}, kJobs{"batch", "jobs"}, kMaps{"", "configmaps"};

struct WrapperRig : Rig {
  WrapperRig() {
    static const auto definitions =
        sim::LoadManifests({TUTTI_SOURCE_DIR "/manifests/appwrapper/crds/mcad.ibm.com_appwrappers.yaml"});
    REQUIRE(definitions);
    for (const sim::Manifest& each : *definitions) REQUIRE(store.Create(each.object));
    make_dialects = [] {
      dialects::DialectList dialects;
      dialects.push_back(
          std::make_unique<dialects::AppWrappers>(dialects::AppWrappers::Group::kMcad, dialects::DialectSettings()));
      return dialects;
    };
    fate = [this](const cluster::Command& command) {
      const auto* create = std::get_if<cluster::Create>(&command.body);
      if (create && create->object.kind == fails && failures > 0) {
        --failures;
        return how;
      }
      if (const auto* patch = std::get_if<cluster::Patch>(&command.body);
          patch && drops_uids && patch->body.find("\"uid\"") != std::string::npos)
        return sim::Fate{.kind = sim::Fate::Kind::kDrop};
      return sim::Fate{};
    };
    Restart();
    AddNode("n1", 4);
  }
  static sim::Json Job(const std::string& name, int64_t completions = 1) {
    return {{"apiVersion", "batch/v1"},
            {"kind", "Job"},
            {"metadata", {{"name", name}}},
            {"spec",
             {{"completions", completions},
              {"template",
               {{"spec",
                 {{"restartPolicy", "Never"},
                  {"containers",
                   {{{"name", "c"}, {"image", "i"}, {"resources", {{"requests", {{"cpu", "1"}}}}}}}}}}}}}}};
  }
  void Wrap(sim::Json items) {
    REQUIRE(store.Create({{"apiVersion", "mcad.ibm.com/v1beta1"},
                          {"kind", "AppWrapper"},
                          {"metadata", {{"name", "aw"}, {"namespace", "default"}}},
                          {"spec", {{"resources", {{"GenericItems", std::move(items)}}}}}}));
  }
  // A ConfigMap and a Job of one pod.
  void Wrap() {
    const sim::Json map = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "m"}}}};
    Wrap(sim::Json::array({{{"generictemplate", map}}, {{"generictemplate", Job("j")}}}));
  }
  // The map is created. The command to create the job is lost, as when its sender is killed.
  void WrapAndLoseJob() {
    fails = "Job";
    failures = 1;
    how.kind = sim::Fate::Kind::kDrop;
    Wrap();
    Settle();
    REQUIRE_FALSE(UidOf(kMaps, "m").empty());
    REQUIRE(UidOf(kJobs, "j").empty());
  }
  void RenameMap() {
    REQUIRE(store.Modify(kWrappers, "default", "aw", [](sim::Json& wrapper) {
      wrapper["spec"]["resources"]["GenericItems"][0]["generictemplate"]["metadata"]["name"] = "n";
    }));
  }
  // Whether the node takes no pods.
  void Close(bool closed) {
    REQUIRE(store.Modify(sim::kNodes, "", "n1", [&](sim::Json& node) { node["spec"]["unschedulable"] = closed; }));
  }
  std::string State() const { return sim::DigString(*store.Find(kWrappers, "default", "aw"), "status", "state"); }
  std::string UidOf(const sim::GroupResource& kind, const std::string& name) const {
    const sim::Object object = store.Find(kind, "default", name);
    return object ? sim::UidOf(*object) : "";
  }

  std::string fails;  // the kind whose creations do
  int failures = 0;   // how many
  sim::Fate how;      // and in which way
  bool drops_uids = false;  // statuses are lost in which an item has one
};

}  // namespace

TEST_CASE("A creation whose reply is lost is found to have happened, and is not another's") {
  for (const char* kind : {"Job", "ConfigMap"}) {
    CAPTURE(kind);
    WrapperRig rig;
    rig.fails = kind;
    rig.failures = 1;
    rig.how.kind = sim::Fate::Kind::kLoseReply;
    rig.Wrap();
    rig.Settle();
    const std::string job = rig.UidOf(kJobs, "j");
    rig.Pass(600'000);
    CHECK(rig.State() == "Running");
    CHECK_FALSE(rig.UidOf(kMaps, "m").empty());
    if (!job.empty()) CHECK(rig.UidOf(kJobs, "j") == job);
  }
}

TEST_CASE("Objects are created ahead of the statuses of those that wait") {
  WrapperRig rig;
  std::map<std::string, cluster::Lane> lanes;  // by what is written
  rig.fate = [&lanes](const cluster::Command& command) {
    if (const auto* create = std::get_if<cluster::Create>(&command.body))
      lanes[std::string(create->object.kind)] = command.lane;
    if (const auto* patch = std::get_if<cluster::Patch>(&command.body); patch && patch->status)
      lanes.emplace("first status", command.lane);
    return sim::Fate{};
  };
  rig.Close(true);
  rig.Settle();
  rig.Wrap();
  rig.Settle();
  CHECK(rig.State() == "Pending");
  rig.Close(false);
  rig.Pass(60'000);
  REQUIRE(rig.State() == "Running");
  CHECK(lanes["ConfigMap"] == cluster::Lane::kBind);
  CHECK(lanes["Job"] == cluster::Lane::kBind);
  CHECK(lanes["first status"] == cluster::Lane::kStatus);
}

TEST_CASE("A creation that an API server was too busy for is made later") {
  WrapperRig rig;
  rig.fails = "Job";
  rig.failures = 3;
  rig.how.kind = sim::Fate::Kind::kRefuse;
  rig.Wrap();
  rig.Settle();
  CHECK(rig.UidOf(kJobs, "j").empty());
  rig.Pass(600'000);
  CHECK(rig.State() == "Running");
}

TEST_CASE("A creation that is refused takes back what was created before it") {
  WrapperRig rig;
  rig.fails = "Job";
  rig.failures = 1;
  rig.how = Refused();
  rig.Wrap();
  rig.Pass(600'000);
  CHECK(rig.State() == "Failed");
  CHECK(rig.UidOf(kMaps, "m").empty());
  CHECK(rig.UidOf(kJobs, "j").empty());
}

TEST_CASE("A new leader goes on with what an earlier one had begun to create, also where no feed shows it") {
  WrapperRig rig;
  rig.drops_uids = true;
  rig.WrapAndLoseJob();
  const std::string map = rig.UidOf(kMaps, "m");
  REQUIRE(rig.State() == "Pending");
  rig.drops_uids = false;
  rig.Restart();
  rig.Pass(600'000);
  CHECK(rig.State() == "Running");
  CHECK(rig.UidOf(kMaps, "m") == map);
}

TEST_CASE(
    "What an earlier leader created and could not list goes if there is no room any more, and nothing of others") {
  for (const char* owner : {"aw", "another", "none"}) {
    CAPTURE(owner);
    WrapperRig rig;
    rig.WrapAndLoseJob();
    const std::string_view of = owner;
    if (of != "aw") {
      REQUIRE(rig.store.Modify(kMaps, "default", "m", [of](sim::Json& map) {
        if (of == "none")
          map["metadata"].erase("ownerReferences");
        else
          map["metadata"]["ownerReferences"][0]["uid"] = "another";
      }));
    }
    rig.Close(true);
    rig.Restart();
    int deletes = 0;
    rig.fate = [&deletes](const cluster::Command& command) {
      if (std::holds_alternative<cluster::Delete>(command.body)) ++deletes;
      return sim::Fate{};
    };
    rig.Pass(600'000);
    CHECK(rig.State() == "Pending");
    CHECK(rig.UidOf(kMaps, "m").empty() == (of == "aw"));
    CHECK(deletes == 1);
    CHECK_FALSE(sim::Dig(*rig.store.Find(kWrappers, "default", "aw"), "status").contains("componentStatus"));
  }
}

TEST_CASE("What an earlier leader created and could not list goes if its item has another name by now") {
  WrapperRig rig;
  rig.WrapAndLoseJob();
  rig.RenameMap();
  rig.Restart();
  rig.Pass(600'000);
  CHECK(rig.State() == "Running");
  CHECK(rig.UidOf(kMaps, "m").empty());
  CHECK_FALSE(rig.UidOf(kMaps, "n").empty());
}

TEST_CASE("A dispatch is one write beside its creations, and one before them that lists what no feed shows") {
  for (const bool map : {false, true}) {
    CAPTURE(map);
    WrapperRig rig;
    std::vector<std::string> writes;
    rig.fate = [&writes](const cluster::Command& command) {
      if (const auto* create = std::get_if<cluster::Create>(&command.body))
        writes.push_back(fmt::format("{} in {}", create->object.kind, static_cast<int>(command.lane)));
      if (const auto* patch = std::get_if<cluster::Patch>(&command.body); patch && patch->object.kind == "AppWrapper")
        writes.push_back(fmt::format("status in {}", static_cast<int>(command.lane)));
      return sim::Fate{};
    };
    rig.Close(true);
    map ? rig.Wrap() : rig.Wrap(sim::Json::array({{{"generictemplate", WrapperRig::Job("j")}}}));
    rig.Pass(60'000);
    writes.clear();
    rig.Close(false);
    rig.Pass(60'000);
    const auto in = [](const char* what, cluster::Lane lane) {
      return fmt::format("{} in {}", what, static_cast<int>(lane));
    };
    const std::string job = in("Job", cluster::Lane::kBind), last = in("status", cluster::Lane::kStatus);
    std::vector<std::string> expected = {job, last};
    if (map) expected = {in("status", cluster::Lane::kBind), in("ConfigMap", cluster::Lane::kBind), job, last};
    CHECK(writes == expected);
    const sim::Json& status = sim::Dig(*rig.store.Find(kWrappers, "default", "aw"), "status");
    std::string types;
    for (const sim::Json& each : status["conditions"]) types += sim::DigString(each, "type") + " ";
    CHECK(types == "Init Queueing HeadOfLine Backoff Dispatched ");
  }
}

TEST_CASE("An edit before the reply to a creation leaves nothing of the old form, also where no feed shows it") {
  WrapperRig rig;
  rig.fails = "ConfigMap";
  rig.failures = 1;
  rig.how.kind = sim::Fate::Kind::kDeliver;
  rig.how.reply_delay_ms = 5'000;
  rig.Wrap();
  rig.Settle();
  REQUIRE_FALSE(rig.UidOf(kMaps, "m").empty());
  REQUIRE(rig.UidOf(kJobs, "j").empty());
  rig.RenameMap();
  rig.Pass(600'000);
  CHECK(rig.State() == "Running");
  CHECK(rig.UidOf(kMaps, "m").empty());
  CHECK_FALSE(rig.UidOf(kMaps, "n").empty());
  CHECK_FALSE(rig.UidOf(kJobs, "j").empty());
}

TEST_CASE("An edit after a creation leaves nothing of the old form to a new leader either") {
  WrapperRig rig;
  rig.WrapAndLoseJob();
  REQUIRE(rig.store.Modify(kWrappers, "default", "aw", [](sim::Json& wrapper) {
    wrapper["spec"]["resources"]["GenericItems"].erase(0);
  }));
  rig.Restart();
  rig.Pass(600'000);
  CHECK(rig.State() == "Running");
  CHECK(rig.UidOf(kMaps, "m").empty());
  CHECK_FALSE(rig.UidOf(kJobs, "j").empty());
}

TEST_CASE("Edits, restarts and failed writes between creations end with what the last form has, and no more") {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    base::Random random(seed);
    WrapperRig rig;
    rig.AddNode("n2", 8);
    bool hostile = true;
    rig.fate = [&](const cluster::Command&) {
      using Kind = sim::Fate::Kind;
      if (!hostile || random.OneIn(3)) return sim::Fate{};
      constexpr Kind kKinds[] = {Kind::kDrop, Kind::kLoseReply, Kind::kRefuse, Kind::kDeliver};
      return sim::Fate{.kind = kKinds[random.Below(4)], .reply_delay_ms = random.Between(0, 5'000)};
    };
    std::map<std::string, int64_t> wanted;  // completions by name
    const auto draw = [&] {
      sim::Json items = sim::Json::array();
      wanted.clear();
      while (wanted.size() < 3) wanted[fmt::format("j{}", random.Below(5))] = random.Between(1, 2);
      for (const auto& [name, completions] : wanted)
        items.push_back({{"generictemplate", WrapperRig::Job(name, completions)}});
      return items;
    };
    rig.Wrap(draw());
    for (int edits = 0; edits < 12 && rig.State() != "Running"; ++edits) {
      rig.Pass(random.Between(0, 20'000));
      if (random.OneIn(4)) rig.Restart();
      if (rig.State() == "Running") break;
      REQUIRE(rig.store.Modify(kWrappers, "default", "aw", [&](sim::Json& wrapper) {
        wrapper["spec"]["resources"]["GenericItems"] = draw();
      }));
    }
    hostile = false;
    rig.Pass(600'000);
    CHECK(rig.State() == "Running");
    std::map<std::string, int64_t> made;
    for (const sim::Object& job : rig.store.All(kJobs)) {
      made[sim::NameOf(*job)] = sim::IntOf(sim::Dig(*job, "spec", "completions"));
      CHECK(sim::DigString(sim::ControllerOf(*job), "uid") == rig.UidOf(kWrappers, "aw"));
    }
    CHECK(made == wanted);
  }
}

}  // namespace tutti::core
