// SPDX-License-Identifier: Apache-2.0
#include "app/sim_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>

#include "app/config_extenders.h"
#include "app/console.h"
#include "app/embedded_cluster.h"
#include "app/output.h"
#include "app/pages.h"
#include "app/profiles.h"
#include "app/signals.h"
#include "app/simulation_notes.h"
#include "app/view_source.h"
#include "base/mailbox.h"
#include "doors/door.h"
#include "doors/visibility.h"
#include "observe/observers.h"
#include "rpc/grpc_server.h"
#include "sim/api/http_server.h"
#include "sim/api/without_effect.h"

namespace tutti::app {
namespace {

constexpr base::Millis kLongestSleepMs = 60'000;
// The most rounds at one instant before requests get a turn.
constexpr size_t kRoundsAtOnce = 100;
// The namespace for the Lease of a `tutti run` against this cluster, as the installation in manifests/ has it.
constexpr const char* kOurNamespace = "tutti-system";

constexpr const char* kVolcano = "scheduling.volcano.sh";
constexpr const char* kSchedulerPlugins = "scheduling.x-k8s.io";

// Returns the group whose PodGroups `kubectl get podgroups` shows. It is Volcano's if KubeRay works with Volcano, or if
// the manifests have objects of Volcano and none of scheduler-plugins.
std::string PreferredGroup(const SimFlags& flags) {
  const auto has = [&](const std::string& group) {
    return std::ranges::any_of(flags.manifests, [&](const sim::Manifest& one) {
      return sim::SplitApiVersion(sim::DigString(one.object, "apiVersion")).group == group ||
             sim::DigString(one.object, "spec", "group") == group;
    });
  };
  const bool volcano =
      flags.kuberay.batch_scheduler == sim::BatchScheduler::kVolcano || (has(kVolcano) && !has(kSchedulerPlugins));
  return volcano ? kVolcano : kSchedulerPlugins;
}

// A flag whose value cannot be is a wrong command line.
int Refuse(const base::Error& error) {
  fmt::print(stderr, "tutti sim: error: {}\n", error.message);
  return error.code == base::ErrorCode::kInvalid && error.message.starts_with("--") ? 2 : 1;
}

base::Result<std::pair<std::string, int>> ParseAddress(const std::string& text) {
  const size_t colon = text.rfind(':');
  int port = -1;
  if (colon != std::string::npos) {
    const char* end = text.data() + text.size();
    if (std::from_chars(text.data() + colon + 1, end, port).ptr != end) port = -1;
  }
  if (port < 0 || port > 65535) {
    return base::Invalid(
        fmt::format("--listen: \"{}\" is no address; write it as 127.0.0.1:8080, or :0 for a free port", text));
  }
  return std::pair(colon == 0 ? std::string("127.0.0.1") : text.substr(0, colon), port);
}

// Returns a URL that a client can use: an address such as 0.0.0.0 is no host to connect to.
std::string UsableUrl(const sim::HttpServer& http, const std::string& host) {
  const bool all = host == "0.0.0.0" || host == "::" || host == "[::]";
  if (!all) return http.url();
  fmt::print(stderr,
             "warning: --listen {}: anyone who reaches this machine may do everything in this cluster; no "
             "credential is asked for\n",
             host);
  return fmt::format("http://127.0.0.1:{}", http.port());
}

void Greet(const SimFlags& flags, const std::string& preferred, const std::string& url, size_t nodes, size_t pods) {
  fmt::print("The embedded cluster serves the Kubernetes API at {} ({} nodes, {} pods{}).\n", url, nodes, pods,
             flags.with_scheduler ? "" : "; no scheduler");
  if (flags.kubeconfig_out.empty()) {
    fmt::print("  kubectl --server {} get nodes,pods\n", url);
  } else {
    fmt::print("  export KUBECONFIG={}\n  kubectl get nodes,pods\n", flags.kubeconfig_out);
  }
  fmt::print("  kubectl get podgroups.{}   # podgroups alone means podgroups.{}\n",
             preferred == kVolcano ? kSchedulerPlugins : kVolcano, preferred);
  if (flags.with_scheduler) fmt::print("  {}/ui/   # the console, in a browser\n", url);
  if (flags.grpc_port != 0) fmt::print("  grpcurl -insecure localhost:{} list   # gRPC\n", flags.grpc_port);
  if (!flags.with_scheduler) fmt::print("  tutti run --leader-elect=false --kubeconfig FILE   # a scheduler for it\n");
  fmt::print("Ctrl-C ends it; nothing is kept.\n");
  std::fflush(stdout);
}

// Answers the pages of `tutti run` that say something of this scheduler; nullopt: it is none of them.
std::optional<sim::BesideAnswer> ShowPage(Views& views, const observe::Metrics& metrics, const std::string& config,
                                          const sim::BesideRequest& request) {
  if (request.path == "/configz") return sim::BesideAnswer{200, server::kJson, config};
  if (request.path == "/metrics") return sim::BesideAnswer{200, server::kPrometheus, metrics.Text()};
  if (request.path != "/debug/decisions") return std::nullopt;
  for (const auto& [name, value] : request.params)
    if (name != "namespace" && name != "name" && name != "since")
      return sim::BesideAnswer{400, server::kText,
                               fmt::format("unknown parameter {}; known are namespace, name, since\n", name)};
  auto page = ShowDecisions(views, "", server::Query(request.params.begin(), request.params.end()));
  return sim::BesideAnswer{page.status, page.status == 200 ? server::kJson : server::kText, std::move(page.body)};
}

// Answers what the scheduler shows, all of it, for here anyone may do everything; and the console.
std::optional<sim::BesideAnswer> ShowDoor(doors::Desk& desk, const sim::BesideRequest& request) {
  if (auto file = ShowConsole(request.path))
    return sim::BesideAnswer{file->status, file->type, std::string(file->body), nullptr, std::move(file->headers)};
  const bool is_visibility = request.path.starts_with(doors::Visibility::kPrefix);
  if (!is_visibility && !request.path.starts_with(doors::Door::kPrefix)) return std::nullopt;
  if (request.method != "GET" && request.method != "POST")
    return sim::BesideAnswer{405, server::kText, "only GET and POST are allowed here\n"};
  if (request.body.size() > server::Folder::kMostBody)
    return sim::BesideAnswer{413, server::kText,
                             fmt::format("a question may have {} bytes\n", server::Folder::kMostBody)};
  const server::FolderRequest asked{
      request.path, server::Query(request.params.begin(), request.params.end()),
      std::make_shared<const server::AllRights>(), request.last_event_id, request.method, request.body};
  server::FolderAnswer answer = is_visibility ? doors::Visibility(desk).Show(asked) : doors::Door(desk).Show(asked);
  sim::BesideAnswer shown{answer.status, answer.type, std::move(answer.body)};
  if (answer.stream)
    shown.pieces = [stream = answer.stream](std::chrono::milliseconds patience) { return stream->Next(patience); };
  return shown;
}

// Here anyone may do everything.
class Anyone final : public server::AccessReview {
 public:
  base::Result<std::optional<server::User>> Authenticate(std::string_view) override {
    return server::User{"anyone", "", {}, {}};
  }
  base::Result<bool> Authorize(const server::User&, std::string_view, std::string_view) override { return true; }
  base::Result<bool> AuthorizeResource(const server::User&, const server::ResourceAccess&) override { return true; }
};

// Serves gRPC at the port of the flag, if there is one. `desk` and `clock` outlive the server.
base::Result<std::unique_ptr<rpc::GrpcServer>> ServeGrpc(const SimFlags& flags, const std::string& host,
                                                         doors::Desk& desk, const base::Clock& clock) {
  if (flags.grpc_port == 0) return nullptr;
  static Anyone anyone;  // without state
  server::ServerOptions options;
  options.bind_address = host.starts_with('[') ? host.substr(1, host.size() - 2) : host;
  options.port = flags.grpc_port;
  return rpc::GrpcServer::Start(options, desk, clock, &anyone);
}

// Runs the cluster's steps whenever the store changes or a timer is due, until `stopped`.
void Serve(EmbeddedCluster& cluster, Views& views, const base::Clock& clock, base::Mailbox<int>& wake,
           const std::atomic<bool>& stopped) {
  while (!stopped) {
    base::Millis wait = 0;
    const bool settled = cluster.RunUntilIdle(kRoundsAtOnce);
    if (cluster.scheduler() != nullptr) views.Serve(*cluster.scheduler());
    if (settled && !views.wanted()) {
      const auto next = cluster.NextDeadline();
      wait = next ? std::clamp<base::Millis>(*next - clock.MonotonicMs(), 0, kLongestSleepMs) : kLongestSleepMs;
    }
    wake.TakeAll(std::chrono::milliseconds(wait));
  }
  views.Close();
}

// `preferred`: see PreferredGroup.
EmbeddedCluster::Options ClusterOptionsOf(const SimFlags& flags, const std::string& preferred) {
  EmbeddedCluster::Options options;
  options.world.kuberay = flags.kuberay;
  options.world.kubelet.stop_ms = flags.pods_stop_ms;
  options.with_takeover = true;
  options.autoscaler = flags.autoscaler;
  options.world.with_upstream_gangs = flags.with_upstream_gangs;
  options.world.preferred_group = preferred;
  options.strict_kinds = flags.strict_kinds;
  return options;
}

// The names of the schedulers that decide here; none: the one that runs against this cluster decides.
std::vector<std::string> NamesServed(const SimFlags& flags, const core::Options& options) {
  std::vector<std::string> served;
  if (flags.with_scheduler)
    for (const framework::Profile& profile : options.profiles) served.push_back(profile.scheduler_name);
  return served;
}

void EnsureOurNamespace(sim::Store& store) {
  if (store.Find(sim::kNamespaces, "", kOurNamespace)) return;
  (void)store.Create({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", kOurNamespace}}}});
}

// Writes the file of --kubeconfig-out, if one is asked for.
base::Status WriteKubeconfig(const SimFlags& flags, const std::string& url) {
  if (flags.kubeconfig_out.empty()) return {};
  const base::Status written = WriteFile(flags.kubeconfig_out, sim::KubeconfigFor(url));
  if (written) return {};
  return base::Fail(written.error().code, "--kubeconfig-out: " + written.error().message);
}

// The configuration as it is used, and what follows from it for the core. Shows its notes.
base::Result<std::pair<Config, core::Options>> LoadSetup(const SimFlags& flags) {
  auto config = LoadWholeConfig(flags.config_files);
  if (!config) return tl::make_unexpected(config.error());
  auto options = MakeOptions(*config, OfflineSchedulerNames());
  if (!options) return tl::make_unexpected(options.error());
  options->flush_after_ms = core::kFlushAfterMs;
  NoteExtendersAreNotAsked(&*config);
  ShowNotes(config->notes);
  return std::pair(*std::move(config), *std::move(options));
}

}  // namespace

int Sim(SimFlags flags) {
  const auto address = ParseAddress(flags.listen);
  if (!address) return Refuse(address.error());
  auto setup = LoadSetup(flags);
  if (!setup) return Refuse(setup.error());
  auto& [config, core_options] = *setup;
  const std::string config_text = ConfigJson(config);
  const base::SystemClock clock;
  const std::string preferred = PreferredGroup(flags);
  EmbeddedCluster::Options options = ClusterOptionsOf(flags, preferred);
  const std::vector<std::string> served = NamesServed(flags, core_options);
  if (flags.with_scheduler) {
    options.scheduler = std::move(core_options);
    options.dialects = config.dialects;
  }
  observe::History history(clock);
  observe::Metrics metrics(TUTTI_VERSION, "", "");
  metrics.SetLeading(true);
  observe::Observers observers({&history, &metrics});
  options.observer = &observers;
  EmbeddedCluster cluster(clock, std::move(options));
  if (const base::Status loaded = cluster.Load(std::move(flags.manifests)); !loaded) return Refuse(loaded.error());
  ShowNotes(cluster.NotesOfLoading());
  ShowNotes(SimulationNotes(cluster.store(), served));
  EnsureOurNamespace(cluster.store());
  sim::Door door(cluster.store());
  cluster.SetDoor(&door);

  base::Mailbox<int> wake;
  std::atomic<bool> stopped = false;
  const StopSignals signals([&] {
    stopped = true;
    wake.Wake();
  });
  Views views([&wake] { wake.Wake(); });
  QuestionReader reader(*MakeOptions(config, OfflineSchedulerNames()), config.dialects, clock);
  ViewSource source(views, history, reader, {TUTTI_VERSION, clock.WallMs(), served}, [on = flags.with_scheduler] {
    return on ? "" : "this cluster has no scheduler of its own (--no-scheduler)";
  });
  doors::Desk desk(source, clock);
  const int64_t subscription = cluster.store().Subscribe([&wake](const sim::WatchEvent&) { wake.Wake(); });
  const size_t nodes = cluster.store().Count(sim::kNodes), pods = cluster.store().Count(sim::kPods);
  sim::HttpServer http(
      door,
      [served](const auto& resource, const auto& object) { return sim::WithoutEffect(resource, object, served); },
      [&](const sim::BesideRequest& request) {
        auto page = flags.with_scheduler ? ShowPage(views, metrics, config_text, request) : std::nullopt;
        return page ? page : ShowDoor(desk, request);
      });
  if (const base::Status started = http.Start(address->first, address->second); !started)
    return Refuse(
        {started.error().code, started.error().message + "; choose another address with --listen, such as :0"});
  const auto grpc = ServeGrpc(flags, address->first, desk, clock);
  if (!grpc) return Refuse(grpc.error());
  const std::string url = UsableUrl(http, address->first);
  if (const base::Status written = WriteKubeconfig(flags, url); !written) return Refuse(written.error());
  Greet(flags, preferred, url, nodes, pods);
  Serve(cluster, views, clock, wake, stopped);
  http.Stop();
  cluster.store().Unsubscribe(subscription);
  return 0;
}

}  // namespace tutti::app
