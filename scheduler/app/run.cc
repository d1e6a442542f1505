// SPDX-License-Identifier: Apache-2.0
#include "app/run.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>

#include "app/driver.h"
#include "app/profiles.h"
#include "app/serving.h"
#include "app/signals.h"
#include "base/json.h"
#include "base/log.h"
#include "kube/client.h"
#include "observe/decision_json.h"
#include "observe/metrics.h"

namespace tutti::app {
namespace {

// A thread that has not turned for so long never will: let the kubelet start another process.
constexpr base::Millis kStuckMs = 60'000;
// What a write may take on the way beyond its server-side time-out, and giving the lease up.
constexpr base::Millis kShutdownSlackMs = 2'000;
// The longest server-side time-out of one write.
constexpr base::Millis kLongestWriteMs = 5'000;
constexpr const char* kOurNamespace = "tutti-system";

int Refuse(const base::Error& error) {
  fmt::print(stderr, "tutti run: error: {}\n", error.message);
  return 1;
}

kube::LeaseOptions LeaseOf(const LeaderElectionConfig& config) {
  kube::LeaseOptions lease;
  lease.ns = config.resource_namespace;
  lease.name = config.resource_name;
  lease.identity = kube::MakeIdentity();
  lease.lease_duration_ms = config.lease_duration_ms;
  lease.renew_deadline_ms = config.renew_deadline_ms;
  lease.retry_period_ms = config.retry_period_ms;
  return lease;
}

std::string DecisionsJson(Driver& driver, const std::string& ns, const std::string& name) {
  return observe::ToJson(driver.Decisions(ns, name))
             .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

server::HealthCheck Turns(std::string thread, std::function<base::Millis()> since_last_turn) {
  return {std::move(thread), [since_last_turn = std::move(since_last_turn)] {
            const base::Millis since = since_last_turn();
            return since < kStuckMs ? "" : fmt::format("its last turn began {} s ago", since / 1000);
          }};
}

server::Pages MakePages(Driver& driver, const kube::KubeClient& client, observe::Metrics& metrics,
                        const std::string& config_json) {
  server::Pages pages;
  const server::HealthCheck ping{"ping", [] { return std::string(); }};
  const server::HealthCheck scheduler = Turns("scheduler-thread", [&driver] { return driver.SinceLastCycleMs(); });
  const server::HealthCheck kube_io = Turns("kube-io", [&client] { return client.SinceLastTurnMs(); });
  pages.live = {ping, scheduler, kube_io};
  pages.ready = {
      ping,
      scheduler,
      kube_io,
      {"sched-handler-sync", [&driver] { return driver.synced() ? "" : "not every watched kind is listed yet"; }},
      {"shutdown", [&driver] { return driver.stopping() ? "stopping" : ""; }}};
  pages.metrics = [&driver, &metrics] {
    metrics.SetLeading(driver.leading());
    return metrics.Text();
  };
  pages.configz = [config_json] { return config_json; };
  pages.decisions = [&driver](const std::string& ns, const std::string& name) {
    return DecisionsJson(driver, ns, name);
  };
  return pages;
}

void LogStart(const Config& config, const kube::Config& cluster, const core::Options& options) {
  for (const std::string& note : config.notes) base::LogWarn(note);
  std::vector<std::string> names;
  for (const framework::Profile& profile : options.profiles) names.push_back(profile.scheduler_name);
  base::LogInfo("tutti starts", {{"version", TUTTI_VERSION},
                                 {"server", cluster.server},
                                 {"from", cluster.source},
                                 {"schedulerNames", fmt::format("{}", fmt::join(names, ","))},
                                 {"leaderElect", config.leader_election.leader_elect}});
}

// Null if none is configured.
std::unique_ptr<kube::ExtenderClient> MakeExtenders(const Config& config, kube::KubeClient& client,
                                                    const base::Clock& clock, Driver& driver) {
  if (config.extenders.empty()) return nullptr;
  const auto read = [&client](const std::string& target) -> base::Result<std::string> {
    auto reply = client.Get(target);
    if (!reply) return tl::make_unexpected(reply.error());
    if (reply->status == 200) return std::move(reply->body);
    return base::Fail(base::ErrorCode::kUnavailable,
                      fmt::format("the API server answered with HTTP {}", reply->status));
  };
  return std::make_unique<kube::ExtenderClient>(config.extenders, read, clock, driver);
}

Driver::Ending RunToEnd(Driver& driver, core::Scheduler& scheduler, base::Millis drain_ms) {
  Driver::Ending ending = Driver::Ending::kDrained;
  std::thread thread([&] {
    pthread_setname_np(pthread_self(), "scheduler");
    ending = driver.Run(scheduler, drain_ms);
  });
  thread.join();
  return ending;
}

}  // namespace

int Run(const RunFlags& flags) {
  prctl(PR_SET_DUMPABLE, 0);  // tokens and keys are in this memory: no core file has it, and no other user may read it
  auto config = EffectiveConfig(flags);
  if (!config) return Refuse(config.error());
  auto options = MakeOptions(*config, DefaultSchedulerNames());
  if (!options) return Refuse(options.error());
  const auto cluster = kube::LoadConfig({config->client_connection.kubeconfig, flags.context, flags.master});
  if (!cluster) return Refuse(cluster.error());
  LeaderElectionConfig& election = config->leader_election;
  if (election.resource_namespace.empty()) {
    const bool in_pod = cluster->source == "in-cluster" && !cluster->default_namespace.empty();
    election.resource_namespace = in_pod ? cluster->default_namespace : kOurNamespace;
  }
  LogStart(*config, *cluster, *options);

  const base::SystemClock clock;
  Driver driver(clock);
  const StopSignals signals([&driver] {
    base::LogInfo("asked to stop: planning no more, waiting for what is under way");
    driver.Stop();
  });
  kube::KubeClient::Options client_options;
  client_options.version = TUTTI_VERSION;
  client_options.in_flight = static_cast<int>(config->max_in_flight);
  client_options.write_timeout_ms = std::min<base::Millis>(kLongestWriteMs, options->bind_timeout_ms);
  observe::Metrics metrics(TUTTI_VERSION, election.resource_name, kube::SplitUrl(cluster->server).authority);
  client_options.on_answer = [&metrics](kube::Method method, int status) {
    metrics.OnAnswer(kube::Name(method), status);
  };
  kube::KubeClient client(*cluster, client_options, clock, driver);
  const base::Millis drain_ms = options->bind_timeout_ms + kShutdownSlackMs;
  std::unique_ptr<kube::ExtenderClient> extenders = MakeExtenders(*config, client, clock, driver);
  core::Scheduler scheduler(*std::move(options), dialects::MakeDialects(), client.writer(), clock, &metrics,
                            extenders.get());

  std::unique_ptr<Serving> pages;
  if (flags.secure_serving) {
    auto started = Serving::Start(flags, MakePages(driver, client, metrics, ConfigJson(*config)), client, clock);
    if (!started) return Refuse(started.error());
    pages = *std::move(started);
  }
  client.feed().Start(scheduler.Kinds());
  if (election.leader_elect) {
    client.Elect(LeaseOf(election));
  } else {
    client.LeadAlone();
  }

  const Driver::Ending ending = RunToEnd(driver, scheduler, drain_ms);
  if (ending == Driver::Ending::kLost) {
    base::LogError("the lease is lost: somebody else leads, or the API server cannot be reached");
    // At once, as kube-scheduler ends: nothing is left to do that is worth waiting for.
    std::fflush(nullptr);
    std::_Exit(1);
  }
  if (ending == Driver::Ending::kUnfinished)
    base::LogWarn("stopping with writes unanswered; the lease runs out by itself");
  if (extenders) extenders->Stop();
  client.Shutdown(kShutdownSlackMs + client_options.write_timeout_ms);
  pages.reset();  // after the lease is given up, and before the client that its reviews ask is gone
  base::LogInfo("stopped");
  return 0;
}

}  // namespace tutti::app
