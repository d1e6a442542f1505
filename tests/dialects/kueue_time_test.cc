// SPDX-License-Identifier: Apache-2.0
// Jobs that have to leave because time is over, and pods of theirs that have ended.
#include "dialects/kueue/deadlines.h"
#include "dialects/kueue/kueue.h"
#include "tests/dialects/kueue_objects.h"

namespace tutti::dialects::kueue {

using Texts = std::vector<std::string>;

namespace {

// One whose RayJob is admitted and released.
void Admit(Cluster& cluster, const std::string& job, Json labels = Json::object()) {
  labels["kueue.x-k8s.io/queue-name"] = "user-queue";
  cluster.Add("rayjobs", RayJob(job, labels));
  const model::GangKey key = cluster.KeyOf(job);
  cluster.Create(key);
  cluster.report.quota = {};
  cluster.report.quota.has = HeldBy(key, "uid-" + job);
  cluster.report.state = GangState::kAdmitted;
  cluster.Settle(key);
}

base::Millis ChangesAt(Cluster& cluster, const model::GangKey& key) {
  const model::GangSpec spec = cluster.dialect.Describe(key);
  cluster.report.spec = &spec;
  cluster.report.now_wall_ms = cluster.now;
  std::vector<cluster::DesiredObject> desired;
  const base::Millis at = cluster.dialect.Desire(cluster.report, cluster, &desired);
  cluster.report.spec = nullptr;
  return at;
}

// It has to leave, leaves, and has given its quota back.
void Leave(Cluster& cluster, const model::GangKey& key, const std::string& job) {
  cluster.report.quota.has->evicted = true;
  cluster.report.quota.evicted_reason = cluster.dialect.Describe(key).quota->barred;
  ++cluster.report.quota.evictions;
  cluster.Settle(key);
  cluster.Edit("RayJob", job, {{"status", {{"jobDeploymentStatus", "Suspended"}}}});
  cluster.report.quota.has.reset();
  cluster.report.state = GangState::kWaitingForQueue;
  cluster.Settle(key);
}

}  // namespace

TEST_CASE("a gang ends at the latest when its Workload has run for as long as it may, or its job") {
  Cluster cluster;
  Admit(cluster, "j", {{"kueue.x-k8s.io/max-exec-time-seconds", "60"}});
  const model::GangKey key = cluster.KeyOf("j");
  CHECK(cluster.dialect.Describe(key).ends_ms == kNow + 60'000);
  CHECK(cluster.dialect.Describe(key).run_limit_ms == 0);
  cluster.Edit("RayJob", "j", {{"spec", {{"activeDeadlineSeconds", 30}}}});
  CHECK(cluster.dialect.Describe(key).ends_ms == kNow + 60'000);
  CHECK(cluster.dialect.Describe(key).run_limit_ms == 30'000);
  cluster.Edit("RayJob", "j", {{"status", {{"startTime", base::FormatTime(kNow + 5'000)}}}});
  CHECK(cluster.dialect.Describe(key).ends_ms == kNow + 35'000);
  for (const Json& nonsense : {Json(-1), Json(0), Json("x"), Json(1e300), Json(nullptr)}) {
    cluster.Edit("RayJob", "j", {{"spec", {{"activeDeadlineSeconds", nonsense}}}});
    CHECK(cluster.dialect.Describe(key).ends_ms == kNow + 60'000);
  }
}

TEST_CASE("a job that has run for as long as it may is deactivated, in Kueue's words") {
  Cluster cluster;
  Admit(cluster, "j", {{"kueue.x-k8s.io/max-exec-time-seconds", "60"}});
  const model::GangKey key = cluster.KeyOf("j");
  CHECK(cluster.At("Workload", key.name)["spec"]["maximumExecutionTimeSeconds"] == 60);
  CHECK(ChangesAt(cluster, key) == kNow + 60'000);
  cluster.Announce(key);
  cluster.now += 60'000;
  CHECK(cluster.Settle(key) == Texts{"status of Workload", "patch Workload"});
  CHECK(cluster.Condition(key.name, "DeactivationTarget") ==
        "True MaximumExecutionTimeExceeded: exceeding the maximum execution time");
  CHECK(cluster.At("Workload", key.name)["spec"]["active"] == false);
  CHECK(cluster.dialect.Describe(key).quota->barred == "DeactivatedDueToMaximumExecutionTimeExceeded");
  CHECK(ChangesAt(cluster, key) == 0);
  cluster.report.quota.has->evicted = true;
  cluster.report.quota.evicted_reason = cluster.dialect.Describe(key).quota->barred;
  cluster.report.quota.evictions = 1;
  const std::string why = "The workload is deactivated due to exceeding the maximum execution time";
  CHECK(
      cluster.Announce(key) ==
      Texts{"Workload kueue-admission Warning MaximumExecutionTimeExceeded: The maximum execution time (60s) exceeded",
            "Workload kueue-admission Normal EvictedDueToDeactivatedDueToMaximumExecutionTimeExceeded: " + why,
            "RayJob ray.io/rayjob-kueue-controller Normal Stopped: " + why});
  Leave(cluster, key, "j");
  CHECK(cluster.Condition(key.name, "Evicted") == "True DeactivatedDueToMaximumExecutionTimeExceeded: " + why);
  CHECK(cluster.Condition(key.name, "DeactivationTarget") == "");
  CHECK(cluster.At("RayJob", "j")["spec"]["suspend"] == true);
  const Json& evictions = cluster.At("Workload", key.name)["status"]["schedulingStats"]["evictions"];
  CHECK(evictions ==
        Json::parse(R"([{"reason":"Deactivated","underlyingCause":"MaximumExecutionTimeExceeded","count":1}])"));
  CHECK(cluster.dialect.Describe(key).quota->barred == "Deactivated");
}

TEST_CASE("a job whose pods are not ready in time comes back after a pause, so often as it may") {
  DialectSettings settings;
  settings.pods_ready.enabled = true;
  settings.pods_ready.timeout_ms = 30'000;
  settings.pods_ready.requeue_limit = 1;
  settings.pods_ready.first_pause_ms = 10'000;
  Cluster cluster(settings);
  Admit(cluster, "j");
  const model::GangKey key = cluster.KeyOf("j");
  CHECK(cluster.Condition(key.name, "PodsReady") == "False WaitForStart: Not all pods are ready or succeeded");
  CHECK(ChangesAt(cluster, key) == kNow + 30'000);
  cluster.now += 30'000;
  CHECK(cluster.Settle(key) == Texts{"status of Workload"});
  const std::string why = "Exceeded the PodsReady timeout ns/" + key.name;
  CHECK(cluster.Condition(key.name, "Evicted") == "True PodsReadyTimeout: " + why);
  CHECK(cluster.At("Workload", key.name)["status"]["requeueState"]["count"] == 1);
  CHECK(cluster.dialect.Describe(key).quota->barred == "PodsReadyTimeout");
  Leave(cluster, key, "j");
  CHECK(cluster.Condition(key.name, "QuotaReserved") == "False Pending: " + why);
  const auto terms = cluster.dialect.Describe(key).quota;
  CHECK(terms->barred == "");
  CHECK(terms->not_before_ms == cluster.now + 10'000);
  CHECK(terms->ask.queued_ms == cluster.now);

  cluster.report.quota = {};
  cluster.report.quota.has = HeldBy(key, "uid-j");
  cluster.report.state = GangState::kAdmitted;
  cluster.now += 10'000;
  cluster.Settle(key);
  CHECK(cluster.Condition(key.name, "Evicted") == "False QuotaReserved: Previously: " + why);
  cluster.now += 30'000;
  cluster.Settle(key);
  CHECK(cluster.Condition(key.name, "DeactivationTarget") ==
        "True RequeuingLimitExceeded: exceeding the maximum number of re-queuing retries");
  CHECK(cluster.At("Workload", key.name)["spec"]["active"] == false);
}

TEST_CASE("pods that were ready have a time of their own to recover") {
  DialectSettings settings;
  settings.pods_ready.enabled = true;
  settings.pods_ready.timeout_ms = 30'000;
  settings.pods_ready.recovery_timeout_ms = 20'000;
  Cluster cluster(settings);
  Admit(cluster, "j");
  const model::GangKey key = cluster.KeyOf("j");
  const auto shows = [&](const char* state) {
    cluster.Edit("RayJob", "j",
                 {{"status", {{"jobDeploymentStatus", "Running"}, {"rayClusterStatus", {{"state", state}}}}}});
    cluster.Settle(key);
    return cluster.Condition(key.name, "PodsReady");
  };
  CHECK(shows("ready") == "True Started: All pods reached readiness and the workload is running");
  CHECK(ChangesAt(cluster, key) == 0);
  cluster.now += 3'600'000;
  CHECK(shows("") == "False WaitForRecovery: At least one pod has failed, waiting for recovery");
  CHECK(ChangesAt(cluster, key) == cluster.now + 20'000);
  CHECK(shows("ready") == "True Recovered: All pods reached readiness and the workload is running");
}

TEST_CASE("pauses double up to the longest") {
  PodsReadyRule rule;
  rule.first_pause_ms = 10;
  rule.longest_pause_ms = 50;
  CHECK(PauseOf(rule, 1) == 10);
  CHECK(PauseOf(rule, 3) == 40);
  CHECK(PauseOf(rule, 1'000'000'000) == 50);
  rule.first_pause_ms = 0;
  CHECK(PauseOf(rule, 1'000'000'000) == 0);
}

TEST_CASE("pods of a Job that have ended, and are not followed by others, are said to be reclaimable") {
  Cluster cluster;
  cluster.Add("jobs", QueuedJob({{"parallelism", 3}, {"completions", 4}}));
  const model::GangKey key{"kueue", "ns", WorkloadName("Job", "batch", "j", "u")};
  cluster.Create(key);
  Admit(cluster, key, "main", 3);
  cluster.Settle(key);
  cluster.Edit("Job", "j", {{"status", {{"active", 3}, {"succeeded", 1}}}});
  cluster.Settle(key);
  CHECK_FALSE(cluster.At("Workload", key.name)["status"].contains("reclaimablePods"));
  cluster.Edit("Job", "j", {{"status", {{"active", 1}, {"succeeded", 3}}}});
  cluster.Settle(key);
  CHECK(cluster.At("Workload", key.name)["status"]["reclaimablePods"] == Json::parse(R"([{"name":"main","count":2}])"));
  const auto terms = cluster.dialect.Describe(key).quota;
  CHECK(terms->done == std::map<std::string, int64_t>{{"main", 2}});
  CHECK(terms->ask.roles[0].count == 1);
}

TEST_CASE("a Workload names the queue whose quota its job has, also where that moved at the last moment") {
  Cluster cluster;
  cluster.Add("jobs", QueuedJob());
  const model::GangKey key{"kueue", "ns", WorkloadName("Job", "batch", "j", "u")};
  cluster.Create(key);
  cluster.Edit("Job", "j", {{"metadata", {{"labels", {{"kueue.x-k8s.io/queue-name", "other"}}}}}});
  Admit(cluster, key, "main", 1);
  cluster.report.quota.has->local_queue = "other";
  cluster.Settle(key);
  CHECK(cluster.At("Workload", key.name)["spec"]["queueName"] == "other");
  CHECK(cluster.At("Workload", key.name)["status"].contains("admission"));
}

TEST_CASE("pods of a JobSet that starts again are reclaimable no more") {
  Cluster cluster;
  cluster.Add("jobsets", Json::parse(R"({"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{
      "namespace":"ns","name":"j","uid":"u","labels":{"kueue.x-k8s.io/queue-name":"user-queue"}},
      "spec":{"suspend":true,"replicatedJobs":[{"name":"first","template":{"spec":{"parallelism":2,
        "template":{"spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}]}}}}}]}})"));
  const model::GangKey key{"kueue", "ns", WorkloadName("JobSet", "jobset.x-k8s.io", "j", "u")};
  cluster.Create(key);
  Admit(cluster, key, "first", 2);
  cluster.Settle(key);
  const auto succeed = [&](int jobs) {
    cluster.Edit("JobSet", "j",
                 {{"status", {{"replicatedJobsStatus", Json::array({{{"name", "first"}, {"succeeded", jobs}}})}}}});
    cluster.Settle(key);
    return cluster.dialect.Describe(key).quota->done;
  };
  CHECK(succeed(1) == std::map<std::string, int64_t>{{"first", 2}});
  CHECK(succeed(0).empty());
}

TEST_CASE("a job's pods get the schedulerName that is served") {
  DialectSettings settings;
  settings.scheduler_names = {"mine", "yours"};
  Cluster cluster(settings);
  Admit(cluster, "j");
  const Json& spec = cluster.At("RayJob", "j")["spec"];
  CHECK(spec["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["schedulerName"] == "mine");
  const model::GangSpec gang = cluster.dialect.Describe(cluster.KeyOf("j"));
  CHECK(cluster.dialect.SchedulerName(gang.key) == "mine");
  for (const model::PromisedMembers& promised : gang.promised) CHECK(promised.pod->spec->scheduler_name == "mine");

  Json other = RayJob("other");
  other["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["schedulerName"] = "else";
  cluster.Add("rayjobs", other);
  CHECK_THAT(cluster.dialect.Describe(cluster.KeyOf("other")).problem,
             Catch::Contains("schedulerName else is not served; write mine, or leave it out"));
}

TEST_CASE("numbers in a status of any size are read as far as they count") {
  Cluster cluster;
  Admit(cluster, "j", {{"kueue.x-k8s.io/max-exec-time-seconds", "60"}});
  const model::GangKey key = cluster.KeyOf("j");
  cluster.Edit("Workload", key.name,
               {{"status",
                 {{"accumulatedPastExecutionTimeSeconds", std::numeric_limits<int64_t>::max()},
                  {"requeueState", {{"count", std::numeric_limits<int64_t>::max()}}},
                  {"reclaimablePods", Json::array({{{"name", "head"}, {"count", -1}}})}}}});
  CHECK(ChangesAt(cluster, key) == 0);  // its time is over already
  CHECK(cluster.dialect.Describe(key).quota->done.empty());
}

TEST_CASE("an edit of a flavor or of quota concerns no gang, and one of checks those of the queue") {
  Cluster cluster;
  cluster.Add("rayjobs", RayJob("j"));
  cluster.Create(cluster.KeyOf("j"));
  cluster.Add("resourceflavors", Named("ResourceFlavor", "default-flavor", {{"nodeLabels", {{"a", "b"}}}}));
  CHECK(cluster.touched.flavors.size() == 1);
  CHECK((cluster.touched.gangs.empty() && cluster.touched.desires.empty()));
  Json spec = {{"resourceGroups", Json::array({Quota("default-flavor", {{"cpu", 3}})})}};
  cluster.Add("clusterqueues", ClusterQueue("cluster-queue", spec));
  CHECK(cluster.touched.leaves.size() == 1);
  CHECK((cluster.touched.gangs.empty() && cluster.touched.desires.empty()));
  spec["admissionChecks"] = {"c"};
  cluster.Add("clusterqueues", ClusterQueue("cluster-queue", spec));
  CHECK(cluster.touched.gangs.size() == 1);
}

}  // namespace tutti::dialects::kueue
