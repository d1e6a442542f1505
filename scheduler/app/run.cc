// SPDX-License-Identifier: Apache-2.0
#include "app/run.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "app/driver.h"
#include "app/pages.h"
#include "app/profiles.h"
#include "app/serving.h"
#include "app/signals.h"
#include "app/view_source.h"
#include "base/log.h"
#include "kube/client.h"
#include "observe/audit_log.h"
#include "observe/metrics.h"
#include "observe/observers.h"

namespace tutti::app {
namespace {

// The time that shutdown adds to the time-out of a write: for the network, and for giving up the lease.
constexpr base::Millis kShutdownSlackMs = 2'000;
// The longest server-side time-out of one write.
constexpr base::Millis kLongestWriteMs = 5'000;
constexpr const char* kOurNamespace = "tutti-system";

int Refuse(const base::Error& error) {
  fmt::print(stderr, "tutti run: error: {}\n", error.message);
  return 1;
}

// Refuses a flag whose value cannot be: the command line is wrong. Of a configuration file the message names the file.
int RefuseValue(const base::Error& error) {
  const bool of_flag = error.message.starts_with('-');
  return Refuse(error) + (of_flag ? 1 : 0);
}

int WriteConfig(const Config& config, const std::string& file) {
  std::ofstream out(file);
  out << ConfigYaml(config);
  out.close();
  if (!out)
    return Refuse(base::Error{base::ErrorCode::kUnavailable,
                              fmt::format("--write-config-to: {}: {}", file, std::strerror(errno))});
  base::LogInfo("the configuration is written", {{"file", file}});
  return 0;
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

void LogStart(const Config& config, const kube::Config& cluster, const core::Options& options) {
  std::vector<std::string> names;
  for (const framework::Profile& profile : options.profiles) names.push_back(profile.scheduler_name);
  base::LogInfo("tutti starts", {{"version", TUTTI_VERSION},
                                 {"server", cluster.server},
                                 {"from", cluster.source},
                                 {"schedulerNames", fmt::format("{}", fmt::join(names, ","))},
                                 {"leaderElect", config.leader_election.leader_elect}});
}

// Chooses the namespace of the Lease, where the configuration names none.
void ChooseNamespace(const kube::Config& cluster, LeaderElectionConfig* election) {
  if (!election->resource_namespace.empty()) return;
  const bool in_pod = cluster.source == "in-cluster" && !cluster.default_namespace.empty();
  election->resource_namespace = in_pod ? cluster.default_namespace : kOurNamespace;
}

// `metrics` must outlive the client.
kube::KubeClient::Options ClientOptionsOf(const Config& config, const core::Options& options,
                                          observe::Metrics& metrics) {
  kube::KubeClient::Options client;
  client.version = TUTTI_VERSION;
  client.in_flight = static_cast<int>(config.max_in_flight);
  client.write_timeout_ms = std::min<base::Millis>(kLongestWriteMs, options.bind_timeout_ms);
  client.on_answer = [&metrics](const kube::Answered& answered) {
    metrics.OnAnswer(kube::Name(answered.method), answered.status, answered.seconds);
  };
  return client;
}

// Makes the client of the extenders; null if none is configured.
std::unique_ptr<kube::ExtenderClient> MakeExtenders(const Config& config, kube::KubeClient& client,
                                                    const base::Clock& clock, Driver& driver) {
  if (config.extenders.empty()) return nullptr;
  const auto read = [&client](const std::string& target) -> base::Result<std::string> {
    auto reply = client.Get(target, kube::Channel::kStream);
    if (!reply) return tl::make_unexpected(reply.error());
    if (reply->status == 200) return std::move(reply->body);
    return base::Fail(base::ErrorCode::kUnavailable,
                      fmt::format("the API server answered with HTTP {}", reply->status));
  };
  return std::make_unique<kube::ExtenderClient>(config.extenders, read, clock, driver);
}

// Makes the options once more: nothing that they hold is used on two threads. REQUIRES: MakeOptions takes `config`.
core::Options OptionsOfReader(Config config) { return *MakeOptions(config, DefaultSchedulerNames()); }

doors::About AboutThis(const base::Clock& clock, const core::Options& options) {
  doors::About about{TUTTI_VERSION, clock.WallMs(), {}};
  for (const framework::Profile& profile : options.profiles) about.scheduler_names.push_back(profile.scheduler_name);
  return about;
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

// Makes the client take part in the election, or lead without one.
void Lead(const LeaderElectionConfig& election, kube::KubeClient& client) {
  if (election.leader_elect) {
    client.Elect(LeaseOf(election));
  } else {
    client.LeadAlone();
  }
}

// Ends the process at once, as kube-scheduler does.
[[noreturn]] void ExitAtOnce() {
  base::LogError("the lease is lost: another process leads, or the API server cannot be reached");
  std::fflush(nullptr);
  std::_Exit(1);
}

}  // namespace

int Run(const RunFlags& flags) {
  // This memory holds tokens and keys: it must not get into a core file, and no other user may read it.
  prctl(PR_SET_DUMPABLE, 0);
  auto config = EffectiveConfig(flags);
  if (!config) return RefuseValue(config.error());
  if (const base::Status logging = ApplyLogging(flags); !logging) return RefuseValue(logging.error());
  auto options = MakeOptions(*config, DefaultSchedulerNames());
  if (!options) return Refuse(options.error());
  // Checked here so that an error is reported before anything starts; Serving reads it again.
  if (const auto serving = EffectiveServing(flags, &config->notes); !serving) return RefuseValue(serving.error());
  for (const std::string& note : config->notes) base::LogWarn(note);
  if (!flags.write_config_to.empty()) return WriteConfig(*config, flags.write_config_to);
  options->flush_after_ms = core::kFlushAfterMs;
  const auto cluster = kube::LoadConfig({config->client_connection.kubeconfig, flags.context, flags.master});
  if (!cluster) return Refuse(cluster.error());
  if (const base::Status found = kube::FindExecPlugin(*cluster); !found) return Refuse(found.error());
  LeaderElectionConfig& election = config->leader_election;
  ChooseNamespace(*cluster, &election);
  LogStart(*config, *cluster, *options);

  const base::SystemClock clock;
  Driver driver(clock);
  const StopSignals signals([&driver] {
    base::LogInfo("asked to stop: planning no more, waiting for what is under way");
    driver.Stop();
  });
  observe::Metrics metrics(TUTTI_VERSION, election.resource_name, kube::SplitUrl(cluster->server).authority);
  const kube::KubeClient::Options client_options = ClientOptionsOf(*config, *options, metrics);
  kube::KubeClient client(*cluster, client_options, clock, driver);
  const base::Millis drain_ms = options->bind_timeout_ms + kShutdownSlackMs;
  observe::AuditLog log(clock);
  observe::History history(clock);
  QuestionReader reader(OptionsOfReader(*config), config->dialects, clock);
  const std::string scheduler_name = SettingsOf(options->profiles, config->dialects).scheduler_names.front();
  ViewSource source(driver.views(), history, reader, AboutThis(clock, *options),
                    [&driver, &client, &election] { return WhyNotLeading(driver, client, election); });
  observe::Observers observers({&metrics, &log, &history});
  std::unique_ptr<kube::ExtenderClient> extenders = MakeExtenders(*config, client, clock, driver);
  dialects::DialectList all_dialects = dialects::MakeDialects(SettingsOf(options->profiles, config->dialects));
  core::Scheduler scheduler(*std::move(options), std::move(all_dialects), client.writer(), clock, &observers,
                            extenders.get());

  observe::HealthMetrics health;
  doors::Desk desk(source, clock);
  doors::Door door(desk);
  server::Pages pages = MakePages({driver, client, metrics, health, *config, flags, desk, door, scheduler_name});
  auto serving = Serving::Start(flags, std::move(pages), desk, client, clock);
  if (!serving) return Refuse(serving.error());
  client.feed().Start(scheduler.Kinds());
  Lead(election, client);

  const Driver::Ending ending = RunToEnd(driver, scheduler, drain_ms);
  if (ending == Driver::Ending::kLost) ExitAtOnce();
  if (ending == Driver::Ending::kUnfinished)
    base::LogWarn("stopping with writes unanswered; the lease runs out by itself");
  if (extenders) extenders->Stop();
  client.Shutdown(kShutdownSlackMs + client_options.write_timeout_ms);
  serving->reset();  // after the lease is given up, and before the client that its reviews ask is gone
  base::LogInfo("stopped");
  return 0;
}

}  // namespace tutti::app
