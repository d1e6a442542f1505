// SPDX-License-Identifier: Apache-2.0
#include "app/config.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <limits>
#include <set>
#include <sstream>
#include <utility>

#include "app/config_extenders.h"
#include "app/config_kueue.h"
#include "app/volcano_conf.h"
#include "app/yaml_fields.h"
#include "base/file.h"
#include "base/json.h"
#include "dialects/declaration.h"

namespace tutti::app {
namespace {

constexpr std::string_view kSchedulerKind = "KubeSchedulerConfiguration";
constexpr std::string_view kSchedulerVersion = "kubescheduler.config.k8s.io/v1";
constexpr std::string_view kOurKind = "TuttiConfiguration";
constexpr std::string_view kOurVersion = "tutti.dev/v1alpha1";

constexpr std::string_view kExtensionPoints[] = {
    "multiPoint",     "preEnqueue",       "queueSort", "preFilter", "filter", "postFilter", "preScore",
    "score",          "reserve",          "permit",    "preBind",   "bind",   "postBind",   "podGroupPostFilter",
    "placementScore", "placementGenerate"};

constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";
constexpr int64_t kMostSeconds = 86'400;
constexpr int64_t kMostRuntimeSeconds = 31'536'000;  // a year
constexpr int64_t kMostInt32 = std::numeric_limits<int32_t>::max();

void ReadLeaderElection(Fields fields, LeaderElectionConfig* out) {
  fields.Bool("leaderElect", &out->leader_elect);
  fields.Duration("leaseDuration", &out->lease_duration_ms);
  fields.Duration("renewDeadline", &out->renew_deadline_ms);
  fields.Duration("retryPeriod", &out->retry_period_ms);
  fields.OneOf("resourceLock", {"leases"}, &out->resource_lock);
  fields.String("resourceName", &out->resource_name);
  fields.String("resourceNamespace", &out->resource_namespace);
  fields.Done();  // flags go before its times: EffectiveConfig looks whether they can work together
  out->where = fields.Where();
}

void ReadClientConnection(Fields fields, Config* config) {
  ClientConnectionConfig& out = config->client_connection;
  fields.String("kubeconfig", &out.kubeconfig);
  for (const char* name : {"contentType", "acceptContentTypes"}) {
    std::string type;
    fields.String(name, &type);
    if (type.empty() || type.starts_with(kProtobuf)) continue;
    config->notes.push_back(
        fmt::format("clientConnection.{} has no effect: protobuf is spoken wherever the API server knows it", name));
  }
  double qps = 0;
  int64_t burst = 0;
  fields.Number("qps", &qps);
  fields.Integer("burst", 0, 1'000'000'000, &burst);
  if (fields.Has("qps") || fields.Has("burst")) {
    config->notes.push_back(
        "clientConnection.qps and burst have no effect: maxInFlight of TuttiConfiguration and the API server's own "
        "flow control bound our writes");
  }
  fields.Done();
}

// Plugins of scheduler-plugins. The core does their work here.
constexpr std::pair<std::string_view, std::string_view> kBuiltIn[] = {
    {"Coscheduling",
     "gangs are built in: take the entry out; permitWaitingTimeSeconds is repairTimeoutSeconds of a "
     "TuttiConfiguration"},
    {"CapacityScheduling", "there is no ElasticQuota here: take the entry out; a Queue bounds what its gangs take"},
    {"NodeResourcesAllocatable", "it is not here: take the entry out; NodeResourcesFit has scoringStrategy"}};

// Complains about the field `name` if its value is not the name of a plugin.
void CheckPluginName(Fields& fields, const std::string& name) {
  static const std::vector<std::string> known = plugins::KnownPlugins();
  if (name.empty() || name == "*" || std::ranges::find(known, name) != known.end()) return;
  if (const auto* found = std::ranges::find(kBuiltIn, name, [](const auto& one) { return one.first; });
      found != std::end(kBuiltIn)) {
    fields.Complain("name", fmt::format("{}: {}", name, found->second));
    return;
  }
  const std::string_view meant = Closest(name, {known.begin(), known.end()});
  fields.Complain("name", fmt::format("there is no plugin \"{}\"; {}", name,
                                      meant.empty() ? fmt::format("known are {}", fmt::join(known, ", "))
                                                    : fmt::format("did you mean {}?", meant)));
}

plugins::ProfileConfig::Plugin ReadPlugin(Fields& fields, bool disabled) {
  plugins::ProfileConfig::Plugin choice;
  fields.String("name", &choice.name);
  if (choice.name.empty()) fields.Complain("", "has no name; write which plugin is meant");
  CheckPluginName(fields, choice.name);
  if (choice.name == "*" && !disabled) fields.Complain("name", "\"*\" stands for all only under disabled");
  fields.Integer("weight", 0, 1'000'000, &choice.weight);
  fields.Done();
  return choice;
}

plugins::ProfileConfig::PluginSet ReadPoint(Fields fields) {
  plugins::ProfileConfig::PluginSet point;
  fields.Sequence("enabled", [&](Fields& one) { point.enabled.push_back(ReadPlugin(one, false)); });
  fields.Sequence("disabled", [&](Fields& one) { point.disabled.push_back(ReadPlugin(one, true).name); });
  fields.Done();
  std::set<std::string> seen;
  for (const plugins::ProfileConfig::Plugin& choice : point.enabled) {
    if (!seen.insert(choice.name).second) {
      fields.Complain("enabled", fmt::format("has the plugin {} twice; remove one", choice.name));
    }
  }
  return point;
}

void ReadPluginArgs(Fields& fields, ProfileSettings* settings) {
  plugins::ProfileConfig* profile = &settings->config;
  std::string name;
  fields.String("name", &name);
  base::Json args = base::Json::object();
  fields.Json("args", &args);
  fields.Done();
  CheckPluginName(fields, name);
  if (name.empty()) {
    fields.Complain("", "has no name; write whose args these are");
  } else if (!args.is_object()) {
    fields.Complain("args", "a mapping is expected");
  } else if (std::any_of(profile->plugin_config.begin(), profile->plugin_config.end(),
                         [&](const auto& other) { return other.first == name; })) {
    fields.Complain("name", fmt::format("the args of {} are there twice; remove one", name));
  } else {
    profile->plugin_config.emplace_back(name, std::make_shared<const base::Json>(std::move(args)));
    if (fields.Has("args")) settings->args_where.emplace(name, fields.Map("args").Where());
  }
}

// Checks type and range of percentageOfNodesToScore. It has no effect here, and a note says so unless all nodes or
// kube-scheduler's default are asked for.
void CheckPercentageOfNodes(Fields& fields, Config* config) {
  int64_t percentage = 0;
  fields.Integer("percentageOfNodesToScore", 0, 100, &percentage);
  if (percentage == 0 || percentage == 100) return;
  config->notes.push_back(fmt::format("{}{}percentageOfNodesToScore has no effect: every decision sees all nodes",
                                      fields.path(), fields.path().empty() ? "" : "."));
}

void ReadProfile(Fields& fields, Config* config) {
  ProfileSettings settings;
  plugins::ProfileConfig& profile = settings.config;
  fields.String("schedulerName", &profile.scheduler_name);
  if (profile.scheduler_name.empty() && fields.Has("schedulerName")) {
    fields.Complain("schedulerName", "is empty; write the name that pods use");
  }
  CheckPercentageOfNodes(fields, config);
  Fields plugins = fields.Map("plugins");
  for (const std::string_view point : kExtensionPoints) {
    profile.plugins.emplace(point, ReadPoint(plugins.Map(point)));
  }
  plugins.Done();
  fields.Sequence("pluginConfig", [&](Fields& one) { ReadPluginArgs(one, &settings); });
  fields.Done();
  for (const ProfileSettings& other : config->profiles) {
    if (!profile.scheduler_name.empty() && other.config.scheduler_name == profile.scheduler_name) {
      fields.Complain("schedulerName",
                      fmt::format("\"{}\" is served by two profiles; keep one", profile.scheduler_name));
    }
  }
  settings.where = fields.Where();
  config->profiles.push_back(std::move(settings));
}

void ReadProfiles(Fields& fields, Config* config) {
  std::vector<Fields> nameless;
  fields.Sequence("profiles", [&](Fields& one) {
    if (!one.Has("schedulerName")) nameless.push_back(one);
    ReadProfile(one, config);
  });
  // As kube-scheduler does: only a single profile may leave its name out.
  if (config->profiles.size() == 1 && !nameless.empty()) {
    config->profiles[0].config.scheduler_name = "default-scheduler";
    return;
  }
  for (Fields& one : nameless) one.Complain("", "has no schedulerName; of several profiles each needs its own");
}

// Reads the fields that kube-scheduler knows and that have no effect here.
void CheckUnused(Fields& fields, Config* config) {
  int64_t parallelism = 0;
  fields.Integer("parallelism", 1, kMostInt32, &parallelism);
  CheckPercentageOfNodes(fields, config);
  constexpr std::pair<const char*, const char*> kSwitches[] = {
      {"delayCacheUntilActive", "a standby lists and watches too, so that it can take over at once"},
      {"enableProfiling", "there is no /debug/pprof"},
      {"enableContentionProfiling", "there is no /debug/pprof"}};
  for (const auto& [name, why] : kSwitches) {
    bool on = false;
    fields.Bool(name, &on);
    if (on) config->notes.push_back(fmt::format("{} has no effect: {}", name, why));
  }
}

void ReadSchedulerConfiguration(Fields& fields, Config* config) {
  if (fields.Has("parallelism")) config->notes.push_back("parallelism has no effect: a decision needs no threads");
  CheckUnused(fields, config);
  ReadExtenders(fields, config);
  ReadLeaderElection(fields.Map("leaderElection"), &config->leader_election);
  ReadClientConnection(fields.Map("clientConnection"), config);
  fields.Integer("podInitialBackoffSeconds", 1, kMostSeconds, &config->pod_initial_backoff_s);
  fields.Integer("podMaxBackoffSeconds", 1, kMostSeconds, &config->pod_max_backoff_s);
  if (config->pod_max_backoff_s < config->pod_initial_backoff_s) {
    fields.Complain("podMaxBackoffSeconds", "is below podInitialBackoffSeconds; raise it");
  }
  ReadProfiles(fields, config);
}

// Records that the rule by which queues share is set at `where`. If it was set before, complains about `field` and
// returns false.
bool ClaimQueueRule(Fields& fields, const std::string& field, const std::string& where, Config* config) {
  if (config->queue_rule_where.empty()) {
    config->queue_rule_where = where;
    return true;
  }
  fields.Complain(field, fmt::format("by which rule queues share is said at {} already; keep one of the two",
                                     config->queue_rule_where));
  return false;
}

void ReadQueues(Fields& parent, Config* config) {
  Fields fields = parent.Map("queues");
  if (!parent.Has("queues")) return;
  if (!ClaimQueueRule(parent, "queues", fields.Where(), config)) return;
  using Kind = core::QueueRule::Kind;
  core::QueueRule& rule = config->queue_rule;
  std::string kind = "capability";
  fields.OneOf("rule", {"capability", "proportion", "capacity"}, &kind);
  rule.kind = kind == "proportion" ? Kind::kProportion : kind == "capacity" ? Kind::kCapacity : Kind::kCapability;
  fields.Integer("ancestorReclaimLevel", 0, kMostAncestorLevels, &rule.ancestor_levels);
  if (fields.Has("ancestorReclaimLevel") && rule.kind != Kind::kCapacity)
    fields.Complain("ancestorReclaimLevel", "is of rule capacity; take it out, or write that rule");
  fields.Bool("reclaim", &rule.reclaim);
  if (rule.kind == Kind::kCapacity && rule.ancestor_levels > 0 && !rule.reclaim)
    config->notes.push_back("queues.ancestorReclaimLevel has no effect without queues.reclaim");
  fields.Done();
}

// Reads a volcano-scheduler.conf; it has no kind.
void ReadVolcano(const YAML::Node& document, Fields& fields, Complaints* complaints, Config* config) {
  auto conf = ReadVolcanoConf(document, complaints->file());
  if (!conf) return complaints->AddLines(conf.error().message);
  const std::string field = fields.Has("tiers") ? "tiers" : "actions";
  if (!ClaimQueueRule(fields, field, fields.Where() + field, config)) return;
  const base::Millis min_runtime_ms = config->queue_rule.min_runtime_ms;
  config->queue_rule = conf->rule;
  config->queue_rule.min_runtime_ms = min_runtime_ms;
  if (!config->gang_preemption_is_set) config->gang_preemption = conf->preempts ? "WithinQueue" : "Never";
  config->notes.insert(config->notes.end(), conf->notes.begin(), conf->notes.end());
  config->kinds_read.emplace_back("volcano-scheduler.conf");
}

void ReadAutoscaledLabels(Fields& fields, Config* config) {
  base::Json labels;
  fields.Json("autoscaledLabels", &labels);
  if (labels.is_null()) return;
  const bool names = labels.is_array() && std::ranges::all_of(labels, [](const base::Json& label) {
                       return label.is_string() && label != "";
                     });
  if (!names) return fields.Complain("autoscaledLabels", "is no list of names of labels");
  config->autoscaled_labels = labels.get<std::vector<std::string>>();
}

void ReadOurConfiguration(Fields& fields, Config* config) {
  fields.OneOf("policy", {"repair", "keep"}, &config->policy);
  fields.Integer("repairTimeoutSeconds", 1, kMostSeconds, &config->repair_timeout_s);
  fields.Integer("bindTimeoutSeconds", 1, 60, &config->bind_timeout_s);
  fields.OneOf("quotaReason", {"Unschedulable", "QuotaExceeded"}, &config->quota_reason);
  config->gang_preemption_is_set = fields.Has("gangPreemption");
  fields.OneOf("gangPreemption", {"Never", "WithinQueue", "LowerPriority"}, &config->gang_preemption);
  std::string fit(dialects::NameOf(config->dialects.fit));
  fields.OneOf("fit", {"nodes", "quota", "aggregate", "auto"}, &fit);
  config->dialects.fit = *dialects::FitNamed(fit);
  ReadAutoscaledLabels(fields, config);
  int64_t min_runtime_s = 0;
  fields.Integer("minRuntimeSeconds", 0, kMostRuntimeSeconds, &min_runtime_s);
  config->queue_rule.min_runtime_ms = min_runtime_s * 1000;
  ReadQueues(fields, config);
  ReadKueue(fields, config);
  fields.Integer("maxInFlight", 1, 10'000, &config->max_in_flight);
  fields.Integer("rankingMemoryMiB", 1, 1'048'576, &config->ranking_memory_mib);
  fields.Bool("keepNodesWhole", &config->keep_nodes_whole);
}

void ReadDocument(const YAML::Node& document, Complaints* complaints, Config* config) {
  Fields fields(document, "", complaints);
  if (!document.IsMap()) return;
  std::string kind, version;
  fields.String("apiVersion", &version);
  fields.String("kind", &kind);
  if (!fields.Has("kind") && (fields.Has("actions") || fields.Has("tiers")))
    return ReadVolcano(document, fields, complaints, config);
  if (kind == "ConfigMap") {
    fields.Complain(
        "", "this is a ConfigMap; write the text of one of its data, such as config.yaml, into a file of its own");
    return;
  }
  const bool upstream = kind == kSchedulerKind, of_kueue = IsOfKueue(version);
  if (!upstream && !of_kueue && kind != kOurKind) {
    fields.Complain(fields.Has("kind") ? "kind" : "",
                    fmt::format("kind \"{}\" is not known; write {} or {}", kind, kSchedulerKind, kOurKind));
    return;
  }
  const std::string_view wanted = upstream ? kSchedulerVersion : kOurVersion;
  if (!of_kueue && version != wanted) {
    fields.Complain(fields.Has("apiVersion") ? "apiVersion" : "",
                    fmt::format("\"{}\" of {} is not known; write {}", version, kind, wanted));
    return;
  }
  if (std::find(config->kinds_read.begin(), config->kinds_read.end(), kind) != config->kinds_read.end()) {
    fields.Complain("kind", fmt::format("a {} was read already; keep one", kind));
    return;
  }
  config->kinds_read.push_back(kind);
  if (upstream) {
    ReadSchedulerConfiguration(fields, config);
  } else if (of_kueue) {
    ReadKueueConfiguration(fields, version, config);
  } else {
    ReadOurConfiguration(fields, config);
  }
  fields.Done();
}

// yaml-cpp 0.7 returns the same document again and again if a document begins with a character that cannot begin one,
// such as ",".
class DocumentStarts final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (mark.pos == last_) throw YAML::ParserException(mark, "a document cannot begin like this");
    last_ = mark.pos;
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

 private:
  int last_ = -1;
};

std::vector<YAML::Node> Documents(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentStarts starts;
  while (parser.HandleNextDocument(starts)) continue;
  return YAML::LoadAll(text);
}

}  // namespace

base::Status CheckElection(const LeaderElectionConfig& config) {
  if (!config.leader_elect) return {};
  const auto wrong = [&config](std::string_view what) {
    return base::Invalid(fmt::format("{}: {}", config.where.empty() ? "leader election" : config.where, what));
  };
  if (config.lease_duration_ms < 1'000)
    return wrong("leaseDuration must be a second at least: a Lease says whole seconds");
  if (config.lease_duration_ms <= config.renew_deadline_ms)
    return wrong("leaseDuration must be longer than renewDeadline; the defaults are 15s and 10s");
  // client-go's jitter: a retry may come 1.2 periods after the last.
  if (config.retry_period_ms <= 0 || config.renew_deadline_ms * 10 <= config.retry_period_ms * 12)
    return wrong(
        "renewDeadline must be longer than 1.2 times retryPeriod, and that above 0; the defaults are 10s and 2s");
  if (config.resource_name.empty()) return wrong("resourceName is empty; name the Lease");
  return {};
}

base::Status ReadConfig(const std::string& text, const std::string& file, Config* config) {
  Complaints complaints(file);
  try {
    std::vector<YAML::Node> documents = Documents(text);
    std::erase_if(documents, [](const YAML::Node& one) { return !one.IsDefined() || one.IsNull(); });
    if (documents.empty()) {
      return base::Invalid(
          fmt::format("{}: there is no configuration in it; write a {} or a {}", file, kSchedulerKind, kOurKind));
    }
    for (const YAML::Node& document : documents) ReadDocument(document, &complaints, config);
  } catch (const YAML::Exception& error) {
    return base::Invalid(fmt::format("{}:{}: not YAML: {}", file, error.mark.line + 1, error.msg));
  }
  if (complaints.lines().empty()) return {};
  return base::Invalid(fmt::format("{}", fmt::join(complaints.lines(), "\n")));
}

base::Result<Config> LoadConfig(const std::vector<std::string>& files) {
  if (std::ranges::count(files, "-") > 1)
    return base::Invalid("--config - is given twice; standard input can be read once");
  Config config;
  std::string complaints;
  for (const std::string& file : files) {
    const base::Result<std::string> text =
        file == "-" ? std::string(std::istreambuf_iterator<char>(std::cin), {}) : base::ReadFile(file);
    if (!text) return base::Invalid(fmt::format("{}; is --config right?", text.error().message));
    if (const base::Status read = ReadConfig(*text, file, &config); !read) {
      complaints += (complaints.empty() ? "" : "\n") + read.error().message;
    }
  }
  if (!complaints.empty()) return base::Invalid(complaints);
  return config;
}

base::Result<Config> LoadWholeConfig(const std::vector<std::string>& files) {
  auto config = LoadConfig(files);
  if (!config) return config;
  if (const base::Status election = CheckElection(config->leader_election); !election)
    return tl::make_unexpected(election.error());
  return config;
}

std::vector<std::string> DefaultSchedulerNames() {
  return {"tutti", "volcano", "kai-scheduler", "yunikorn", "scheduler-plugins-scheduler"};
}

std::vector<std::string> OfflineSchedulerNames() {
  std::vector<std::string> names = DefaultSchedulerNames();
  names.push_back("default-scheduler");
  return names;
}

}  // namespace tutti::app
