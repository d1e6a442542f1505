// SPDX-License-Identifier: Apache-2.0
// Decision: the current record of why a gang runs, waits or was undone. Conditions, Events, logs, metrics and the API
// are all rendered from it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "model/gang.h"
#include "model/pod_spec.h"
#include "observe/reason.h"

namespace tutti::observe {

struct MemberDecision {
  std::string ns, name, uid;
  std::string role;
  std::string node;    // bound, or reserved by a plan in progress; empty while it waits
  bool bound = false;  // acknowledged by the API server
  bool finished = false;
  bool promised = false;  // declared, and there is no pod yet: it has no name and no UID
  std::string reason;     // of the PodScheduled condition, for one that waits: "Unschedulable", ...
  std::string message;
  std::shared_ptr<const model::PodSpec> spec = {};  // the pod's, with its requests; never null
};

// How far a gang has come with a queue that gives quota before there are pods.
struct QuotaDecision {
  enum class State {
    kPending,   // it stands in line, or may not have any
    kReserved,  // it has quota, and is not admitted yet
    kAdmitted,  // it has quota, and nodes where it is to have them
    kEvicted,   // it has quota until it has stopped
    kFinished,  // its job has ended
  } state = State::kPending;
  struct Role {
    std::string name;
    int64_t count = 0;
    std::map<std::string, std::string> flavors;  // by resource
    // Members by the domain of the flavor's topology that they have places in, "value/value" from the widest level
    // down, or the value alone where the last level is the node. Empty: the flavor has no topology.
    std::map<std::string, int64_t> domains;
  };
  std::string local_queue, leaf;  // the queue that it names, and the one whose quota it has or asks for; or empty
  std::vector<Role> roles;        // of the quota that it has
  std::string reason, message;    // why it has none, or has to leave
  base::Millis queued_ms = 0;     // since when it stands in line for quota, wall time; 0: it does not
};
std::string_view Word(QuotaDecision::State state);  // "pending", "reserved", "admitted", "evicted", "finished"

struct Decision {
  model::GangKey gang;
  std::string queue;
  std::string queue_dialect;   // whose queue that is, and the one whose quota it has; empty: there is none
  std::string scheduler_name;  // the profile's
  int32_t priority = 0;
  int32_t priority_slope = 0;  // model::GangRank::slope
  int64_t min_member = 1;
  GangState state = GangState::kWaitingForMembers;
  std::string reason;   // one CamelCase word: "NotEnoughMembers", "QueueFull", "NoPlacement", "Binding", "Whole", ...
  std::string message;  // the gang's sentence and the nodes' sentence
  std::shared_ptr<const Reason> why;           // the reason as structure; null: the gang does not wait
  base::Millis since_ms = 0;                   // wall time of the last change of state or message
  base::Millis created_ms = 0;                 // wall time that counts as its age where gangs stand in line
  std::string plan;                            // the plan being carried out, or the last one
  std::vector<MemberDecision> members;         // sorted by (ns, name)
  std::shared_ptr<const QuotaDecision> quota;  // null: it is in no queue that gives quota before there are pods
};

// Orders gangs by namespace and name first, as readers ask.
struct GangsByName {
  bool operator()(const model::GangKey& a, const model::GangKey& b) const {
    return std::tie(a.ns, a.name, a.dialect) < std::tie(b.ns, b.name, b.dialect);
  }
};

// The place at which a list of all Decisions continues; see core::Scheduler::AddDecisions.
struct DecisionsPlace {
  uint32_t gang = 0, pod = 0;
};

// Decisions as of some sequence number: all of them, or those that changed after an earlier one. Both lists are sorted.
struct DecisionChanges {
  uint64_t sequence = 0;  // to ask with the next time
  std::vector<Decision> decisions = {};
  std::vector<model::GangKey> gone = {};
};

// Observer: gets the events that metrics count and the log shows. Called on the scheduler's thread; must not block.
// References and views are valid only during the call.
class Observer {
 public:
  virtual ~Observer() = default;
  // The scheduler considered a gang whose minimum exists, or more members of a whole gang. The result is "scheduled" or
  // "unschedulable" for `members` pods.
  virtual void OnAttempt(std::string_view /*profile*/, std::string_view /*result*/, int64_t /*members*/,
                         double /*seconds*/) {}
  // A member was bound, `waited_seconds` after the pod was created or its last scheduling gate was removed, and after
  // `attempts` considerations.
  virtual void OnBound(double /*waited_seconds*/, int64_t /*attempts*/) {}
  // A gang became whole, `seconds` after all of its minimum existed.
  virtual void OnWhole(double /*seconds*/, int64_t /*members*/) {}
  virtual void OnUndone(int64_t /*members*/) {}
  // Victims were sought for a gang or a lone pod, and so many chosen. 0: none would help, or may be taken.
  virtual void OnPreemption(int64_t /*victims*/) {}
  // A gang that had waited long was tried again without an event. `placed`: it got nodes, so an event was missed.
  virtual void OnFlushed(const model::GangKey&, bool /*placed*/) {}
  // A member of a gang that was whole already was bound: one above its minimum, or one in place of a lost member.
  virtual void OnFilledUp() {}

  // The kinds of events of a gang, or of one of its pods.
  enum class Step {
    kWaits,    // it was considered and does not start; repeated often, mostly with the same reason
    kBound,    // a member of it was bound
    kStarted,  // it is whole
    kUndone,   // a start that could not be completed is being undone
    kEvicted,  // a member is being evicted
    kGone,     // it has no members any more
  };
  struct Happening {
    Step step = Step::kWaits;
    const model::GangKey& gang;
    bool lone = false;               // a lone pod: no object declares a gang
    std::string_view queue = {};     // may be empty
    int64_t members = 0;             // kWaits, kStarted, kUndone
    std::string_view reason = {};    // kWaits: the Decision's reason, one word
    std::string_view sentence = {};  // kWaits, kUndone, kEvicted: why
    std::string_view more = {};      // kWaits: the nodes' sentence; may be empty
    std::string_view pod = {};       // kBound, kEvicted: its name; its namespace is the gang's
    std::string_view node = {};      // kBound
    double seconds = 0;              // kStarted: since all of its minimum existed
  };
  virtual void OnHappening(const Happening&) {}

  // What happened to a gang in a queue that gives quota before there are pods.
  struct QuotaStep {
    enum class Kind {
      kReserved,  // it was given quota
      kAdmitted,  // and has what else it needs to start
      kEvicted,   // it is to give its quota back
      kReleased,  // it has given it back
    } kind = Kind::kReserved;
    const model::GangKey& gang;
    std::string_view queue = {};         // whose quota it is
    std::string_view local = {};         // the queue of the gang's namespace that it names
    std::string_view reason = {};        // kEvicted: a word of the rule
    const model::GangKey* by = nullptr;  // kEvicted: the gang that comes in its place; null: none
    std::string_view by_queue = {};      // where `by` is
    double seconds = 0;                  // kReserved, kAdmitted: since it stands in line
    // kAdmitted: since it has quota, where others had to agree; nullopt: none had to.
    std::optional<double> checked_seconds = {};
  };
  virtual void OnQuota(const QuotaStep&) {}

  // The pods of a gang that is admitted are ready, where that is asked for.
  struct PodsReady {
    const model::GangKey& gang;
    std::string_view queue, local;  // see QuotaStep
    double seconds = 0;             // since it stood in line
    double admitted_seconds = 0;    // since it was admitted
  };
  virtual void OnPodsReady(const PodsReady&) {}
  // The first gangs of such queues were tried, in so many rounds, which took so long together. A round was fruitful if
  // a gang was given quota, or had to give it back.
  struct QuotaAttempts {
    int64_t fruitful = 0, fruitless = 0;
    double seconds = 0;
  };
  virtual void OnQuotaAttempts(const QuotaAttempts&) {}

  // How a queue that gives quota before there are pods stands, or a queue of a namespace that leads to one.
  struct QuotaQueue {
    std::string_view ns, name;  // `ns` empty: the queue itself
    enum class State { kActive, kStopped, kGone } state = State::kActive;
    int64_t ready = 0, aside = 0;         // gangs that wait, and are tried again, or not before something changes
    int64_t reserving = 0, admitted = 0;  // gangs with quota; those that are admitted are reserving, too
    struct Cell {
      std::string flavor, resource;
      // In the resource's units. `used`: by admitted gangs. No limit of its own is 0.
      int64_t nominal = 0, borrowing_limit = 0, lending_limit = 0, reserved = 0, used = 0;
    };
    std::vector<Cell> cells = {};
    // Of the queue itself. The shares are what it and the cohorts around it borrow, divided by their weights, in
    // thousandths; the nearest cohort comes first.
    double share = 0;
    std::vector<std::pair<std::string, double>> cohorts = {};
  };
  // It stands otherwise than when it was last told.
  virtual void OnQuotaQueue(const QuotaQueue&) {}

  // The waiting pods of one profile that were refused by the same plugins.
  struct RefusedPods {
    std::string profile;
    std::vector<std::string> plugins;  // sorted
    int64_t pods = 0;
  };
  // The state after each cycle: pods by kube-scheduler's queues, and gangs by state.
  struct Gauges {
    int64_t active_pods = 0, unschedulable_pods = 0, gated_pods = 0;
    int64_t waiting_gangs = 0, binding_gangs = 0, whole_gangs = 0;
    int64_t nodes = 0, pods = 0, assumed_pods = 0, rankings = 0, ranking_bytes = 0;
    const std::vector<RefusedPods>* refused = nullptr;  // null: as in the cycle before
  };
  virtual void OnCycle(double /*seconds*/, int64_t /*events*/, const Gauges&) {}
};

}  // namespace tutti::observe
