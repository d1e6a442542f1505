// SPDX-License-Identifier: Apache-2.0
#include "core/scheduler.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "core/cycle.h"

namespace tutti::core {

struct Scheduler::Impl {
  Cycle cycle;
  cluster::ClusterWriter& writer;
};

Scheduler::Scheduler(Options options, dialects::DialectList dialects, cluster::ClusterWriter& writer,
                     const base::Clock& clock, observe::Observer* observer, cluster::Extenders* extenders)
    : impl_(new Impl{Cycle(std::move(options), std::move(dialects), clock, observer, extenders), writer}) {
  Cycle& cycle = impl_->cycle;
  cycle.unsynced = {"pods", "nodes"};
  for (const model::ObjectKind& kind : Kinds()) cycle.unsynced.insert(kind.Name());
}

Scheduler::~Scheduler() = default;

std::vector<model::ObjectKind> Scheduler::Kinds() const {
  std::vector<model::ObjectKind> kinds = cluster::StorageKinds();
  kinds.push_back(Cycle::NamespaceKind());
  if (std::ranges::any_of(impl_->cycle.options.profiles, &framework::Profile::ReadsSelections))
    std::ranges::copy(cluster::SelectionKinds(), std::back_inserter(kinds));
  for (const auto& dialect : impl_->cycle.dialects)
    for (model::ObjectKind& kind : dialect->Kinds())
      if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(std::move(kind));
  return kinds;
}

void Scheduler::RunOnce(const std::vector<cluster::FeedEvent>& events) {
  Cycle& cycle = impl_->cycle;
  const auto started = std::chrono::steady_clock::now();
  for (const cluster::FeedEvent& event : events) std::visit([&cycle](const auto& e) { cycle.Apply(e); }, event);
  cycle.Decide();
  cycle.outbox.Flush(impl_->writer);
  if (!cycle.observer) return;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  cycle.observer->OnCycle(took.count(), static_cast<int64_t>(events.size()), cycle.Gauges());
}

std::optional<base::Millis> Scheduler::NextDeadline() const {
  const Cycle& cycle = impl_->cycle;
  if (!cycle.leading || !cycle.unsynced.empty()) return std::nullopt;
  if (!cycle.MayDecide()) return cycle.plan_after_ms;
  if (cycle.GoesOn()) return cycle.clock.MonotonicMs();
  std::optional<base::Millis> next;
  if (!cycle.timers.empty()) next = cycle.timers.begin()->at_ms;
  if (const auto at = cycle.turns.DueAt(); at && !cycle.book.AnyReady()) next = std::min(next.value_or(*at), *at);
  if (const auto at = cycle.figure_writes.DueAt()) next = std::min(next.value_or(*at), *at);
  if (cycle.refresh_at_ms != 0) next = std::min(next.value_or(cycle.refresh_at_ms), cycle.refresh_at_ms);
  if (!cycle.dirty_queues.empty())
    next = std::min(next.value_or(cycle.next_queue_report_ms), cycle.next_queue_report_ms);
  return next;
}

bool Scheduler::synced() const { return impl_->cycle.unsynced.empty(); }
bool Scheduler::leading() const { return impl_->cycle.leading; }
bool Scheduler::quiet() const { return !impl_->cycle.committer.Owes(); }
std::vector<observe::Decision> Scheduler::Decisions() const {
  std::deque<observe::Decision> records;
  for (DecisionsPlace place; !AddDecisions(&place, &records);) {
  }
  std::vector<observe::Decision> decisions(std::make_move_iterator(records.begin()),
                                           std::make_move_iterator(records.end()));
  std::ranges::sort(decisions, {}, &observe::Decision::gang);
  return decisions;
}
bool Scheduler::AddDecisions(DecisionsPlace* place, std::deque<observe::Decision>* records) const {
  return impl_->cycle.AddDecisions(place, records);
}
std::optional<Scheduler::DecisionChanges> Scheduler::DecisionsAfter(uint64_t sequence) const {
  return impl_->cycle.DecisionsAfter(sequence);
}
uint64_t Scheduler::decision_sequence() const { return impl_->cycle.journal.last(); }
Scheduler::Work Scheduler::Done() const { return impl_->cycle.Done(); }
bool Scheduler::AddPods(uint32_t* place, PodList* pods) const {
  constexpr uint32_t kAtOnce = 4'096;
  const cluster::ClusterState& state = impl_->cycle.state;
  const auto slots = static_cast<uint32_t>(state.pod_slots());
  for (uint32_t n = 0; *place < slots && n < kAtOnce; ++*place, ++n)
    if (const auto& pod = state.pod(model::PodId(*place)).pod) pods->push_back(pod);
  return *place >= slots;
}
Scheduler::Footprint Scheduler::Holds() const { return impl_->cycle.Holds(); }
std::vector<std::string> Scheduler::NodeOrder() const {
  const cluster::Snapshot& nodes = impl_->cycle.state.snapshot();
  std::vector<std::string> names;
  for (uint32_t slot = 0; slot < nodes.slots(); ++slot)
    if (const model::NodeId n(slot); nodes.present(n)) names.push_back(nodes.node(n).name);
  return names;
}
void Scheduler::Audit() const { impl_->cycle.Audit(); }

}  // namespace tutti::core
