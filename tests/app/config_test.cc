// SPDX-License-Identifier: Apache-2.0
#include "app/config.h"

#include "base/json.h"
#include "tests/support/catch.h"

namespace tutti::app {
namespace {

Config Read(const std::string& text) {
  Config config;
  const base::Status read = ReadConfig(text, "config.yaml", &config);
  INFO((read ? "" : read.error().message));
  REQUIRE(read);
  return config;
}

std::string ConfigRefusal(const std::string& text) {
  Config config;
  const base::Status read = ReadConfig(text, "config.yaml", &config);
  REQUIRE_FALSE(read);
  return read.error().message;
}

const char* const kHead = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

TEST_CASE("no file gives kube-scheduler's defaults under our own name") {
  const auto config = LoadConfig({});
  REQUIRE(config);
  CHECK(config->leader_election.leader_elect);
  CHECK(config->leader_election.lease_duration_ms == 15'000);
  CHECK(config->leader_election.renew_deadline_ms == 10'000);
  CHECK(config->leader_election.retry_period_ms == 2'000);
  CHECK(config->leader_election.resource_name == "tutti");
  CHECK(config->profiles.empty());
  CHECK(config->policy == "repair");
}

TEST_CASE("a KubeSchedulerConfiguration is read as it stands") {
  const Config config = Read(R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
parallelism: 16
percentageOfNodesToScore: 50
podInitialBackoffSeconds: 2
podMaxBackoffSeconds: 20
enableProfiling: true
clientConnection:
  kubeconfig: /etc/kubernetes/scheduler.conf
  contentType: application/vnd.kubernetes.protobuf
  qps: 50.5
  burst: 100
leaderElection:
  leaderElect: true
  leaseDuration: 30s
  renewDeadline: 20s
  retryPeriod: 500ms
  resourceName: my-scheduler
  resourceNamespace: kube-system
profiles:
- schedulerName: default-scheduler
- schedulerName: bin-packing
  plugins:
    multiPoint:
      enabled:
      - name: NodeResourcesFit
        weight: 5
      disabled:
      - name: "*"
    score:
      disabled:
      - name: ImageLocality
  pluginConfig:
  - name: NodeResourcesFit
    args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: NodeResourcesFitArgs
      scoringStrategy:
        type: MostAllocated
        resources:
        - name: nvidia.com/gpu
          weight: 3
)");
  CHECK(config.client_connection.kubeconfig == "/etc/kubernetes/scheduler.conf");
  CHECK(config.leader_election.lease_duration_ms == 30'000);
  CHECK(config.leader_election.retry_period_ms == 500);
  CHECK(config.leader_election.resource_namespace == "kube-system");
  CHECK(config.pod_max_backoff_s == 20);
  REQUIRE(config.profiles.size() == 2);
  const plugins::ProfileConfig& packing = config.profiles[1].config;
  CHECK(config.profiles[1].where == "config.yaml:23: profiles[1]");
  CHECK(packing.scheduler_name == "bin-packing");
  CHECK(packing.plugins.at("multiPoint").enabled.at(0).weight == 5);
  CHECK(packing.plugins.at("multiPoint").disabled == std::vector<std::string>{"*"});
  CHECK(packing.plugins.at("score").disabled == std::vector<std::string>{"ImageLocality"});
  REQUIRE(packing.plugin_config.size() == 1);
  CHECK(packing.plugin_config[0].first == "NodeResourcesFit");
  CHECK((*packing.plugin_config[0].second)["scoringStrategy"]["resources"][0]["weight"] == 3);
  CHECK(config.notes.size() == 4);
}

TEST_CASE("an extender is read as kube-scheduler reads it") {
  const Config config =
      Read(std::string(kHead) +
           "extenders:\n- urlPrefix: http://127.0.0.1:80/base/\n  filterVerb: filter\n"
           "  prioritizeVerb: rank\n  weight: 3\n  bindVerb: bind\n  preemptVerb: preempt\n"
           "  managedResources: [{name: example.com/gpu, ignoredByScheduler: true}, {name: a.b/c}]\n");
  REQUIRE(config.extenders.size() == 1);
  const kube::ExtenderSpec& extender = config.extenders[0];
  CHECK(extender.url_prefix == "http://127.0.0.1:80/base");
  CHECK(extender.filter_verb == "filter");
  CHECK(extender.weight == 3);
  CHECK(extender.http_timeout_ms == 5'000);
  CHECK(extender.managed_resources == std::vector<std::string>{"example.com/gpu", "a.b/c"});
  CHECK(config.ignored_resources == std::vector<std::string>{"example.com/gpu"});
  CHECK(extender.preempt_verb == "preempt");
  CHECK(extender.ForCore().preempts);
  CHECK(config.notes.empty());
}

TEST_CASE("an extender that cannot work is refused, with the line") {
  for (const char* extender :
       {"urlPrefix: ftp://e/", "urlPrefix: ''", "urlPrefix: 'http://e/', managedResources: [{name: cpu}]",
        "urlPrefix: 'http://e/', managedResources: [{name: a.b/c}, {name: a.b/c}]",
        "urlPrefix: 'https://e/', tlsConfig: {caData: '!'}", "urlPrefix: 'https://e/', tlsConfig: {caData: aGk=}",
        "urlPrefix: 'https://e/', tlsConfig: {caFile: /nowhere/ca.pem}",
        "urlPrefix: 'https://e/', tlsConfig: {certData: aGk=}"}) {
    INFO(extender);
    CHECK_THAT(ConfigRefusal(std::string(kHead) + "extenders: [{" + extender + "}]\n"),
               Catch::StartsWith("config.yaml:3: extenders[0]"));
  }
  CHECK_THAT(ConfigRefusal(std::string(kHead) + "extenders: [{urlPrefix: 'http://a/', bindVerb: b}, {urlPrefix: "
                                                "'http://b/', bindVerb: b}]\n"),
             Catch::Contains("only one of them may have a bindVerb"));
}

TEST_CASE("a setting that would change something elsewhere, and does not here, is told of") {
  const auto notes = [](const char* text) { return Read(std::string(kHead) + text + "\n").notes; };
  for (const auto& [field, text] :
       {std::pair("percentageOfNodesToScore ", "percentageOfNodesToScore: 5"),
        {"profiles[0].percentageOfNodesToScore ", "profiles: [{percentageOfNodesToScore: 5}]"},
        {"delayCacheUntilActive ", "delayCacheUntilActive: true"},
        {"enableProfiling ", "enableProfiling: true"},
        {"enableContentionProfiling ", "enableContentionProfiling: true"},
        {"clientConnection.contentType ", "clientConnection: {contentType: application/json}"},
        {"clientConnection.acceptContentTypes ", "clientConnection: {acceptContentTypes: application/json}"}}) {
    INFO(text);
    REQUIRE(notes(text).size() == 1);
    CHECK_THAT(notes(text)[0], Catch::StartsWith(field) && Catch::Contains("has no effect"));
  }
  for (const char* text :
       {"percentageOfNodesToScore: 100", "profiles: [{percentageOfNodesToScore: 0}]", "delayCacheUntilActive: false",
        "enableProfiling: false", "clientConnection: {contentType: application/vnd.kubernetes.protobuf}",
        "clientConnection: {acceptContentTypes: ''}"}) {
    INFO(text);
    CHECK(notes(text).empty());
  }
}

TEST_CASE("both kinds may stand in one file") {
  const Config config = Read(std::string(kHead) + R"(
---
apiVersion: tutti.dev/v1alpha1
kind: TuttiConfiguration
policy: keep
repairTimeoutSeconds: 5
quotaReason: QuotaExceeded
gangPreemption: Never
keepNodesWhole: false
maxInFlight: 32
rankingMemoryMiB: 64
)");
  CHECK(config.policy == "keep");
  CHECK(config.repair_timeout_s == 5);
  CHECK(config.quota_reason == "QuotaExceeded");
  CHECK(config.gang_preemption == "Never");
  CHECK(config.max_in_flight == 32);
  CHECK(!config.keep_nodes_whole);
  CHECK(config.ranking_memory_mib == 64);
}

TEST_CASE("labels by which an autoscaler is seen are a list of names, which may be empty") {
  const std::string ours = "apiVersion: tutti.dev/v1alpha1\nkind: TuttiConfiguration\nautoscaledLabels: ";
  CHECK(Read(ours + "null\n").autoscaled_labels ==
        std::vector<std::string>{"karpenter.sh/nodepool", "tutti.dev/autoscaled"});
  CHECK(Read(ours + "[a.b/c, d]\n").autoscaled_labels == std::vector<std::string>{"a.b/c", "d"});
  CHECK(Read(ours + "[]\n").autoscaled_labels.empty());
  for (const char* wrong : {"a\n", "[1]\n", "['']\n", "{a: b}\n"})
    CHECK_THAT(ConfigRefusal(ours + wrong), Catch::Contains("autoscaledLabels: is no list of names of labels"));
}

TEST_CASE("fair sharing among Kueue's queues is written as in Kueue's own configuration") {
  const std::string ours = "apiVersion: tutti.dev/v1alpha1\nkind: TuttiConfiguration\n";
  CHECK_FALSE(Read(ours).quota_rule.fair_sharing);
  const std::string head = ours + "kueue:\n  fairSharing:\n    enable: true\n    preemptionStrategies: ";
  const core::QuotaRule rule = Read(head + "[LessThanInitialShare]\n").quota_rule;
  CHECK(rule.fair_sharing);
  CHECK(rule.strategies == std::vector{queue::FairStrategy::kLessThanInitialShare});
  CHECK(Read(head + "[LessThanOrEqualToFinalShare, LessThanInitialShare]\n").quota_rule.strategies.size() == 2);
  for (const char* wrong : {"[Most]", "[LessThanInitialShare, LessThanOrEqualToFinalShare]", "LessThanInitialShare"}) {
    INFO(wrong);
    CHECK_THAT(ConfigRefusal(head + wrong + "\n"),
               Catch::StartsWith("config.yaml:6: kueue.fairSharing.preemptionStrategies: is not known; write one of "));
  }
}

TEST_CASE("Kueue's own Configuration is read as it stands, and what has no effect is noted") {
  const std::string beta1 = "apiVersion: config.kueue.x-k8s.io/v1beta1\nkind: Configuration\n";
  const Config config = Read(beta1 + R"(
health: {healthProbeBindAddress: ":8081"}
webhook: {port: 9443}
manageJobsWithoutQueueName: false
integrations: {frameworks: [batch/job]}
resources: {excludeResourcePrefixes: [example.com]}
waitForPodsReady:
  enable: true
  timeout: 3m
  recoveryTimeout: 90s
  blockAdmission: true
  requeuingStrategy: {timestamp: Creation, backoffLimitCount: 5, backoffBaseSeconds: 10, backoffMaxSeconds: 600}
)");
  const dialects::PodsReadyRule rule{true, 180'000, 90'000, 5, 10'000, 600'000, true};
  CHECK(config.dialects.pods_ready == rule);
  REQUIRE(config.notes.size() == 2);
  CHECK_THAT(config.notes[0], Catch::StartsWith("waitForPodsReady.blockAdmission has no effect"));
  CHECK_THAT(config.notes[1], Catch::StartsWith("resources of Kueue's Configuration has no effect"));
  CHECK_FALSE(Read(beta1 + "waitForPodsReady: {timeout: 3m}\n").dialects.pods_ready.enabled);
  const std::string beta2 = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n";
  CHECK(Read(beta2 + "waitForPodsReady: {timeout: 3m}\n").dialects.pods_ready.enabled);
  CHECK(Read(beta2 + "fairSharing: {}\n").quota_rule.fair_sharing);
  CHECK_FALSE(Read(beta2).dialects.pods_ready.enabled);
  const std::string ours = "apiVersion: tutti.dev/v1alpha1\nkind: TuttiConfiguration\n";
  CHECK(Read(ours + "kueue: {waitForPodsReady: {enable: true, timeout: 3m}}\n").dialects.pods_ready.timeout_ms ==
        180'000);
  CHECK_THAT(ConfigRefusal(ours + "kueue:\n  waitForPodsReady:\n    timeout: 0s\n"),
             Catch::Contains("kueue.waitForPodsReady.timeout: must be longer than 0"));
  CHECK_THAT(ConfigRefusal(beta1 + "waitForPodReady: {}\n"), Catch::Contains("did you mean waitForPodsReady?"));
}

TEST_CASE("a misspelt field is refused with its line and the field that was meant") {
  const std::string refusal =
      ConfigRefusal(std::string(kHead) + "profiles:\n- schedulerName: a\n  plugins:\n    multipoint: {}\n");
  CHECK(refusal == "config.yaml:6: profiles[0].plugins.multipoint: unknown field; did you mean multiPoint?");
}

TEST_CASE("a plugin's name and its args are refused with their own line, and the plugin that was meant") {
  const std::string head = std::string(kHead) + "profiles:\n- schedulerName: a\n";
  CHECK(ConfigRefusal(head + "  plugins:\n    score:\n      disabled:\n      - {name: ImageLocalit}\n") ==
        "config.yaml:8: profiles[0].plugins.score.disabled[0].name: there is no plugin \"ImageLocalit\"; did you mean "
        "ImageLocality?");
  CHECK(ConfigRefusal(head + "  pluginConfig:\n  - name: NodeResourceFit\n    args: {}\n") ==
        "config.yaml:6: profiles[0].pluginConfig[0].name: there is no plugin \"NodeResourceFit\"; did you mean "
        "NodeResourcesFit?");
  CHECK(ConfigRefusal(head + "  pluginConfig:\n  - name: NodeResourcesFit\n    args:\n      ignoredResources: [a]\n"
                             "      ignoredResources: [b]\n") ==
        "config.yaml:8: profiles[0].pluginConfig[0].args: has the key \"ignoredResources\" twice; remove one");
}

TEST_CASE("what others have for a configuration or a plugin is named as what it is") {
  const std::string plugins = std::string(kHead) + "profiles:\n- schedulerName: a\n  plugins:\n    multiPoint:\n";
  for (const char* name : {"Coscheduling", "CapacityScheduling", "NodeResourcesAllocatable"}) {
    CHECK_THAT(
        ConfigRefusal(plugins + "      enabled: [{name: " + name + "}]\n"),
        Catch::StartsWith("config.yaml:7: profiles[0].plugins.multiPoint.enabled[0].name: " + std::string(name)) &&
            Catch::Contains("take the entry out"));
  }
  CHECK_THAT(ConfigRefusal("apiVersion: v1\nkind: ConfigMap\ndata: {config.yaml: \"\"}\n"),
             Catch::StartsWith("config.yaml:1: this is a ConfigMap"));
}

TEST_CASE("by which rule queues share is said by a volcano-scheduler.conf as it stands, or by ours") {
  using Kind = core::QueueRule::Kind;
  const std::string ours = "apiVersion: tutti.dev/v1alpha1\nkind: TuttiConfiguration\n";
  const auto rule = [](const std::string& text) {
    Config config;
    const base::Status read = ReadConfig(text, "config.yaml", &config);
    if (!read) FAIL(read.error().message);
    return config;
  };
  CHECK(rule(ours).queue_rule.kind == Kind::kCapability);
  CHECK(rule(ours + "queues: {rule: proportion}\n").queue_rule.kind == Kind::kProportion);
  CHECK(rule(ours + "queues: {rule: capacity, ancestorReclaimLevel: 2}\n").queue_rule.ancestor_levels == 2);
  CHECK(rule(ours + "queues: {rule: capacity, ancestorReclaimLevel: 2}\n").notes ==
        std::vector<std::string>{"queues.ancestorReclaimLevel has no effect without queues.reclaim"});
  CHECK(rule(ours + "queues: {rule: capacity, ancestorReclaimLevel: 0}\n").notes.empty());
  CHECK(rule(ours + "queues: {rule: capacity, ancestorReclaimLevel: 2, reclaim: true}\n").notes.empty());
  CHECK(rule(ours + "queues: null\n").queue_rule.kind == Kind::kCapability);

  const std::string volcano = "actions: \"enqueue, allocate\"\ntiers:\n- plugins:\n  - name: ";
  const Config config = rule(volcano + "proportion\n  - name: drf\n");
  CHECK(config.queue_rule.kind == Kind::kProportion);
  CHECK(config.notes == std::vector<std::string>{"config.yaml:5: tiers[0].plugins[1].name: drf has no effect"});
  CHECK(rule(volcano + "capacity\n").queue_rule.kind == Kind::kCapacity);
  CHECK(rule(volcano + "gang\n").queue_rule.kind == Kind::kCapability);

  const std::string actions = "actions: \"allocate, preempt, reclaim\"\ntiers: [{plugins: [{name: proportion}]}]\n";
  CHECK_FALSE(rule(volcano + "gang\n").queue_rule.reclaim);
  CHECK(rule(ours + "queues: {reclaim: true}\n").queue_rule.reclaim);
  CHECK(rule(actions).queue_rule.reclaim);
  CHECK(rule(ours).gang_preemption == "LowerPriority");
  CHECK(rule(actions).gang_preemption == "WithinQueue");
  CHECK(rule(volcano + "gang\n").gang_preemption == "Never");
  CHECK(rule(ours + "minRuntimeSeconds: 60\n---\n" + actions).queue_rule.min_runtime_ms == 60'000);
  CHECK(rule(actions + "---\n" + ours + "minRuntimeSeconds: 60\n").queue_rule.reclaim);
  for (const std::string& text :
       {ours + "gangPreemption: Never\n---\n" + actions, actions + "---\n" + ours + "gangPreemption: Never\n"})
    CHECK(rule(text).gang_preemption == "Never");

  CHECK_THAT(ConfigRefusal("actions: \"enqueue, alocate\"\ntiers:\n- plugins: [{name: gang}]\n"),
             Catch::StartsWith("config.yaml:1: actions: \"alocate\" is no action; did you mean allocate?"));
  CHECK_THAT(ConfigRefusal(volcano + "proportion\n---\n" + ours + "queues: {rule: capacity}\n"),
             Catch::StartsWith("config.yaml:8: queues: by which rule queues share is said at config.yaml:1"));
  CHECK_THAT(ConfigRefusal(ours + "queues: {rule: fair}\n"), Catch::StartsWith("config.yaml:3: queues.rule: "));
  CHECK_THAT(ConfigRefusal(ours + "queues: {ancestorReclaimLevel: 1}\n"),
             Catch::StartsWith("config.yaml:3: queues.ancestorReclaimLevel: is of rule capacity"));
}

TEST_CASE("a complaint is one line, whatever stands in the value") {
  const std::string head = std::string(kHead) + "profiles:\n- schedulerName: a\n";
  CHECK(ConfigRefusal(head + "  pluginConfig:\n  - name: \"Image\\nLocalit\"\n").find('\n') == std::string::npos);
}

TEST_CASE("all complaints of a file come at once") {
  const std::string refusal = ConfigRefusal(std::string(kHead) +
                                            "podMaxBackoffSeconds: soon\n"
                                            "leaderElection:\n  leaseDuration: 15\n  leaderElect: maybe\n"
                                            "zzzzzz: 1\n");
  CHECK(refusal.find("config.yaml:3: podMaxBackoffSeconds: \"soon\": write a whole number") != std::string::npos);
  CHECK(refusal.find("config.yaml:5: leaderElection.leaseDuration: \"15\" is no duration") != std::string::npos);
  CHECK(refusal.find("config.yaml:6: leaderElection.leaderElect: \"maybe\": write true or false") != std::string::npos);
  CHECK(refusal.find("config.yaml:7: zzzzzz: unknown field; known here: ") != std::string::npos);
}

TEST_CASE("the fields that are known are all named once, whether the file has them or not") {
  const std::string ours = "apiVersion: tutti.dev/v1alpha1\nkind: TuttiConfiguration\nzzzzzz: 1\n";
  for (const char* queues : {"", "queues: null\n", "queues: {rule: capacity}\n"}) {
    INFO(queues);
    CHECK(ConfigRefusal(ours + queues) ==
          "config.yaml:3: zzzzzz: unknown field; known here: apiVersion, kind, policy, repairTimeoutSeconds, "
          "bindTimeoutSeconds, quotaReason, gangPreemption, fit, autoscaledLabels, minRuntimeSeconds, queues, kueue, "
          "maxInFlight, rankingMemoryMiB, keepNodesWhole");
  }
  const std::string extender = std::string(kHead) + "extenders:\n- urlPrefix: http://e\n  zzzzzz: 1\n";
  for (const char* tls : {"", "  tlsConfig: null\n", "  tlsConfig: {insecure: true}\n"}) {
    INFO(tls);
    CHECK_THAT(ConfigRefusal(extender + tls), Catch::StartsWith("config.yaml:5: extenders[0].zzzzzz: ") &&
                                                  Catch::Contains(", httpTimeout, tlsConfig, managedResources"));
  }
}

TEST_CASE("values out of range, of the wrong shape or twice are refused") {
  CHECK(ConfigRefusal(std::string(kHead) + "profiles: {}\n").find("a sequence (- ...) is expected") !=
        std::string::npos);
  CHECK(ConfigRefusal(std::string(kHead) + "leaderElection: []\n").find("a mapping is expected") != std::string::npos);
  CHECK(
      ConfigRefusal(std::string(kHead) + "podMaxBackoffSeconds: 5\npodMaxBackoffSeconds: 6\n").find("is there twice") !=
      std::string::npos);
  CHECK(
      ConfigRefusal(std::string(kHead) + "profiles: [{schedulerName: a}, {schedulerName: a}]\n").find("two profiles") !=
      std::string::npos);
  CHECK(ConfigRefusal("apiVersion: tutti.dev/v1alpha1\nkind: TuttiConfiguration\npolicy: undo\n") ==
        "config.yaml:3: policy: \"undo\" is not known; write one of: repair, keep");
}

TEST_CASE("text that cannot begin a document is refused, and reading it comes to an end") {
  CHECK(ConfigRefusal(",") == "config.yaml:1: not YAML: a document cannot begin like this");
  CHECK_THAT(ConfigRefusal(std::string(kHead) + "---\n,\n"), Catch::Contains("not YAML"));
  CHECK_THAT(ConfigRefusal("]"), Catch::Contains("not YAML"));
}

TEST_CASE("another kind or version is refused with the right one") {
  CHECK(ConfigRefusal("apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n")
            .find("config.yaml:1: apiVersion: \"kubescheduler.config.k8s.io/v1beta3\"") == 0);
  CHECK(ConfigRefusal("apiVersion: v1\nkind: Secret\n").find("config.yaml:2: kind: kind \"Secret\" is not known") == 0);
  CHECK(ConfigRefusal("just words\n").find("a mapping is expected") != std::string::npos);
  CHECK(ConfigRefusal("a: [\n").find("not YAML") != std::string::npos);
  CHECK_THAT(ConfigRefusal("actions: allocate\ntiers: [1, 2"), Catch::StartsWith("config.yaml:2: not YAML: "));
}

TEST_CASE("a file that is not there is named") {
  const auto config = LoadConfig({"/nowhere/config.yaml"});
  REQUIRE_FALSE(config);
  CHECK(config.error().message.find("/nowhere/config.yaml") == 0);
}

TEST_CASE("a folder and a file without a configuration are none") {
  const auto folder = LoadConfig({"/"});
  REQUIRE_FALSE(folder);
  CHECK(folder.error().message == "/: Is a directory; is --config right?");
  for (const char* text : {"", "\n", "# profiles: []\n", "---\n# nothing\n", "~"}) {
    INFO(text);
    CHECK_THAT(ConfigRefusal(text), Catch::Contains("config.yaml: there is no configuration in it"));
  }
  CHECK(Read("---\n---\n# ours\n---\n" + std::string(kHead) + "---\n").kinds_read.size() == 1);
}

TEST_CASE("schedulerName may be left out of a single profile only") {
  CHECK(Read(std::string(kHead) + "profiles: [{}]\n").profiles.at(0).config.scheduler_name == "default-scheduler");
  CHECK(ConfigRefusal(std::string(kHead) + "profiles:\n- schedulerName: a\n- plugins: {}\n") ==
        "config.yaml:5: profiles[1]: has no schedulerName; of several profiles each needs its own");
  CHECK_THAT(ConfigRefusal(std::string(kHead) + "profiles: [~, {schedulerName: a}]\n"),
             Catch::Contains("profiles[0]: has no schedulerName"));
  CHECK_THAT(ConfigRefusal(std::string(kHead) + "profiles: [{schedulerName: ''}]\n"),
             Catch::Contains("schedulerName: is empty"));
}

TEST_CASE("what has no effect here is refused where kube-scheduler refuses it") {
  for (const char* text :
       {"parallelism: -1", "parallelism: 0", "parallelism: [a]", "percentageOfNodesToScore: 500",
        "percentageOfNodesToScore: -1", "extenders: foo", "extenders: [a]", "extenders: [{filterVerbs: f}]",
        "extenders: [{prioritizeVerb: p, weight: 0}]", "enableProfiling: 3", "delayCacheUntilActive: []",
        "profiles: [{percentageOfNodesToScore: 101}]", "profiles: [{pluginConfig: [{name: N, args: &b {z: *b}}]}]"}) {
    INFO(text);
    CHECK_THAT(ConfigRefusal(std::string(kHead) + text + "\n"), Catch::StartsWith("config.yaml:3: "));
  }
  Read(std::string(kHead) +
       "extenders: [{urlPrefix: 'https://e/', filterVerb: f, prioritizeVerb: p, weight: 2, bindVerb: b, enableHTTPS: "
       "true,"
       " tlsConfig: {insecure: true}, httpTimeout: 5s, nodeCacheCapable: true, ignorable: true,"
       " managedResources: [{name: example.com/foo, ignoredByScheduler: true}]}]\n");
}

}  // namespace
}  // namespace tutti::app
