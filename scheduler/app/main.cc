// SPDX-License-Identifier: Apache-2.0
// The command line: one binary, verbs as in kubectl.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "app/arguments.h"
#include "app/config_extenders.h"
#include "app/ctl_command.h"
#include "app/demo.h"
#include "app/evaluate.h"
#include "app/manifest_check.h"
#include "app/output.h"
#include "app/profiles.h"
#include "app/report.h"
#include "app/run.h"
#include "app/signals.h"
#include "app/sim_command.h"
#include "app/sim_flags.h"
#include "app/simulate.h"
#include "app/snapshot.h"
#include "app/upstream_flags.h"
#include "app/yaml_fields.h"
#include "base/duration.h"
#include "base/json.h"

namespace {

using namespace tutti;  // NOLINT: the one file that speaks of all rooms

constexpr const char* kAbout =
    "Tutti is a scheduler for Kubernetes that starts the whole gang or none of it.\n"
    "It stands in for kube-scheduler, for the schedulerNames that its configuration says, and understands the\n"
    "gangs and queues of Volcano, Kueue, AppWrapper (MCAD), scheduler-plugins, upstream's PodGroup, KubeRay, KAI\n"
    "and YuniKorn.";

constexpr const char* kExamples =
    "Examples:\n"
    "  tutti demo                                        see it work, on an embedded cluster\n"
    "  tutti simulate nodes.yaml job.yaml -o json        what would be decided, without any cluster\n"
    "  tutti evaluate nodes.yaml pod.yaml --pod a/b      one pod against every node, filter by filter\n"
    "  tutti sim manifests/examples/offline              an embedded cluster that kubectl talks to\n"
    "  tutti run --config scheduler.yaml                 the scheduler, in a pod or with a kubeconfig\n"
    "`tutti VERB --help` says more about each.";

// The exit code of a wrong command line.
constexpr int kUsage = 2;

int Refuse(const char* verb, const std::string& message) {
  fmt::print(stderr, "tutti {}: error: {}\n", verb, message);
  return 1;
}

// Refuses a flag whose value cannot be.
int RefuseValue(const char* verb, const std::string& message) {
  Refuse(verb, message);
  return kUsage;
}

// Prints `text` and returns the exit code of the verb.
int Show(const char* verb, const std::string& text) {
  const base::Status printed = app::Print(text);
  return printed ? 0 : Refuse(verb, printed.error().message);
}

struct KubeRayFlags {
  std::string batch_scheduler, release = "1.4";

  void AddTo(CLI::App& verb) {
    verb.add_option(
            "--batch-scheduler", batch_scheduler,
            "what the embedded KubeRay operator is told: volcano, scheduler-plugins, yunikorn, kai-scheduler or none;\n"
            "default: what the label ray.io/scheduler-name of the given RayClusters says")
        ->check(CLI::IsMember({"volcano", "scheduler-plugins", "yunikorn", "kai-scheduler", "none"}));
    verb.add_option("--kuberay-release", release, "the operator's release: 1.4 or 1.7; kai-scheduler came after 1.4")
        ->check(CLI::IsMember({"1.4", "1.7"}))
        ->capture_default_str();
  }
  // Reads the flags. The batch scheduler's default is the one that the RayClusters of `manifests` ask for.
  base::Result<sim::KubeRayOptions> Parse(const std::vector<sim::Manifest>& manifests) const {
    const std::string asked = batch_scheduler.empty() ? app::BatchSchedulerAskedFor(manifests) : "";
    if (!asked.empty()) {
      fmt::print(
          stderr,
          "note: the embedded KubeRay operator runs with --batch-scheduler={}, as the label ray.io/scheduler-name "
          "asks; a real one has to be told so\n",
          asked);
    }
    const std::string& wanted = asked.empty() ? batch_scheduler : asked;
    sim::KubeRayOptions options;
    const bool newer = release == "1.7" || wanted == "kai-scheduler";
    options.release = newer ? sim::KubeRayRelease::k1_7 : sim::KubeRayRelease::k1_4;
    const auto parsed = sim::ParseBatchScheduler(wanted == "none" ? "" : wanted, options.release);
    if (!parsed) return tl::make_unexpected(parsed.error());
    options.batch_scheduler = *parsed;
    return options;
  }
};

// The manifests that a verb reads.
struct Paths {
  std::vector<std::string> paths;
  bool recursive = false, strict = false;

  CLI::Option* AddTo(CLI::App& verb, const std::string& about) {
    verb.add_flag("-R,--recursive", recursive, "read the subfolders of folders too");
    return verb.add_option("PATH", paths, about);
  }
  void AddStrict(CLI::App& verb) {
    verb.add_flag("--strict", strict, "refuse objects of a kind that is not known, in place of a note");
  }
  // REQUIRES: called before a configuration is read, which may take standard input.
  base::Status CheckStandardInput(const std::vector<std::string>& config_files) const {
    if (std::ranges::count(paths, "-") == 0 || std::ranges::count(config_files, "-") == 0) return {};
    return base::Invalid("- is both a PATH and --config; standard input can be read once");
  }
  base::Result<std::vector<sim::Manifest>> Load() const {
    std::vector<std::string> notes;
    auto manifests = sim::LoadManifests(paths, {.recursive = recursive, .notes = &notes});
    app::ShowNotes(notes);
    return manifests;
  }
};

struct OutputFlag {
  std::string format = "table";

  void AddTo(CLI::App& verb) {
    verb.add_option("-o,--output", format, "table, json or yaml")
        ->check(CLI::IsMember({"table", "json", "yaml"}))
        ->capture_default_str();
  }
  std::string Render(const nlohmann::ordered_json& result, std::string (*table)(const nlohmann::ordered_json&)) const {
    if (format == "json") return app::ToJsonText(result);
    if (format == "yaml") return app::ToYamlText(result);
    return table(result);
  }
};

void AddConfig(CLI::App& verb, std::vector<std::string>* files) {
  verb.add_option("--config", *files,
                  "a KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1) as it stands, a TuttiConfiguration\n"
                  "(tutti.dev/v1alpha1), or both in one file, or - for standard input; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

// -- run --

struct RunVerb {
  app::RunFlags flags;
  CLI::Option* leader_elect_said = nullptr;
  bool leader_elect = true;
  int secure_port = 10259;
  CLI::App* run = nullptr;

  void AddTo(CLI::App& main, int* exit_code) {
    CLI::App& verb = *main.add_subcommand("run", "Run the scheduler on a cluster");
    verb.footer(
        "With no profile in the configuration it serves the schedulerNames tutti, volcano, kai-scheduler, yunikorn "
        "and\n"
        "scheduler-plugins-scheduler. SIGTERM: plans no more, waits for the binds under way, gives the lease up, exits "
        "0.\n"
        "A lost lease: exits 1. Logs are JSON lines on stderr.");
    run = &verb;
    verb.set_version_flag("--version", "tutti " TUTTI_VERSION)->default_str("false");
    AddConfig(verb, &flags.config_files);
    verb.add_option("--kubeconfig", flags.kubeconfig,
                    "how to reach the API server; default: $KUBECONFIG, the pod's\n"
                    "ServiceAccount, ~/.kube/config, in that order")
        ->type_name("FILE");
    verb.add_option("--context", flags.context, "of the kubeconfig; default: its current one");
    verb.add_option("--master", flags.master, "the API server's URL, instead of the kubeconfig's")->type_name("URL");
    AddElection(verb);
    AddServing(verb);
    AddReviews(verb);
    AddLogs(verb);
    AddUpstream(verb);
    verb.add_option("--write-config-to", flags.write_config_to,
                    "write the configuration in effect to this file, and end")
        ->type_name("FILE");
    verb.final_callback([this, exit_code] { *exit_code = Go(); });
  }

  void AddElection(CLI::App& verb) {
    const char* group = "Leader election (kube-scheduler's flags and defaults)";
    leader_elect_said =
        verb.add_flag("--leader-elect", leader_elect, "lead only while holding the Lease; --leader-elect=false: always")
            ->group(group)
            ->default_str("true");
    const auto duration = [&](const char* name, std::optional<std::string>* value, const char* unless_said) {
      verb.add_option(name, *value, "")->group(group)->type_name("DURATION")->default_str(unless_said);
    };
    duration("--leader-elect-lease-duration", &flags.lease_duration, "15s");
    duration("--leader-elect-renew-deadline", &flags.renew_deadline, "10s");
    duration("--leader-elect-retry-period", &flags.retry_period, "2s");
    verb.add_option("--leader-elect-resource-lock", flags.resource_lock, "there is no other")
        ->group(group)
        ->default_str("leases");
    verb.add_option("--leader-elect-resource-name", flags.resource_name, "of the Lease")
        ->group(group)
        ->default_str("tutti");
    verb.add_option("--leader-elect-resource-namespace", flags.resource_namespace,
                    "[the pod's own; tutti-system outside a cluster]")
        ->group(group);
  }

  void AddServing(CLI::App& verb) {
    const char* group = "Health, metrics, decisions (HTTPS)";
    verb.add_option("--bind-address", flags.server.bind_address, "0.0.0.0: every address, those of IPv6 too")
        ->group(group)
        ->capture_default_str();
    verb.add_option("--secure-port", secure_port, "0: serve nothing")->group(group)->capture_default_str();
    verb.add_option("--grpc-port", flags.grpc_port, "also serve gRPC, on this port; 0: do not")
        ->group(group)
        ->capture_default_str();
    verb.add_flag("--kueue-webhook", flags.kueue_webhook,
                  "hold new jobs of Kueue's queues as an admission webhook, at /webhooks/kueue; with --tls-cert-file")
        ->group(group);
    verb.add_option("--tls-cert-file", flags.server.certificate.cert, "default: self-signed, in memory")->group(group);
    verb.add_option("--tls-private-key-file", flags.server.certificate.key, "")->group(group);
    verb.add_option("--tls-min-version", flags.tls_min_version,
                    "VersionTLS10, VersionTLS11, VersionTLS12 or VersionTLS13")
        ->group(group)
        ->default_str("VersionTLS12");
    verb.add_option("--tls-cipher-suites", flags.tls_cipher_suites,
                    "of TLS 1.2, by Go's names; default: OpenSSL's choice")
        ->group(group)
        ->delimiter(',')
        ->allow_extra_args(false);
    verb.add_flag("--permit-port-sharing", flags.server.share_port,
                  "set SO_REUSEPORT, so that others may listen there too")
        ->group(group);
    verb.add_option("--authorization-always-allow-paths", flags.server.always_allow_paths,
                    "served to anyone; the rest needs a user who may get the path")
        ->group(group)
        ->delimiter(',')
        ->allow_extra_args(false)
        ->capture_default_str();
    verb.add_flag("--authorization-always-allow-loopback", flags.server.always_allow_loopback,
                  "serve everything to requests from 127.0.0.1 and ::1; ours, kube-scheduler has no such flag")
        ->group(group);
  }

  void AddReviews(CLI::App& verb) {
    const char* group = "Who may read the pages (kube-scheduler's flags and defaults)";
    const auto file = [&](const char* name, std::string* value, const char* about) {
      verb.add_option(name, *value, about)->group(group)->type_name("FILE");
    };
    const auto duration = [&](const char* name, std::optional<std::string>* value) {
      verb.add_option(name, *value, "")->group(group)->type_name("DURATION")->default_str("10s");
    };
    file("--authentication-kubeconfig", &flags.authentication_kubeconfig,
         "where tokens are reviewed; default: the API server that is scheduled for");
    file("--authorization-kubeconfig", &flags.authorization_kubeconfig, "where access is reviewed; default: the same");
    file("--client-ca-file", &flags.client_ca_file,
         "who may vouch for users by client certificates; default: the cluster's own client CA");
    verb.add_flag("--authentication-skip-lookup", flags.authentication_skip_lookup,
                  "do not look the cluster's client CA and front proxy up: no client certificates without\n"
                  "--client-ca-file, and no users that the API server names")
        ->group(group);
    verb.add_flag("--authentication-tolerate-lookup-failure", flags.authentication_tolerate_lookup_failure,
                  "=false: do not start when the cluster's client CA cannot be looked up")
        ->group(group)
        ->default_str("true");
    duration("--authentication-token-webhook-cache-ttl", &flags.authenticated_ttl);
    duration("--authorization-webhook-cache-authorized-ttl", &flags.allowed_ttl);
    duration("--authorization-webhook-cache-unauthorized-ttl", &flags.denied_ttl);
  }

  void AddLogs(CLI::App& verb) {
    const char* group = "Logs (kube-scheduler's flags)";
    verb.add_option("-v,--v", flags.verbosity, "2: each bind and each pod that waits alone, too")
        ->group(group)
        ->type_name("LEVEL")
        ->capture_default_str();
    verb.add_option("--logging-format", flags.logging_format, "json: one object a line; text: as klog writes it")
        ->group(group)
        ->capture_default_str();
  }

  void AddUpstream(CLI::App& verb) {
    const char* group =
        "Flags of kube-scheduler that are taken and change nothing; a flag that has no effect is logged";
    verb.add_option("--feature-gates", flags.feature_gates, "NAME=true|false,...")
        ->group(group)
        ->delimiter(',')
        ->allow_extra_args(false);
    for (const app::UpstreamFlag& flag : app::UpstreamFlags()) {
      const std::string name = fmt::format("--{}", flag.name);
      const bool is_bool = flag.type == app::UpstreamFlag::Type::kBool;
      CLI::Option* option = is_bool ? verb.add_flag(name) : verb.add_option(name)->allow_extra_args(false);
      option->group(group)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    }
  }

  // Reads the value of each flag, for /flagz and for the notes about flags without effect.
  void ReadValues() {
    for (const CLI::Option* option : run->get_options()) {
      if (option->get_lnames().empty() || option->get_lnames()[0] == "help") continue;
      const std::string& name = option->get_lnames()[0];
      flags.values[name] =
          option->count() > 0 ? fmt::format("{}", fmt::join(option->results(), ",")) : option->get_default_str();
    }
    for (const app::UpstreamFlag& flag : app::UpstreamFlags())
      if (const CLI::Option* option = run->get_option(fmt::format("--{}", flag.name)); option->count() > 0)
        flags.upstream[std::string(flag.name)] = option->results().back();
  }

  int Go() {
    if (flags.server.certificate.cert.empty() != flags.server.certificate.key.empty()) {
      return RefuseValue("run", "--tls-cert-file and --tls-private-key-file go together; give both or none");
    }
    if (flags.kueue_webhook && (secure_port == 0 || flags.server.certificate.cert.empty()))
      return RefuseValue("run",
                         "--kueue-webhook: an API server calls it on --secure-port, and must know its certificate; "
                         "give --tls-cert-file and --tls-private-key-file too");
    if (secure_port < 0 || secure_port > 65535)
      return RefuseValue("run", "--secure-port: write a port from 0 to 65535");
    if (flags.grpc_port < 0 || flags.grpc_port > 65535)
      return RefuseValue("run", "--grpc-port: write a port from 0 to 65535");
    if (flags.grpc_port != 0 && flags.grpc_port == secure_port)
      return RefuseValue("run", "--grpc-port: write another port than --secure-port has");
    if (leader_elect_said->count() > 0) flags.leader_elect = leader_elect;
    flags.secure_serving = secure_port != 0;
    flags.server.port = secure_port;
    std::erase(flags.server.always_allow_paths, "");  // --authorization-always-allow-paths= allows none
    std::erase(flags.tls_cipher_suites, "");
    ReadValues();
    app::BlockStopSignals();
    return app::Run(flags);
  }
};

// -- simulate --

struct SimulateVerb {
  Paths given;
  std::vector<std::string> config_files;
  std::string until = "24h", plot, report;
  OutputFlag output;
  KubeRayFlags kuberay;

  void AddTo(CLI::App& main, int* exit_code) {
    CLI::App& verb = *main.add_subcommand("simulate", "Decide about manifests offline, and print the decisions");
    verb.footer(
        "Takes any mix of Kubernetes manifests: Nodes, Pods bound or pending, PodGroups, Queues, RayClusters, Jobs, "
        "CRDs.\n"
        "Pods of every schedulerName that KubeRay writes, of tutti and of default-scheduler are scheduled.\n"
        "Annotations give it time: sim.tutti.dev/arrive-at: 30s on any object, sim.tutti.dev/run-for: 5m on pods, "
        "which\n"
        "then succeed, or fail with sim.tutti.dev/exit-code: \"1\"; deleted, they take sim.tutti.dev/stop-after: 10s "
        "to stop.\n"
        "The same input gives the same bytes. A cluster as it is now: kubectl tutti snapshot | tutti simulate - "
        "job.yaml.\n"
        "The configuration in a snapshot is used unless --config gives another.");
    given.AddTo(verb, "manifests: files, folders, or - for standard input")->required();
    given.AddStrict(verb);
    AddConfig(verb, &config_files);
    output.AddTo(verb);
    verb.add_option("--plot", plot, "draw the GPUs in use and a line for each gang into this file, as SVG")
        ->type_name("FILE");
    verb.add_option("--report", report, "write a page with the drawing and all tables into this file, as HTML")
        ->type_name("FILE");
    verb.add_option("--until", until, "the longest virtual time")->type_name("DURATION")->capture_default_str();
    kuberay.AddTo(verb);
    verb.final_callback([this, exit_code] { *exit_code = Go(); });
  }

  int Go() {
    app::SimulateOptions options;
    if (const auto once = given.CheckStandardInput(config_files); !once)
      return RefuseValue("simulate", once.error().message);
    auto config = app::LoadWholeConfig(config_files);
    if (!config) return Refuse("simulate", config.error().message);
    const auto until_ms = base::ParseSpan(until);
    if (!until_ms) return RefuseValue("simulate", "--until: " + until_ms.error().message);
    options.until_ms = *until_ms;
    options.strict_kinds = given.strict;
    auto manifests = given.Load();
    if (!manifests) return Refuse("simulate", manifests.error().message);
    auto snapshot_config = app::TakeConfiguration(&*manifests);
    if (!snapshot_config) return Refuse("simulate", snapshot_config.error().message);
    options.config = config_files.empty() && *snapshot_config ? **std::move(snapshot_config) : *std::move(config);
    const auto ray = kuberay.Parse(*manifests);
    if (!ray) return Refuse("simulate", ray.error().message);
    options.world.kuberay = *ray;
    std::vector<std::string> notes;
    options.notes = &notes;
    app::SimulationSummary summary;
    options.summary = &summary;
    options.leave_memory = true;
    options.on_progress = [](const app::SimulationProgress& now) {
      fmt::print(stderr, "{:.0f} s: at {:g} s of the simulation, {} of {} gangs were whole\n", now.seconds,
                 static_cast<double>(now.virtual_ms) / 1000, now.whole, now.gangs);
    };
    const auto result = app::Simulate(*std::move(manifests), std::move(options));
    if (!result) return Refuse("simulate", result.error().message);
    app::ShowNotes(notes);
    if (!plot.empty())
      if (const base::Status drawn = app::WriteFile(plot, app::SummarySvg(summary)); !drawn)
        return Refuse("simulate", "--plot: " + drawn.error().message);
    if (!report.empty())
      if (const base::Status written = app::WriteFile(report, app::SimulationReport(*result, summary, notes)); !written)
        return Refuse("simulate", "--report: " + written.error().message);
    std::string text = output.Render(*result, app::SimulationTable);
    if (output.format == "table") text += "\nSUMMARY\n" + app::SummaryText(summary);
    return Show("simulate", text);
  }
};

// -- evaluate --

struct EvaluateVerb {
  Paths given;
  std::vector<std::string> config_files;
  std::string pod, report;
  OutputFlag output;

  void AddTo(CLI::App& main, int* exit_code) {
    CLI::App& verb =
        *main.add_subcommand("evaluate", "Ask every filter and score about one pod on every node, offline");
    verb.footer(
        "Takes from the manifests the Nodes, Pods and Namespaces, the Services and controllers that select pods, and "
        "the\n"
        "volumes, claims, storage classes and CSI objects. The pod is asked about as if it were not bound, under the\n"
        "profile of its schedulerName; its spec.nodeName counts as a wish only while it has no condition "
        "PodScheduled=True.\n"
        "Plugins, reasons and scores are kube-scheduler's, with WholeNodes where keepNodesWhole is on.");
    given.AddTo(verb, "manifests: files, folders, or - for standard input")->required();
    verb.add_option("--pod", pod, "the pod, as NAMESPACE/NAME or NAME")->required();
    AddConfig(verb, &config_files);
    output.AddTo(verb);
    verb.add_option("--report", report, "write the answer as a page into this file, as HTML")->type_name("FILE");
    verb.final_callback([this, exit_code] { *exit_code = Go(); });
  }

  int Go() {
    if (const auto once = given.CheckStandardInput(config_files); !once)
      return RefuseValue("evaluate", once.error().message);
    auto config = app::LoadWholeConfig(config_files);
    if (!config) return Refuse("evaluate", config.error().message);
    const auto profiles = app::MakeProfiles(*config, app::OfflineSchedulerNames());
    if (!profiles) return Refuse("evaluate", profiles.error().message);
    app::NoteExtendersAreNotAsked(&*config);
    app::ShowNotes(config->notes);
    auto manifests = given.Load();
    if (!manifests) return Refuse("evaluate", manifests.error().message);
    if (const auto checked = app::CheckQuantities(*manifests); !checked)
      return Refuse("evaluate", checked.error().message);
    auto objects = app::PrepareToEvaluate(*std::move(manifests));
    if (!objects) return Refuse("evaluate", objects.error().message);
    const size_t slash = pod.find('/');
    const std::string ns = slash == std::string::npos ? "default" : pod.substr(0, slash);
    const auto result =
        app::Evaluate(*std::move(objects), *profiles, ns, slash == std::string::npos ? pod : pod.substr(slash + 1));
    if (!result) return Refuse("evaluate", result.error().message);
    if (!report.empty())
      if (const base::Status written = app::WriteFile(report, app::EvaluationReport(*result)); !written)
        return Refuse("evaluate", "--report: " + written.error().message);
    return Show("evaluate", output.Render(*result, app::EvaluationTable));
  }
};

// -- sim --

struct SimVerb {
  app::SimFlags flags;
  Paths given;
  bool no_scheduler = false;
  KubeRayFlags kuberay;
  app::AroundFlags around;
  app::AutoscalerVerb autoscaler;

  void AddTo(CLI::App& main, int* exit_code) {
    CLI::App& verb = *main.add_subcommand("sim", "Serve an embedded cluster that kubectl talks to");
    verb.footer(
        "An API server in memory, virtual kubelets, the controllers of Deployments, ReplicaSets, Jobs, volumes,\n"
        "RayClusters and RayJobs, and the scheduler. Containers are not run: a pod is Running as soon as it is bound.\n"
        "Without a kubeconfig kubectl looks at the default address by itself.");
    given.AddTo(verb, "manifests to begin with: files, folders, or - for standard input");
    given.AddStrict(verb);
    verb.add_option("--listen", flags.listen, "address; port 0: a free one")->capture_default_str();
    verb.add_option("--kubeconfig-out", flags.kubeconfig_out, "write a kubeconfig for it")->type_name("FILE");
    verb.add_flag("--no-scheduler", no_scheduler, "without a scheduler; run one against it");
    AddConfig(verb, &flags.config_files);
    kuberay.AddTo(verb);
    around.AddTo(verb);
    autoscaler.AddTo(verb, exit_code);
    verb.final_callback([this, exit_code] {
      if (!autoscaler.given()) *exit_code = Go();
    });
  }

  int Go() {
    if (const auto once = given.CheckStandardInput(flags.config_files); !once)
      return RefuseValue("sim", once.error().message);
    auto manifests = given.Load();
    if (!manifests) return Refuse("sim", manifests.error().message);
    const auto ray = kuberay.Parse(*manifests);
    if (!ray) return Refuse("sim", ray.error().message);
    if (const auto parsed = around.Parse(&flags); !parsed)
      return parsed.error().message.starts_with("--") ? RefuseValue("sim", parsed.error().message)
                                                      : Refuse("sim", parsed.error().message);
    flags.kuberay = *ray;
    flags.manifests = *std::move(manifests);
    flags.with_scheduler = !no_scheduler;
    flags.strict_kinds = given.strict;
    app::BlockStopSignals();
    return app::Sim(flags);
  }
};

// -- version --

struct VersionVerb {
  std::string format = "text";

  void AddTo(CLI::App& main, int* exit_code) {
    CLI::App& verb = *main.add_subcommand("version", "Print the version");
    verb.add_option("-o,--output", format, "text, json or yaml")
        ->check(CLI::IsMember({"text", "json", "yaml"}))
        ->capture_default_str();
    verb.final_callback([this, exit_code] { *exit_code = Go(); });
  }
  int Go() const {
    const nlohmann::ordered_json version = {{"version", TUTTI_VERSION}, {"kubernetes", "1.32 to 1.37"}};
    if (format == "json") return Show("version", app::ToJsonText(version));
    if (format == "yaml") return Show("version", app::ToYamlText(version));
    return Show("version", "tutti " TUTTI_VERSION "\n");
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (app::IsCtl(argc, argv)) return app::Ctl(argc, argv);
  CLI::App main(kAbout, "tutti");
  main.footer(kExamples);
  main.set_version_flag("--version", "tutti " TUTTI_VERSION);
  main.require_subcommand(1);
  int exit_code = 0;
  RunVerb run;
  SimulateVerb simulate;
  EvaluateVerb evaluate;
  SimVerb sim;
  VersionVerb version;
  run.AddTo(main, &exit_code);
  simulate.AddTo(main, &exit_code);
  evaluate.AddTo(main, &exit_code);
  sim.AddTo(main, &exit_code);
  const std::vector<std::string> demos = tutti::app::DemoNames();
  std::string story = demos.front();
  CLI::App* demo = main.add_subcommand("demo", "See a gang start whole and another wait whole, narrated");
  demo->add_option("NAME", story, fmt::format("which story: {}", fmt::join(demos, ", ")))->capture_default_str();
  demo->final_callback([&] { exit_code = tutti::app::Demo(story); });
  version.AddTo(main, &exit_code);
  main.add_subcommand("ctl", "Ask a scheduler why gangs wait; the same as kubectl tutti");
  main.failure_message(app::ParseFailure);
  std::vector<std::string> arguments = app::GoArguments(argc, argv);
  app::TurnHelpIntoFlag(arguments);
  if (const std::string wrong = app::UnknownVerb(main, arguments); !wrong.empty()) {
    fmt::print(stderr, "tutti: error: {}\nRun with --help for more information.\n", wrong);
    return kUsage;
  }
  std::ranges::reverse(arguments);  // as CLI11 wants them
  try {
    main.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return main.exit(error) == 0 ? 0 : kUsage;
  }
  return exit_code;
}
