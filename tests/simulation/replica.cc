// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/replica.h"

#include <algorithm>

#include "cluster/selections.h"

namespace tutti::simulation {

using cluster::FeedEvent;

namespace {

bool Declares(const std::string& kind) {
  return kind.starts_with("podgroups.") || kind.starts_with("rayclusters.") || kind.starts_with("hypernodes.") ||
         kind.starts_with("workloads.") || kind.starts_with("jobs.");
}

bool IsOfQueues(const std::string& kind) {
  return kind.starts_with("queues.") || kind.starts_with("clusterqueues.") || kind.starts_with("localqueues.") ||
         kind.starts_with("cohorts.") || kind.starts_with("resourceflavors.");
}

}  // namespace

Replica::Replica(Parts parts) : parts_(std::move(parts)) {
  source_ = parts_.source(*this);
  scheduler_ = std::make_unique<core::Scheduler>(parts_.options, parts_.plant.Dialects(dialects::MakeDialects()), *this,
                                                 parts_.plant.Clock(parts_.clock), &watch_);
  kind_names_ = {"pods", "nodes"};
  for (const model::ObjectKind& kind : scheduler_->Kinds()) kind_names_.push_back(kind.Name());
  for (const std::string& kind : kind_names_) queues_[kind];
  source_->Start(scheduler_->Kinds());
}

Replica::~Replica() = default;

std::string Replica::KindOf(const FeedEvent& event) {
  struct Visitor {
    std::string operator()(const cluster::PodChanged&) { return "pods"; }
    std::string operator()(const cluster::PodGone&) { return "pods"; }
    std::string operator()(const cluster::NodeChanged&) { return "nodes"; }
    std::string operator()(const cluster::NodeGone&) { return "nodes"; }
    std::string operator()(const cluster::ObjectChanged& e) {
      const std::string resource = (e.object->labelled ? "labelled-" : "") + e.object->resource;
      return e.object->group.empty() ? resource : resource + "." + e.object->group;
    }
    std::string operator()(const cluster::SelectionChanged& e) {
      return cluster::ObjectKindOf(e.selection->kind).Name();
    }
    std::string operator()(const cluster::ObjectGone& e) { return e.kind_name; }
    std::string operator()(const cluster::KindSynced& e) { return e.kind_name; }
    std::string operator()(const cluster::KindUnreadable& e) { return e.kind_name; }
    // Not before the list of pods that it was told after.
    std::string operator()(const cluster::Leadership& e) { return e.leading ? "pods" : ""; }
    std::string operator()(const cluster::CommandReply&) { return ""; }
    std::string operator()(const cluster::CommandDelayed&) { return ""; }
    std::string operator()(const cluster::ExtenderReply&) { return ""; }
  };
  return std::visit(Visitor{}, event);
}

// Events that wait are kept as in the mailbox: of one object, only the newest.
bool Replica::Coalesce(Queue& queue, FeedEvent& event) {
  const std::string key = cluster::CoalesceKey(event);
  if (key.empty()) return false;
  const auto of_it = [&](const auto& waiting) { return cluster::CoalesceKey(waiting.first) == key; };
  const auto same = std::ranges::find_if(queue.events, of_it);
  if (same == queue.events.end()) return false;
  same->first = std::move(event);
  queue.events.erase(std::remove_if(std::next(same), queue.events.end(), of_it), queue.events.end());
  return true;
}

void Replica::Post(FeedEvent event) {
  const std::string kind = KindOf(event);
  Queue& queue = queues_[kind];
  const Plant::Handling handling = parts_.plant.Event(event, !kind.empty() && queue.covered == 0);
  if (handling == Plant::Handling::kLose) return;
  queue.last = event;
  if (stalled_.contains(kind) && Coalesce(queue, event)) return;
  if (handling == Plant::Handling::kFirst)
    queue.events.emplace_front(std::move(event), queue.covered);
  else
    queue.events.emplace_back(std::move(event), queue.covered);
}

void Replica::Look() {
  const base::Millis now = parts_.clock.MonotonicMs();
  if (lead_at_ && *lead_at_ <= now) {
    lead_at_.reset();
    source_->Refresh([this, term = ++term_] {
      if (term != term_) return;
      has_led_ = said_to_lead_ = true;
      Post(cluster::Leadership{true, parts_.clock.MonotonicMs()});
    });
  }
  source_->Look();
  blind_ = false;
  for (auto& [kind, queue] : queues_) {
    const auto covered = kind.empty() ? parts_.store.resource_version() : source_->Covered(kind);
    blind_ = blind_ || !covered;
    queue.covered = std::max(queue.covered, covered.value_or(0));
  }
}

size_t Replica::KindsWithEvents() const {
  return static_cast<size_t>(std::ranges::count_if(
      queues_, [this](const auto& item) { return !item.second.events.empty() && !stalled_.contains(item.first); }));
}

size_t Replica::Work(size_t limit, Order order, base::Random& random) {
  const base::Millis now = parts_.clock.MonotonicMs();
  const bool begins = !scheduler_->synced();
  knew_ = Knows();
  if (begins) limit = random.OneIn(4) ? 100 : 10'000;
  std::erase_if(stalled_, [now](const auto& item) { return item.second <= now; });
  std::vector<Queue*> open;
  for (auto& [kind, queue] : queues_)
    if (!queue.events.empty() && !stalled_.contains(kind)) open.push_back(&queue);
  std::vector<FeedEvent> batch;
  while (batch.size() < limit && !open.empty()) {
    const size_t at = order == Order::kAnyKind
                          ? random.Below(open.size())
                          : static_cast<size_t>(std::ranges::min_element(
                                                    open, {}, [](const Queue* q) { return q->events.front().second; }) -
                                                open.begin());
    Queue& queue = *open[at];
    const uint64_t longest = begins ? 100 : order == Order::kAnyKind ? 6 : 1;
    for (size_t run = 1 + random.Below(longest); run > 0 && batch.size() < limit && !queue.events.empty(); --run) {
      batch.push_back(std::move(queue.events.front().first));
      queue.events.pop_front();
      if (const auto* synced = std::get_if<cluster::KindSynced>(&batch.back())) told_.insert(synced->kind_name);
      const auto* unreadable = std::get_if<cluster::KindUnreadable>(&batch.back());
      if (unreadable && unreadable->kind_name != "pods" && unreadable->kind_name != "nodes")
        told_.insert(unreadable->kind_name);  // what needs it waits, and nothing else does
    }
    if (queue.events.empty()) open.erase(open.begin() + static_cast<ptrdiff_t>(at));
  }
  size_t handed = batch.size();
  for (const FeedEvent& event : batch)
    if (const auto* answer = std::get_if<cluster::CommandReply>(&event)) {
      --handed;
      std::erase_if(status_writes_, [answer](const auto& item) { return item.second == answer->id; });
    } else if (std::holds_alternative<cluster::Leadership>(event)) {
      status_writes_.clear();
    }
  scheduler_->RunOnce(batch);
  return begins ? 0 : handed;
}

void Replica::Lead(base::Millis from_ms) { lead_at_ = from_ms; }

void Replica::StepDown() {
  lead_at_.reset();
  ++term_;
  if (std::exchange(said_to_lead_, false)) Post(cluster::Leadership{.leading = false});
}

void Replica::SortNodes(const std::vector<std::string>& names) {
  const auto place = [&](const std::pair<FeedEvent, Version>& event) {
    const auto* changed = std::get_if<cluster::NodeChanged>(&event.first);
    return changed ? std::ranges::find(names, changed->node->meta.name) : names.end();
  };
  std::ranges::stable_sort(queues_["nodes"].events, {}, place);
}

void Replica::ListStale(const std::string& kind, base::Millis until_ms) {
  source_->Expire(kind);
  Stall(kind, until_ms);
}

void Replica::MendAll() {
  source_->MendAll();
  stalled_.clear();
}

bool Replica::Duplicate(const std::string& kind) {
  Queue& queue = queues_[kind];
  // Only the state an object is in: what is told again is not out of order.
  if (!queue.last || !queue.events.empty() || std::holds_alternative<cluster::KindSynced>(*queue.last) ||
      std::holds_alternative<cluster::Leadership>(*queue.last))
    return false;
  queue.events.emplace_back(*queue.last, queue.covered);
  return true;
}

void Replica::Die() {
  writer_ = nullptr;
  source_.reset();
}

Replica::Knowledge Replica::Knows() const {
  const auto seen = [](const Queue& queue) {
    return queue.events.empty() ? queue.covered : queue.events.front().second;
  };
  const Version now = parts_.store.resource_version();
  Knowledge knowledge{seen(queues_.at("pods")), seen(queues_.at("nodes")), now, now, now};
  for (const auto& [kind, queue] : queues_) {
    if (kind.empty() || kind == "pods" || kind == "nodes") continue;
    Version& known = Declares(kind)     ? knowledge.gangs
                     : IsOfQueues(kind) ? knowledge.queues
                                        : knowledge.others;
    known = std::min(known, seen(queue));
  }
  return knowledge;
}

std::optional<base::Millis> Replica::NextDeadline() const {
  std::optional<base::Millis> next = scheduler_->NextDeadline();
  if (lead_at_ && (!next || *lead_at_ < *next)) next = lead_at_;
  return next;
}

void Replica::Submit(std::vector<cluster::Command> commands) {
  parts_.plant.Commands(commands);
  if (commands.empty()) return;
  if (parts_.on_submit) parts_.on_submit(*this, commands);
  if (writer_) writer_->Submit(std::move(commands));
}

}  // namespace tutti::simulation
