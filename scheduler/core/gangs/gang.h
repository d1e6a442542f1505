// SPDX-License-Identifier: Apache-2.0
// Gang: one gang as the cycle knows it. All of it can be found again from the API server (P3).
#pragma once

#include <absl/container/inlined_vector.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/boxed.h"
#include "cluster/command.h"
#include "cluster/extenders.h"
#include "cluster/pod_class.h"
#include "cluster/storage.h"
#include "core/gangs/preemption.h"
#include "dialects/dialect.h"
#include "framework/verdict.h"
#include "model/gang.h"
#include "model/gang_rank.h"
#include "model/ids.h"
#include "observe/wording.h"
#include "queue/ids.h"

namespace tutti::core {

using observe::GangState;

struct Census;
struct Refusal;

// Binds of a member, or what had to be done before, that were refused for good.
struct RefusedBinds {
  std::map<std::string, base::Millis> nodes;  // where; none of them is tried again before the instant (monotonic)
  int times = 0;                              // in a row, for backoff
  bool bind = false;                          // not only what had to be done before
  base::Millis again_ms = 0;                  // monotonic; nowhere before, for several nodes refused it
  std::string why;                            // the last time
};

// What extenders say of a member; see ExtenderDesk.
struct ExtenderOpinion {
  cluster::CommandId question = 0;                        // the one that is open; 0: none
  bool answered = false;                                  // this attempt has its answer
  std::shared_ptr<const cluster::ExtenderReply> reply;    // null: no node was left to ask about
  int failures = 0;                                       // attempts in a row that found no place, for the back-off
  cluster::CommandId victims_question = 0;                // about pods that would go for it; the open one; 0: none
  std::shared_ptr<const cluster::ExtenderReply> victims;  // the answer to that, for this attempt; null: there is none
};

// What a message to a member was rendered from.
struct MessageSource {
  std::shared_ptr<const observe::Reason> reason = {};  // null: no Reason
  model::ClassId pod_class = {};                       // the member's
};

// What was last written about a member's pod, so that only what changed is written. PodStatus writes it.
struct ConditionNote {
  std::string reason, message;
  MessageSource source;
  int64_t generation = 0;             // of the pod that it was said of
  bool in_doubt = false;              // a write had no answer, or a bad one: the pod may say either
  cluster::CommandId write = 0;       // the write on its way; the next one waits for its answer
  base::Millis again_ms = 0;          // monotonic; no write before, because the last one failed
  std::string version;                // the pod's resourceVersion that the last write was made on
  base::Millis version_until_ms = 0;  // monotonic; until then the pod is awaited at a newer resourceVersion
};

// The node that the pod was last told is kept for it. Nominator writes it.
struct NominationNote {
  std::string node;
  cluster::CommandId write = 0;  // the write on its way
  base::Millis again_ms = 0;     // monotonic; no write before, so that the effect of the last one is seen
};

// What a member weighs on its gang's queues. Charges writes it.
struct QueueCharge {
  std::shared_ptr<const cluster::PodClass> as;  // null: nothing
  absl::InlinedVector<queue::ChargeId, 2> ids;  // one for each queue, in the order of QueuesOf
};

// The queues that one gang is charged to, each of another tree.
using QueueKeys = absl::InlinedVector<queue::QueueKey, 1>;

struct Member {
  model::MemberId id;  // as the book knows it
  model::GangId gang;
  model::PodId pod;  // never invalid: of a promise, what ClusterState keeps for it
  std::string role;
  bool head = false, needs_head = false;
  bool promised = false;   // there is no pod yet: nothing is written about it, and no bind of it leaves
  bool late = false;       // a promise whose pod comes after the start (PromisedMembers::late)
  bool held_back = false;  // it waits as one with a scheduling gate does (dialects::Membership::held)
  int32_t priority = 0;    // among the members of its gang, where not all of them fit
  std::shared_ptr<const model::TopologyRequest> topology;  // what the member itself asks for; null: nothing
  std::shared_ptr<const model::Unit> unit;                 // the unit it is in; null: none
  QueueCharge held, asked;  // what it holds of the gang's queue, or asks for while it waits; one of them at most

  ConditionNote condition_note;
  NominationNote nomination;
  std::string why_kept;  // why it is not deleted though its gang is undone; Evictor writes it; empty: it need not go
  base::Boxed<RefusedBinds> refused;     // until one of its binds is accepted
  base::Boxed<ExtenderOpinion> opinion;  // empty: no extender was asked about it

  bool gone_unobserved = false;            // a bind's answer says it is gone, or bound; its own event is still to come
  int32_t attempts = 0;                    // how often a place was sought for it, for metrics
  base::Millis free_ms = 0;                // wall; when its last scheduling gate was seen to go; 0: never
  std::shared_ptr<const Refusal> refusal;  // why it has no place though its gang is whole; null: not known

  // Tells whether an extender's answer counts for this attempt.
  bool is_judged() const { return opinion && opinion->answered; }
  // Tells whether some nodes are not to be tried for it, and perhaps for no other member.
  bool shuns_nodes() const { return (refused && !refused->nodes.empty()) || is_judged(); }
};

using Members = absl::InlinedVector<Member*, 4>;

// One member of a plan that is not seen bound yet.
struct Assignment {
  std::string node;
  enum class Stage {
    kReserved,  // room is held; its bind has not left
    kSent,      // no answer yet
    kDoubt,     // its answer is lost: it may have happened; the same bind again finds out
    kBound,     // acknowledged; the pod's own event is still to come
  } stage = Stage::kReserved;
  std::string sent_resource_version;  // the precondition it carries
  base::Millis not_before_ms = 0;     // monotonic; a bind that must be repeated waits so long
  bool outdated = false;              // the last bind asked for another version of the pod than there was
  int failures = 0;                   // binds that the API server answered, but did not judge
  bool room_lost = false;             // the node is gone; the answer decides what becomes of the member
  bool goes_ahead = false;            // a bind of it was refused before: so that no other is undone if this one is

  // A claim whose volume is still to be bound; see VolumeBinder. While there is one, its bind does not leave.
  struct OpenVolume {
    cluster::VolumePick pick;
    cluster::CommandId command = 0;  // of the write under way
    std::string sent_version;        // the resourceVersion it was sent against
    bool written = false;            // acknowledged
    base::Millis not_before_ms = 0;  // monotonic; a write that must be repeated waits so long
    std::string failure;             // it was refused for good: why
  };
  std::vector<OpenVolume> volumes;
  base::Millis prepared_until_ms = 0;  // monotonic; what is not prepared by then is given up

  // Tells whether its bind waits for nothing but its turn.
  bool is_prepared() const { return volumes.empty(); }
};

// A placement being carried out. There from the first reservation until the gang is whole, or undone.
struct Plan {
  // What the plan does next; NextPhase says how one follows from another.
  enum class Phase {
    kHeld,          // room is held; the gang's minimum has no place now, or is not known
    kVictimsLeave,  // what is in the way is being evicted: no bind leaves
    kPreparing,     // members are being prepared (Preparation): no bind leaves
    kAdmitted,      // members that are promised have places, and their pods are to come: no bind leaves
    kBinding,       // all but the last bind leave, or are awaited
    kLastBind,      // the commit record: the last bind may leave, or is awaited
    kFilling,       // the gang is whole: each member is bound on its own
    kUndoing,       // no bind leaves, and bound members are evicted
  } phase = Phase::kHeld;
  std::string id;
  std::string commit_uid;         // the member that is bound last
  model::MemberId commit_member;  // where that was last found, for each reply asks (Plans::CommitMember)
  base::Millis begun_ms = 0;      // monotonic
  base::Millis deadline_ms = 0;   // monotonic; then it is undone (HalfBound::kRepair)
  base::Millis fenced_ms = 0;     // monotonic; till then a write to a member that is `in_doubt` may still be seen
  bool bind_left = false;         // some bind of it was sent, here or by an earlier leader, and was not refused
  bool may_have_bound = false;    // a bind may have happened though no reply says so
  // Commit members a bind of which had no reply, and the resourceVersion that it asked for: while the pod bears that,
  // it may still take effect, whatever a later one was told.
  std::map<model::MemberId, std::string> in_doubt;
  std::map<model::MemberId, Assignment> open;

  bool undoing() const { return phase == Phase::kUndoing; }
  bool awaits_pods() const { return phase == Phase::kAdmitted; }
};

// Whether a proof that something fits nowhere still holds. Certificates keep it; the gangs that wait by it read it.
struct Validity {
  base::Millis made_ms = 0;  // monotonic
  bool over = false;         // only a search can tell now
  bool doubtful = false;     // the nodes that improved since may do
  uint64_t figures_id = 0;   // another one where what it counts is not what the one before of its shape counted

  bool broken() const { return over || doubtful; }
};

// A Reason, and its words, which are rendered when they are first asked for.
class WordedReason {
 public:
  explicit WordedReason(observe::Reason reason) : reason_(std::make_shared<const observe::Reason>(std::move(reason))) {}

  const std::shared_ptr<const observe::Reason>& reason() const { return reason_; }  // never null
  const observe::Words& words() const;

 private:
  std::shared_ptr<const observe::Reason> reason_;
  mutable std::shared_ptr<const observe::Words> words_;
};

// Why a gang, or the rest of one, does not start, and what could change that. It stays true until one of `wakes`
// happens.
struct Refusal {
  Refusal() : Refusal(observe::Reason()) {}
  explicit Refusal(observe::Reason reason) : why(std::move(reason)) {}

  const observe::Reason& reason() const { return *why.reason(); }
  const std::shared_ptr<const observe::Reason>& shared_reason() const { return why.reason(); }
  GangState state() const { return observe::StateOf(reason()); }
  const observe::Words& words() const { return why.words(); }

  // Adds a remark to the reason.
  void AddRemark(const std::string& remark);
  // Takes over the reason of `before`, and how old its figures are.
  void KeepReasonOf(const Refusal& before);

  WordedReason why;
  framework::Wake wakes = framework::Wake::kAll;
  std::vector<std::string_view> plugins;  // the filters that refused nodes; they live as long as the profile

  // What the gang, or the least that more of it, asks of the queue, which has too little. Empty: it waits for no room
  // in its queue, and a queue that changes is one of `wakes`.
  model::ResourceList asks_queue;

  // Gangs of one shape want the same of the same queue and are refused alike. Empty: this one is like no other.
  std::string shape;
  base::Millis figures_ms = 0;  // monotonic; when what the reason counts was counted
  uint64_t figures_id = 0;      // of the certificate, when this was made from it; 0: from none
  bool figures_stale = false;   // its figures are to be said again
  // Where it is nodes that lack: says when the refusal may hold no longer, in place of `wakes`.
  std::shared_ptr<Validity> certificate;
  // Of a whole gang: those by which its members wait; `wakes` is of the others.
  std::vector<std::shared_ptr<const Validity>> certificates;
};

// What the metrics count of a gang.
struct Tally {
  int32_t active = 0, unschedulable = 0, gated = 0;  // pods
  int32_t waiting = 0, binding = 0, whole = 0;       // gangs
  int32_t running = 0;                               // pods; for its queue's counters
  uint32_t refused_by = 0;                           // why `unschedulable` of them wait; see RefusedPods
};

// Gangs of a queue by what they do; see QueueCounts.
struct GangCounts {
  int64_t pending = 0, starting = 0, incomplete = 0, running = 0, finished = 0;
  friend bool operator==(const GangCounts&, const GangCounts&) = default;
};

// Where a gang stands among those that are to be considered, told about, or that wait. Agenda and its ReadyLines write
// it.
struct AgendaEntry {
  static constexpr uint32_t kNoGroup = ~uint32_t{0};
  bool ready = false, touched = false;
  bool only_woken = false;  // ready, but for nothing that happened to itself
  bool besides = false;     // its minimum lacks nothing that exists: what waits is taken besides
  bool flushed = false;     // ready, but only because it has waited for long
  // The key it is sorted by, in the line and among those that wait.
  base::Millis created_ms = 0;
  int32_t priority = 0;
  int32_t slope = 0;
  bool sorted_besides = false;
  uint32_t pod_class = 0;
  queue::QueueId queue;       // in whose line it stands, if it does
  uint32_t group = kNoGroup;  // of gangs that wait for the same

  model::GangRank rank() const { return {priority, created_ms, slope}; }
};

// What was last written about a gang, and when more may be. The classes of core/publish and PublishPass write it.
struct GangNote {
  std::string sentence;                        // the last one
  base::Millis renew_ms = 0;                   // monotonic; then figures that were kept are renewed; 0: none were
  bool awaits_figures = false;                 // it stands in line to be told new ones (FigureWrites)
  bool takes_figures = false;                  // and it is its turn
  base::Millis retell_ms = 0;                  // monotonic; when all that members were told again is paid for
  base::Boxed<dialects::GangReport> reported;  // spec is null in it
  base::Boxed<model::GangSpec> reported_spec;
  base::Millis changes_at_ms = 0;   // wall; from then on its dialect may desire otherwise; 0: never
  base::Millis counts_from_ms = 0;  // monotonic; before that, counts alone are no reason to report it
  // Of a gang with GangQuota: as it was when Events of its ecosystem were last told; spec is null in it.
  base::Boxed<dialects::GangReport> announced;
  base::Boxed<model::GangSpec> announced_spec;
};

// As what a gang is counted. Tallies and QueueCounts write it.
struct CountedAs {
  Tally tally;
  queue::QueueKey queue;  // by QueueCounts; without a name: it is not
  int64_t GangCounts::* field = nullptr;
};

// What may bring a gang victims that had none.
enum class SeeksVictims : uint8_t {
  kNo,          // nothing
  kWithRoom,    // room on nodes that pods of lower priority do not hold: VictimRefusals says when
  kWithChange,  // anything that changes in queues or on nodes
};

// How far a gang has come with a queue that gives quota before there are pods. QuotaDesk writes it, and GangBook
// `declared`.
struct GangQuota {
  model::MaybeShared<model::QuotaTerms> terms;  // as they were last taken up; null: its job has ended
  model::GangSpec declared;                     // Gang::spec is this, as it is meant with the quota that the gang has
  // What it has is `report.has`; while a pass tries a gang, that is what it would have.
  dialects::QuotaReport report;
  bool is_trial = false;
  std::optional<model::HeldQuota> before_trial;  // what it has, while `is_trial`
  bool given = false;           // it was given quota here, once: what its object says of that does not count any more
  bool taken_over = false;      // it has what its object said
  bool placed = false;          // since it has that, it had nodes
  bool admission_told = false;  // since it has that, the observer was told that it is admitted, or need not be
  bool ready_told = false;      // the observer was told that its pods are ready, or need not be
  bool replaced = false;        // what it had is that of a gang which is a larger form of it
  model::Fit fit = model::Fit::kNodes;   // that of `declared`, decided when it got its quota; never kAuto
  std::optional<model::HeldQuota> last;  // what it had, where it has ended
  // What it will have once its victims are gone: until then the nodes for that are kept for it.
  std::optional<model::HeldQuota> expected;
  // For each role, the pod that is declared, and what its promises are made from: that with what its flavors say.
  std::map<std::string, std::pair<std::shared_ptr<const model::Pod>, std::shared_ptr<const model::Pod>>> pods;

  bool has() const { return report.has && !report.has->evicted; }
  // Tells whether it may ask for more or fewer members while it has quota.
  bool resizes() const { return terms && !terms->ask.uid.empty() && terms->ask.replaces == terms->ask.uid; }
  // Tells whether it has to give back what it has.
  bool leaves() const { return report.has && report.has->evicted; }
  // Tells whether nodes are to be found for it when it has quota.
  bool needs_nodes() const {
    return terms && fit == model::Fit::kNodes && (!terms->awaits_checks || terms->places_before_checks);
  }
  // Tells whether nodes are to be found for what it has.
  bool seeks_nodes() const { return has() && needs_nodes(); }
};

struct Gang {
  model::GangKey key;
  dialects::Dialect* dialect = nullptr;
  model::GangSpec spec;
  // What a pod declared, and spec is a copy of; null: the dialect itself did.
  std::shared_ptr<const model::GangSpec> said;
  bool declared = false;                 // spec has been asked for
  bool lone = false;                     // of one pod, which nothing but itself declares
  Members members;                       // by creation time, then name; the book owns them
  int64_t promises = 0;                  // of them that are promised
  std::shared_ptr<const Census> census;  // what members do, as GangBook::CensusOf found it; null: to be found
  QueueKeys charged_to;                  // where its members' charges are

  // Was whole since it last had no bound member. Never undone then; filled up. Plans writes it, and GangBook when the
  // last member goes.
  bool whole = false;
  bool unproven = false;  // `whole`, for nothing says that it never was: what its minimum lacks is placed all at once
  bool soft = false;     // it has waited for all of its minimum (GangSpec::soft_after_ms), and starts with any member
  bool resumed = false;  // it was found half done in this term: its waiting members have been written to
  model::MemberId surplus_from;  // whose turn it is, where not all of the rest could be tried at once
  base::Boxed<Plan> plan;
  base::Boxed<GangQuota> quota;             // empty: it is in no queue that gives quota before there are pods
  base::Boxed<Preemption> preemption;       // empty: no pod leaves for it
  base::Boxed<GivenUpPreemption> given_up;  // the last one that was
  base::Boxed<Refusal> refusal;             // why it waits; only GangBook writes it
  int64_t restarts = 0;     // how often it was evicted as a whole, up to kMostRestarts; each bind says it (Evidence)
  uint64_t selections = 0;  // up to which change of selections its members are classified
  std::string last_plan;

  GangState state = GangState::kWaitingForMembers;
  base::Millis since_ms = 0;           // wall; of the last change of state
  base::Millis joined_ms = 0;          // monotonic; when a member last came, or one of a whole gang went
  base::Millis complete_since_ms = 0;  // monotonic; when its minimum existed, for metrics; 0: not yet
  base::Millis seek_ms = 0;            // monotonic; it is considered then, for victims may be sought again
  base::Millis sought_ms = 0;          // monotonic; when its victims were last sought and not found; 0: never
  // What may bring it victims, where there were none for it when it was last considered. VictimSeeker writes it.
  SeeksVictims seeks = SeeksVictims::kNo;

  AgendaEntry line;
  GangNote note;
  CountedAs counted;
};

// Returns what the gang asks for besides what its members ask of its first queue, for the text that tells apart gangs
// that ask for the same: "|cpu=4000".
std::string OtherAsksText(const model::GangSpec& spec);

// Returns the queue in whose line the gang stands; without a name: none.
inline queue::QueueKey QueueOf(const Gang& gang) {
  if (gang.spec.quota) return {};
  return {gang.spec.queue_dialect.empty() ? gang.key.dialect : gang.spec.queue_dialect, gang.spec.queue};
}

// Returns the queues that the gang's members are charged to, that of QueueOf first.
inline QueueKeys QueuesOf(const Gang& gang) {
  QueueKeys queues;
  if (queue::QueueKey first = QueueOf(gang); !first.name.empty()) queues.push_back(std::move(first));
  if (!queues.empty())
    for (const std::string& name : gang.spec.further_queues) queues.push_back({queues.front().dialect, name});
  return queues;
}

// Tells whether the gang has no pods yet, and nothing else keeps it from starting. It is not said to wait, for no pod
// does.
inline bool AwaitsPods(const Gang& gang) { return gang.members.empty() && gang.state == GangState::kWaitingForMembers; }

// Returns the units of which the member is in one; null: it is in none that the gang declares.
inline const model::UnitSpec* UnitsOf(const Gang& gang, const Member& member) {
  return member.unit && member.unit->spec < gang.spec.units.size() ? &gang.spec.units[member.unit->spec] : nullptr;
}

}  // namespace tutti::core
