// SPDX-License-Identifier: Apache-2.0
// LeaderElection on a coordination.k8s.io/v1 Lease, as kube-scheduler does it (client-go tools/leaderelection).
//
// Times are measured on our own monotonic clock only. A holder is taken for gone when its record did not change for
// lease_duration since we first saw it, or when a Lease that was seen is missing for as long. A standby watches the
// Lease: it sees a change at once, and takes a released Lease at once. If the watch does not work, it reads the Lease
// every few seconds. The loop's thread only.
//
// Invariants
//   (1) `writable` never gets a time later than renew_deadline after the last successful renewal was SENT;
//   (2) no write takes effect after lease_duration from that instant. A process that sees the lease run out need not
//       wait: it never sees the end earlier than that;
//   (3) after a loss this process does not try for the lease again: it is ending, and would keep a standby from
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

// REQUIRES: duration > renew deadline > 1.2 * retry period > 0, and a duration of at least a second (app/config.h
// CheckElection).
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
    // Writes may be sent before `until_ms`, and cannot take effect after `over_ms`; both monotonic.
    std::function<void(base::Millis until_ms, base::Millis over_ms)> writable;
    std::function<void()> won;   // every write of a former holder is over
    std::function<void()> lost;  // once, as the last callback
    // Called with the holder of the lease; an empty name: there is none. The function may be empty.
    std::function<void(const std::string& holder)> held = nullptr;
  };

  LeaderElection(LeaseOptions options, Loop& loop, Transport& transport, base::Random& random, Callbacks callbacks);
  ~LeaderElection();

  void Start();
  // Gives the lease up if it is ours, and runs `done` when that is answered or has failed. Neither `won` nor `lost` is
  // called from then on.
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
  base::Millis Pause();  // between two reads of a standby
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
  std::string observed_record_;  // its spec, to notice changes; empty: none
  base::Millis over_at_ms_ = 0;  // end of the term of another holder, or of one that may have held it when it vanished
  std::string holder_;           // as the Lease says, or said last
  bool given_up_ = false;        // a release was seen while a request was under way
  Backoff soon_;                 // after failures past the end of the term
  bool leading_ = false;
  base::Millis renewed_ms_ = 0;  // when the last successful renewal was sent
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
