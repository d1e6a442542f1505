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
  observe::Observer* const observer;
};

Scheduler::Scheduler(Options options, dialects::DialectList dialects, cluster::ClusterWriter& writer,
                     const base::Clock& clock, observe::Observer* observer, cluster::Extenders* extenders)
    : impl_(new Impl{Cycle(std::move(options), std::move(dialects), clock, observer, extenders), writer, observer}) {}

Scheduler::~Scheduler() = default;

std::vector<model::ObjectKind> Scheduler::Kinds() const { return impl_->cycle.Kinds(); }

void Scheduler::RunOnce(const std::vector<cluster::FeedEvent>& events) {
  Cycle& cycle = impl_->cycle;
  const auto started = std::chrono::steady_clock::now();
  for (const cluster::FeedEvent& event : events) cycle.Apply(event);
  cycle.Decide();
  cycle.Flush(impl_->writer);
  if (!impl_->observer) return;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  impl_->observer->OnCycle(took.count(), static_cast<int64_t>(events.size()), cycle.Gauges());
}

std::optional<base::Millis> Scheduler::NextDeadline() const { return impl_->cycle.NextDeadline(); }
std::optional<base::Millis> Scheduler::NextOwnDeadline() const { return impl_->cycle.NextOwnDeadline(); }
bool Scheduler::synced() const { return impl_->cycle.synced(); }
std::string Scheduler::WhyNotSynced() const { return impl_->cycle.WhyNotSynced(); }
bool Scheduler::leading() const { return impl_->cycle.leading(); }
bool Scheduler::quiet() const { return impl_->cycle.quiet(); }
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
  return impl_->cycle.describer().Add(place, records);
}
std::optional<Scheduler::DecisionChanges> Scheduler::DecisionsAfter(uint64_t sequence, size_t most) const {
  return impl_->cycle.describer().After(sequence, most);
}
std::optional<observe::Outlook> Scheduler::Rehearse(const observe::WhatIf& what_if) {
  return impl_->cycle.Rehearse(what_if);
}
std::vector<model::GangDraft> Scheduler::Drafts() const { return impl_->cycle.describer().Drafts(); }
uint64_t Scheduler::decision_sequence() const { return impl_->cycle.journal().last(); }
Scheduler::Work Scheduler::Done() const {
  const Cycle::Footprint holds = impl_->cycle.Holds();
  return {.decisions_made = impl_->cycle.describer().made(),
          .gangs_counted = holds.gangs_counted,
          .censuses = holds.censuses,
          .classes_ranked = holds.classes_ranked,
          .searches = holds.searches,
          .search_work = holds.search_work};
}
bool Scheduler::AddPods(uint32_t* place, PodList* pods) const {
  constexpr uint32_t kAtOnce = 4'096;
  const cluster::ClusterState& state = impl_->cycle.state();
  const auto slots = static_cast<uint32_t>(state.pod_slots());
  for (uint32_t n = 0; *place < slots && n < kAtOnce; ++*place, ++n)
    if (const cluster::PodEntry& entry = state.pod(model::PodId(*place)); entry.pod && !entry.promised)
      pods->push_back(entry.pod);
  return *place >= slots;
}
bool Scheduler::AddNodes(uint32_t* place, NodeList* nodes) const {
  return impl_->cycle.cluster_describer().AddNodes(place, nodes);
}
bool Scheduler::AddQueues(QueuesPlace* place, QueueList* queues) const {
  return impl_->cycle.cluster_describer().AddQueues(place, queues);
}
Scheduler::Footprint Scheduler::Holds() const {
  const Cycle::Footprint holds = impl_->cycle.Holds();
  return {holds.awaited, holds.gangs, holds.timers, holds.certificates};
}
std::vector<std::string> Scheduler::NodeOrder() const {
  const cluster::Snapshot& nodes = impl_->cycle.state().snapshot();
  std::vector<std::string> names;
  for (uint32_t slot = 0; slot < nodes.slots(); ++slot)
    if (const model::NodeId n(slot); nodes.present(n)) names.push_back(nodes.node(n).name);
  return names;
}
void Scheduler::Audit() const { impl_->cycle.Audit(); }

}  // namespace tutti::core
