// SPDX-License-Identifier: Apache-2.0
#include "observe/quota_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>

#include <algorithm>
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

// "DeactivatedDueToX" is reason "Deactivated", and X what is under it.
std::pair<std::string, std::string> ReasonAndCause(std::string_view word) {
  constexpr std::string_view kDueTo = "DueTo";
  const size_t at = word.find(kDueTo);
  if (at == word.npos) return {std::string(word), ""};
  return {std::string(word.substr(0, at)), std::string(word.substr(at + kDueTo.size()))};
}

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
  Family<Histogram>& Waits(const char* name, const char* help) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
  }

  Family<Gauge>& pending = Gauges("kueue_pending_workloads",
                                  "The number of pending workloads, per 'cluster_queue' and 'status': active or "
                                  "inadmissible.");
  Family<Gauge>& reserving = Gauges("kueue_reserving_active_workloads",
                                    "The number of Workloads that are reserving quota, per 'cluster_queue'.");
  Family<Gauge>& admitted =
      Gauges("kueue_admitted_active_workloads", "The number of admitted Workloads, per 'cluster_queue'.");
  Family<Gauge>& status = Gauges("kueue_cluster_queue_status",
                                 "Reports 'cluster_queue' with its 'status' (pending or active): 1 for "
                                 "the status that it has.");
  Family<Gauge>& nominal =
      Gauges("kueue_cluster_queue_nominal_quota", "The nominal quota of a ClusterQueue by flavor and resource.");
  Family<Gauge>& reservation = Gauges("kueue_cluster_queue_resource_reservation",
                                      "What Workloads with quota have of a ClusterQueue by flavor and resource.");
  Family<Gauge>& usage = Gauges("kueue_cluster_queue_resource_usage",
                                "What admitted Workloads have of a ClusterQueue by flavor and resource.");
  Family<Counter>& reserved_total = Counters("kueue_quota_reserved_workloads_total",
                                             "The total number of quota reserved workloads per 'cluster_queue'.");
  Family<Counter>& admitted_total =
      Counters("kueue_admitted_workloads_total", "The total number of admitted workloads per 'cluster_queue'.");
  Family<Counter>& evicted_total = Counters("kueue_evicted_workloads_total",
                                            "The number of evicted workloads per 'cluster_queue', 'reason' and "
                                            "'underlying_cause'.");
  Family<Counter>& preempted_total = Counters("kueue_preempted_workloads_total",
                                              "The number of preempted workloads per 'preempting_cluster_queue' and "
                                              "'reason'.");
  Family<Histogram>& reserved_seconds =
      Waits("kueue_quota_reserved_wait_time_seconds",
            "The time between a workload was created or requeued until it got quota reservation, per 'cluster_queue'.");
  Family<Histogram>& admitted_seconds =
      Waits("kueue_admission_wait_time_seconds",
            "The time between a workload was created or requeued until admission, per 'cluster_queue'.");

  // What is shown of one queue.
  struct Shown {
    std::vector<std::pair<Family<Gauge>*, Gauge*>> gauges;
    std::vector<std::string> cells;  // of which flavors and resources
  };
  std::map<std::string, Shown, std::less<>> queues;

  void Remove(std::string_view name) {
    const auto at = queues.find(name);
    if (at == queues.end()) return;
    for (const auto& [family, gauge] : at->second.gauges) family->Remove(gauge);
    queues.erase(at);
  }

  void Set(const std::string& name, Family<Gauge>& family, Labels labels, double value) {
    labels["cluster_queue"] = name;
    Gauge& gauge = family.Add(labels);
    gauge.Set(value);
    std::vector<std::pair<Family<Gauge>*, Gauge*>>& gauges = queues[name].gauges;
    if (std::ranges::find(gauges, std::pair(&family, &gauge)) == gauges.end()) gauges.emplace_back(&family, &gauge);
  }
};

QuotaMetrics::QuotaMetrics(prometheus::Registry& registry) : families_(std::make_unique<Families>(registry)) {}
QuotaMetrics::~QuotaMetrics() = default;

void QuotaMetrics::Count(const Observer::QuotaStep& step) {
  Families& f = *families_;
  const Labels queue{{"cluster_queue", std::string(step.queue)}};
  switch (step.kind) {
    case Kind::kReserved:
      f.reserved_total.Add(queue).Increment();
      return f.reserved_seconds.Add(queue, WaitBuckets()).Observe(step.seconds);
    case Kind::kAdmitted:
      f.admitted_total.Add(queue).Increment();
      return f.admitted_seconds.Add(queue, WaitBuckets()).Observe(step.seconds);
    case Kind::kEvicted: {
      auto [reason, cause] = ReasonAndCause(step.by ? "Preempted" : step.reason);
      Labels labels = queue;
      labels["reason"] = std::move(reason);
      labels["underlying_cause"] = std::move(cause);
      f.evicted_total.Add(labels).Increment();
      if (step.by)
        f.preempted_total
            .Add({{"preempting_cluster_queue", std::string(step.by_queue)}, {"reason", std::string(step.reason)}})
            .Increment();
      return;
    }
    case Kind::kReleased: return;
  }
}

void QuotaMetrics::Show(const Observer::QuotaQueue& queue) {
  Families& f = *families_;
  if (queue.state == State::kGone) return f.Remove(queue.name);
  const std::string name(queue.name);
  std::vector<std::string> cells;
  for (const auto& cell : queue.cells) cells.push_back(cell.flavor + "/" + cell.resource);
  if (const auto shown = f.queues.find(name); shown != f.queues.end() && shown->second.cells != cells) f.Remove(name);
  f.queues[name].cells = std::move(cells);
  f.Set(name, f.pending, {{"status", "active"}}, static_cast<double>(queue.ready));
  f.Set(name, f.pending, {{"status", "inadmissible"}}, static_cast<double>(queue.aside));
  f.Set(name, f.reserving, {}, static_cast<double>(queue.reserving));
  f.Set(name, f.admitted, {}, static_cast<double>(queue.admitted));
  f.Set(name, f.status, {{"status", "active"}}, queue.state == State::kActive ? 1 : 0);
  f.Set(name, f.status, {{"status", "pending"}}, queue.state == State::kStopped ? 1 : 0);
  for (const auto& cell : queue.cells) {
    const Labels of{{"flavor", cell.flavor}, {"resource", cell.resource}};
    f.Set(name, f.nominal, of, AmountOf(cell.resource, cell.nominal));
    f.Set(name, f.reservation, of, AmountOf(cell.resource, cell.reserved));
    f.Set(name, f.usage, of, AmountOf(cell.resource, cell.used));
  }
}

}  // namespace tutti::observe
