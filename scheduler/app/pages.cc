// SPDX-License-Identifier: Apache-2.0
#include "app/pages.h"

#include <absl/strings/numbers.h>
#include <fmt/format.h>

#include <utility>

#include "app/console.h"
#include "app/output.h"
#include "app/pod_resources.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mutex.h"
#include "dialects/kueue/holding.h"
#include "doors/visibility.h"
#include "doors/visibility_openapi.h"
#include "observe/decision_json.h"

namespace tutti::app {
namespace {

using server::PageAnswer;
using server::Query;

// A thread whose loop has stood still for so long is stuck: the kubelet shall start another process.
constexpr base::Millis kStuckMs = 60'000;
// So long after its lease ran out, a leader should have ended.
constexpr base::Millis kOverdueMs = 20'000;

constexpr const char* kForPeople =
    "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is "
    "for debugging purposes only.\n";

server::HealthCheck Turns(std::string thread, std::function<base::Millis()> since_last_turn) {
  return {std::move(thread), [since_last_turn = std::move(since_last_turn)] {
            const base::Millis since = since_last_turn();
            return since < kStuckMs ? "" : fmt::format("its last turn began {} s ago", since / 1000);
          }};
}

std::string LeaseName(const LeaderElectionConfig& election) {
  return fmt::format("{}/{}", election.resource_namespace, election.resource_name);
}

void AddHealth(const PageSources& from, server::Pages* pages) {
  Driver& driver = from.driver;
  kube::KubeClient& client = from.client;
  const server::HealthCheck ping{"ping", [] { return std::string(); }};
  const server::HealthCheck scheduler = Turns("scheduler-thread", [&driver] { return driver.SinceLastCycleMs(); });
  const server::HealthCheck kube_io = Turns("kube-io", [&client] { return client.SinceLastTurnMs(); });
  const server::HealthCheck election{
      "leaderElection", [&client] {
        const base::Millis over = client.LeaseOverdueMs();
        return over < kOverdueMs ? "" : fmt::format("the lease ran out {} s ago", over / 1000);
      }};
  pages->live = {ping, scheduler, kube_io};
  pages->health = {ping, scheduler, kube_io, election};
  pages->ready = {ping,
                  scheduler,
                  kube_io,
                  election,
                  {"sched-handler-sync", [&driver] { return driver.WhyNotSynced(); }},
                  {"shutdown", [&driver] { return driver.stopping() ? "stopping" : ""; }}};
  pages->on_check = [&health = from.health](std::string_view path, std::string_view check, bool well) {
    health.Count(path, check, well);
  };
}

// Answers what the API server asks before it stores a job. One question is read at a time, as that takes far more
// memory than its text.
server::OpenQuestion HoldJobs(observe::Metrics& metrics, std::string scheduler_name) {
  return {kKueueWebhook, [&metrics, name = std::move(scheduler_name),
                          reading = std::make_shared<base::Mutex>()](std::string_view text) {
            const base::MutexLock lock(*reading);
            auto answer = dialects::kueue::AnswerReview(text, name);
            metrics.OnReview(!answer ? "refused" : answer->held ? "held" : "left");
            return answer ? PageAnswer{200, std::move(answer->text)} : PageAnswer{400, answer.error().message + "\n"};
          }};
}

// Writes "5 hr 03 min 20 sec", as kube-scheduler does.
std::string UpTime(int64_t seconds) {
  return fmt::format("{} hr {:02} min {:02} sec", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

std::string StatuszText(const PageSources& from) {
  const auto started_ms = static_cast<base::Millis>(observe::ReadProcessUsage().start_time_seconds * 1000);
  const base::Millis now_ms = base::SystemClock().WallMs();
  const std::string not_leading = WhyNotLeading(from.driver, from.client, from.config.leader_election);
  return fmt::format("\ntutti statusz\n{}\nStarted: {}\nUp: {}\nBinary version: {}\nLeader: {}\n", kForPeople,
                     base::FormatTime(started_ms), UpTime((now_ms - started_ms) / 1000), TUTTI_VERSION,
                     not_leading.empty() ? "this process leads" : not_leading);
}

// Shows what has changed after the sequence number `since`; `ns` and `name` as in Views::Decisions.
PageAnswer ShowChanges(Views& views, const std::string& since, const std::string& ns, const std::string& name) {
  uint64_t sequence = 0;
  if (!absl::SimpleAtoi(since, &sequence))
    return {400, "since must be the \"sequence\" of an earlier answer, a whole number\n"};
  const std::optional<observe::DecisionChanges> changes = views.DecisionsAfter(sequence, ns, name);
  if (!changes)
    return {410, fmt::format("changes after {} are not kept: ask again without since, and go on from its sequence\n",
                             sequence)};
  return {200, ToJsonText(observe::ToJson(*changes))};
}

}  // namespace

std::string WhyNotLeading(const Driver& driver, const kube::KubeClient& client, const LeaderElectionConfig& election) {
  if (driver.leading()) return "";
  if (!election.leader_elect || client.holds_lease()) return "leading, but not everything is listed yet; ask again";
  const std::string holder = client.lease_holder();
  if (holder.empty()) return fmt::format("not the leader, and the Lease {} has no holder yet", LeaseName(election));
  return fmt::format("not the leader; ask {}, which holds the Lease {}", holder, LeaseName(election));
}

std::string FlagzText(const std::map<std::string, std::string>& values) {
  std::string text = fmt::format("\ntutti flagz\n{}", kForPeople);
  for (const auto& [name, value] : values) text += fmt::format("{}={}\n", name, value);
  return text;
}

PageAnswer ShowDecisions(Views& views, const std::string& not_leading, const Query& query) {
  if (!not_leading.empty()) return {503, not_leading + "\n"};
  const std::string ns = server::ValueOf(query, "namespace"), name = server::ValueOf(query, "name");
  if (query.contains("since")) return ShowChanges(views, server::ValueOf(query, "since"), ns, name);
  const std::optional<observe::DecisionChanges> list = views.Decisions(ns, name);
  if (!list) return {503, "the scheduler is too busy to answer; try again\n"};
  if (list->decisions.empty() && !name.empty())
    return {404,
            fmt::format("there is no gang or pod {}{}{} that is scheduled here\n", ns, ns.empty() ? "" : "/", name)};
  return {200, ToJsonText(observe::ToJson(*list))};
}

server::Pages MakePages(const PageSources& from) {
  server::Pages pages;
  AddHealth(from, &pages);
  pages.open = ShowConsole;
  pages.open_at = kConsolePath;
  const auto show = [](auto text) { return [text](const Query&) { return PageAnswer{200, text()}; }; };
  pages.shown = {{"/metrics", server::kPrometheus, show([from] {
                    from.metrics.SetLeading(from.driver.leading());
                    return from.metrics.Text();
                  })},
                 {"/metrics/slis", server::kPrometheus, show([from] { return from.health.Text(); })},
                 // Only the leader shows it, as in kube-scheduler, so that a sum over replicas counts each pod once.
                 {"/metrics/resources", server::kPrometheus, show([from] {
                    const auto pods = from.driver.leading() ? from.driver.views().Pods() : nullptr;
                    return pods ? PodResourcesText(*pods) : "";
                  })},
                 // Only the leader shows it, too.
                 {"/metrics/queues", server::kPrometheus, show([&desk = from.desk] { return desk.QueueMetrics(); })},
                 {"/apis", server::kJson, show(doors::Visibility::Groups)},
                 {doors::kOpenApiPath, server::kJson, show(doors::OpenApiIndex)},
                 {"/configz", server::kJson, show([text = ConfigJson(from.config)] { return text; })},
                 {"/flagz", server::kText, show([text = FlagzText(from.flags.values)] { return text; })},
                 {"/statusz", server::kText, show([from] { return StatuszText(from); })},
                 {"/debug/decisions",
                  server::kJson,
                  [from](const Query& query) {
                    return ShowDecisions(from.driver.views(),
                                         WhyNotLeading(from.driver, from.client, from.config.leader_election), query);
                  },
                  {"namespace", "name", "since"}}};
  for (const std::string_view version : doors::Visibility::kVersions)
    pages.shown.push_back(
        {doors::OpenApiPathOf(version), server::kJson, show([version] { return doors::OpenApiOf(version); })});
  pages.folders = {
      {doors::Door::kPrefix, [&door = from.door](const server::FolderRequest& request) { return door.Show(request); },
       {doors::Door::kWhatIf}},
      {doors::Visibility::kPrefix,
       [visibility = doors::Visibility(from.desk)](const auto& request) { return visibility.Show(request); }}};
  if (from.flags.kueue_webhook) {
    pages.questions = {HoldJobs(from.metrics, from.scheduler_name)};
    base::LogInfo("new jobs of Kueue's queues are held by the webhook", {{"path", kKueueWebhook}});
  }
  return pages;
}

}  // namespace tutti::app
