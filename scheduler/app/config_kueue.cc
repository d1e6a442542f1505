// SPDX-License-Identifier: Apache-2.0
#include "app/config_kueue.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"

namespace tutti::app {
namespace {

constexpr std::string_view kV1Beta1 = "config.kueue.x-k8s.io/v1beta1", kV1Beta2 = "config.kueue.x-k8s.io/v1beta2";
constexpr int64_t kMostSeconds = 86'400, kMostRequeues = 2'147'483'647;

// Fields of Kueue's Configuration that have no effect, and why.
constexpr std::pair<const char*, const char*> kWithoutEffect[] = {
    {"namespace", "Tutti's own is that of its Deployment"},
    {"health", "Tutti's flags say where it serves"},
    {"metrics", "Tutti's flags say where it serves"},
    {"webhook", "Tutti's flag --kueue-webhook says whether there is one"},
    {"controller", "nothing is done by several threads at a time"},
    {"leaderElection", "KubeSchedulerConfiguration says how a leader is elected"},
    {"clientConnection", "maxInFlight of TuttiConfiguration bounds writes"},
    {"internalCertManagement", "Tutti's flags name the certificate"},
    {"integrations", "all kinds of jobs that are known are followed"},
    {"queueVisibility", "what waits, and why, is on Tutti's pages"},
    {"visibility", "what waits, and why, is on Tutti's pages"},
    {"multiKueue", "jobs are not sent to other clusters"},
    {"featureGates", "there are none of these"},
    {"objectRetentionPolicies", "finished Workloads stay until their jobs go"},
    {"tls", "Tutti's flags say so"},
};
// Those that would let other jobs be admitted.
constexpr std::pair<const char*, const char*> kNotFollowed[] = {
    {"manageJobsWithoutQueueName", "jobs without a queue's label are left alone"},
    {"managedJobsNamespaceSelector", "jobs with a queue's label are held in all namespaces"},
    {"admissionFairSharing", "what LocalQueues used before is not counted"},
    {"resources", "resources are counted as pods name them"},
    {"quotaCheckStrategy", "no resource is left out of the check"},
};

// `by_presence`: it is on where it is there, unless it says otherwise.
void ReadFairSharing(Fields& parent, bool by_presence, Config* config) {
  Fields fields = parent.Map("fairSharing");
  if (by_presence) config->quota_rule.fair_sharing = parent.Has("fairSharing");
  fields.Bool("enable", &config->quota_rule.fair_sharing);
  base::Json strategies;
  fields.Json("preemptionStrategies", &strategies);
  std::vector<queue::FairStrategy> rule;
  const std::vector final_share{queue::FairStrategy::kLessThanOrEqualToFinalShare};
  bool known = strategies.is_null() || strategies.is_array();
  for (const base::Json& name : strategies.is_array() ? strategies : base::Json::array()) {
    if (name == "LessThanOrEqualToFinalShare" && rule.empty())
      rule = final_share;
    else if (name == "LessThanInitialShare" && (rule.empty() || rule == final_share))
      rule.push_back(queue::FairStrategy::kLessThanInitialShare);
    else
      known = false;
  }
  if (!known)
    fields.Complain("preemptionStrategies",
                    "is not known; write one of [LessThanOrEqualToFinalShare], [LessThanInitialShare] and "
                    "[LessThanOrEqualToFinalShare, LessThanInitialShare]");
  if (!rule.empty()) config->quota_rule.strategies = std::move(rule);
  fields.Done();
}

void ReadRequeuing(Fields fields, dialects::PodsReadyRule* rule) {
  std::string timestamp = "Eviction";
  fields.OneOf("timestamp", {"Eviction", "Creation"}, &timestamp);
  rule->keeps_place = timestamp == "Creation";
  if (fields.Has("backoffLimitCount"))
    fields.Integer("backoffLimitCount", 0, kMostRequeues, &rule->requeue_limit.emplace());
  int64_t first_s = rule->first_pause_ms / 1000, longest_s = rule->longest_pause_ms / 1000;
  fields.Integer("backoffBaseSeconds", 0, kMostSeconds, &first_s);
  fields.Integer("backoffMaxSeconds", 0, kMostSeconds, &longest_s);
  rule->first_pause_ms = first_s * 1000;
  rule->longest_pause_ms = longest_s * 1000;
  fields.Done();
}

void ReadPodsReady(Fields& parent, bool by_presence, Config* config) {
  Fields fields = parent.Map("waitForPodsReady");
  dialects::PodsReadyRule& rule = config->dialects.pods_ready;
  if (by_presence) rule.enabled = parent.Has("waitForPodsReady");
  fields.Bool("enable", &rule.enabled);
  fields.Duration("timeout", &rule.timeout_ms);
  if (fields.Has("recoveryTimeout")) fields.Duration("recoveryTimeout", &rule.recovery_timeout_ms.emplace());
  bool blocks = false;
  fields.Bool("blockAdmission", &blocks);
  if (blocks)
    config->notes.push_back(
        fmt::format("{}blockAdmission has no effect: a job is admitted with nodes for all of its pods, so jobs that "
                    "start at one time cannot keep nodes from each other",
                    fields.path().empty() ? "" : fields.path() + "."));
  ReadRequeuing(fields.Map("requeuingStrategy"), &rule);
  for (const auto& [name, value] :
       {std::pair("timeout", std::optional(rule.timeout_ms)), std::pair("recoveryTimeout", rule.recovery_timeout_ms)})
    if (value && *value <= 0) fields.Complain(name, "must be longer than 0; write a time such as 5m");
  fields.Done();
}

}  // namespace

bool IsOfKueue(const std::string& version) { return version == kV1Beta1 || version == kV1Beta2; }

void ReadKueueConfiguration(Fields& fields, const std::string& version, Config* config) {
  const bool by_presence = version == kV1Beta2;
  ReadFairSharing(fields, by_presence, config);
  ReadPodsReady(fields, by_presence, config);
  for (const auto& [name, why] : kWithoutEffect) fields.Accept(name);
  for (const auto& [name, why] : kNotFollowed) {
    base::Json value;
    fields.Json(name, &value);
    if (!value.is_null() && value != false)
      config->notes.push_back(fmt::format("{} of Kueue's Configuration has no effect: {}", name, why));
  }
}

void ReadKueue(Fields& parent, Config* config) {
  Fields fields = parent.Map("kueue");
  if (!parent.Has("kueue")) return;
  ReadFairSharing(fields, false, config);
  ReadPodsReady(fields, false, config);
  std::string words = "0.17";
  fields.OneOf("words", {"0.17", "0.8"}, &words);
  config->dialects.kueue_0_8 = config->quota_rule.old_words = words == "0.8";
  fields.Done();
}

}  // namespace tutti::app
