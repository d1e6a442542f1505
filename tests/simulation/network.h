// SPDX-License-Identifier: Apache-2.0
// Network: one process's loop, and its way to the world's API server. As the dice say, requests are lost, delayed,
// refused or answered too late, and watches are cut, fall silent or expire. The product's own leader election and
// writer run on it; its reflectors do if the scenario says so.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/random.h"
#include "kube/loop.h"
#include "kube/transport.h"
#include "sim/api/api_handler.h"
#include "sim/api/watch_stream.h"
#include "tests/simulation/checks.h"
#include "tests/simulation/faults.h"

namespace tutti::simulation {

class Network final : public kube::Loop, public kube::Transport {
 public:
  struct Parts {
    sim::Store& store;
    sim::ApiHandler& api;
    const base::Clock& clock;
    Faults& faults;
    Checks& checks;
    Plant& plant;
    std::string process;
    uint64_t& done;        // counts the writes of `process` that took effect, but for those of its lease
    bool watches = false;  // whether watches are answered; else nothing comes back for them
    std::function<void(const std::string&)> note = nullptr;  // of a run with a trace: is told what goes wrong
  };
  explicit Network(Parts parts);

  // Runs what is due, and carries the requests that have left, at most `writes` of them. Returns how many. Sets `moved`
  // if anything happened.
  size_t Turn(size_t writes, bool* moved);
  // Carries the requests that have left, while the process stands still.
  size_t Carry(size_t writes);
  // Lets the process die: its requests still arrive, but no answer is heard. REQUIRES: its user is gone.
  void Die();
  // Carries, after that, the requests that arrive now. Returns how many.
  size_t Bury();
  bool Idle() const { return calls_.empty(); }
  // Tells whether the process has been told of a Lease since the last one was deleted.
  bool knows_lease() const { return knows_lease_; }
  void ForgetLease() { knows_lease_ = false; }
  std::optional<base::Millis> NextDeadline() const;

  // Returns the last watch of a collection, by its path; 0 until there is one. The reference stays valid: a caller that
  // asks often keeps it.
  const kube::RequestId& LastWatch(const std::string& path) { return watches_[path]; }
  // Returns the version up to which all changes of what is watched have been handed over; empty if the watch is not
  // open, or nothing comes through it.
  std::optional<Version> Covered(kube::RequestId watch) const;
  // Breaks the watch's connection, perhaps in the middle of an event. There is no other until Restore.
  void Cut(const std::string& path, base::Random& random);
  void Restore(const std::string& path) { unreachable_.erase(path); }
  // Lets nothing come through the watch any more, until its listener gives it up.
  void Silence(const std::string& path);
  // Ends the watch as an API server does: the version from which it would go on has been compacted away.
  void Expire(const std::string& path);
  // Ends what these have begun. A silent watch breaks, so that its listener notices soon.
  void MendWatches();

  void Post(kube::Task task) override { posted_.push_back(std::move(task)); }
  const base::Clock& clock() const override { return parts_.clock; }
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
    // Of a watch.
    kube::OnData data;
    std::shared_ptr<sim::WatchStream> stream;  // while it is open
    bool silent = false;
    Version covered = 0;
  };

  static Kind KindOf(const kube::Request& request);
  void Decide(Call& call);
  sim::Fate DecideLease(base::Millis now);
  void NoteFate(const Call& call) const;
  void CarryOne(Call& call);
  void OnLease(const Call& call, const std::string& written);
  void AnswerAt(Call& call, base::Millis at);
  bool AnswerDue();
  bool Pour();
  void Break(Call& call);
  void Sweep();
  template <typename Those>
  void Forget(Those&& those);            // these calls
  Call* Watch(const std::string& path);  // null: none is open

  Parts parts_;
  std::map<std::pair<base::Millis, kube::TimerId>, kube::Task> timers_;
  std::map<kube::TimerId, base::Millis> timer_at_;
  std::deque<kube::Task> posted_;
  std::map<kube::RequestId, Call> calls_;
  std::set<kube::RequestId> leaving_, listening_;             // of calls_: those not carried yet, and the watches
  base::Millis none_due_before_ms_ = 0;                       // no answer is due before
  bool over_ = false;                                         // some calls may be over
  std::unordered_map<std::string, kube::RequestId> watches_;  // the last of each path
  std::set<std::string> unreachable_;                         // paths
  uint64_t last_id_ = 0;
  base::Millis lease_cut_until_ms_ = 0;
  bool knows_lease_ = false;
  std::optional<base::Millis> lease_over_ms_;  // as the API server holds it; null: it never had one
};

}  // namespace tutti::simulation
