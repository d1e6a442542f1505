// SPDX-License-Identifier: Apache-2.0
// Metrics: the content of /metrics. A metric with the meaning of one of kube-scheduler's or Kueue's has its name
// (scheduler_*, kueue_*), so that dashboards and alerts keep working. The others are tutti_*.
//
// The Observer's functions are called on the scheduler's thread, OnAnswer on kube-io, OnReview(), Text() and
// SetLeading() on any. The registry has the mutex.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "observe/decision.h"

namespace tutti::observe {

class Metrics final : public Observer {
 public:
  // `lease_name` is a label of leader_election_master_status, and `host` one of the API server's requests.
  Metrics(std::string_view version, std::string_view lease_name, std::string_view host);
  ~Metrics() override;

  void OnAttempt(std::string_view profile, std::string_view result, int64_t members, double seconds) override;
  void OnBound(double waited_seconds, int64_t attempts) override;
  void OnWhole(double seconds, int64_t members) override;
  void OnUndone(int64_t members) override;
  void OnPreemption(int64_t victims) override;
  void OnFilledUp() override;
  void OnFlushed(const model::GangKey& gang, bool placed) override;
  void OnQuota(const QuotaStep& step) override;
  void OnPodsReady(const PodsReady& ready) override;
  void OnQuotaAttempts(const QuotaAttempts& attempts) override;
  void OnQuotaQueue(const QuotaQueue& queue) override;
  // Counts an answer of the API server, `seconds` after the request. Status 0: there was no answer. Negative seconds
  // are not counted: the request was a watch. All calls must be on one thread.
  void OnAnswer(std::string_view method, int status, double seconds);
  // Counts an answer of the webhook that holds jobs: "held", "left", or "refused". Any thread.
  void OnReview(std::string_view answer);
  void OnCycle(double seconds, int64_t events, const Gauges& gauges) override;

  // Sets whether this process leads. Otherwise the metrics of gangs and waiting pods are not shown.
  void SetLeading(bool leading);

  // Renders the metrics in Prometheus' text format 0.0.4.
  std::string Text() const;

 private:
  struct Registry;
  void CountRefused(const std::vector<RefusedPods>& refused);
  std::unique_ptr<Registry> registry_;
};

// The kernel's figures about this process; zeros if /proc cannot be read.
struct ProcessUsage {
  double cpu_seconds = 0;
  double resident_bytes = 0;
  double virtual_bytes = 0;
  double open_files = 0;
  double start_time_seconds = 0;  // since the Unix epoch
};
ProcessUsage ReadProcessUsage();

}  // namespace tutti::observe
