// SPDX-License-Identifier: Apache-2.0
// What an AppWrapper has created, and what is there of it later.
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

}  // namespace tutti::dialects
