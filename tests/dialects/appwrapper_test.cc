// SPDX-License-Identifier: Apache-2.0
#include "dialects/appwrapper.h"

#include <limits>
#include <optional>
#include <set>

#include "dialects/appwrapper_periods.h"
#include "dialects/declaration.h"
#include "model/gang_rank.h"
#include "tests/dialects/wrapper_fixture.h"

namespace tutti::dialects {
TEST_CASE("the pods of what an AppWrapper wraps are promised, by the pod sets of each item") {
  WrapperFixture one(Mcad(Item(kCluster)));
  CHECK(one.spec.problem == "");
  CHECK(one.spec.priority == 9);
  CHECK(one.spec.min_member == 3);
  CHECK(one.spec.roles == std::vector<model::RoleSpec>{{"head", 1}, {"small", 2}});
  REQUIRE(one.spec.promised.size() == 2);
  CHECK(one.spec.promised[0].head);
  CHECK(one.spec.promised[1].needs_head);
  CHECK(one.spec.promised[1].count == 2);
  CHECK(one.spec.promised[1].pod->spec->requests.Get("nvidia.com/gpu") == 1);
  CHECK(one.spec.promised[1].pod->spec->scheduler_name == "tutti");
  CHECK(one.dialect.SchedulerName(one.key) == "tutti");

  WrapperFixture two(Components(kCluster, std::string(R"(,{"template":)") + kJob + "}"), false);
  CHECK(two.spec.problem == "");
  CHECK(two.spec.min_member == 5);
  CHECK(two.spec.roles == std::vector<model::RoleSpec>{{"j/main", 2}, {"rc/head", 1}, {"rc/small", 2}});
}

TEST_CASE("a pod is a member by its labels, and has the role of its pod set") {
  WrapperFixture aw(Mcad(Item(kCluster)));
  const auto of = [&](const std::string& labels) { return aw.dialect.MembershipOf(PodFrom(labels)); };
  const auto head = of(R"({"labels":{"appwrapper.mcad.ibm.com":"aw","tutti.dev/pod-set":"0-0"}})");
  REQUIRE(head);
  CHECK(head->gang == aw.key);
  CHECK(head->role == "head");
  CHECK(head->head);
  CHECK(of(R"({"labels":{"appwrapper.mcad.ibm.com":"aw","tutti.dev/pod-set":"0-1"}})")->needs_head);
  for (const char* set : {"0-2", "1-0", "0", "-", "0-", "0-1x", "99999999999999999999-0", ""})
    CHECK(
        of(R"({"labels":{"appwrapper.mcad.ibm.com":"aw","tutti.dev/pod-set":")" + std::string(set) + R"("}})")->role ==
        "");
  const auto lost = of(R"({"labels":{"appwrapper.mcad.ibm.com":"other","tutti.dev/pod-set":"0-0"}})");
  REQUIRE(lost);
  CHECK(aw.dialect.Describe(lost->gang).problem ==
        "AppWrapper ns/other does not exist in API group mcad.ibm.com; create it, or take its name out of the pods' "
        "label appwrapper.mcad.ibm.com");
  CHECK_FALSE(of(R"({"labels":{"workload.codeflare.dev/appwrapper":"aw"}})"));
  CHECK(
      of(R"({"namespace":"elsewhere","labels":{"appwrapper.mcad.ibm.com":"aw","tutti.dev/pod-set":"0-0"}})")->gang.ns ==
      "elsewhere");
  CHECK_FALSE(of(R"({"labels":{"appwrapper.mcad.ibm.com":"aw"}})"));  // which another controller has made
  Touched touched;
  aw.dialect.Served("appwrappers.mcad.ibm.com", false, &touched);
  CHECK(touched.memberships);
  CHECK_FALSE(of(R"({"labels":{"appwrapper.mcad.ibm.com":"aw","tutti.dev/pod-set":"0-0"}})"));
}

TEST_CASE(
    "nothing is created before all pods have places; then item by item, and what is made belongs to the AppWrapper "
    "alone") {
  WrapperFixture aw(Mcad(Item(kCluster) + "," + Item(kMap) + "," + Item(kJob)));
  aw.report.state = GangState::kWaitingForNodes;
  aw.report.sentence = "no room";
  CHECK(aw.Named(Mode::kExists).empty());
  aw.report.sentence.clear();
  aw.Admitted();
  REQUIRE(aw.Named(Mode::kExists) == std::vector<std::string>{"rc"});
  Json made = aw.Desires().back().fields;
  CHECK(made["metadata"]["annotations"].erase("tutti.dev/wrapped-form") == 1);
  made["metadata"].erase("annotations");
  CHECK(made["metadata"] == Json::parse(R"({"name":"rc","namespace":"ns",
      "labels":{"appwrapper.mcad.ibm.com":"aw","own":"label","resourceName":"rc"},
      "ownerReferences":[{"apiVersion":"mcad.ibm.com/v1beta1","kind":"AppWrapper","name":"aw","uid":"u-aw",
                          "controller":true}]})"));
  CHECK_FALSE(made.contains("status"));
  const Json& worker = made["spec"]["workerGroupSpecs"][0]["template"];
  CHECK(worker["metadata"]["labels"]["tutti.dev/pod-set"] == "0-1");
  CHECK(worker["metadata"]["labels"]["appwrapper.mcad.ibm.com"] == "aw");
  CHECK(worker["spec"]["schedulerName"] == "tutti");

  aw.ShowItem(kCluster, "u-aw");
  CHECK(aw.Named(Mode::kExists) == std::vector<std::string>{"rc"});
  CHECK(aw.Status()["componentStatus"][1]["name"] == "m");  // no feed shows it: it is listed before it is created
  CHECK(aw.Named(Mode::kExists) == std::vector<std::string>{"rc", "m"});
  aw.ShowItem(kMap, "u-aw");
  CHECK(aw.Named(Mode::kExists) == std::vector<std::string>{"rc", "m", "j"});
  CHECK(aw.Status().value("state", "") != "Running");
  aw.ShowItem(kJob, "u-aw");
  CHECK(aw.Status()["state"] == "Running");
  CHECK(aw.object["status"]["componentStatus"][1]["uid"] == "u-m");
  CHECK(aw.Desires().size() == 1);  // its status
}

TEST_CASE("what was created before its room went is taken away again") {
  WrapperFixture aw(Mcad(Item(kCluster) + "," + Item(kJob)));
  aw.ShowItem(kCluster, "u-aw");
  aw.report.state = GangState::kWaitingForNodes;
  aw.report.sentence = "no room";
  aw.Status();
  CHECK(aw.Named(Mode::kGone) == std::vector<std::string>{"rc"});
  CHECK(aw.Desires().back().ref.uid() == "u-rc");
}

TEST_CASE("the conditions of v1beta1 come in MCAD's order") {
  WrapperFixture aw(Mcad(Item(kJob)));
  CHECK(aw.ConditionTypes() == "Init Queueing");
  CHECK(aw.object["status"]["queuejobstate"] == "Queueing");
  CHECK(aw.object["status"]["systempriority"] == 9);
  aw.report.state = GangState::kWaitingForNodes;
  aw.report.sentence = "no room";
  CHECK(aw.ConditionTypes() == "Init Queueing HeadOfLine Backoff");
  CHECK(aw.Condition("Backoff")["message"] == "Insufficient resources to dispatch AppWrapper. no room");
  aw.report.sentence = "less room";
  CHECK(aw.ConditionTypes() == "Init Queueing HeadOfLine Backoff");
  CHECK(aw.Condition("Backoff")["message"] == "Insufficient resources to dispatch AppWrapper. less room");
  aw.report.sentence.clear();
  aw.Admitted();
  aw.ShowItem(kJob, "u-aw");
  CHECK(aw.ConditionTypes() == "Init Queueing HeadOfLine Backoff Dispatched");
  aw.Runs(2);
  CHECK(aw.ConditionTypes() == "Init Queueing HeadOfLine Backoff Dispatched Running");
  CHECK(aw.object["status"]["queuejobstate"] == "Running");
}

TEST_CASE("what the API server refuses fails the AppWrapper for good, and what was created before goes") {
  WrapperFixture aw(Mcad(Item(kCluster) + "," + Item(kJob)));
  aw.Admitted();
  aw.ShowItem(kCluster, "u-aw");
  aw.known.refused["j"] = {422, "spec: wrong"};
  CHECK(aw.Status()["state"] == "Failed");
  CHECK(aw.Named(Mode::kGone) == std::vector<std::string>{"rc"});
  CHECK(aw.Condition("Failed")["message"] == "ns/aw creation failure: Job ns/j: spec: wrong");
  CHECK(aw.spec.promised.empty());
  aw.known.refused.clear();
  CHECK(aw.Named(Mode::kExists).empty());
}

TEST_CASE("fewer pods than minAvailable for too long: everything goes, and it queues again, so often as it may") {
  WrapperFixture aw(Mcad(Item(kJob), R"("schedulingSpec":{"minAvailable":2,
      "requeuing":{"timeInSeconds":60,"maxNumRequeuings":1}},)"));
  aw.Admitted();
  aw.ShowItem(kJob, "u-aw");
  REQUIRE(aw.Status()["state"] == "Running");
  CHECK(aw.ChangesAt() == kNow + 60'000);
  aw.Runs(1);
  aw.report.now_wall_ms += 60'000;
  CHECK(aw.Status()["state"] == "Pending");
  CHECK(aw.Named(Mode::kGone) == std::vector<std::string>{"j"});
  CHECK(aw.object["status"]["numberOfRequeueings"] == 1);
  CHECK(aw.Condition("Backoff")["reason"] == "PreemptionTriggered");
  CHECK(aw.Named(Mode::kExists).empty());  // while something of it is left
  CHECK(aw.spec.promised.size() == 1);
  Touched touched;
  aw.dialect.Drop("jobs.batch", "ns", "j", &touched);
  aw.report.total = aw.report.running = 0;
  aw.Admitted();
  CHECK(aw.Named(Mode::kExists).empty());
  aw.Status();  // the list of what there was goes first
  CHECK(aw.Named(Mode::kExists) == std::vector<std::string>{"j"});
  aw.Status();
  aw.ShowItem(kJob, "u-aw");
  REQUIRE(aw.Status()["state"] == "Running");
  CHECK(aw.ChangesAt() == aw.report.now_wall_ms + 120'000);
  aw.report.now_wall_ms += 120'000;
  CHECK(aw.Status()["state"] == "Deleted");
}

TEST_CASE("a phase of v1beta2 follows the other, and a pod too few is waited for") {
  WrapperFixture aw(Components(kJob), false);
  CHECK(aw.Status()["phase"] == "Suspended");
  aw.Admitted();
  CHECK(aw.Named(Mode::kFields).empty());  // its creation comes first
  CHECK(aw.Named(Mode::kExists) == std::vector<std::string>{"j"});
  aw.ShowItem(kJob, "u-aw");
  CHECK(aw.Status()["phase"] == "Running");
  CHECK(aw.Condition("QuotaReserved")["status"] == "True");
  CHECK(aw.Condition("PodsReady")["reason"] == "InsufficientPodsReady");
  CHECK(aw.object["status"]["componentStatus"][0]["podSets"] ==
        Json::parse(R"([{"replicas":2,"path":"template.spec.template"}])"));
  aw.Runs(1);
  CHECK(aw.Status()["phase"] == "Running");
  CHECK(aw.Condition("PodsReady")["message"] == "0 pods pending; 1 pods running; 0 pods succeeded");
  CHECK(aw.ChangesAt() == kNow + 60'000);
  aw.Runs(2);
  aw.report.running = 1;
  aw.report.bound = 1;
  CHECK(aw.ChangesAt() == kNow + 300'000);
  aw.report.now_wall_ms += 300'000;
  CHECK(aw.Status()["phase"] == "Resetting");
  CHECK(aw.Condition("Unhealthy")["reason"] == "InsufficientPodsReady");
  CHECK(aw.spec.min_member == 2);  // its places are kept
  CHECK(aw.Named(Mode::kGone) == std::vector<std::string>{"j"});
  Touched touched;
  aw.dialect.Drop("jobs.batch", "ns", "j", &touched);
  aw.report.total = aw.report.running = aw.report.bound = 0;
  aw.Admitted();
  CHECK(aw.Status()["phase"] == "Resetting");
  CHECK(aw.Named(Mode::kExists).empty());
  aw.report.now_wall_ms += 90'000;
  CHECK(aw.Status()["phase"] == "Resuming");
  CHECK(aw.Named(Mode::kExists) == std::vector<std::string>{"j"});
}

TEST_CASE("a refusal that may pass is waited for as long as pods are, and then the creation is tried again") {
  WrapperFixture aw(Components(kJob), false);
  aw.Status();
  aw.Admitted();
  aw.known.refused["j"] = {403, "exceeded quota"};
  CHECK(aw.Status()["phase"] == "Resuming");
  CHECK(aw.Named(Mode::kExists) == std::vector<std::string>{"j"});
  aw.report.now_wall_ms += 60'000;
  CHECK(aw.Status()["phase"] == "Resetting");
  CHECK(aw.Condition("Unhealthy")["message"] == "error creating components: Job ns/j: exceeded quota");
}

TEST_CASE("a Job that has ended promises nothing, whatever becomes of its pods") {
  WrapperFixture aw(Mcad(Item(kJob)));
  aw.Admitted();
  aw.ShowItem(kJob, "u-aw");
  aw.Status();
  CHECK(aw.spec.promised.size() == 1);
  aw.ShowItem(kJob, "u-aw", Json::parse(R"({"conditions":[{"type":"Complete","status":"True"}]})"));
  aw.Show();
  CHECK(aw.spec.promised.empty());
}

TEST_CASE("another controller's AppWrapper, and one that is being deleted, are left alone") {
  WrapperFixture other(R"({"managedBy":"example.com/other","components":[{"template":)" + std::string(kJob) + "}]}",
                       false);
  CHECK(other.dialect.SchedulerName(other.key).empty());
  CHECK(other.Desires().empty());
  WrapperFixture aw(Mcad(Item(kJob)));
  aw.object["metadata"]["deletionTimestamp"] = "2026-08-20T10:00:00Z";
  aw.Show();
  CHECK(aw.spec.promised.empty());
  CHECK(aw.Desires().empty());
}

TEST_CASE("what another controller had created before goes on, and no places are kept for it") {
  for (const bool mcad : {true, false}) {
    CAPTURE(mcad);
    WrapperFixture aw(mcad ? Mcad(Item(kCluster), R"("schedulingSpec":{"minAvailable":1},)") : Components(kCluster),
                      mcad);
    aw.ShowItem(kCluster, "u-aw");
    aw.object["status"] = {
        {"state", "Running"},
        {"phase", "Running"},
        {"componentStatus", {{{"kind", "RayCluster"}, {"name", "rc"}}}},
        {"conditions",
         {{{"type", "Dispatched"}, {"lastTransitionMicroTime", "2020-01-01T00:00:00.000000Z"}},
          {{"type", "ResourcesDeployed"}, {"status", "True"}, {"lastTransitionTime", "2020-01-01T00:00:00Z"}}}}};
    aw.Show();
    CHECK(aw.spec.promised.empty());
    aw.report.state = GangState::kFinished;
    CHECK(aw.Desires().empty());
    CHECK(aw.ChangesAt() == 0);
  }
}

TEST_CASE("custompodresources are compared with the pods, pod by pod") {
  const auto remark = [](const std::string& declared) {
    return WrapperFixture(Mcad(Item(kCluster, R"("custompodresources":)" + declared + ","))).spec.remark;
  };
  CHECK(remark("[]") == "");
  CHECK(remark(R"([{"replicas":1,"requests":{"cpu":2}},{"replicas":2,"requests":{"cpu":"4","nvidia.com/gpu":1}}])") ==
        "");
  CHECK(
      remark(
          R"([{"replicas":2,"requests":{"cpu":"4"},"limits":{"nvidia.com/gpu":1}},{"replicas":1,"limits":{"cpu":2}}])") ==
      "");
  CHECK(remark(R"([{"replicas":3,"requests":{"cpu":3}}])") ==
        "custompodresources declare pods: 3 of cpu 3; those of RayCluster ns/rc are: 1 of cpu 2 and 2 of cpu 4, "
        "nvidia.com/gpu 1; the latter count.");
}

TEST_CASE("a late pod has the label, too: its template is written where the job has none") {
  WrapperFixture aw(Components(R"({"apiVersion":"ray.io/v1","kind":"RayJob","metadata":{"name":"rj"},"spec":{
      "entrypoint":"x","rayClusterSpec":{"headGroupSpec":{"template":{"spec":{"containers":[{"name":"h"}]}}}}}})"),
                    false);
  CHECK(aw.spec.problem == "");
  REQUIRE(aw.spec.promised.size() == 2);
  CHECK(aw.spec.promised[1].late);
  aw.Status();
  aw.Admitted();
  REQUIRE(aw.Named(Mode::kExists) == std::vector<std::string>{"rj"});
  const Json submitter = aw.Desires().back().fields["spec"]["submitterPodTemplate"];
  CHECK(submitter["metadata"]["labels"]["workload.codeflare.dev/appwrapper"] == "aw");
  CHECK(submitter["spec"]["schedulerName"] == "tutti");
}

TEST_CASE("pods that come one after the other are not waited for, but for the first") {
  const std::string set = R"({"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"s"},"spec":{"replicas":3,
      "template":{"spec":{"containers":[{"name":"c"}]}}}})";
  WrapperFixture aw(Components(set), false);
  REQUIRE(aw.spec.promised.size() == 2);
  CHECK(aw.spec.promised[0].count == 1);
  CHECK_FALSE(aw.spec.promised[0].late);
  CHECK(aw.spec.promised[1].count == 2);
  CHECK(aw.spec.promised[1].late);
  const auto role = [&](const std::string& index) {
    return aw.dialect
        .MembershipOf(PodFrom(R"({"labels":{"workload.codeflare.dev/appwrapper":"aw","tutti.dev/pod-set":"0-0",
                                "apps.kubernetes.io/pod-index":")" +
                              index + R"("}})"))
        ->role;
  };
  CHECK(role("0") == "main");
  CHECK(role("2") == "main-later");
  Json parallel = Json::parse(set);
  parallel["spec"]["podManagementPolicy"] = "Parallel";
  CHECK(WrapperFixture(Components(parallel.dump()), false).spec.promised.size() == 1);
}

TEST_CASE("an AppWrapper that has lost all of its pods and has no room is put back, and nothing of it stays") {
  for (const bool mcad : {true, false}) {
    WrapperFixture aw(mcad ? Mcad(Item(kJob)) : Components(kJob), mcad);
    aw.Status();
    aw.Admitted();
    aw.ShowItem(kJob, "u-aw");
    aw.Status();
    aw.report.state = GangState::kWaitingForNodes;
    aw.report.sentence = "no room";
    aw.report.total = aw.report.pending = 2;
    aw.report.now_wall_ms += 9'000;  // it was created a moment ago
    CHECK(aw.Status()[mcad ? "state" : "phase"] == "Running");
    aw.report.now_wall_ms += 1'000;
    CHECK(aw.Status()[mcad ? "state" : "phase"] == (mcad ? "Pending" : "Suspended"));
    CHECK(aw.Named(Mode::kGone) == std::vector<std::string>{"j"});
    aw.report.running = 1;
    aw.report.sentence.clear();
  }
}

TEST_CASE("nothing is taken away before the status says so, and until then it is known what there is") {
  for (const bool mcad : {true, false}) {
    CAPTURE(mcad);
    const std::string map = std::string(R"(,{"template":)") + kMap + "}";
    WrapperFixture aw(mcad ? Mcad(Item(kJob) + "," + Item(kMap)) : Components(kJob, map), mcad);
    aw.Begin();
    aw.ShowItem(kJob, "u-aw");
    aw.ShowItem(kMap, "u-aw");
    aw.report.state = GangState::kWaitingForNodes;
    aw.report.sentence = "no room";
    CHECK(aw.Named(Mode::kGone).empty());
    const std::vector<cluster::DesiredObject> desires = aw.Desires();
    REQUIRE(aw.Named(Mode::kExists) == std::vector<std::string>{"j", "m"});
    CHECK(desires.back().seen == aw.known.created["m"]);
    aw.Status();
    aw.report.now_wall_ms += 10'000;
    CHECK(aw.Named(Mode::kGone).empty());
    aw.Status();
    CHECK(aw.Named(Mode::kGone) == std::vector<std::string>{"j", "m"});
  }
}

TEST_CASE("of v1beta1, bare Pods that are gone before they ran are given up after a while") {
  WrapperFixture aw(Mcad(Item(kBarePod)));
  aw.object["status"] = {
      {"state", "Running"},
      {"queuejobstate", "Dispatched"},
      {"conditions",
       {{{"type", "Dispatched"},
         {"status", "True"},
         {"reason", "AppWrapperRunnable"},
         {"lastTransitionMicroTime", base::FormatMicroTime(kNow)}}}},
      {"componentStatus", {{{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", "p"}, {"uid", "u-p"}}}}};
  aw.Show();
  aw.Admitted();
  CHECK(aw.Status()["state"] == "Running");
  REQUIRE(aw.ChangesAt() == kNow + 60'000);
  aw.report.now_wall_ms = kNow + 60'000;
  CHECK(aw.Status()["state"] == "Pending");
  CHECK(aw.object["status"]["numberOfRequeueings"] == 1);
}

TEST_CASE("of v1beta1, pods that a controller makes are waited for, beside bare ones, too") {
  WrapperFixture aw(Mcad(Item(kBarePod) + "," + Item(kJob)));
  aw.Begin();
  Json pod = Json::parse(kBarePod);
  pod["metadata"]["ownerReferences"] = {
      {{"kind", "AppWrapper"}, {"name", "aw"}, {"uid", "u-aw"}, {"controller", true}}};
  aw.known.created["p"] = ObjectFrom("/v1", "pods", pod.dump());
  aw.ShowItem(kJob, "u-aw");
  REQUIRE(aw.Status()["state"] == "Running");
  aw.report.total = aw.report.pending = 2;  // of the Job; others may still come
  CHECK(aw.ChangesAt() == 0);
  aw.report.now_wall_ms = kNow + 60'000;
  CHECK(aw.Status()["state"] == "Running");
}

TEST_CASE("an AppWrapper with a bare Pod that is made again does not begin with the pods of the one before") {
  for (const bool mcad : {true, false}) {
    CAPTURE(mcad);
    const std::string job = std::string(R"(,{"template":)") + kJob + "}";
    WrapperFixture aw(mcad ? Mcad(Item(kBarePod) + "," + Item(kJob)) : Components(kBarePod, job), mcad);
    aw.Runs(3);
    CHECK(aw.Named(Mode::kExists).empty());
    CHECK(aw.Status().value(mcad ? "queuejobstate" : "phase", "") == (mcad ? "Queueing" : "Suspended"));
  }
}

TEST_CASE("bare Pods of v1beta1 that have ended keep no places, and are made again once they are gone") {
  WrapperFixture aw(Mcad(Item(kBarePod)));
  aw.object["status"] = {
      {"state", "Running"},
      {"queuejobstate", "Running"},
      {"componentStatus", {{{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", "p"}, {"uid", "u-p"}}}}};
  aw.report.state = GangState::kFinished;
  aw.report.total = aw.report.failed = 1;
  aw.Show();
  REQUIRE(aw.spec.promised.size() == 1);
  CHECK(aw.Status()["failed"] == 1);
  CHECK(aw.spec.promised.empty());
  aw.report.total = aw.report.failed = 0;
  CHECK(aw.Status()["state"] == "Pending");
  CHECK(aw.spec.promised.size() == 1);
}

TEST_CASE("what is put back is deleted by a new leader, too, and created again only when nothing of it is left") {
  for (const bool mcad : {true, false}) {
    CAPTURE(mcad);
    const std::string map = std::string(R"(,{"template":)") + kMap + "}";
    WrapperFixture aw(mcad ? Mcad(Item(kJob) + "," + Item(kMap)) : Components(kJob, map), mcad);
    aw.Status();
    aw.Admitted();
    aw.ShowItem(kJob, "u-aw");
    aw.ShowItem(kMap, "u-aw");
    aw.Status();
    aw.report.state = GangState::kWaitingForNodes;
    aw.report.sentence = "no room";
    aw.report.now_wall_ms += 10'000;
    aw.Status();
    aw.known.created.clear();  // a new leader knows no more than the status
    aw.report.sentence.clear();
    aw.Admitted();
    CHECK(aw.Named(Mode::kGone) == std::vector<std::string>{"j", "m"});
    Touched touched;
    aw.dialect.Drop("jobs.batch", "ns", "j", &touched);
    CHECK(aw.Named(Mode::kGone) == std::vector<std::string>{"m"});
    aw.known.written["m"] = nullptr;
    CHECK(aw.Status()["componentStatus"].is_null());
    aw.known.written.clear();
    CHECK(aw.Named(Mode::kExists) == std::vector<std::string>{"j"});
    aw.ShowItem(kJob, "u-aw");
    aw.Status();
    CHECK(aw.Named(Mode::kExists) == std::vector<std::string>{"j", "m"});
  }
}

TEST_CASE("podSetInfos are put into the templates, and what contradicts them is said") {
  const std::string infos = R"(,"podSetInfos":[{"labels":{"a":"b"},"annotations":{"c":"d"},"nodeSelector":{"pool":"x"},
      "tolerations":[{"key":"k","operator":"Exists"}],"schedulingGates":[{"name":"g/h"}]}])";
  WrapperFixture aw(R"({"components":[{"template":)" + std::string(kJob) + infos + "}]}", false);
  CHECK(aw.spec.problem == "");
  aw.Status();
  aw.Admitted();
  const Json made = aw.Desires().back().fields["spec"]["template"];
  CHECK(made["metadata"]["labels"]["a"] == "b");
  CHECK(made["metadata"]["annotations"]["c"] == "d");
  CHECK(made["spec"]["nodeSelector"]["pool"] == "x");
  CHECK(made["spec"]["tolerations"][0]["key"] == "k");
  CHECK(made["spec"]["schedulingGates"][0]["name"] == "g/h");
  Json job = Json::parse(kJob);
  job["spec"]["template"]["spec"]["nodeSelector"]["pool"] = "y";
  WrapperFixture wrong(R"({"components":[{"template":)" + job.dump() + infos + "}]}", false);
  CHECK(wrong.spec.problem.find("the template has another value for pool") != std::string::npos);
}

TEST_CASE("podSetInfos that are too many to be looked at are refused") {
  const auto problem = [](const Json& infos, const Json& job) {
    const Json spec = {{"components", {{{"template", job}, {"podSetInfos", infos}}}}};
    return WrapperFixture(spec.dump(), false).spec.problem;
  };
  const Json tolerations(300, Json{{"key", "k"}}), job = Json::parse(kJob);
  CHECK(problem(Json::array({{{"tolerations", tolerations}}}), job).find("300 items are more than the 256") !=
        std::string::npos);
  CHECK(problem(Json(2'000, Json::object()), job).find("2000 items are more than the 1000") != std::string::npos);
  Json tolerant = job;
  tolerant["spec"]["template"]["spec"]["tolerations"] = tolerations;
  CHECK(problem(Json::array({{{"tolerations", Json::array({{{"key", "l"}}})}}}), tolerant)
            .find("the template has 300 of its own") != std::string::npos);
}

TEST_CASE("what many items ask for in all is said as far as numbers reach") {
  Json items = Json::array();
  for (const char* name : {"a", "b", "c"}) {
    Json job = Json::parse(kJob);
    job["metadata"]["name"] = name;
    job["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"] = {{"memory", "8E"},
                                                                                 {"nvidia.com/gpu", "3000000000"}};
    items.push_back({{"generictemplate", job}});
  }
  WrapperFixture aw(Json{{"resources", {{"GenericItems", items}}}}.dump());
  CHECK(aw.spec.problem == "");
  const Json status = aw.Status();
  CHECK(status["totalmemory"] == std::numeric_limits<int64_t>::max());
  CHECK(status["totalgpu"] == kLargestCount);
}

TEST_CASE("v1beta1: a creation that may succeed later is tried again, and one that never will fails it") {
  WrapperFixture aw(Mcad(Item(kJob)));
  aw.Admitted();
  aw.known.refused["j"] = {503, "try again"};
  CHECK(aw.Named(Mode::kExists) == std::vector<std::string>{"j"});
  const Json status = aw.Status();
  CHECK(status["state"] == "Pending");
  CHECK(status["message"] == "Job ns/j: try again");
  aw.known.refused["j"] = {422, "spec: wrong"};
  CHECK(aw.Status()["state"] == "Failed");
}

TEST_CASE("a slope is read to two digits, so that there are not many different ones") {
  const auto slope = [](const std::string& text) {
    WrapperFixture aw(Mcad(Item(kJob), R"("priorityslope":)" + text + ","));
    return aw.spec.problem.empty() ? std::optional(aw.spec.priority_slope) : std::nullopt;
  };
  CHECK(slope("1") == model::kSlopeUnit);
  CHECK(slope("0") == 0);
  CHECK(slope("0.12345") == 1'200);
  CHECK(slope("-2.56") == -26'000);
  CHECK(slope("0.00016") == 2);
  for (const char* steep : {"100", "100.001", "1e300"}) CHECK(slope(steep) == 100 * model::kSlopeUnit);
  CHECK(slope("-1e300") == -100 * model::kSlopeUnit);
  for (const char* wrong : {R"("NaN")", R"("1")", "true", "{}"}) CHECK_FALSE(slope(wrong));
  std::set<int32_t> all;
  for (int i = 1; i <= 5'000; ++i) all.insert(*slope(std::to_string(i * 0.01999)));
  CHECK(all.size() < 500);
}

TEST_CASE("systempriority is as of the last that is noted, and that it rises alone is not written") {
  WrapperFixture aw(Mcad(Item(kJob), R"("priorityslope":0.5,)"));
  aw.object["metadata"]["creationTimestamp"] = base::FormatTime(kNow - 10'000);
  aw.Show();
  CHECK(aw.Status()["systempriority"] == 14);
  aw.report.now_wall_ms += 60'000;
  CHECK(aw.Status()["systempriority"] == 14);
  aw.report.state = GangState::kWaitingForNodes;
  aw.report.sentence = "no room";
  CHECK(aw.Status()["systempriority"] == 44);
}

}  // namespace tutti::dialects
