// SPDX-License-Identifier: Apache-2.0
// What is written of an AppWrapper that starts, and when.
#include "tests/dialects/wrapper_fixture.h"

namespace tutti::dialects {

TEST_CASE("of an AppWrapper that starts at once nothing is written before it is dispatched") {
  WrapperFixture aw(Mcad(Item(kCluster)));
  aw.Admitted();
  CHECK(aw.Desires().size() == 1);
  aw.ShowItem(kCluster, "u-aw");
  CHECK(aw.ConditionTypes() == "Init Queueing HeadOfLine Dispatched");
  CHECK(aw.object["status"]["sender"] == "before manageQueueJob - afterEtcdDispatching");
  aw.Runs(3);
  aw.Status();
  CHECK(aw.object["status"]["queuejobstate"] == "Dispatched");  // of Ray's pods MCAD says no more
  CHECK(aw.object["status"]["running"] == 3);
}

TEST_CASE("pods that start at once are told of by the status that tells of the dispatch, which nothing waits for") {
  for (const bool mcad : {true, false}) {
    CAPTURE(mcad);
    WrapperFixture aw(mcad ? Mcad(Item(kJob)) : Components(kJob), mcad);
    aw.Status();
    aw.Admitted();
    aw.ShowItem(kJob, "u-aw");
    CHECK(aw.Desires().front().tells);
    aw.Runs(2);
    CHECK(aw.Desires().front().tells);
    aw.Status();
    if (mcad) {
      CHECK(aw.ConditionTypes() == "Init Queueing HeadOfLine Dispatched Running");
      CHECK(aw.object["status"]["queuejobstate"] == "Running");
    } else {
      CHECK(aw.object["status"]["phase"] == "Running");
      CHECK(aw.Condition("PodsReady")["reason"] == "SufficientPodsReady");
    }
  }
}

TEST_CASE("what is created and has pods on nodes runs, also before its status says so") {
  const bool mcad = GENERATE(true, false);
  WrapperFixture aw(mcad ? Mcad(Item(kJob)) : Components(kJob), mcad);
  aw.Status();
  aw.Admitted();
  aw.ShowItem(kJob, "u-aw");
  aw.Runs(1);
  aw.report.state = GangState::kWaitingForNodes;
  aw.report.sentence = "no room for the other";
  CHECK(aw.Named(Mode::kGone).empty());
  SECTION("so it goes on") { CHECK(aw.Status()[mcad ? "state" : "phase"] == "Running"); }
  SECTION("unless none is on a node any more") {
    aw.report.running = 0;
    aw.report.pending = 1;
    CHECK(aw.Status()[mcad ? "state" : "phase"] == "Running");
    aw.report.now_wall_ms += 10'000;
    aw.Status();
    CHECK(aw.Named(Mode::kGone) == std::vector<std::string>{"j"});
  }
}

TEST_CASE("an AppWrapper that is suspended before its status says that it runs is suspended once its pods are gone") {
  WrapperFixture aw(Components(kJob), false);
  aw.Status();
  aw.Admitted();
  aw.ShowItem(kJob, "u-aw");
  aw.object["spec"]["suspend"] = true;
  aw.Show();
  CHECK(aw.Status()["phase"] == "Suspending");
  CHECK(aw.Named(Mode::kGone) == std::vector<std::string>{"j"});
}

}  // namespace tutti::dialects
