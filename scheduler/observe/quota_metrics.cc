// SPDX-License-Identifier: Apache-2.0
#include "observe/quota_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "observe/prometheus_text.h"

namespace tutti::observe {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using Labels = std::map<std::string, std::string>;
using Kind = Observer::QuotaStep::Kind;
using State = Observer::QuotaQueue::State;

namespace {

// From a second to a little more than 11 hours, as Kueue has them.
Histogram::BucketBoundaries WaitBuckets() {
  Histogram::BucketBoundaries bounds{1};
  for (double seconds = 2.5; seconds < 41'000; seconds *= 2) bounds.push_back(seconds);
  return bounds;
}

// A tenth of a millisecond to ten seconds. Kueue's begin at 5 ms, which is longer than most attempts take here.
Histogram::BucketBoundaries AttemptBuckets() {
  return {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
}

// "DeactivatedDueToX" is reason "Deactivated", and X what is under it.
std::pair<std::string, std::string> ReasonAndCause(std::string_view word) {
  constexpr std::string_view kDueTo = "DueTo";
  const size_t at = word.find(kDueTo);
  if (at == word.npos) return {std::string(word), ""};
  return {std::string(word.substr(0, at)), std::string(word.substr(at + kDueTo.size()))};
}

// The share of one that borrows with weight 0 is infinite; Kueue shows the largest int64.
double Finite(double share) { return std::min(share, static_cast<double>(std::numeric_limits<int64_t>::max())); }

}  // namespace

struct QuotaMetrics::Families {
  prometheus::Registry& registry;
  explicit Families(prometheus::Registry& in) : registry(in) {}

  Family<Gauge>& Gauges(const char* name, const char* help) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
  }
  Family<Counter>& Counters(const char* name, const char* help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
  }
  Family<Histogram>& Histograms(const char* name, const char* help) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
  }

  // What there is both of ClusterQueues, by the label 'cluster_queue', and of LocalQueues, by 'namespace' and 'name'.
  struct OfQueues {
    Family<Gauge>&pending, &reserving, &admitted, &status, &reservation, &usage;
    Family<Counter>&reserved_total, &admitted_total, &evicted_total;
    Family<Histogram>&reserved_seconds, &admitted_seconds, &checks_seconds, &ready_seconds, &admitted_ready_seconds;
  };
  OfQueues cluster{
      Gauges("kueue_pending_workloads",
             "The number of pending workloads, per 'cluster_queue' and 'status': active or inadmissible."),
      Gauges("kueue_reserving_active_workloads",
             "The number of Workloads that are reserving quota, per 'cluster_queue'."),
      Gauges("kueue_admitted_active_workloads", "The number of admitted Workloads, per 'cluster_queue'."),
      Gauges("kueue_cluster_queue_status",
             "Reports 'cluster_queue' with its 'status' (pending or active): 1 for the status that it has."),
      Gauges("kueue_cluster_queue_resource_reservation",
             "What Workloads with quota have of a ClusterQueue by flavor and resource."),
      Gauges("kueue_cluster_queue_resource_usage",
             "What admitted Workloads have of a ClusterQueue by flavor and resource."),
      Counters("kueue_quota_reserved_workloads_total",
               "The total number of quota reserved workloads per 'cluster_queue'."),
      Counters("kueue_admitted_workloads_total", "The total number of admitted workloads per 'cluster_queue'."),
      Counters("kueue_evicted_workloads_total",
               "The number of evicted workloads per 'cluster_queue', 'reason' and 'underlying_cause'."),
      Histograms(
          "kueue_quota_reserved_wait_time_seconds",
          "The time between a workload was created or requeued until it got quota reservation, per 'cluster_queue'."),
      Histograms("kueue_admission_wait_time_seconds",
                 "The time between a workload was created or requeued until admission, per 'cluster_queue'."),
      Histograms(
          "kueue_admission_checks_wait_time_seconds",
          "The time from when a workload got the quota reservation until admission, per 'cluster_queue'; of those with "
          "admission checks."),
      Histograms(
          "kueue_ready_wait_time_seconds",
          "The time between a workload was created or requeued until its pods were ready, per 'cluster_queue'; with "
          "waitForPodsReady."),
      Histograms("kueue_admitted_until_ready_wait_time_seconds",
                 "The time between a workload was admitted until its pods were ready, per 'cluster_queue'; with "
                 "waitForPodsReady."),
  };
  OfQueues local{
      Gauges("kueue_local_queue_pending_workloads",
             "The number of pending workloads of a LocalQueue, per 'status': active or inadmissible."),
      Gauges("kueue_local_queue_reserving_active_workloads",
             "The number of Workloads of a LocalQueue that are reserving quota."),
      Gauges("kueue_local_queue_admitted_active_workloads", "The number of admitted Workloads of a LocalQueue."),
      Gauges("kueue_local_queue_status",
             "Reports a LocalQueue with its 'active' status (True or False): 1 for the status that it has."),
      Gauges("kueue_local_queue_resource_reservation",
             "What Workloads with quota have through a LocalQueue by flavor and resource."),
      Gauges("kueue_local_queue_resource_usage",
             "What admitted Workloads have through a LocalQueue by flavor and resource."),
      Counters("kueue_local_queue_quota_reserved_workloads_total",
               "The total number of quota reserved workloads of a LocalQueue."),
      Counters("kueue_local_queue_admitted_workloads_total", "The total number of admitted workloads of a LocalQueue."),
      Counters("kueue_local_queue_evicted_workloads_total",
               "The number of evicted workloads of a LocalQueue, per 'reason' and 'underlying_cause'."),
      Histograms("kueue_local_queue_quota_reserved_wait_time_seconds",
                 "The time between a workload of a LocalQueue was created or requeued until it got quota reservation."),
      Histograms("kueue_local_queue_admission_wait_time_seconds",
                 "The time between a workload of a LocalQueue was created or requeued until admission."),
      Histograms(
          "kueue_local_queue_admission_checks_wait_time_seconds",
          "The time from when a workload of a LocalQueue got the quota reservation until admission; of those with "
          "admission checks."),
      Histograms("kueue_local_queue_ready_wait_time_seconds",
                 "The time between a workload of a LocalQueue was created or requeued until its pods were ready; with "
                 "waitForPodsReady."),
      Histograms("kueue_local_queue_admitted_until_ready_wait_time_seconds",
                 "The time between a workload of a LocalQueue was admitted until its pods were ready; with "
                 "waitForPodsReady."),
  };
  Family<Gauge>& nominal =
      Gauges("kueue_cluster_queue_nominal_quota", "The nominal quota of a ClusterQueue by flavor and resource.");
  Family<Gauge>& borrowing =
      Gauges("kueue_cluster_queue_borrowing_limit",
             "How much a ClusterQueue may borrow by flavor and resource; 0 where nothing limits it.");
  Family<Gauge>& lending = Gauges("kueue_cluster_queue_lending_limit",
                                  "How much of its nominal quota a ClusterQueue lends by flavor and resource; 0 where "
                                  "nothing limits it.");
  Family<Gauge>& share = Gauges("kueue_cluster_queue_weighted_share",
                                "What a ClusterQueue borrows of what its cohort lends, in thousandths, of the resource "
                                "of which that is most, divided by its weight.");
  Family<Gauge>& cohort_share =
      Gauges("kueue_cohort_weighted_share",
             "What a Cohort borrows of what its parent lends, in thousandths, of the resource of which that is most, "
             "divided by its weight.");
  Family<Counter>& preempted_total = Counters("kueue_preempted_workloads_total",
                                              "The number of preempted workloads per 'preempting_cluster_queue' and "
                                              "'reason'.");

  Family<Counter>& attempts_total =
      Counters("kueue_admission_attempts_total",
               "The total number of attempts to admit workloads, each of which may try several, per 'result': success, "
               "or inadmissible where no workload was admitted.");
  Family<Histogram>& attempt_seconds = Histograms(
      "kueue_admission_attempt_duration_seconds",
      "How long such an attempt took, per 'result'; of attempts that were made one after the other, their mean.");

  using QueueName = std::pair<std::string, std::string>;  // namespace, or nothing, and name
  template <typename Metric>
  using Members = std::vector<std::pair<Family<Metric>*, Metric*>>;
  // What is shown of one queue.
  struct Shown {
    Members<Gauge> gauges;
    Members<Counter> counters;
    Members<Histogram> waits;
    std::vector<std::string> of;  // its cohorts, flavors and resources
    std::vector<std::string> cohorts;
  };
  std::map<QueueName, Shown> queues;
  struct Cohort {
    Gauge* share;
    int64_t queues;  // that are shown, and below it
  };
  std::map<std::string, Cohort> cohorts;

  template <typename Metric>
  static void RemoveAll(Members<Metric>& members) {
    for (const auto& [family, metric] : std::exchange(members, {})) family->Remove(metric);
  }
  template <typename Metric>
  static void Keep(Members<Metric>& members, Family<Metric>& family, Metric& metric) {
    if (std::ranges::find(members, std::pair(&family, &metric)) == members.end()) members.emplace_back(&family, &metric);
  }

  // What tells how the queue stands now.
  void RemoveGauges(Shown& shown) {
    RemoveAll(shown.gauges);
    for (const std::string& cohort : std::exchange(shown.cohorts, {})) {
      const auto of = cohorts.find(cohort);
      if (--of->second.queues > 0) continue;
      cohort_share.Remove(of->second.share);
      cohorts.erase(of);
    }
  }

  void Remove(const QueueName& name) {
    const auto at = queues.find(name);
    if (at == queues.end()) return;
    RemoveGauges(at->second);
    RemoveAll(at->second.counters);
    RemoveAll(at->second.waits);
    queues.erase(at);
  }

  static Labels LabelsOf(std::string_view ns, std::string_view name) {
    if (ns.empty()) return {{"cluster_queue", std::string(name)}};
    return {{"namespace", std::string(ns)}, {"name", std::string(name)}};
  }

  void Set(const QueueName& name, Family<Gauge>& family, Labels labels, double value) {
    labels.merge(LabelsOf(name.first, name.second));
    Gauge& gauge = family.Add(labels);
    gauge.Set(value);
    Keep(queues[name].gauges, family, gauge);
  }

  void SetShares(const QueueName& name, const Observer::QuotaQueue& queue) {
    const std::string cohort = queue.cohorts.empty() ? "" : queue.cohorts.front().first;
    Set(name, share, {{"cohort", cohort}}, Finite(queue.share));
    std::vector<std::string>& known = queues[name].cohorts;
    for (const auto& [cohort, of] : queue.cohorts) {
      const auto at = cohorts.try_emplace(cohort, Cohort{&cohort_share.Add({{"cohort", cohort}}), 0}).first;
      at->second.share->Set(Finite(of));
      if (std::ranges::find(known, cohort) != known.end()) continue;
      known.push_back(cohort);
      ++at->second.queues;
    }
  }

  void Wait(Family<Histogram>& family, const QueueName& name, double seconds) {
    Histogram& histogram = family.Add(LabelsOf(name.first, name.second), WaitBuckets());
    histogram.Observe(seconds);
    Keep(queues[name].waits, family, histogram);
  }

  void CountIn(OfQueues& families, const QueueName& name, const Observer::QuotaStep& step) {
    Shown& shown = queues[name];
    const Labels queue = LabelsOf(name.first, name.second);
    const auto count = [&shown](Family<Counter>& family, const Labels& labels) {
      Counter& counter = family.Add(labels);
      counter.Increment();
      Keep(shown.counters, family, counter);
    };
    switch (step.kind) {
      case Kind::kReserved:
        count(families.reserved_total, queue);
        return Wait(families.reserved_seconds, name, step.seconds);
      case Kind::kAdmitted:
        count(families.admitted_total, queue);
        Wait(families.admitted_seconds, name, step.seconds);
        if (step.checked_seconds) Wait(families.checks_seconds, name, *step.checked_seconds);
        return;
      case Kind::kEvicted: {
        auto [reason, cause] = ReasonAndCause(step.by ? "Preempted" : step.reason);
        Labels labels = queue;
        labels["reason"] = std::move(reason);
        labels["underlying_cause"] = std::move(cause);
        return count(families.evicted_total, labels);
      }
      case Kind::kReleased: return;
    }
  }
};

QuotaMetrics::QuotaMetrics(prometheus::Registry& registry) : families_(std::make_unique<Families>(registry)) {}
QuotaMetrics::~QuotaMetrics() = default;

void QuotaMetrics::Count(const Observer::QuotaStep& step) {
  Families& f = *families_;
  f.CountIn(f.cluster, {"", std::string(step.queue)}, step);
  if (!step.local.empty()) f.CountIn(f.local, {step.gang.ns, std::string(step.local)}, step);
  if (step.kind == Kind::kEvicted && step.by)
    f.preempted_total
        .Add({{"preempting_cluster_queue", std::string(step.by_queue)}, {"reason", std::string(step.reason)}})
        .Increment();
}

void QuotaMetrics::Count(const Observer::PodsReady& ready) {
  Families& f = *families_;
  const auto wait = [&](Families::OfQueues& families, const Families::QueueName& name) {
    f.Wait(families.ready_seconds, name, ready.seconds);
    f.Wait(families.admitted_ready_seconds, name, ready.admitted_seconds);
  };
  wait(f.cluster, {"", std::string(ready.queue)});
  if (!ready.local.empty()) wait(f.local, {ready.gang.ns, std::string(ready.local)});
}

void QuotaMetrics::Count(const Observer::QuotaAttempts& attempts) {
  const double mean_seconds = attempts.seconds / static_cast<double>(attempts.fruitful + attempts.fruitless);
  const auto count = [&](const char* result, int64_t times) {
    if (times == 0) return;
    families_->attempts_total.Add({{"result", result}}).Increment(static_cast<double>(times));
    Histogram& seconds = families_->attempt_seconds.Add({{"result", result}}, AttemptBuckets());
    for (int64_t i = 0; i < times; ++i) seconds.Observe(mean_seconds);
  };
  count("success", attempts.fruitful);
  count("inadmissible", attempts.fruitless);
}

void QuotaMetrics::Show(const Observer::QuotaQueue& queue) {
  Families& f = *families_;
  const Families::QueueName name(queue.ns, queue.name);
  if (queue.state == State::kGone) return f.Remove(name);
  const bool is_local = !queue.ns.empty(), active = queue.state == State::kActive;
  const std::string cohort = queue.cohorts.empty() ? "" : queue.cohorts.front().first;
  std::vector<std::string> of;
  for (const auto& [above, share] : queue.cohorts) of.push_back(above);
  for (const auto& cell : queue.cells) of.push_back(cell.flavor + "/" + cell.resource);
  Families::Shown& shown = f.queues[name];
  if (shown.of != of) f.RemoveGauges(shown);
  shown.of = std::move(of);

  Families::OfQueues& families = is_local ? f.local : f.cluster;
  f.Set(name, families.pending, {{"status", "active"}}, static_cast<double>(queue.ready));
  f.Set(name, families.pending, {{"status", "inadmissible"}}, static_cast<double>(queue.aside));
  f.Set(name, families.reserving, {}, static_cast<double>(queue.reserving));
  f.Set(name, families.admitted, {}, static_cast<double>(queue.admitted));
  const char* label = is_local ? "active" : "status";
  f.Set(name, families.status, {{label, is_local ? "True" : "active"}}, active ? 1 : 0);
  f.Set(name, families.status, {{label, is_local ? "False" : "pending"}}, active ? 0 : 1);
  for (const auto& cell : queue.cells) {
    Labels labels{{"flavor", cell.flavor}, {"resource", cell.resource}};
    if (!is_local) labels["cohort"] = cohort;
    f.Set(name, families.reservation, labels, AmountOf(cell.resource, cell.reserved));
    f.Set(name, families.usage, labels, AmountOf(cell.resource, cell.used));
    if (is_local) continue;
    f.Set(name, f.nominal, labels, AmountOf(cell.resource, cell.nominal));
    f.Set(name, f.borrowing, labels, AmountOf(cell.resource, cell.borrowing_limit));
    f.Set(name, f.lending, labels, AmountOf(cell.resource, cell.lending_limit));
  }
  if (!is_local) f.SetShares(name, queue);
}

}  // namespace tutti::observe
