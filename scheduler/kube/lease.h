// SPDX-License-Identifier: Apache-2.0
// LeaderElection on a coordination.k8s.io/v1 Lease, as kube-scheduler does it (client-go tools/leaderelection).
//
// Times are measured on our own monotonic clock only: a holder is taken for gone when its record has not changed for
// lease_duration since we first saw it so, or when a Lease that was seen has been missing for as long. Who waits
// watches the Lease: a change is seen at once, and one that is given up is taken at once; where the watch does not
// work, it is read every few seconds. The loop's thread only.
//
// Invariants
//   (1) `writable` is never told a time later than renew_deadline after the last renewal that succeeded was SENT;
//   (2) no write takes effect after the lease_duration from that instant, so that whoever finds the lease run out has
//       nothing to wait for: the end that others see is never earlier;
//   (3) a lease that was lost is not tried for again: who led on it is on the way out, and would keep a standby from
//       leading.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/json.h"
#include "base/random.h"
#include "kube/loop.h"
#include "kube/retry.h"
#include "kube/transport.h"
#include "kube/watch_parser.h"

namespace tutti::kube {

// REQUIRES: duration > renew deadline > 1.2 * retry period > 0, and a second at least (app/config.h CheckTimes).
struct LeaseOptions {
  std::string ns = "kube-system";
  std::string name = "tutti";
  std::string identity;  // "<host>_<uuid>"
  base::Millis lease_duration_ms = 15'000;
  base::Millis renew_deadline_ms = 10'000;
  base::Millis retry_period_ms = 2'000;
};

class LeaderElection {
 public:
  struct Callbacks {
    // Writes may leave before `until_ms`, and must be over, one way or the other, by `over_ms`; both monotonic.
    std::function<void(base::Millis until_ms, base::Millis over_ms)> writable;
    std::function<void()> won;   // every write of a former holder is over
    std::function<void()> lost;  // once, and the last of all
    // Who holds the lease now; empty: nobody does. May be empty.
    std::function<void(const std::string& holder)> held = nullptr;
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
  void Watch();
  void OnSeen(WatchType type, const WireObject& object);
  void OnRead(const Response& response);
  void OnWritten(const Response& response, base::Millis sent_ms);
  void Observe(base::Json lease);
  void ObserveNone();
  void Write();
  base::Json Spec() const;
  void Won(base::Millis sent_ms);
  void Lose(const std::string& why);
  void Again(base::Millis delay_ms);
  void AgainAfterFailure(const Response& response);
  base::Millis Pause();  // between reads of who waits
  void CheckRenewal();
  void Released();
  void Complain(const std::string& what);
  base::Millis CallTimeout() const;

  const LeaseOptions options_;
  Loop& loop_;
  Transport& transport_;
  base::Random& random_;
  const Callbacks callbacks_;

  base::Json observed_;          // the Lease as last read or written; null: none
  std::string observed_record_;  // its spec, to see it change; empty: none
  base::Millis over_at_ms_ = 0;  // the term of whoever else holds it, or may have held it when it vanished
  std::string holder_;           // as it says, or said
  bool given_up_ = false;        // seen while a request was under way
  Backoff soon_;                 // after failures, where nothing is left to wait for
  bool leading_ = false;
  base::Millis renewed_ms_ = 0;  // the last success was sent then
  RequestId request_ = 0, watch_ = 0;
  std::unique_ptr<WatchParser> parser_;  // of the watch
  TimerId timer_ = 0, deadline_timer_ = 0;
  bool stopping_ = false, asked_to_release_ = false;
  Task released_;
  std::string last_complaint_;
};

// "<hostname>_<uuid>".
std::string MakeIdentity();

}  // namespace tutti::kube
