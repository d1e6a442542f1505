// SPDX-License-Identifier: Apache-2.0
#include "observe/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "observe/quota_metrics.h"

namespace tutti::observe {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using Buckets = Histogram::BucketBoundaries;

// The largest value of the label `attempts`; more are "15+".
constexpr size_t kMostAttempts = 15;

// Metrics that only a leader shows, so that a sum over replicas does not count twice.
constexpr std::string_view kOfLeaders[] = {"tutti_gangs", "scheduler_pending_pods", "scheduler_unschedulable_pods"};

// Makes the buckets first, 2·first, 4·first, ..., as in kube-scheduler.
Buckets Doubling(double first, int count) {
  Buckets out;
  for (int i = 0; i < count; ++i, first *= 2) out.push_back(first);
  return out;
}

Family<Counter>& NewCounters(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}
Family<Gauge>& NewGauges(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
}
Family<Histogram>& NewHistograms(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
}

}  // namespace

struct Metrics::Registry {
  struct Attempt {
    Counter* pods;
    Counter* gangs;
    Histogram* seconds;
  };

  prometheus::Registry registry;

  Family<Counter>& attempts =
      NewCounters(registry, "scheduler_schedule_attempts_total",
                  "Number of attempts to schedule pods, by the result. Each pod of a gang counts.");
  Family<Histogram>& attempt_seconds =
      NewHistograms(registry, "scheduler_scheduling_attempt_duration_seconds",
                    "Scheduling attempt latency in seconds (of the whole gang; without the bind).");
  Histogram& algorithm_seconds = NewHistograms(registry, "scheduler_scheduling_algorithm_duration_seconds",
                                               "Scheduling algorithm latency in seconds (of the whole gang).")
                                     .Add({}, Doubling(0.001, 15));
  Histogram& pod_attempts =
      NewHistograms(registry, "scheduler_pod_scheduling_attempts", "Number of attempts to successfully schedule a pod.")
          .Add({}, Doubling(1, 5));
  Counter& preemptions =
      NewCounters(registry, "scheduler_preemption_attempts_total", "Total preemption attempts in the cluster till now")
          .Add({});
  Histogram& preemption_victims =
      NewHistograms(registry, "scheduler_preemption_victims", "Number of selected preemption victims")
          .Add({}, Doubling(1, 7));
  Family<Gauge>& unschedulable_pods = NewGauges(
      registry, "scheduler_unschedulable_pods",
      "Pods that wait, by each plugin that refused them; Queue: their queue did. A pod counts once for each.");

  Family<Histogram>& pod_sli = NewHistograms(
      registry, "scheduler_pod_scheduling_sli_duration_seconds",
      "E2e latency for a pod being scheduled, from its creation, or the end of its last scheduling gate, to its bind.");

  Family<Gauge>& pending = NewGauges(registry, "scheduler_pending_pods", "Number of pending pods, by the queue type.");
  Gauge& active = pending.Add({{"queue", "active"}});
  Gauge& backoff =
      pending.Add({{"queue", "backoff"}});  // always 0: a gang that cannot start waits for an event, not for a time
  Gauge& unschedulable = pending.Add({{"queue", "unschedulable"}});
  Gauge& gated = pending.Add({{"queue", "gated"}});

  Family<Gauge>& cache = NewGauges(registry, "scheduler_cache_size",
                                   "Number of nodes, pods, and assumed (bound) pods in the scheduler cache.");
  Gauge& cache_nodes = cache.Add({{"type", "nodes"}});
  Gauge& cache_pods = cache.Add({{"type", "pods"}});
  Gauge& cache_assumed = cache.Add({{"type", "assumed_pods"}});

  Gauge& leading;

  Family<Counter>& gang_attempts =
      NewCounters(registry, "tutti_gang_attempts_total", "Number of attempts to place a gang, by the result.");
  Family<Gauge>& gangs = NewGauges(registry, "tutti_gangs", "Number of gangs, by state.");
  Gauge& gangs_waiting = gangs.Add({{"state", "waiting"}});
  Gauge& gangs_binding = gangs.Add({{"state", "binding"}});
  Gauge& gangs_whole = gangs.Add({{"state", "whole"}});
  Histogram& whole_seconds = NewHistograms(registry, "tutti_gang_start_duration_seconds",
                                           "From when all of a gang's minimum existed until it was whole.")
                                 .Add({}, Doubling(0.01, 20));
  Counter& whole_members =
      NewCounters(registry, "tutti_gang_members_started_total", "Members of gangs that became whole.").Add({});
  Counter& undone =
      NewCounters(registry, "tutti_gangs_undone_total", "Gangs whose half-done start was undone.").Add({});
  Counter& undone_members = NewCounters(registry, "tutti_gang_members_undone_total",
                                        "Bound members that were undone because their gang could not be completed.")
                                .Add({});
  Counter& filled_up =
      NewCounters(registry, "tutti_gang_members_filled_up_total",
                  "Members bound to gangs that were whole already: above the minimum, or in the place of lost ones.")
          .Add({});

  Family<Counter>& flushed = NewCounters(
      registry, "tutti_gangs_flushed_total",
      "Gangs that waited for long and were tried again though nothing had happened, by the result. One that was placed "
      "should have been woken before.");
  Counter& flushed_placed = flushed.Add({{"result", "scheduled"}});
  Counter& flushed_refused = flushed.Add({{"result", "unschedulable"}});

  Family<Counter>& reviews =
      NewCounters(registry, "tutti_kueue_webhook_reviews_total",
                  "AdmissionReviews of new jobs and Pods: held, left as they are, or refused as no such review.");
  Family<Counter>& requests = NewCounters(registry, "rest_client_requests_total",
                                          "Number of HTTP requests, partitioned by status code, method, and host. A "
                                          "watch counts when it ends.");
  Family<Histogram>& request_seconds = NewHistograms(registry, "rest_client_request_duration_seconds",
                                                     "Request latency in seconds, by verb and host. Without watches.");

  Histogram& cycle_seconds = NewHistograms(registry, "tutti_cycle_duration_seconds", "Time of one scheduling cycle.")
                                 .Add({}, Doubling(0.00001, 20));
  Counter& events = NewCounters(registry, "tutti_events_total", "Cluster events that were applied.").Add({});
  Gauge& rankings = NewGauges(registry, "tutti_rankings", "Node rankings kept, one per class of pods.").Add({});
  Gauge& ranking_bytes = NewGauges(registry, "tutti_ranking_bytes", "Memory of the node rankings.").Add({});

  Counter& cpu_seconds =
      NewCounters(registry, "process_cpu_seconds_total", "Total user and system CPU time spent in seconds.").Add({});
  Gauge& resident = NewGauges(registry, "process_resident_memory_bytes", "Resident memory size in bytes.").Add({});
  Gauge& virtual_bytes = NewGauges(registry, "process_virtual_memory_bytes", "Virtual memory size in bytes.").Add({});
  Gauge& open_files = NewGauges(registry, "process_open_fds", "Number of open file descriptors.").Add({});
  Gauge& start_time =
      NewGauges(registry, "process_start_time_seconds", "Start time of the process since unix epoch in seconds.")
          .Add({});

  // Caches, because each look-up by labels makes a map of strings. Scheduler's thread only.
  std::map<std::pair<std::string, std::string>, Attempt, std::less<>> by_attempt;
  std::array<Histogram*, kMostAttempts + 1> by_attempts{};  // null: none yet
  // OnAnswer's thread only.
  std::map<std::pair<std::string, int>, Counter*, std::less<>> by_answer;
  std::map<std::string, Histogram*, std::less<>> by_verb;
  // Scheduler thread only: by plugin and profile.
  std::map<std::pair<std::string, std::string>, Gauge*> by_plugin;
  QuotaMetrics quota{registry};
  std::atomic<bool> leads = false;
  const std::string host;

  Registry(std::string_view lease_name, std::string_view server)
      : leading(NewGauges(registry, "leader_election_master_status", "Gauge of if the reporting system is the leader.")
                    .Add({{"name", std::string(lease_name)}})),
        host(server) {}

  Attempt& Of(std::string_view profile, std::string_view result) {
    std::pair<std::string, std::string> key(profile, result);
    const auto found = by_attempt.find(key);
    if (found != by_attempt.end()) return found->second;
    const std::map<std::string, std::string> labels{{"profile", key.first}, {"result", key.second}};
    const Attempt made{&attempts.Add(labels), &gang_attempts.Add(labels),
                       &attempt_seconds.Add(labels, Doubling(0.001, 15))};
    return by_attempt.emplace(std::move(key), made).first->second;
  }
};

Metrics::Metrics(std::string_view version, std::string_view lease_name, std::string_view host)
    : registry_(std::make_unique<Registry>(lease_name, host)) {
  NewGauges(registry_->registry, "tutti_build_info", "1, labelled with the version.")
      .Add({{"version", std::string(version)}})
      .Set(1);
}

Metrics::~Metrics() = default;

void Metrics::OnAttempt(std::string_view profile, std::string_view result, int64_t members, double seconds) {
  const Registry::Attempt& attempt = registry_->Of(profile, result);
  attempt.pods->Increment(static_cast<double>(members));
  attempt.gangs->Increment();
  attempt.seconds->Observe(seconds);
  registry_->algorithm_seconds.Observe(seconds);
}

void Metrics::OnBound(double waited_seconds, int64_t attempts) {
  registry_->pod_attempts.Observe(static_cast<double>(std::max<int64_t>(attempts, 1)));
  const auto at = static_cast<size_t>(std::clamp<int64_t>(attempts, 1, kMostAttempts));
  Histogram*& histogram = registry_->by_attempts[at];
  if (histogram == nullptr) {
    const std::string label = std::to_string(at) + (at == kMostAttempts ? "+" : "");
    histogram = &registry_->pod_sli.Add({{"attempts", label}}, Doubling(0.01, 20));
  }
  histogram->Observe(waited_seconds);
}

void Metrics::OnWhole(double seconds, int64_t members) {
  registry_->whole_seconds.Observe(seconds);
  registry_->whole_members.Increment(static_cast<double>(members));
}

void Metrics::OnUndone(int64_t members) {
  registry_->undone.Increment();
  registry_->undone_members.Increment(static_cast<double>(members));
}

void Metrics::OnPreemption(int64_t victims) {
  registry_->preemptions.Increment();
  if (victims > 0) registry_->preemption_victims.Observe(static_cast<double>(victims));
}

void Metrics::OnFlushed(const model::GangKey&, bool placed) {
  (placed ? registry_->flushed_placed : registry_->flushed_refused).Increment();
}

void Metrics::OnQuota(const QuotaStep& step) { registry_->quota.Count(step); }

void Metrics::OnPodsReady(const PodsReady& ready) { registry_->quota.Count(ready); }

void Metrics::OnQuotaAttempts(const QuotaAttempts& attempts) { registry_->quota.Count(attempts); }

void Metrics::OnQuotaQueue(const QuotaQueue& queue) { registry_->quota.Show(queue); }

void Metrics::OnFilledUp() { registry_->filled_up.Increment(); }

void Metrics::OnAnswer(std::string_view method, int status, double seconds) {
  std::pair<std::string, int> key(method, status);
  Counter*& counter = registry_->by_answer[key];
  if (counter == nullptr) {
    const std::string code = status == 0 ? "<error>" : std::to_string(status);
    counter = &registry_->requests.Add({{"code", code}, {"host", registry_->host}, {"method", key.first}});
  }
  counter->Increment();
  if (seconds < 0) return;
  Histogram*& histogram = registry_->by_verb[key.first];
  if (histogram == nullptr)
    histogram = &registry_->request_seconds.Add({{"host", registry_->host}, {"verb", key.first}},
                                                Buckets{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60});
  histogram->Observe(seconds);
}

void Metrics::CountRefused(const std::vector<RefusedPods>& refused) {
  std::map<std::pair<std::string, std::string>, int64_t> pods;
  for (const RefusedPods& some : refused)
    for (const std::string& plugin : some.plugins) pods[{plugin, some.profile}] += some.pods;
  for (const auto& [key, count] : pods) {
    Gauge*& gauge = registry_->by_plugin[key];
    if (gauge == nullptr) gauge = &registry_->unschedulable_pods.Add({{"plugin", key.first}, {"profile", key.second}});
    gauge->Set(static_cast<double>(count));
  }
}

void Metrics::OnCycle(double seconds, int64_t events, const Gauges& now) {
  Registry& r = *registry_;
  r.cycle_seconds.Observe(seconds);
  r.events.Increment(static_cast<double>(events));
  const std::pair<Gauge*, int64_t> values[] = {{&r.active, now.active_pods},
                                               {&r.unschedulable, now.unschedulable_pods},
                                               {&r.gated, now.gated_pods},
                                               {&r.gangs_waiting, now.waiting_gangs},
                                               {&r.gangs_binding, now.binding_gangs},
                                               {&r.gangs_whole, now.whole_gangs},
                                               {&r.cache_nodes, now.nodes},
                                               {&r.cache_pods, now.pods},
                                               {&r.cache_assumed, now.assumed_pods},
                                               {&r.rankings, now.rankings},
                                               {&r.ranking_bytes, now.ranking_bytes}};
  for (const auto& [gauge, value] : values) gauge->Set(static_cast<double>(value));
  if (now.refused != nullptr) CountRefused(*now.refused);
}

void Metrics::OnReview(std::string_view answer) {
  registry_->reviews.Add({{"answer", std::string(answer)}}).Increment();
}

void Metrics::SetLeading(bool leading) {
  registry_->leading.Set(leading ? 1 : 0);
  registry_->leads = leading;
}

std::string Metrics::Text() const {
  const ProcessUsage usage = ReadProcessUsage();
  registry_->cpu_seconds.Increment(usage.cpu_seconds - registry_->cpu_seconds.Value());
  registry_->resident.Set(usage.resident_bytes);
  registry_->virtual_bytes.Set(usage.virtual_bytes);
  registry_->open_files.Set(usage.open_files);
  registry_->start_time.Set(usage.start_time_seconds);
  auto families = registry_->registry.Collect();
  if (!registry_->leads)
    std::erase_if(families, [](const prometheus::MetricFamily& family) {
      return family.name.starts_with("kueue_") || std::ranges::find(kOfLeaders, family.name) != std::end(kOfLeaders);
    });
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace tutti::observe
