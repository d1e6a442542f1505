// SPDX-License-Identifier: Apache-2.0
// Network: one process's loop, and its way to the world's API server: requests are lost, delayed, refused and answered
// too late, as the dice say. The product's own leader election and writer run on it.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "kube/loop.h"
#include "kube/transport.h"
#include "sim/api_handler.h"
#include "tests/simulation/checks.h"
#include "tests/simulation/faults.h"

namespace tutti::simulation {

class Network final : public kube::Loop, public kube::Transport {
 public:
  // `done` counts the writes of `process` that took effect, but for those of its lease.
  Network(sim::ApiHandler& api, const base::Clock& clock, Faults& faults, Checks& checks, Plant& plant,
          std::string process, uint64_t& done);

  // Runs what is due and carries what has left, `writes` of them at most; returns how many. `moved` is set if anything
  // happened.
  size_t Turn(size_t writes, bool* moved);
  // The process stands still: what has left arrives.
  size_t Carry(size_t writes);
  // The process has died: what is on its way still arrives, and nobody hears. REQUIRES: who used it is gone.
  void Die();
  // After that: carries what arrives now; returns how many.
  size_t Bury();
  bool Idle() const { return calls_.empty(); }
  std::optional<base::Millis> NextDeadline() const;

  void Post(kube::Task task) override { posted_.push_back(std::move(task)); }
  const base::Clock& clock() const override { return clock_; }
  kube::TimerId After(base::Millis delay_ms, kube::Task task) override;
  void CancelTimer(kube::TimerId id) override;
  kube::RequestId Send(kube::Request request, kube::OnDone done, kube::OnData data) override;
  void Cancel(kube::RequestId id) override;

 private:
  enum class Kind { kLease, kWatch, kRead, kWrite, kBind };
  struct Call {
    kube::Request request;
    kube::OnDone done;
    Kind kind = Kind::kRead;
    sim::Fate fate;
    base::Millis sent_ms = 0, arrives_ms = 0, answered_ms = 0, times_out_ms = 0;
    base::Millis given_up_ms = 0;  // by the API server
    bool carried = false;
    kube::Response response;
  };

  static Kind KindOf(const kube::Request& request);
  void Decide(Call& call);
  void CarryOne(Call& call);
  void OnLease(const std::string& written);
  bool AnswerDue();
  void Sweep();

  sim::ApiHandler& api_;
  const base::Clock& clock_;
  Faults& faults_;
  Checks& checks_;
  Plant& plant_;
  const std::string process_;
  uint64_t& done_;
  std::map<std::pair<base::Millis, kube::TimerId>, kube::Task> timers_;
  std::map<kube::TimerId, base::Millis> timer_at_;
  std::deque<kube::Task> posted_;
  std::map<kube::RequestId, Call> calls_;
  uint64_t last_id_ = 0;
  base::Millis lease_cut_until_ms_ = 0;
  std::optional<base::Millis> lease_over_ms_;  // as the API server holds it; null: it never had one
};

}  // namespace tutti::simulation
