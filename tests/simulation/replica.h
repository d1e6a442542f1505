// SPDX-License-Identifier: Apache-2.0
// Replica: one scheduler process. It has the real core and all dialects. Its source of events, its writer and its inbox
// can be made to lie, to be late and to die.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/scheduler.h"
#include "kube/transport.h"
#include "tests/simulation/source.h"
#include "tests/simulation/truth.h"

namespace tutti::simulation {

// A bug that is planted around the core. By default each of these does nothing.
class Plant {
 public:
  virtual ~Plant() = default;
  enum class Handling { kKeep, kLose, kFirst };  // kFirst: before all others of its kind
  virtual Handling Event(cluster::FeedEvent& /*event*/, bool /*first_list*/) { return Handling::kKeep; }
  virtual void Commands(std::vector<cluster::Command>& /*commands*/) {}
  virtual dialects::DialectList Dialects(dialects::DialectList dialects) { return dialects; }
  virtual const base::Clock& Clock(const base::Clock& clock) { return clock; }
  // Changes until when a leader may write, and when its writes are over.
  virtual base::Millis Writable(base::Millis until_ms) { return until_ms; }
  virtual base::Millis Over(base::Millis over_ms) { return over_ms; }
  // Changes when a leader without election begins; by default that is when the former one's writes are over.
  virtual base::Millis Begins(base::Millis former_over_ms) { return former_over_ms; }
  // Changes how long the writer waits for an answer, and what it then hears: the answer, or that none came.
  virtual base::Millis Patience(base::Millis timeout_ms) { return timeout_ms; }
  virtual void Response(kube::Response& /*response*/, bool /*bind*/) {}
  // Changes the Lease that was read.
  virtual void LeaseSeen(std::string& /*body*/) {}
  // Changes what a watch asks for, before it leaves.
  virtual void Watch(std::string& /*target*/) {}
};

class Replica final : public cluster::EventSink, public cluster::ClusterWriter {
 public:
  struct Parts {
    sim::Store& store;
    std::function<std::unique_ptr<Source>(cluster::EventSink&)> source;
    const base::Clock& clock;
    Plant& plant;
    core::Options options;
    std::string name;
    // Is told of all commands before they leave.
    std::function<void(Replica&, const std::vector<cluster::Command>&)> on_submit;
    // Is told of each gang that was placed only because it had waited for long: nothing had woken it.
    std::function<void(const model::GangKey&)> on_missed = {};
    // Is told of each decision about a gang's quota.
    std::function<void(const Replica&, const observe::Observer::QuotaStep&)> on_quota = {};
  };
  explicit Replica(Parts parts);
  ~Replica() override;

  // Brings what the source has into the inbox.
  void Look();
  // Events of kinds that are drawn at random, or the oldest events first.
  enum class Order { kAnyKind, kOldest };
  // Hands over at most `limit` events, from queues that are not stalled, and lets the scheduler work. Returns how many.
  // That does not count answers, for their commands are counted, nor the lists that a new process begins with.
  size_t Work(size_t limit, Order order, base::Random& random);
  bool HasEvents() const { return KindsWithEvents() > 0; }
  size_t KindsWithEvents() const;

  // Makes it lead from that time on. By then the former leader's last write is over, and pods have been listed again.
  void Lead(base::Millis from_ms);
  void StepDown();
  bool leading() const { return scheduler_->leading(); }
  bool has_led() const { return has_led_; }

  // Holds the kind's events back until that time.
  void Stall(const std::string& kind, base::Millis until_ms) { stalled_[kind] = until_ms; }
  // Lists the kind now, and hands the list over only at that time.
  void ListStale(const std::string& kind, base::Millis until_ms);
  void MendAll();
  // Tells whether it has heard of every kind that its first list is complete, or that it is not served.
  bool knows_all_kinds() const { return told_.size() >= kind_names_.size(); }
  // Tells whether it does not hear of some kind.
  bool blind() const { return blind_ || !stalled_.empty(); }
  Source& source() { return *source_; }
  // Puts the nodes of `names` first among those in the inbox, in that order.
  void SortNodes(const std::vector<std::string>& names);
  // Hands the last event about some object of `kind` over again, now. False: there is none.
  bool Duplicate(const std::string& kind);
  const std::vector<std::string>& KindNames() const { return kind_names_; }

  // Sets where commands go; null: nowhere.
  void set_writer(cluster::ClusterWriter* writer) { writer_ = writer; }
  // Lets the process die.
  void Die();

  // The versions up to which it has seen the world.
  struct Knowledge {
    Version pods = 0, nodes = 0, gangs = 0, queues = 0, others = 0;  // gangs: what declares them, and HyperNodes
    Version OfGangs() const { return std::min({pods, nodes, gangs}); }
  };
  Knowledge Knows() const;
  // Returns what it knew before the events that it works on now. What it does at once after one of them may come before
  // the others.
  const Knowledge& Knew() const { return knew_; }

  // Returns when it has something to do even if no event comes; monotonic.
  std::optional<base::Millis> NextDeadline() const;
  // Notes that a write of the object's status leaves. False: one that left before, in this term, has no answer yet.
  bool BeginStatus(const std::string& uid, cluster::CommandId command) {
    return status_writes_.try_emplace(uid, command).second;
  }

  core::Scheduler& scheduler() { return *scheduler_; }
  const std::string& name() const { return parts_.name; }

  void Post(cluster::FeedEvent event) override;
  void Submit(std::vector<cluster::Command> commands) override;

 private:
  struct Queue {
    std::deque<std::pair<cluster::FeedEvent, Version>> events;  // each with what was known before it was handed over
    Version covered = 0;                                        // the last event holds all up to here
    std::optional<cluster::FeedEvent> last;
  };
  struct Watch final : observe::Observer {
    explicit Watch(const Replica& watched) : replica(watched), parts(watched.parts_) {}
    void OnFlushed(const model::GangKey& gang, bool placed) override {
      if (placed && parts.on_missed) parts.on_missed(gang);
    }
    void OnQuota(const QuotaStep& step) override {
      if (parts.on_quota) parts.on_quota(replica, step);
    }
    const Replica& replica;
    const Parts& parts;
  };
  static std::string KindOf(const cluster::FeedEvent& event);
  static bool Coalesce(Queue& queue, cluster::FeedEvent& event);

  Parts parts_;
  Watch watch_{*this};
  std::unique_ptr<Source> source_;  // null: the process has died
  cluster::ClusterWriter* writer_ = nullptr;
  std::unique_ptr<core::Scheduler> scheduler_;
  std::map<std::string, Queue> queues_;  // by kind; "" for answers and leadership
  std::vector<std::string> kind_names_;
  std::set<std::string> told_;  // kinds: their first list is complete, or not served, or it cannot be had
  std::map<std::string, base::Millis> stalled_;
  std::map<std::string, cluster::CommandId> status_writes_;  // by uid; those that have no answer yet
  Knowledge knew_;
  bool blind_ = false;
  std::optional<base::Millis> lead_at_;
  int term_ = 0;  // a list of pods that was asked for in an older term makes no leader
  bool has_led_ = false, said_to_lead_ = false;
};

}  // namespace tutti::simulation
