// SPDX-License-Identifier: Apache-2.0
// What an AppWrapper has created, and what is there of it later.
#include <utility>

#include "tests/dialects/wrapper_fixture.h"

namespace tutti::dialects {

TEST_CASE("a component that is missing fails an AppWrapper of v1beta2, and its room is free") {
  WrapperFixture aw(Components(kCluster), false);
  aw.RunWith({kCluster});
  Touched touched;
  aw.dialect.Drop("rayclusters.ray.io", "ns", "rc", &touched);
  CHECK(touched.gangs.contains(aw.key));
  aw.Show();
  CHECK(aw.spec.promised.empty());
  CHECK(aw.Status()["phase"] == "Failed");
  CHECK(aw.Condition("Unhealthy")["reason"] == "MissingComponent");
}

TEST_CASE("what was created of an item that was renamed is deleted, and its end is seen") {
  WrapperFixture aw(Components(kJob), false);
  aw.RunWith({kJob});
  aw.object["spec"]["components"][0]["template"]["metadata"]["name"] = "other";
  aw.Show();
  CHECK(aw.Status()["phase"] == "Failed");
  CHECK(aw.Named(Mode::kGone) == std::vector<std::string>{"j"});
  aw.report.total = 0;
  aw.Status();
  CHECK(aw.Condition("ResourcesDeployed")["status"] == "True");
  Touched touched;
  aw.dialect.Drop("jobs.batch", "ns", "j", &touched);
  CHECK(touched.desires.contains(aw.key));
  aw.Status();
  CHECK(aw.Condition("ResourcesDeployed")["status"] == "False");
}

TEST_CASE("an AppWrapper that waits and cannot be read has nothing left of what was created, and can be mended") {
  WrapperFixture aw(Components(kJob), false);
  aw.RunWith({kJob});
  aw.object["status"]["phase"] = "Suspended";
  aw.object["spec"]["components"][0]["template"]["kind"] = "Nothing";
  aw.Show();
  aw.Status();
  CHECK(aw.Named(Mode::kGone) == std::vector<std::string>{"j"});
  Touched touched;
  aw.dialect.Drop("jobs.batch", "ns", "j", &touched);
  aw.report.total = 0;
  CHECK(aw.Status()["componentStatus"].is_null());
  aw.Status();
  CHECK(aw.Condition("QuotaReserved")["reason"] == "Invalid");
}

TEST_CASE("a name that is none in a status is not deleted") {
  WrapperFixture aw(Components(kJob, std::string(R"(,{"template":)") + kMap + "}"), false);
  aw.RunWith({kJob, kMap});
  for (const char* name : {"../../nodes/n", ""})
    aw.object["status"]["componentStatus"].push_back(
        {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", name}, {"uid", "u"}});
  aw.object["status"]["componentStatus"].push_back(
      {{"apiVersion", "v1/.."}, {"kind", "ConfigMap"}, {"name", "n"}, {"uid", "u"}});
  aw.object["spec"]["suspend"] = true;
  aw.Show();
  aw.Status();
  CHECK(aw.Named(Mode::kGone) == std::vector<std::string>{"j", "m"});
}

TEST_CASE("what no feed shows is deleted later by the UID that the status has") {
  WrapperFixture aw(Components(kJob, std::string(R"(,{"template":)") + kMap + "}"), false);
  aw.RunWith({kJob, kMap});
  aw.known.created.clear();  // a new leader knows no more than the status
  aw.object["spec"]["suspend"] = true;
  aw.Show();
  CHECK(aw.Status()["phase"] == "Suspending");
  REQUIRE(aw.Named(Mode::kGone) == std::vector<std::string>{"j", "m"});
  CHECK(aw.Desires().back().ref.uid() == "u-m");
  CHECK(aw.Desires().back().seen != nullptr);
  Touched touched;
  aw.dialect.Drop("jobs.batch", "ns", "j", &touched);
  aw.known.written["m"] = nullptr;
  aw.report.total = 0;
  CHECK(aw.Status()["phase"] == "Suspended");
}

namespace {

std::string Both(bool mcad, const std::string& first, const std::string& second) {
  return mcad ? Mcad(Item(first) + "," + Item(second)) : Components(first, R"(,{"template":)" + second + "}");
}

}  // namespace

TEST_CASE("what an edit took out while items were created goes before others are created") {
  for (const bool mcad : {true, false}) {
    CAPTURE(mcad);
    WrapperFixture aw(Both(mcad, kCluster, kJob), mcad);
    aw.Begin();
    aw.Create();
    REQUIRE(aw.Named(Mode::kExists) == std::vector<std::string>{"rc", "j"});
    aw.Template(0)["metadata"]["name"] = "other";
    aw.Show();
    aw.Admitted();
    CHECK(aw.Named(Mode::kGone) == std::vector<std::string>{"rc"});
    CHECK(aw.Named(Mode::kExists).empty());
    aw.Gone("rayclusters.ray.io", "rc");
    CHECK(aw.Named(Mode::kExists) == std::vector<std::string>{"other"});
  }
}

TEST_CASE("what was created in another form than the spec has now is created again, and what is as before stays") {
  for (const bool mcad : {true, false}) {
    CAPTURE(mcad);
    WrapperFixture aw(Both(mcad, kCluster, kJob), mcad);
    aw.Begin();
    aw.Create();
    aw.Create();
    aw.Template(1)["spec"]["parallelism"] = 1;
    aw.Show();
    aw.Admitted();
    CHECK(aw.Named(Mode::kGone) == std::vector<std::string>{"j"});
    CHECK(aw.Status()[mcad ? "state" : "phase"] != "Running");
    aw.Gone("jobs.batch", "j");
    REQUIRE(aw.Named(Mode::kExists) == std::vector<std::string>{"rc", "j"});
    aw.Create();
    CHECK(aw.Status()[mcad ? "state" : "phase"] == "Running");
  }
}

TEST_CASE("what no feed shows is in the status before all is created, and goes if an edit took it out") {
  for (const bool mcad : {true, false}) {
    CAPTURE(mcad);
    WrapperFixture aw(Both(mcad, kMap, kJob), mcad);
    aw.Begin();
    aw.Create();
    CHECK_FALSE(aw.Status()["componentStatus"][0].contains("uid"));  // it is listed with all others
    aw.known.created.clear();  // a new leader knows no more than the status
    aw.Template(0)["metadata"]["name"] = "n";
    aw.Show();
    aw.Admitted();
    REQUIRE(aw.Named(Mode::kGone) == std::vector<std::string>{"m"});
    CHECK(aw.Desires().back().ref.uid().empty());
    CHECK(aw.Desires().back().controller == "u-aw");
    CHECK(aw.Status()["componentStatus"][2]["name"] == "m");
    aw.known.written["m"] = nullptr;
    CHECK(aw.Status()["componentStatus"].size() == 2);
    aw.known.written.clear();
    CHECK(aw.Named(Mode::kGone).empty());
    CHECK(aw.Named(Mode::kExists) == std::vector<std::string>{"n"});
  }
}

TEST_CASE("what the status alone tells of is created again, to learn whether it is there, and in which form") {
  for (const bool mcad : {true, false}) {
    CAPTURE(mcad);
    WrapperFixture aw(Both(mcad, kMap, kJob), mcad);
    aw.Begin();
    aw.Create();
    const auto created = std::exchange(aw.known.created, {});  // there is a new leader
    REQUIRE(aw.Named(Mode::kExists) == std::vector<std::string>{"m"});
    CHECK(aw.Desires().back().seen == nullptr);
    CHECK(aw.Status()["componentStatus"][0]["name"] == "m");
    aw.Template(0)["data"] = {{"a", "b"}};
    aw.Show();
    aw.Admitted();
    aw.known.created = created;  // as the reply has it
    CHECK(aw.Named(Mode::kGone) == std::vector<std::string>{"m"});
  }
}

TEST_CASE("what was created after the status listed its name without a UID goes if an edit took it out") {
  for (const bool mcad : {true, false}) {
    CAPTURE(mcad);
    WrapperFixture aw(Both(mcad, kMap, kCluster), mcad);
    Json& spec = aw.object["spec"];
    Json& items = mcad ? spec["resources"]["GenericItems"] : spec["components"];
    items.push_back({{mcad ? "generictemplate" : "template", Json::parse(kJob)}});
    aw.Show();
    aw.Begin();
    aw.Create();
    aw.Create();
    REQUIRE(aw.Status()["componentStatus"].size() == 3);
    aw.Create();
    items.erase(2);
    aw.Show();
    aw.Admitted();
    CHECK(aw.Named(Mode::kGone) == std::vector<std::string>{"j"});
    CHECK(aw.Status()[mcad ? "state" : "phase"] != "Running");
  }
}

TEST_CASE("what is listed without a UID may be there, and goes with the others before the list does") {
  for (const bool mcad : {true, false}) {
    CAPTURE(mcad);
    WrapperFixture aw(Both(mcad, kMap, kJob), mcad);
    aw.Begin();
    aw.report.state = GangState::kWaitingForNodes;
    aw.report.sentence = "no room";
    aw.Status();
    REQUIRE(aw.Named(Mode::kGone) == std::vector<std::string>{"m"});
    CHECK(aw.Desires().back().controller == "u-aw");
    CHECK_FALSE(aw.Status()["componentStatus"].is_null());
    aw.known.written["m"] = nullptr;
    CHECK(aw.Named(Mode::kGone).empty());
    CHECK(aw.Status()["componentStatus"].is_null());
    aw.known.written.clear();
    CHECK(aw.Named(Mode::kGone).empty());
  }
}

TEST_CASE("an edit that cannot be read takes away all that was created") {
  for (const bool mcad : {true, false}) {
    CAPTURE(mcad);
    WrapperFixture aw(Both(mcad, kCluster, kJob), mcad);
    aw.Begin();
    aw.Create();
    aw.Create();
    aw.Template(0)["kind"] = "Nothing";
    aw.Show();
    aw.Status();
    CHECK(aw.Named(Mode::kGone) == std::vector<std::string>{"j", "rc"});
  }
}

TEST_CASE("what others have given to an AppWrapper is none of its items") {
  WrapperFixture aw(Both(false, kMap, kJob), false);
  aw.Begin();
  aw.ShowItem(kCluster, "u-aw");
  CHECK(aw.Named(Mode::kGone).empty());
  aw.object["spec"]["suspend"] = true;
  aw.Show();
  CHECK(aw.Named(Mode::kGone).empty());
}

TEST_CASE("what refers to an item has its version still when the item is another") {
  WrappedItem item;
  item.kind = FindWrappedKind("ray.io", "RayCluster");
  item.version = "v1";
  item.name = "rc";
  const cluster::ObjectRef ref = item.Ref("ns", "u-rc");
  item.version = "v2";
  CHECK(ref.version == "v1");
  CHECK(ref.ns() == "ns");
  CHECK(ref.name() == "rc");
  CHECK(ref.uid() == "u-rc");
}

TEST_CASE("an AppWrapper that is made again waits, though pods of the one before are still there") {
  for (const bool mcad : {true, false}) {
    CAPTURE(mcad);
    WrapperFixture aw(Both(mcad, kCluster, kJob), mcad);
    aw.Status();
    aw.Runs(5);
    aw.Status();
    CHECK(aw.Named(Mode::kExists).empty());
    aw.ShowItem(kCluster, "u-aw");
    CHECK(aw.Named(Mode::kExists) == std::vector<std::string>{"rc", "j"});
  }
}

TEST_CASE("when an AppWrapper of v1beta1 has failed and all is gone, it lists nothing that is to be deleted") {
  WrapperFixture aw(Both(true, kMap, kJob), true);
  aw.object["status"] = {
      {"state", "Failed"},
      {"componentStatus", {{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "m"}, {"uid", "u-m"}}}}};
  aw.Show();
  CHECK(aw.Named(Mode::kGone) == std::vector<std::string>{"m"});
  aw.known.written["m"] = nullptr;
  CHECK(aw.Status()["componentStatus"].is_null());
  aw.known.written.clear();
  CHECK(aw.Desires().empty());
}

}  // namespace tutti::dialects
