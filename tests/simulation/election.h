// SPDX-License-Identifier: Apache-2.0
// Election: the product's own leader election (kube/lease.h) of one process, against the world's API server, with a
// loop and a network that the simulation turns.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/random.h"
#include "kube/lease.h"
#include "sim/api_handler.h"
#include "tests/simulation/faults.h"

namespace tutti::simulation {

class Election final : public kube::Loop, public kube::Transport {
 public:
  using Callbacks = kube::LeaderElection::Callbacks;
  Election(sim::ApiHandler& api, const base::Clock& clock, Faults& faults, std::string identity, uint64_t seed,
           Callbacks callbacks);
  ~Election() override;

  void Start() { election_->Start(); }
  void Release(kube::Task done) { election_->Release(std::move(done)); }
  // Carries requests and runs what is due. False: there was nothing.
  bool Turn();
  std::optional<base::Millis> NextDeadline() const;

 private:
  struct Call {
    kube::Request request;
    kube::OnDone done;
    base::Millis arrives_ms, answered_ms, times_out_ms;
    bool carried = false, lost = false;
    kube::Response response;
  };

  void Post(kube::Task task) override { posted_.push_back(std::move(task)); }
  const base::Clock& clock() const override { return clock_; }
  kube::TimerId After(base::Millis delay_ms, kube::Task task) override;
  void CancelTimer(kube::TimerId id) override;
  kube::RequestId Send(kube::Request request, kube::OnDone done, kube::OnData data) override;
  void Cancel(kube::RequestId id) override;
  void Carry(Call& call);
  bool Answer();

  sim::ApiHandler& api_;
  const base::Clock& clock_;
  Faults& faults_;
  base::Random random_;
  std::map<std::pair<base::Millis, kube::TimerId>, kube::Task> timers_;
  std::deque<kube::Task> posted_;
  std::map<kube::RequestId, Call> calls_;
  uint64_t last_id_ = 0;
  std::unique_ptr<kube::LeaderElection> election_;
};

}  // namespace tutti::simulation
