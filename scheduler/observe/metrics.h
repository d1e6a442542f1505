// SPDX-License-Identifier: Apache-2.0
// Metrics: what /metrics shows. kube-scheduler's names (scheduler_*) where the meaning is the same, so that its
// dashboards and alerts keep working; tutti_* for what it has no word for.
//
// The Observer's calls come from the scheduler thread, OnAnswer from kube-io; Text() and SetLeading() from any. The
// registry holds the mutex.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "observe/decision.h"

namespace tutti::observe {

class Metrics final : public Observer {
 public:
  // `lease_name` labels leader_election_master_status, `host` the API server's requests.
  Metrics(std::string_view version, std::string_view lease_name, std::string_view host);
  ~Metrics() override;

  void OnAttempt(std::string_view profile, std::string_view result, int64_t members, double seconds) override;
  void OnBound(double waited_seconds, int64_t attempts) override;
  void OnWhole(double seconds, int64_t members) override;
  void OnUndone(int64_t members) override;
  void OnFilledUp() override;
  void OnFlushed(const model::GangKey& gang, bool placed) override;
  // The API server answered `seconds` after it was asked; 0: no status came back. Negative seconds are not counted: a
  // watch. On one thread, whichever.
  void OnAnswer(std::string_view method, int status, double seconds);
  void OnCycle(double seconds, int64_t events, const Gauges& gauges) override;

  // While it does not lead, what only a leader knows is not shown: gangs, and the pods that wait.
  void SetLeading(bool leading);

  // The exposition in Prometheus' text format 0.0.4.
  std::string Text() const;

 private:
  struct Registry;
  void CountRefused(const std::vector<RefusedPods>& refused);
  std::unique_ptr<Registry> registry_;
};

// What the kernel says of this process; zeros where /proc cannot be read.
struct ProcessUsage {
  double cpu_seconds = 0;
  double resident_bytes = 0;
  double virtual_bytes = 0;
  double open_files = 0;
  double start_time_seconds = 0;  // since the Unix epoch
};
ProcessUsage ReadProcessUsage();

}  // namespace tutti::observe
