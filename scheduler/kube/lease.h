// SPDX-License-Identifier: Apache-2.0
// LeaderElection on a coordination.k8s.io/v1 Lease, as kube-scheduler does it (client-go tools/leaderelection).
//
// Times are measured on our own monotonic clock only: a holder is taken for gone when its record has not changed for
// lease_duration since we first saw it so. The loop's thread only.
//
// Invariants
//   (1) `writable` is never told a time later than renew_deadline after the last renewal that succeeded was SENT;
//   (2) no write of the former holder outlives the time that `won` is told: the end of its lease as we saw it, and the
//       server-side timeout of a write sent at that moment.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "base/random.h"
#include "kube/loop.h"
#include "kube/transport.h"

namespace tutti::kube {

struct LeaseOptions {
  std::string ns = "kube-system";
  std::string name = "tutti";
  std::string identity;  // "<host>_<uuid>"
  base::Millis lease_duration_ms = 15'000;
  base::Millis renew_deadline_ms = 10'000;
  base::Millis retry_period_ms = 2'000;
  base::Millis former_write_timeout_ms = 5'500;  // what a former holder's last write may take

  // kInvalid names the field: duration > renew deadline > 1.2 * retry period > 0.
  base::Status Check() const;
};

class LeaderElection {
 public:
  struct Callbacks {
    std::function<void(base::Millis until_ms)> writable;   // monotonic
    std::function<void(base::Millis former_over_ms)> won;  // monotonic; not after now if there is nothing to wait for
    std::function<void()> lost;
  };

  LeaderElection(LeaseOptions options, Loop& loop, Transport& transport, base::Random& random, Callbacks callbacks);
  ~LeaderElection();

  void Start();
  // Gives the lease up, if it is ours, and runs `done` once that is answered or cannot be. Neither won nor
  // lost is called from then on.
  void Release(Task done);

  bool leading() const { return leading_; }

 private:
  void Try();
  void Ask();
  void OnRead(Response response);
  void OnWritten(Response response, base::Millis sent_ms);
  void Observe(const nlohmann::json& lease);
  void Write(bool create);
  nlohmann::json Spec() const;
  void Won(base::Millis sent_ms);
  void Lose(const std::string& why);
  void Again(base::Millis delay_ms);
  void CheckRenewal();
  void Released();
  void Complain(const std::string& what);
  base::Millis CallTimeout() const;

  const LeaseOptions options_;
  Loop& loop_;
  Transport& transport_;
  base::Random& random_;
  const Callbacks callbacks_;

  nlohmann::json observed_;          // the Lease as last read or written; null: none
  std::string observed_record_;      // its spec, to see it change
  base::Millis observed_at_ms_ = 0;  // when that was first seen
  base::Millis free_at_ms_ = 0;      // when the former holder's last write is over
  bool leading_ = false;
  base::Millis renewed_ms_ = 0;  // the last success was sent then
  RequestId request_ = 0;
  TimerId timer_ = 0, deadline_timer_ = 0;
  bool stopping_ = false, asked_to_release_ = false;
  Task released_;
  std::string last_complaint_;
};

// "<hostname>_<uuid>".
std::string MakeIdentity();

}  // namespace tutti::kube
