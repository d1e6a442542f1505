// SPDX-License-Identifier: Apache-2.0
// Replica: one scheduler process: the real core and all dialects behind a source of events, a writer and an inbox that
// can be made to lie, lag and die.
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

// Where a bug can be planted around the core; all of it does nothing by default.
class Plant {
 public:
  virtual ~Plant() = default;
  enum class Handling { kKeep, kLose, kFirst };  // kFirst: before all others of its kind
  virtual Handling Event(cluster::FeedEvent& /*event*/, bool /*first_list*/) { return Handling::kKeep; }
  virtual void Commands(std::vector<cluster::Command>& /*commands*/) {}
  virtual dialects::DialectList Dialects(dialects::DialectList dialects) { return dialects; }
  virtual const base::Clock& Clock(const base::Clock& clock) { return clock; }
  // Until when a leader may write, and when its writes are over.
  virtual base::Millis Writable(base::Millis until_ms) { return until_ms; }
  virtual base::Millis Over(base::Millis over_ms) { return over_ms; }
  // When one that need not be elected begins: when the former one's writes are over.
  virtual base::Millis Begins(base::Millis former_over_ms) { return former_over_ms; }
  // How long the writer waits for an answer; and that answer, or that there was none, as it is told.
  virtual base::Millis Patience(base::Millis timeout_ms) { return timeout_ms; }
  virtual void Response(kube::Response& /*response*/, bool /*bind*/) {}
  // The Lease, as it was read.
  virtual void LeaseSeen(std::string& /*body*/) {}
  // What a watch asks for, as it leaves.
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
    // Told of all commands before they leave.
    std::function<void(Replica&, const std::vector<cluster::Command>&)> on_submit;
    // Told of each gang that was placed because it had waited for long, though nothing had woken it.
    std::function<void(const model::GangKey&)> on_missed = {};
  };
  explicit Replica(Parts parts);
  ~Replica() override;

  // Brings what its source has into the inbox.
  void Look();
  // Kinds drawn by lot, or the oldest events first.
  enum class Order { kAnyKind, kOldest };
  // Hands `limit` events over at most, from queues that are not stalled, and lets the scheduler work. Returns how many;
  // answers, whose commands are counted, and the lists that a new process begins with are not.
  size_t Work(size_t limit, Order order, base::Random& random);
  bool HasEvents() const { return KindsWithEvents() > 0; }
  size_t KindsWithEvents() const;

  // It leads from the instant on, when the former leader's last write is over, and pods were listed since.
  void Lead(base::Millis from_ms);
  void StepDown();
  bool leading() const { return scheduler_->leading(); }
  bool has_led() const { return has_led_; }

  // A kind whose events are not handed over until the instant.
  void Stall(const std::string& kind, base::Millis until_ms) { stalled_[kind] = until_ms; }
  // Lists the kind now, and hands the list over only at the instant.
  void ListStale(const std::string& kind, base::Millis until_ms);
  void MendAll();
  // Of every kind it has been told that the first list is complete, or that it is not served.
  bool knows_all_kinds() const { return told_.size() >= kind_names_.size(); }
  // Some kind is not heard of.
  bool blind() const { return blind_ || !stalled_.empty(); }
  Source& source() { return *source_; }
  // Of the nodes in the inbox, those of `names` are handed over first and as there.
  void SortNodes(const std::vector<std::string>& names);
  // Tells the last event about some object of `kind` again, now.
  bool Duplicate(const std::string& kind);
  const std::vector<std::string>& KindNames() const { return kind_names_; }

  // Where commands go; null: nowhere.
  void set_writer(cluster::ClusterWriter* writer) { writer_ = writer; }
  // The process has died.
  void Die();

  // How far it has seen.
  struct Knowledge {
    Version pods = 0, nodes = 0, gangs = 0, queues = 0, others = 0;  // gangs: what declares them, and HyperNodes
    Version OfGangs() const { return std::min({pods, nodes, gangs}); }
  };
  Knowledge Knows() const;
  // ... before the events that it works on now: what it does at once upon one of them may come before the others.
  const Knowledge& Knew() const { return knew_; }

  // When it has something to do though no event came; monotonic.
  std::optional<base::Millis> NextDeadline() const;
  // A write of the object's status leaves. False: one that left before, in this term, has no answer yet.
  bool BeginStatus(const std::string& uid, cluster::CommandId command) {
    return status_writes_.try_emplace(uid, command).second;
  }

  core::Scheduler& scheduler() { return *scheduler_; }
  const std::string& name() const { return parts_.name; }

  void Post(cluster::FeedEvent event) override;
  void Submit(std::vector<cluster::Command> commands) override;

 private:
  struct Queue {
    std::deque<std::pair<cluster::FeedEvent, Version>> events;  // with what was known before its pump
    Version covered = 0;                                        // the last event holds all up to here
    std::optional<cluster::FeedEvent> last;
  };
  struct FlushWatch final : observe::Observer {
    explicit FlushWatch(const Parts& watched) : parts(watched) {}
    void OnFlushed(const model::GangKey& gang, bool placed) override {
      if (placed && parts.on_missed) parts.on_missed(gang);
    }
    const Parts& parts;
  };
  static std::string KindOf(const cluster::FeedEvent& event);
  static bool Coalesce(Queue& queue, cluster::FeedEvent& event);

  Parts parts_;
  FlushWatch flush_watch_{parts_};
  std::unique_ptr<Source> source_;  // null: it has died
  cluster::ClusterWriter* writer_ = nullptr;
  std::unique_ptr<core::Scheduler> scheduler_;
  std::map<std::string, Queue> queues_;  // by kind; "" for answers and leadership
  std::vector<std::string> kind_names_;
  std::set<std::string> told_;  // kinds: their first list is complete, or not served
  std::map<std::string, base::Millis> stalled_;
  std::map<std::string, cluster::CommandId> status_writes_;  // by uid; those that have no answer yet
  Knowledge knew_;
  bool blind_ = false;
  std::optional<base::Millis> lead_at_;
  int term_ = 0;  // a list of pods that was asked for in an older term makes no leader
  bool has_led_ = false, said_to_lead_ = false;
};

}  // namespace tutti::simulation
