// SPDX-License-Identifier: Apache-2.0
#include "dialects/kueue/kueue.h"

#include <limits>
#include <optional>

#include "base/sha1.h"
#include "dialects/kueue/queue_status.h"
#include "tests/dialects/kueue_objects.h"

namespace tutti::dialects::kueue {

using Texts = std::vector<std::string>;

TEST_CASE("a Workload's name ends with five digits of the hash of its job") {
  CHECK(base::Sha1Hex("") == "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  CHECK(base::Sha1Hex("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d");
  CHECK(base::Sha1Hex(std::string(1'000, 'a')) == "291e9a6c66994949b57ba5e650361e98fc36b1ba");
  const std::string name = WorkloadName("RayJob", "ray.io", "j", "u");
  CHECK(name == "rayjob-j-" + base::Sha1Hex("RayJob\nray.io\nj\nu").substr(0, 5));
  CHECK(WorkloadName("Job", "batch", std::string(253, 'x'), "u").size() == 253);
}

TEST_CASE("a job with a queue's label declares its gang: what it asks for, by role, and what it will have pods of") {
  Cluster cluster;
  cluster.Add("rayjobs",
              RayJob("j", {{"kueue.x-k8s.io/queue-name", "user-queue"}, {"kueue.x-k8s.io/priority-class", "prod"}}));
  const model::GangKey key = cluster.KeyOf("j");
  CHECK(cluster.touched.gangs == std::set{key});
  CHECK_FALSE(cluster.dialect.Describe(key).quota);
  CHECK(cluster.Settle(key) == Texts{"create Workload"});
  const model::GangSpec gang = cluster.dialect.Describe(key);
  CHECK(gang.problem == "");
  CHECK(gang.uid == "uid-j");
  CHECK(gang.min_member == 1);
  CHECK(gang.priority == 1000);
  CHECK(cluster.dialect.SchedulerName(key) == "tutti");
  REQUIRE(gang.quota);
  CHECK(gang.quota->ask.ns == "ns");
  CHECK(gang.quota->ask.local_queue == "user-queue");
  CHECK(gang.quota->ask.priority == 1000);
  CHECK(gang.quota->ask.queued_ms == kNow - 60'000);
  CHECK_FALSE(gang.quota->released);
  CHECK_FALSE(gang.quota->has);
  REQUIRE(gang.quota->ask.roles.size() == 1);
  CHECK(gang.quota->ask.roles[0].name == "head");
  CHECK(gang.quota->ask.roles[0].pod->requests.Get("memory") == 8'000'000'000);
  REQUIRE(gang.promised.size() == 2);
  CHECK(gang.promised[0].role == "head");
  CHECK(gang.promised[0].head);
  CHECK(gang.promised[1].role == "submitter");
  CHECK(gang.promised[1].late);
}

TEST_CASE("a RayJob waits, is admitted, starts, is preempted, and its objects say so as Kueue's do") {
  Cluster cluster;
  cluster.Add("rayjobs", RayJob("j"));
  const model::GangKey key = cluster.KeyOf("j");
  cluster.report.quota.reason = "WaitingForQuota";
  cluster.report.quota.message =
      "couldn't assign flavors to pod set head: insufficient unused quota for cpu in flavor default-flavor, 2 more "
      "needed";
  cluster.Create(key);
  CHECK(cluster.Announce(key) ==
        Texts{"RayJob ray.io/rayjob-kueue-controller Normal CreatedWorkload: Created Workload: ns/" + key.name,
              "Workload kueue-admission Warning Pending: " + cluster.report.quota.message});
  CHECK(cluster.Settle(key) == Texts{"status of Workload"});
  const Json& workload = cluster.At("Workload", key.name);
  CHECK(workload["metadata"]["labels"] == Json{{"kueue.x-k8s.io/job-uid", "uid-j"}});
  CHECK(workload["metadata"]["finalizers"] == Json{"kueue.x-k8s.io/resource-in-use"});
  CHECK(workload["metadata"]["ownerReferences"][0]["kind"] == "RayJob");
  CHECK(workload["spec"]["queueName"] == "user-queue");
  CHECK(workload["spec"]["podSets"].size() == 1);
  CHECK(cluster.Condition(key.name, "QuotaReserved") == "False Pending: " + cluster.report.quota.message);
  CHECK(cluster.Condition(key.name, "Admitted") == "");
  CHECK(workload["status"]["resourceRequests"][0] ==
        Json::parse(R"({"name":"head","resources":{"cpu":"2","memory":"7812500Ki","nvidia.com/gpu":"1"}})"));

  cluster.report.quota = {};
  cluster.report.quota.has = HeldBy(key, "uid-j");
  cluster.report.state = GangState::kAdmitted;
  CHECK(cluster.Announce(key) ==
        Texts{"Workload kueue-admission Normal QuotaReserved: Quota reserved in ClusterQueue cluster-queue, wait time "
              "since "
              "queued was 60s",
              "Workload kueue-admission Normal Admitted: Admitted by ClusterQueue cluster-queue, wait time since "
              "reservation "
              "was 0s",
              "RayJob ray.io/rayjob-kueue-controller Normal Started: Admitted by clusterQueue cluster-queue"});
  CHECK(cluster.Announce(key).empty());
  CHECK(cluster.Settle(key) == Texts{"status of Workload", "patch RayJob"});
  CHECK(cluster.Condition(key.name, "QuotaReserved") ==
        "True QuotaReserved: Quota reserved in ClusterQueue cluster-queue");
  CHECK(cluster.Condition(key.name, "Admitted") == "True Admitted: The workload is admitted");
  const Json& status = cluster.At("Workload", key.name)["status"];
  CHECK(status["admission"] ==
        Json::parse(R"({"clusterQueue":"cluster-queue","podSetAssignments":[{"name":"head","count":1,
      "flavors":{"cpu":"default-flavor","memory":"default-flavor","nvidia.com/gpu":"default-flavor"},
      "resourceUsage":{"cpu":"2","memory":"7812500Ki","nvidia.com/gpu":"1"}}]})"));
  CHECK_FALSE(status.contains("resourceRequests"));
  const Json& job = cluster.At("RayJob", "j");
  CHECK_FALSE(job["spec"].contains("suspend"));
  const Json& head = job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"];
  CHECK(head["metadata"]["labels"] == Json{{"kueue.x-k8s.io/podset", "head"},
                                           {"kueue.x-k8s.io/cluster-queue-name", "cluster-queue"},
                                           {"kueue.x-k8s.io/local-queue-name", "user-queue"}});
  CHECK(head["metadata"]["annotations"] == Json{{"kueue.x-k8s.io/workload", key.name}});
  CHECK(head["spec"]["schedulerName"] == "tutti");
  CHECK(job["spec"]["submitterPodTemplate"]["metadata"]["labels"]["kueue.x-k8s.io/podset"] == "submitter");
  CHECK(job["spec"]["submitterPodTemplate"]["spec"]["containers"][0]["image"] == "ray:2");
  CHECK(cluster.dialect.Describe(key).quota->released);
  CHECK(cluster.dialect.Describe(key).quota->has);

  // Another comes.
  cluster.now += 90'000;
  cluster.Edit("RayJob", "j", {{"status", {{"jobDeploymentStatus", "Running"}}}});
  cluster.Add("rayjobs",
              RayJob("prod", {{"kueue.x-k8s.io/queue-name", "user-queue"}, {"kueue.x-k8s.io/priority-class", "prod"}}));
  cluster.Create(cluster.KeyOf("prod"));
  cluster.report.quota.has->evicted = true;
  cluster.report.quota.evicted_reason = "InClusterQueue";
  cluster.report.quota.by_uid = "uid-prod";
  cluster.report.quota.evictions = 1;
  const auto preemptor = cluster.dialect.Describe(cluster.KeyOf("prod"));
  CHECK(preemptor.quota->ask.line_uid == "uid-of-Workload");
  CHECK(preemptor.quota->ask.job_uid == "uid-prod");
  const std::string why =
      "Preempted to accommodate a workload (UID: uid-of-Workload, JobUID: uid-prod) due to prioritization in the "
      "ClusterQueue; "
      "preemptor path: /cluster-queue; preemptee path: /cluster-queue";
  cluster.report.quota.evicted_message = why;
  const std::string ranks =
      "; preemptor effective priority: 1000 (base: 1000, boost: 0); preemptee effective priority: 0 (base: 0, boost: "
      "0)";
  CHECK(cluster.Announce(key) == Texts{"Workload kueue-admission Normal Preempted: " + why + ranks,
                                       "Workload kueue-admission Normal PreemptedWorkload: Preempted workload "
                                       "ns/rayjob-j-00245 (UID: uid-of-Workload) in ClusterQueue cluster-queue" +
                                           ranks,
                                       "Workload kueue-admission Normal EvictedDueToPreempted: " + why,
                                       "RayJob ray.io/rayjob-kueue-controller Normal Stopped: " + why});
  CHECK(cluster.Settle(key) == Texts{"status of Workload", "patch RayJob"});
  CHECK(cluster.Condition(key.name, "Evicted") == "True Preempted: " + why);
  CHECK(cluster.Condition(key.name, "Preempted") == "True InClusterQueue: " + why);
  CHECK(cluster.Condition(key.name, "QuotaReserved").starts_with("True"));
  CHECK(cluster.At("RayJob", "j")["spec"] == RayJob("j")["spec"]);
  CHECK(cluster.dialect.Describe(key).quota->released);  // its pods are still there

  cluster.Edit("RayJob", "j", {{"status", {{"jobDeploymentStatus", "Suspended"}}}});
  CHECK_FALSE(cluster.dialect.Describe(key).quota->released);
  cluster.report.quota.has.reset();
  cluster.report.state = GangState::kWaitingForQueue;
  CHECK(cluster.Settle(key) == Texts{"status of Workload"});
  CHECK(cluster.Condition(key.name, "QuotaReserved") == "False Pending: " + why);
  CHECK(cluster.Condition(key.name, "Admitted") == "False NoReservation: The workload has no reservation");
  CHECK(cluster.Condition(key.name, "Requeued") == "True Preempted: " + why);
  CHECK_FALSE(cluster.At("Workload", key.name)["status"].contains("admission"));
  CHECK(cluster.At("Workload", key.name)["status"]["accumulatedPastExecutionTimeSeconds"] == 90);
}

TEST_CASE("a RayJob that has ended gives its quota back, and its Workload says how") {
  Cluster cluster;
  cluster.Add("rayjobs", RayJob("j"));
  const model::GangKey key = cluster.KeyOf("j");
  cluster.report.quota = {};
  cluster.report.quota.has = HeldBy(key, "uid-j");
  cluster.report.state = GangState::kWhole;
  cluster.Settle(key);
  cluster.Announce(key);
  cluster.Edit(
      "RayJob", "j",
      {{"status", {{"jobDeploymentStatus", "Complete"}, {"jobStatus", "SUCCEEDED"}, {"message", "Job finished."}}}});
  CHECK_FALSE(cluster.dialect.Describe(key).quota);
  CHECK(cluster.dialect.Describe(key).promised.empty());
  cluster.report.quota = {};
  CHECK(cluster.Announce(key) == Texts{"RayJob ray.io/rayjob-kueue-controller Normal FinishedWorkload: Workload 'ns/" +
                                       key.name + "' is declared finished"});
  CHECK(cluster.Settle(key) == Texts{"status of Workload", "patch Workload"});
  CHECK(cluster.Condition(key.name, "Finished") == "True Succeeded: Job finished.");
  CHECK(cluster.Condition(key.name, "Admitted").starts_with("True"));
  CHECK(cluster.At("Workload", key.name)["metadata"]["finalizers"] == Json::array());
  CHECK(cluster.dialect.SchedulerName(key) == "");
}

TEST_CASE("a Job may be admitted with fewer pods, and has all of them back when it stops") {
  DialectSettings settings;
  settings.scheduler_names = {"tutti", "mine"};
  Cluster cluster(settings);
  cluster.Add("jobs",
              Json::parse(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"namespace":"ns","name":"j","uid":"u",
      "labels":{"kueue.x-k8s.io/queue-name":"user-queue"},"annotations":{"kueue.x-k8s.io/job-min-parallelism":"3",
        "kueue.x-k8s.io/job-completions-equal-parallelism":"true"}},
      "spec":{"suspend":true,"parallelism":8,"completions":8,"template":{"metadata":{"labels":{"a":"b"}},
        "spec":{"schedulerName":"mine","nodeSelector":{"disk":"ssd"},"containers":[{"resources":{"requests":{"cpu":"1"}}}]}}}})"));
  const Json before = cluster.At("Job", "j")["spec"];
  const model::GangKey key{"kueue", "ns", WorkloadName("Job", "batch", "j", "u")};
  cluster.Create(key);
  const model::GangSpec gang = cluster.dialect.Describe(key);
  CHECK(gang.min_member == 3);
  CHECK(gang.quota->ask.roles[0].count == 8);
  CHECK(gang.quota->ask.roles[0].min_count == 3);
  cluster.Add("resourceflavors", Named("ResourceFlavor", "spot", Json::parse(R"({"nodeLabels":{"kind":"spot"},
      "tolerations":[{"key":"spot","operator":"Exists","effect":"NoSchedule"}]})")));
  cluster.report.quota.has = HeldBy(key, "u");
  cluster.report.quota.has->roles = {{"main", 5, {}, {{"cpu", "spot"}}}};
  cluster.report.state = GangState::kAdmitted;
  CHECK(cluster.Settle(key) == Texts{"status of Workload", "patch Job"});
  CHECK(cluster.At("Workload", key.name)["spec"]["podSets"][0]["minCount"] == 3);
  const Json started = cluster.At("Job", "j")["spec"];
  CHECK(started["suspend"] == false);
  CHECK(started["parallelism"] == 5);
  CHECK(started["completions"] == 5);
  CHECK(started["template"]["spec"]["nodeSelector"] == Json{{"disk", "ssd"}, {"kind", "spot"}});
  CHECK(started["template"]["spec"]["tolerations"] ==
        Json::parse(R"([{"key":"spot","operator":"Exists","effect":"NoSchedule"}])"));
  CHECK(started["template"]["spec"]["schedulerName"] == "mine");  // a suspended Job's template takes no other
  CHECK(started["template"]["metadata"]["labels"]["kueue.x-k8s.io/podset"] == "main");
  cluster.report.quota.has->evicted = true;
  cluster.report.quota.evicted_reason = "ClusterQueueStopped";
  cluster.Edit("Job", "j", {{"status", {{"active", 5}, {"startTime", "2026-08-20T10:00:00Z"}}}});
  CHECK(cluster.Settle(key) == Texts{"status of Workload", "patch Job"});
  CHECK(cluster.At("Job", "j")["spec"]["suspend"] == true);
  CHECK(cluster.At("Job", "j")["spec"]["parallelism"] == 5);  // what runs takes no change of its template
  cluster.Edit("Job", "j", {{"status", {{"active", 0}}}});
  CHECK(cluster.Settle(key) == Texts{"status of Job", "patch Job"});
  CHECK(cluster.At("Job", "j")["spec"] == before);
  CHECK(cluster.Condition(key.name, "Evicted") == "True ClusterQueueStopped: The ClusterQueue is stopped");
}

TEST_CASE("a Workload without a job declares a gang, too, and what it was given counts") {
  Cluster cluster;
  Json workload =
      Json::parse(R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"namespace":"ns","name":"w",
      "uid":"w","creationTimestamp":"2026-08-20T09:59:00Z"},"spec":{"queueName":"user-queue","priority":7,"podSets":[
      {"name":"one","count":4,"minCount":2,"topologyRequest":{"required":"rack","podSetGroupName":"g"},
       "template":{"spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}]}}}]}})");
  cluster.Add("workloads", workload);
  const model::GangKey key{"kueue", "ns", "w"};
  const model::GangSpec gang = cluster.dialect.Describe(key);
  CHECK(gang.uid == "w");
  CHECK(gang.priority == 7);
  CHECK(gang.min_member == 2);
  CHECK(gang.roles[0].topology.required == "rack");
  CHECK(gang.quota->ask.roles[0].in_topology);
  CHECK(gang.quota->ask.roles[0].group == "g");
  CHECK(gang.promised[0].count == 4);
  workload["status"] =
      Json::parse(R"({"admission":{"clusterQueue":"cluster-queue","podSetAssignments":[{"name":"one","count":3,
      "flavors":{"cpu":"default-flavor"},"resourceUsage":{"cpu":"3"}}]},"conditions":[
      {"type":"QuotaReserved","status":"True","reason":"QuotaReserved","message":"","lastTransitionTime":"2026-08-20T10:00:00Z"}]})");
  cluster.Add("workloads", workload);
  const auto has = cluster.dialect.Describe(key).quota->has;
  REQUIRE(has);
  CHECK(has->leaf == "cluster-queue");
  CHECK(has->reserved_ms == kNow);
  CHECK(has->roles[0].count == 3);
  CHECK(has->roles[0].requests.Get("cpu") == 3000);
  CHECK_FALSE(has->evicted);
  workload["spec"]["active"] = false;
  cluster.Add("workloads", workload);
  CHECK(cluster.dialect.Describe(key).quota->barred == "Deactivated");
  workload["status"]["conditions"].push_back({{"type", "Finished"}, {"status", "True"}});
  cluster.Add("workloads", workload);
  CHECK_FALSE(cluster.dialect.Describe(key).quota);
}

TEST_CASE("what a Workload is given again is written, though it was not yet seen that it had lost it") {
  Cluster cluster;
  cluster.Add("rayjobs", RayJob("j"));
  const model::GangKey key = cluster.KeyOf("j");
  cluster.Create(key);
  cluster.report.quota.has = HeldBy(key, "uid-j");
  cluster.report.state = GangState::kAdmitted;
  cluster.Settle(key);
  const Json had = cluster.At("Workload", key.name)["status"]["admission"];
  Json conditions = cluster.At("Workload", key.name)["status"]["conditions"];
  for (Json& each : conditions) each["status"] = "False";
  const Json released = {{"status", {{"admission", nullptr}, {"conditions", conditions}}}};
  cluster.written = released;
  const auto desired = cluster.Desired(key);
  REQUIRE_FALSE(desired.empty());
  REQUIRE(desired[0].ref.kind == "Workload");
  CHECK(desired[0].fields["status"].value("admission", Json()) == had);
  CHECK(desired[0].fields["status"]["conditions"].size() == 2);
}

TEST_CASE("a Workload that had to leave under an earlier leader gives its quota back before it is its turn again") {
  Cluster cluster;
  cluster.Add("rayjobs", RayJob("j"));
  const model::GangKey key = cluster.KeyOf("j");
  cluster.Create(key);
  cluster.report.quota.has = HeldBy(key, "uid-j");
  cluster.report.state = GangState::kAdmitted;
  cluster.Settle(key);
  cluster.report.quota.has->evicted = true;
  cluster.report.quota.evicted_reason = "InClusterQueue";
  cluster.report.quota.evicted_message = "Preempted";
  cluster.Settle(key);
  REQUIRE(cluster.Condition(key.name, "Evicted").starts_with("True"));
  cluster.report.quota = {};
  CHECK(cluster.Settle(key).empty());  // it is not taken up yet
  cluster.report.quota.reason = "Pending";
  cluster.report.state = GangState::kWaitingForQueue;
  cluster.Settle(key);
  CHECK(cluster.Condition(key.name, "QuotaReserved").starts_with("False Pending"));
  CHECK_FALSE(cluster.At("Workload", key.name)["status"].contains("admission"));
}

TEST_CASE("a Job that is made smaller before it has its pods is stopped, and gets another Workload") {
  Cluster cluster;
  cluster.Add("jobs", QueuedJob({{"parallelism", 3}, {"completions", 3}}));
  const model::GangKey key{"kueue", "ns", WorkloadName("Job", "batch", "j", "u")};
  cluster.Create(key);
  Admit(cluster, key, "main", 3);
  cluster.Settle(key);
  REQUIRE(cluster.At("Job", "j")["spec"]["suspend"] == false);
  cluster.Edit("Job", "j", {{"spec", {{"parallelism", 4}}}});
  CHECK(cluster.Settle(key).empty());
  cluster.Edit("Job", "j", {{"spec", {{"parallelism", 2}}}});
  cluster.report.state = GangState::kWhole;
  CHECK(cluster.Settle(key).empty());
  cluster.report.state = GangState::kAdmitted;
  const auto desired = cluster.Desired(key);
  REQUIRE_FALSE(desired.empty());
  CHECK(desired[0].ref.kind == "Workload");
  CHECK(desired[0].mode == cluster::DesiredObject::Mode::kGone);
}

TEST_CASE("what is edited while a job waits is written into its Workload") {
  Cluster cluster;
  cluster.Add("rayjobs", RayJob("j"));
  const model::GangKey key = cluster.KeyOf("j");
  cluster.Settle(key);
  cluster.Edit("RayJob", "j", {{"metadata", {{"labels", {{"kueue.x-k8s.io/priority-class", "prod"}}}}}});
  CHECK(cluster.Settle(key) == Texts{"patch Workload"});
  CHECK(cluster.At("Workload", key.name)["spec"]["priority"] == 1000);
  CHECK(cluster.At("Workload", key.name)["spec"]["priorityClassRef"]["name"] == "prod");
  Json job = cluster.At("RayJob", "j");
  job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] =
      "1";
  cluster.Add("rayjobs", job);
  CHECK(cluster.dialect.Describe(key).quota->ask.roles[0].pod->requests.Get("cpu") == 1000);
  CHECK(cluster.Settle(key) == Texts{"patch Workload"});
}

TEST_CASE("a Workload whose job is gone gives its quota back, and goes") {
  Cluster cluster;
  cluster.Add("rayjobs", RayJob("j"));
  const model::GangKey key = cluster.KeyOf("j");
  cluster.Settle(key);
  cluster.Remove("RayJob", "j", "ray.io");
  CHECK_FALSE(cluster.dialect.Describe(key).quota);
  CHECK(cluster.Settle(key).empty());
  cluster.Edit("Workload", key.name, {{"metadata", {{"deletionTimestamp", "2026-08-20T10:05:00Z"}}}});
  CHECK(cluster.Settle(key) == Texts{"patch Workload"});
  CHECK(cluster.At("Workload", key.name)["metadata"]["finalizers"] == Json::array());
}

TEST_CASE("a job whose pods would be refused gets no quota: by their own limits, or by a LimitRange") {
  Cluster cluster;
  Json job = RayJob("j");
  cluster.Add("rayjobs", job);
  const model::GangKey key = cluster.KeyOf("j");
  cluster.Create(key);
  const auto problem = [&] { return cluster.dialect.Describe(key).quota->ask.problem; };
  CHECK(problem() == "");
  const auto range = [&](const char* limits) {
    cluster.Add("limitranges", {{"apiVersion", "/v1"},
                                {"kind", "LimitRange"},
                                {"metadata", {{"namespace", "ns"}, {"name", "r"}}},
                                {"spec", {{"limits", Json::parse(limits)}}}});
  };
  range(R"([{"type":"Container","max":{"cpu":"1"}}])");
  CHECK(cluster.touched.gangs == std::set{key});
  CHECK(problem() ==
        "resources didn't satisfy LimitRange constraints: spec.podSets[0].template.spec.containers[0]: requests "
        "exceed the max of cpu");
  range(R"([{"type":"Pod","min":{"cpu":"3"}}])");
  CHECK(problem() ==
        "resources didn't satisfy LimitRange constraints: spec.podSets[0].template.spec: requests are below the "
        "min of cpu");
  range(R"([{"type":"Pod","min":{"cpu":"2"},"max":{"cpu":"2"}}])");
  CHECK(problem() == "");
  job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containers"][0]["resources"]["limits"]["cpu"] =
      "1";
  cluster.Add("rayjobs", job);
  CHECK(problem().starts_with(
      "resources validation failed: spec.podSets[0].template.spec.containers[0]: requests of cpu"));
}

TEST_CASE("a class that does not exist is a problem until it does") {
  Cluster cluster;
  cluster.Add("rayjobs",
              RayJob("j", {{"kueue.x-k8s.io/queue-name", "user-queue"}, {"kueue.x-k8s.io/priority-class", "new"}}));
  const model::GangKey key = cluster.KeyOf("j");
  CHECK(cluster.dialect.Describe(key).problem.starts_with("WorkloadPriorityClass new does not exist"));
  cluster.Add("workloadpriorityclasses", {{"apiVersion", "kueue.x-k8s.io/v1beta1"},
                                          {"kind", "WorkloadPriorityClass"},
                                          {"metadata", {{"name", "new"}}},
                                          {"value", 5}});
  CHECK(cluster.touched.gangs == std::set{key});
  CHECK(cluster.dialect.Describe(key).problem == "");
  CHECK(cluster.dialect.Describe(key).priority == 5);
}

TEST_CASE("a job that was not made suspended is suspended until it is admitted") {
  Cluster cluster;
  Json job = RayJob("j");
  job["spec"]["suspend"] = false;
  cluster.Add("rayjobs", job);
  const model::GangKey key = cluster.KeyOf("j");
  CHECK(cluster.Settle(key) == Texts{"create Workload", "patch RayJob"});
  CHECK(cluster.At("RayJob", "j")["spec"]["suspend"] == true);
}

TEST_CASE("a job that cannot be held says so, and nothing is written") {
  Cluster cluster;
  Json job = RayJob("j");
  job["spec"]["shutdownAfterJobFinishes"] = false;
  cluster.Add("rayjobs", job);
  const model::GangKey key = cluster.KeyOf("j");
  CHECK(cluster.dialect.Describe(key).problem.find("a kueue managed job should delete the cluster after finishing") !=
        std::string::npos);
  CHECK(cluster.Settle(key).empty());
  job["spec"]["shutdownAfterJobFinishes"] = true;
  job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] =
      "much";
  cluster.Add("rayjobs", job);
  CHECK(cluster.dialect.Describe(key).problem.find("\"much\" is not a quantity") != std::string::npos);
}

TEST_CASE("the pods of a started job are members by their labels") {
  Cluster cluster;
  const auto member = cluster.dialect.MembershipOf(
      PodFrom(R"({"labels":{"kueue.x-k8s.io/podset":"head"},"annotations":{"kueue.x-k8s.io/workload":"w"}})"));
  REQUIRE(member);
  CHECK(member->gang == model::GangKey{"kueue", "ns", "w"});
  CHECK(member->role == "head");
  CHECK(member->head);
  CHECK_FALSE(cluster.dialect.MembershipOf(PodFrom(R"({"labels":{"kueue.x-k8s.io/podset":"head"}})")));
}

TEST_CASE("pods of a job without a Workload wait, also where the job was let go") {
  Cluster cluster;
  cluster.Add("rayjobs", RayJob("j"));
  const model::GangKey key = cluster.KeyOf("j");
  const model::Pod pod = PodFrom(fmt::format(
      R"({{"labels":{{"kueue.x-k8s.io/podset":"head"}},"annotations":{{"kueue.x-k8s.io/workload":"{}"}}}})", key.name));
  CHECK(cluster.dialect.MembershipOf(pod)->held);
  cluster.Create(key);
  CHECK_FALSE(cluster.dialect.MembershipOf(pod)->held);
  cluster.Remove("Workload", key.name, "kueue.x-k8s.io");
  CHECK(cluster.touched.members.contains(key));
  CHECK(cluster.dialect.MembershipOf(pod)->held);
}

TEST_CASE("beside Kueue nothing is written, and the gang says why") {
  Cluster cluster;
  cluster.Add("rayjobs", RayJob("j"));
  const model::GangKey key = cluster.KeyOf("j");
  const Touched touched =
      Put(cluster.dialect,
          ObjectFrom(
              "admissionregistration.k8s.io/v1", "mutatingwebhookconfigurations",
              R"({"kind":"MutatingWebhookConfiguration","metadata":{"name":"kueue-mutating-webhook-configuration"}})"));
  CHECK(touched.declarations);
  CHECK(touched.memberships);
  CHECK(cluster.dialect.Describe(key).problem.starts_with("Kueue runs in this cluster"));
  CHECK(cluster.Settle(key).empty());
  CHECK_FALSE(cluster.dialect.MembershipOf(
      PodFrom(R"({"labels":{"kueue.x-k8s.io/podset":"head"},"annotations":{"kueue.x-k8s.io/workload":"w"}})")));
}

TEST_CASE("a ClusterQueue's spec is read in either version") {
  Cluster cluster;
  Json spec = Json::parse(R"({"cohort":"all","queueingStrategy":"StrictFIFO","stopPolicy":"HoldAndDrain",
      "flavorFungibility":{"whenCanBorrow":"Borrow","whenCanPreempt":"Preempt"},"fairSharing":{"weight":"500m"},
      "preemption":{"withinClusterQueue":"LowerOrNewerEqualPriority","reclaimWithinCohort":"Any",
        "borrowWithinCohort":{"policy":"LowerPriority","maxPriorityThreshold":-5}},
      "resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"default-flavor","resources":[
        {"name":"cpu","nominalQuota":"1500m","borrowingLimit":1,"lendingLimit":0}]}]}]})");
  cluster.Add("clusterqueues", ClusterQueue("q", spec));
  CHECK(cluster.touched.leaves == std::set<std::string>{"q"});
  const auto leaf = cluster.dialect.DescribeLeaf("q");
  REQUIRE(leaf);
  CHECK(leaf->cohort == "all");
  CHECK(leaf->strategy == model::QueueingStrategy::kStrictFifo);
  CHECK(leaf->stop == model::StopPolicy::kHoldAndDrain);
  CHECK(leaf->fungibility == model::FlavorFungibility{true, true, model::FlavorPreference::kBorrowingOverPreemption});
  CHECK(leaf->weight == 0.5);
  CHECK(leaf->preemption.within_queue == model::PreemptionPolicy::kLowerOrNewerEqualPriority);
  CHECK(leaf->preemption.within_cohort == model::PreemptionPolicy::kAny);
  CHECK(leaf->preemption.while_borrowing);
  CHECK(leaf->preemption.highest_priority_while_borrowing == -5);
  CHECK(leaf->groups[0].flavors[0].resources[0].second == model::CellQuota{1500, 1000, 0});
  spec.erase("cohort");
  spec["cohortName"] = "other";
  spec["flavorFungibility"] = {{"whenCanBorrow", "TryNextFlavor"}, {"whenCanPreempt", "TryNextFlavor"}};
  cluster.Add("clusterqueues", ClusterQueue("q", spec));
  CHECK(cluster.dialect.DescribeLeaf("q")->cohort == "other");
  CHECK_FALSE(cluster.dialect.DescribeLeaf("q")->fungibility.stop_when_borrowing);
}

TEST_CASE("a queue takes the gangs of the namespaces that it selects; without a selector, none") {
  Cluster cluster;
  const auto admits = [&](const char* spec) {
    cluster.Add("clusterqueues", ClusterQueue("cluster-queue", Json::parse(spec)));
    return cluster.dialect.DescribeLocal("ns", "user-queue")->admits;
  };
  CHECK(admits("{}"));
  CHECK_FALSE(admits(R"({"namespaceSelector":null})"));
  CHECK_FALSE(admits(R"({"namespaceSelector":{"matchLabels":{"team":"a"}}})"));
  cluster.Add(
      "namespaces",
      {{"apiVersion", "/v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "ns"}, {"labels", {{"team", "a"}}}}}});
  CHECK(cluster.touched.locals == std::set<std::pair<std::string, std::string>>{{"ns", "user-queue"}});
  CHECK(cluster.dialect.DescribeLocal("ns", "user-queue")->admits);
}

TEST_CASE("queues say what they hold and whether they are active") {
  Cluster cluster;
  const auto status = [&](const std::string& ns, const std::string& name) {
    SharingReport report;
    report.ns = ns;
    report.name = name;
    report.pending = 2;
    report.reserving = report.admitted = 1;
    report.now_wall_ms = kNow;
    report.cells = {{"default-flavor", "cpu", 2000, 2000, 2000},
                    {"default-flavor", "memory", 8'000'000'000, 8'000'000'000, 8'000'000'000},
                    {"default-flavor", "nvidia.com/gpu", 1, 1, 1}};
    std::vector<cluster::DesiredObject> out;
    cluster.dialect.DesireOfSharing(report, cluster, &out);
    REQUIRE(out.size() == 1);
    return out[0].fields["status"];
  };
  const Json of_leaf = status("", "cluster-queue");
  CHECK(of_leaf["pendingWorkloads"] == 2);
  CHECK(of_leaf["admittedWorkloads"] == 1);
  CHECK(of_leaf["flavorsUsage"] == Json::parse(R"([{"name":"default-flavor","resources":[
      {"name":"cpu","total":"2","borrowed":"0"},{"name":"memory","total":"7812500Ki","borrowed":"0"},
      {"name":"nvidia.com/gpu","total":"1","borrowed":"0"}]}])"));
  CHECK(of_leaf["conditions"][0]["message"] == "Can admit new workloads");
  const Json of_local = status("ns", "user-queue");
  CHECK(of_local["flavorUsage"] == of_local["flavorsUsage"]);
  CHECK_FALSE(of_local["flavorsUsage"][0]["resources"][0].contains("borrowed"));
  CHECK(of_local["conditions"][0]["message"] == "Can submit new workloads to localQueue");

  Touched touched;
  cluster.dialect.Drop("resourceflavors.kueue.x-k8s.io", "", "default-flavor", &touched);
  CHECK(touched.flavors == std::set<std::string>{"default-flavor"});
  CHECK(touched.leaves == std::set<std::string>{"cluster-queue"});
  CHECK(status("", "cluster-queue")["conditions"][0]["message"] ==
        "Can't admit new workloads: references missing ResourceFlavor(s): default-flavor.");
  CHECK(status("", "cluster-queue")["conditions"][0]["reason"] == "FlavorNotFound");
  CHECK(status("ns", "user-queue")["conditions"][0]["reason"] == "ClusterQueueIsInactive");
  CHECK(cluster.dialect.DescribeLeaf("cluster-queue")->stop == model::StopPolicy::kHold);
}

TEST_CASE("queues and cohorts say their shares, where they share by that") {
  Cluster cluster;
  cluster.Add("cohorts", Named("Cohort", "all"));
  const auto shown = [&](bool is_cohort, std::optional<double> share) {
    SharingReport report;
    report.name = is_cohort ? "all" : "cluster-queue";
    report.is_cohort = is_cohort;
    report.share = share;
    std::vector<cluster::DesiredObject> out;
    cluster.dialect.DesireOfSharing(report, cluster, &out);
    REQUIRE(out.size() == 1);
    CHECK(out[0].ref.kind == (is_cohort ? "Cohort" : "ClusterQueue"));
    return out[0].fields["status"]["fairSharing"];
  };
  for (const bool is_cohort : {false, true}) {
    CHECK(shown(is_cohort, 166.6) == Json{{"weightedShare", 167}});
    CHECK(shown(is_cohort, std::numeric_limits<double>::infinity()) ==
          Json{{"weightedShare", std::numeric_limits<int64_t>::max()}});
    CHECK(shown(is_cohort, std::nullopt).is_null());
  }
}

TEST_CASE("amounts are printed as Kueue prints them") {
  CHECK(QuantityText("cpu", 1500) == "1500m");
  CHECK(QuantityText("cpu", 0) == "0");
  CHECK(QuantityText("cpu", 10'000'000) == "10k");
  CHECK(QuantityText("memory", 8'000'000'000) == "7812500Ki");
  CHECK(QuantityText("memory", int64_t{10} << 30) == "10Gi");
  CHECK(QuantityText("memory", 1000) == "1k");
  CHECK(QuantityText("nvidia.com/gpu", 10'000) == "10k");
}

}  // namespace tutti::dialects::kueue
