// SPDX-License-Identifier: Apache-2.0
#include "cluster/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"
#include "model/footprint.h"
#include "model/list_limit.h"

namespace tutti::cluster {

using model::NodeId;
using model::Pod;
using model::PodId;

namespace {

bool Same(const std::shared_ptr<const model::LabelSelector>& a, const std::shared_ptr<const model::LabelSelector>& b) {
  return a == b || (a && b && *a == *b);
}

size_t FootprintOf(const PodClass& pod_class) {
  size_t bytes = sizeof(pod_class) + Footprint(*pod_class.spec) +
                 pod_class.requests.size() * sizeof(pod_class.requests[0]) +
                 pod_class.labels.size() * sizeof(pod_class.labels[0]);
  for (const ClaimUse& use : pod_class.claims)
    bytes += sizeof(use) + use.claim.size() + use.owner.size() + use.owner_name.size();
  return bytes;
}

}  // namespace

PodId ClusterState::FindPod(std::string_view ns, std::string_view name) const { return Find(Name(ns, name)); }

PodId ClusterState::Find(const Name& name) const {
  const auto at = by_name_.find(name);
  return at == by_name_.end() ? PodId() : at->id;
}

ClusterState::PodChange ClusterState::ApplyPod(std::shared_ptr<const Pod> pod) {
  const Name name(pod->meta.ns, pod->meta.name);
  const PodId known = Find(name);
  if (known && pods_[known.index()].pod->meta.uid != pod->meta.uid) return {PodId(), nullptr, known};

  PodChange change;
  if (known) {
    change.id = known;
    change.before = pods_[known.index()].pod;
  } else {
    change.id = AddSlot();
  }

  PodEntry& entry = pods_[change.id.index()];
  const Pod* before = change.before.get();
  if (IsAdrift(entry)) LeaveAdrift(entry);
  const Selector selected_by = SelectorOf(*pod, entry.pod_class.get());
  const bool same_class = before && before->spec == pod->spec && before->meta.labels == pod->meta.labels &&
                          before->meta.deleting() == pod->meta.deleting() &&
                          Same(entry.pod_class->selected_by, selected_by);
  if (!same_class) {  // a resize, new labels or the beginning of deletion may win room
    PodsChanged(snapshot_.FindNode(nominations_.NodeOf(change.id)));
    const PodClass* was = entry.pod_class.get();
    SetClass(entry, InternClass(*pod, selected_by));
    if (entry.node && entry.pod_class.get() != was) {
      Improve(entry.node);
      improved_.by_pods = true;
    }
  }
  if (!before) {
    for (const ClaimUse& use : entry.pod_class->claims) users_[use.claim].insert(change.id);
    PutInto(by_ns_[entry.pod_class->ns], change.id, &PodEntry::ns_place);
  }
  entry.pod = std::move(pod);
  if (!known) by_name_.insert({change.id, name.hash});

  const NodeId target = entry.pod->occupies() ? snapshot_.FindNode(entry.pod->node_name) : NodeId();
  const bool stays_reserved = entry.reserved && !entry.pod->bound() && !entry.pod->done();
  if (!stays_reserved) {
    EndReservation(entry);
    if (entry.node != target) {
      Unweigh(entry);
      if (target) Weigh(change.id, target);
    }
  }
  if (IsAdrift(entry)) SetAdrift(change.id);
  PodsChanged(entry.node);
  Nominate(change.id);
  return change;
}

PodId ClusterState::AddSlot() {
  if (free_pods_.empty()) {
    pods_.Add();
    return PodId(static_cast<uint32_t>(pods_.size() - 1));
  }
  const PodId id = free_pods_.back();
  free_pods_.pop_back();
  return id;
}

PodId ClusterState::Promise(const Pod& as_made) {
  auto pod = std::make_shared<Pod>(as_made);
  pod->meta.name.clear();
  pod->meta.uid = fmt::format("promise/{}", ++promises_);
  pod->scheduling_gates.clear();  // those of the pod to come are taken away in time, and its place waits for that
  const PodId id = AddSlot();
  PodEntry& entry = pods_[id.index()];
  SetClass(entry, InternClass(*pod, SelectorOf(*pod, nullptr)));
  for (const ClaimUse& use : entry.pod_class->claims) users_[use.claim].insert(id);
  PutInto(by_ns_[entry.pod_class->ns], id, &PodEntry::ns_place);
  entry.pod = std::move(pod);
  entry.promised = true;
  return id;
}

// The room that was kept for it where it is not any more is for others.
void ClusterState::Nominate(PodId id) {
  const Pod& pod = *pods_[id.index()].pod;
  auto kept = kept_.find(id);
  if (kept != kept_.end() && (!Nominations::MayHaveNode(pod) || kept->second == pod.nominated_node)) {
    kept_.erase(kept);
    kept = kept_.end();
  }
  const std::string before = nominations_.NodeOf(id);
  const std::string& said = kept == kept_.end() ? pod.nominated_node : kept->second;
  nominations_.Put(id, Nominations::MayHaveNode(pod) ? said : std::string());
  const std::string& now = nominations_.NodeOf(id);
  if (before == now) return;
  if (!before.empty()) PodsChanged(snapshot_.FindNode(before));
  if (!now.empty()) PodsChanged(snapshot_.FindNode(now));
  if (!before.empty() && before != pod.node_name) EndNomination(before);
}

void ClusterState::KeepNode(PodId id, const std::string& node) {
  kept_[id] = node;
  Nominate(id);
}

void ClusterState::EndNomination(const std::string& node_name) {
  const NodeId node = snapshot_.FindNode(node_name);
  if (!node) return;
  PodsChanged(node);
  Improve(node);
  improved_.by_pods = true;
}

void ClusterState::DropPod(PodId id) {
  PodEntry& entry = pods_[id.index()];
  TUTTI_CHECK(entry.pod != nullptr, "a pod is dropped once");
  if (IsAdrift(entry)) LeaveAdrift(entry);
  EndReservation(entry);
  Unweigh(entry);
  kept_.erase(id);
  if (const std::string node = nominations_.NodeOf(id); !node.empty()) {
    nominations_.Put(id, {});
    EndNomination(node);
  }
  for (const ClaimUse& use : entry.pod_class->claims)
    if (const auto at = users_.find(use.claim); at != users_.end()) {  // not, for a claim that it names twice
      at->second.erase(id);
      if (at->second.empty()) users_.erase(at);
    }
  const auto ns = by_ns_.find(entry.pod_class->ns);
  TakeFrom(ns->second, entry, &PodEntry::ns_place);
  if (ns->second.empty()) by_ns_.erase(ns);
  if (!entry.promised) by_name_.erase(Name(entry.pod->meta.ns, entry.pod->meta.name));
  keys_.Remove(*entry.pod_class, entry.pod->meta.ns);
  entry = PodEntry{};
  free_pods_.push_back(id);
}

void ClusterState::PutInto(std::vector<PodId>& list, PodId id, Place place) {
  pods_[id.index()].*place = static_cast<uint32_t>(list.size());
  list.push_back(id);
}

void ClusterState::TakeFrom(std::vector<PodId>& list, const PodEntry& entry, Place place) {
  const uint32_t at = entry.*place;
  pods_[list.back().index()].*place = at;
  list[at] = list.back();
  list.pop_back();
}

void ClusterState::SetAdrift(PodId id) { PutInto(adrift_[pods_[id.index()].pod->node_name], id, &PodEntry::place); }

void ClusterState::LeaveAdrift(const PodEntry& entry) {
  const auto adrift = adrift_.find(entry.pod->node_name);
  TakeFrom(adrift->second, entry, &PodEntry::place);
  if (adrift->second.empty()) adrift_.erase(adrift);
}

ClusterState::NodeChange ClusterState::ApplyNode(std::shared_ptr<const model::Node> node) {
  MustBeAtRest();
  const NodeId known = snapshot_.FindNode(node->meta.name);
  NodeChange change{known, known ? snapshot_.node(known).node : nullptr};
  const uint64_t version = snapshot_.last_version();
  const size_t provided = snapshot_.provided();
  change.id = snapshot_.PutNode(std::move(node));
  if (snapshot_.provided() != provided) NameAgain();
  if (snapshot_.last_version() != version) Improve(change.id);
  if (on_node_.size() < snapshot_.slots()) {
    on_node_.resize(snapshot_.slots());
    pods_versions_.resize(snapshot_.slots());
  }
  if (known) return change;
  if (auto adrift = adrift_.extract(snapshot_.node(change.id).name); !adrift.empty()) {
    std::ranges::sort(adrift.mapped());
    for (const PodId id : adrift.mapped()) Weigh(id, change.id);
  }
  return change;
}

bool ClusterState::DropNode(const std::string& name) {
  const NodeId node = snapshot_.FindNode(name);
  if (!node) return false;
  while (!on_node_[node.index()].empty()) {
    const PodId id = on_node_[node.index()].back();
    PodEntry& entry = pods_[id.index()];
    const bool bound = !entry.reserved;
    EndReservation(entry);
    Unweigh(entry);
    if (bound) SetAdrift(id);
  }
  snapshot_.DropNode(node);
  return true;
}

std::vector<PodId> ClusterState::UsersOf(const std::string& claim) const {
  const auto at = users_.find(claim);
  return at == users_.end() ? std::vector<PodId>() : std::vector<PodId>(at->second.begin(), at->second.end());
}

void ClusterState::Reserve(PodId id, NodeId node, Takings takings, model::GangId of) {
  PodEntry& entry = pods_[id.index()];
  TUTTI_CHECK(entry.pod && !entry.pod->bound() && !entry.node, "room is reserved for a pod that weighs nowhere");
  if (const std::string& kept = nominations_.NodeOf(id); !kept.empty() && kept != snapshot_.node(node).name)
    EndNomination(kept);
  entry.takings = std::move(takings);
  Weigh(id, node);
  entry.reserved = true;
  entry.reserved_for = of;
  ++reserved_;
  TellStandIns(entry, *entry.pod_class, +1);
}

void ClusterState::SetVictim(PodId id, model::GangId of) {
  MustBeAtRest();
  PodEntry& entry = pods_[id.index()];
  if (entry.victim_of == of) return;
  if (entry.victim_of) {
    TellStandIns(entry, *entry.pod_class, -1);
    stand_ins_.Unmark(entry.node, std::exchange(entry.victim_of, {}));
  }
  PodsChanged(entry.node);
  if (!of) return;
  TUTTI_CHECK(entry.node && !entry.reserved, "a victim is bound to a node");
  entry.victim_of = of;
  if (stand_ins_.Mark(entry.node, of)) {  // what was reserved before counts too
    for (const PodId pod : on_node_[entry.node.index()])
      if (const PodEntry& other = pods_[pod.index()]; other.reserved && other.reserved_for == of)
        TellStandIns(other, *other.pod_class, +1);
  }
  TellStandIns(entry, *entry.pod_class, +1);
}

// The pod, as one of the class, comes to its node or leaves it.
void ClusterState::TellStandIns(const PodEntry& entry, const PodClass& pod_class, int by) {
  if (stand_ins_.empty()) return;
  if (entry.victim_of)
    stand_ins_.Count(entry.node, entry.victim_of, pod_class, StandIns::Side::kVictim, by);
  else if (entry.reserved)
    stand_ins_.Count(entry.node, entry.reserved_for, pod_class, StandIns::Side::kReservation, by);
}

void ClusterState::HandOver(PodId from, PodId to) {
  PodEntry &giver = pods_[from.index()], &taker = pods_[to.index()];
  TUTTI_CHECK(giver.reserved && taker.pod && !taker.pod->bound() && !taker.node,
              "a pod that weighs nowhere takes over");
  TUTTI_CHECK(giver.pod_class == taker.pod_class, "a pod takes over what was reserved for its class");
  TakeFrom(on_node_[giver.node.index()], giver, &PodEntry::place);
  taker.node = std::exchange(giver.node, NodeId());
  taker.takings = std::exchange(giver.takings, {});
  taker.reserved = std::exchange(giver.reserved, false);
  taker.reserved_for = std::exchange(giver.reserved_for, {});
  PutInto(on_node_[taker.node.index()], to, &PodEntry::place);
  PodsChanged(taker.node);
  PodsChanged(snapshot_.FindNode(nominations_.NodeOf(to)));
}

void ClusterState::Release(PodId id) {
  PodEntry& entry = pods_[id.index()];
  if (!entry.reserved) return;
  EndReservation(entry);
  Unweigh(entry);
}

void ClusterState::EndReservation(PodEntry& entry) {
  if (!entry.reserved) return;
  PodsChanged(snapshot_.FindNode(nominations_.NodeOf(on_node_[entry.node.index()][entry.place])));
  TellStandIns(entry, *entry.pod_class, -1);
  entry.reserved = false;
  entry.reserved_for = {};
  --reserved_;
}

void ClusterState::MustBeAtRest() const {
  TUTTI_CHECK(speculated_ == 0, "the cluster does not change while something is speculated");
}

void ClusterState::Weigh(PodId id, NodeId node) {
  MustBeAtRest();
  PodEntry& entry = pods_[id.index()];
  TUTTI_CHECK(!entry.node, "a pod weighs on one node");
  snapshot_.Place(*entry.pod_class, node, entry.takings);
  entry.node = node;
  PutInto(on_node_[node.index()], id, &PodEntry::place);
  PodsChanged(node);
}

void ClusterState::Evict(PodId id) {
  PodEntry& entry = pods_[id.index()];
  TUTTI_CHECK(entry.node && !entry.evicted, "a pod that weighs on a node is evicted, once");
  snapshot_.Remove(*entry.pod_class, entry.node, entry.takings);
  TellStandIns(entry, *entry.pod_class, -1);
  entry.evicted = true;
  PodsChanged(entry.node);
}

void ClusterState::Reinstate(PodId id) {
  PodEntry& entry = pods_[id.index()];
  snapshot_.Place(*entry.pod_class, entry.node, entry.takings);
  TellStandIns(entry, *entry.pod_class, +1);
  entry.evicted = false;
  PodsChanged(entry.node);
}

void ClusterState::Unweigh(PodEntry& entry) {
  if (!entry.node) return;
  MustBeAtRest();
  if (entry.victim_of) SetVictim(on_node_[entry.node.index()][entry.place], {});
  TakeFrom(on_node_[entry.node.index()], entry, &PodEntry::place);
  PodsChanged(entry.node);
  snapshot_.Remove(*entry.pod_class, entry.node, entry.takings);
  Improve(entry.node);
  improved_.by_pods = true;
  improved_.by_volumes = improved_.by_volumes || !entry.takings.empty();
  entry.takings = {};
  entry.node = NodeId();
}

void ClusterState::Improve(NodeId node) {
  if (marked_.size() <= node.index()) marked_.resize(snapshot_.slots());
  if (!std::exchange(marked_[node.index()], 1)) improved_.nodes.push_back(node);
}

ClusterState::Improved ClusterState::TakeImproved() {
  for (const NodeId node : improved_.nodes) marked_[node.index()] = 0;
  return std::exchange(improved_, {});
}

// The old weight goes before the new one is set, and new readers come before the old ones go: a key that both read is
// read all the time.
void ClusterState::SetClass(PodEntry& entry, std::shared_ptr<const PodClass> pod_class) {
  if (pod_class == entry.pod_class) return;
  if (entry.node) {
    MustBeAtRest();
    snapshot_.Remove(*entry.pod_class, entry.node, entry.takings);
    snapshot_.Place(*pod_class, entry.node, entry.takings);
    TellStandIns(entry, *entry.pod_class, -1);
    TellStandIns(entry, *pod_class, +1);
    PodsChanged(entry.node);
  }
  const std::string& ns = snapshot_.symbols().Text(pod_class->ns);
  keys_.Add(*pod_class, ns);
  if (entry.pod_class) keys_.Remove(*entry.pod_class, ns);
  entry.pod_class = std::move(pod_class);
}

LabelEntries ClusterState::ReadLabels(const Pod& pod) {
  LabelEntries labels;
  if (keys_.empty()) return labels;
  SymbolTable& symbols = snapshot_.symbols();
  for (const auto& [key, value] : pod.meta.labels)
    if (keys_.IsRead(key, pod.meta.ns)) labels.emplace_back(symbols.Intern(key), symbols.Intern(value));
  std::ranges::sort(labels);
  return labels;
}

std::vector<ClaimUse> ClusterState::ReadClaims(const Pod& pod) {
  std::vector<ClaimUse> claims;
  for (const model::PodClaim& claim : pod.claims)
    claims.push_back({pod.meta.ns + "/" + claim.name, claim.own ? pod.meta.uid : "", claim.own ? pod.meta.name : ""});
  return claims;
}

void ClusterState::ClassifyAgain(PodEntry& entry) {
  if (ReadLabels(*entry.pod) != entry.pod_class->labels)
    SetClass(entry, InternClass(*entry.pod, entry.pod_class->selected_by));
}

// A node has brought a resource. Pods that ask for more than are looked at may be of classes that were made without it.
void ClusterState::NameAgain() {
  const auto asks_too_much = [](const model::PodSpec& spec) { return model::Full(spec.requests.items()); };
  const size_t outdated = std::erase_if(classes_, [&](const auto& item) {
    const auto pod_class = item.second.lock();
    return pod_class && asks_too_much(*pod_class->spec);
  });
  for (size_t i = 0; outdated > 0 && i < pods_.size(); ++i)
    if (PodEntry& entry = pods_[i]; entry.pod && asks_too_much(*entry.pod->spec))
      SetClass(entry, InternClass(*entry.pod, entry.pod_class->selected_by));
}

void ClusterState::Reclassify() {
  if (snapshot_.resources().Grown()) SweepColumns();
  if (!keys_.AnyChanged()) return;
  const LabelKeys::Changed changed = keys_.TakeChanged();
  for (size_t i = 0; changed.everywhere && i < pods_.size(); ++i)
    if (pods_[i].pod) ClassifyAgain(pods_[i]);
  for (const std::string& ns : changed.namespaces)
    if (const auto at = by_ns_.find(snapshot_.symbols().Intern(ns)); at != by_ns_.end())
      for (const PodId id : at->second) ClassifyAgain(pods_[id.index()]);
}

// A pod keeps what it had when it is bound: that would only tell apart what counts alike.
ClusterState::Selector ClusterState::SelectorOf(const Pod& pod, const PodClass* before) {
  if (!pod.spec->spread.empty()) return nullptr;
  if (pod.bound() || pod.done()) return before ? before->selected_by : nullptr;
  return selections_.Of(pod);
}

bool ClusterState::Reselect(PodId id) {
  PodEntry& entry = pods_[id.index()];
  if (entry.reserved || entry.pod->bound() || entry.pod->done()) return false;
  const Selector selected_by = SelectorOf(*entry.pod, nullptr);
  if (Same(entry.pod_class->selected_by, selected_by)) return false;
  SetClass(entry, InternClass(*entry.pod, selected_by));
  return true;
}

std::shared_ptr<const PodClass> ClusterState::InternClass(const Pod& pod, const Selector& selected_by) {
  const model::Symbol ns = snapshot_.symbols().Intern(pod.meta.ns);
  const bool terminating = pod.meta.deleting();
  LabelEntries labels = ReadLabels(pod);
  std::vector<ClaimUse> claims = ReadClaims(pod);
  uint64_t hash = HashOf(pod.spec) * 31 + ns.value * 2 + terminating;
  for (const auto& [key, value] : labels) hash = (hash * 31 + key.value) * 31 + value.value;
  for (const ClaimUse& use : claims) hash = hash * 31 + std::hash<std::string>()(use.claim);
  if (selected_by)
    for (const auto& [key, value] : selected_by->match_labels) hash = hash * 31 + std::hash<std::string>()(value);
  for (auto [at, end] = classes_.equal_range(hash); at != end; ++at)
    if (auto known = at->second.lock(); known && known->ns == ns && known->terminating == terminating &&
                                        known->labels == labels && known->claims == claims &&
                                        Same(known->selected_by, selected_by) &&
                                        (known->spec == pod.spec || *known->spec == *pod.spec))
      return known;
  if (classes_.size() >= sweep_classes_at_) ReleaseUnusedClasses();
  auto fresh = std::make_shared<PodClass>();
  fresh->id = model::ClassId(next_class_++);
  fresh->spec = pod.spec;
  fresh->ns = ns;
  fresh->labels = std::move(labels);
  fresh->terminating = terminating;
  fresh->claims = std::move(claims);
  fresh->selected_by = selected_by;
  // A pod with more names than are looked at makes up none: those count that others have brought. See NameAgain.
  const bool few = !model::Full(pod.spec->requests.items());
  for (const auto& [name, amount] : pod.spec->requests)
    if (const model::ResourceId r = few ? snapshot_.resources().ColumnOfPods(name) : snapshot_.resources().Known(name);
        r && amount > 0)
      fresh->requests.emplace_back(r, std::min(amount, model::kLargestRequest));
  fresh->bytes = FootprintOf(*fresh);
  classes_.emplace(hash, fresh);
  return fresh;
}

uint64_t ClusterState::HashOf(const std::shared_ptr<const model::PodSpec>& spec) {
  const auto known = hashes_.find(spec.get());
  if (known != hashes_.end() && !known->second.first.expired()) return known->second.second;
  if (hashes_.size() >= sweep_hashes_at_) {
    absl::erase_if(hashes_, [](const auto& item) { return item.second.first.expired(); });
    sweep_hashes_at_ = std::max<size_t>(1024, 2 * hashes_.size());
  }
  const uint64_t hash = model::Hash(*spec);
  hashes_.insert_or_assign(spec.get(), std::pair(spec, hash));
  return hash;
}

void ClusterState::ReleaseUnusedClasses() {
  std::erase_if(classes_, [](const auto& item) { return item.second.expired(); });
  sweep_classes_at_ = std::max<size_t>(1024, 2 * classes_.size());
}

// What keeps a column keeps a class that has it, or has asked for it as one that stays.
void ClusterState::SweepColumns() {
  ReleaseUnusedClasses();
  std::vector<char> used(snapshot_.resources().size());
  for (const auto& [hash, weak] : classes_)
    if (const auto pod_class = weak.lock())
      for (const auto& [column, amount] : pod_class->requests) used[column.index()] = 1;
  snapshot_.resources().Sweep(used);
}

void ClusterState::SweepSymbols() {
  ReleaseUnusedClasses();
  SymbolTable::Used used(snapshot_.symbols());
  snapshot_.MarkSymbols(&used);
  for (const auto& [hash, weak] : classes_)
    if (const auto pod_class = weak.lock()) {
      used.Mark(pod_class->ns);
      for (const auto& [key, value] : pod_class->labels) {
        used.Mark(key);
        used.Mark(value);
      }
    }
  snapshot_.symbols().Sweep(used);
}

void ClusterState::Audit() const {
  MustBeAtRest();
  std::vector<std::vector<Columns::Wide>> sums(snapshot_.resources().size(),
                                               std::vector<Columns::Wide>(snapshot_.slots()));
  const auto add = [&sums](const PodClass& pod_class, NodeId node) {
    for (const auto& [column, amount] : pod_class.requests) sums[column.index()][node.index()] += amount;
    ++sums[kPodsColumn.index()][node.index()];
  };
  // By node and gang: what its victims, and what its reservations, ask for.
  std::map<std::pair<NodeId, model::GangId>, std::map<uint32_t, std::pair<Columns::Wide, Columns::Wide>>> twice;
  const auto add_twice = [&twice](const PodClass& pod_class, NodeId node, model::GangId gang, auto side) {
    auto& sides = twice[{node, gang}];
    for (const auto& [column, amount] : pod_class.requests) sides[column.value].*side += amount;
    ++(sides[kPodsColumn.value].*side);
  };
  using Sides = std::pair<Columns::Wide, Columns::Wide>;
  size_t reserved = 0, weighing = 0;
  for (size_t i = 0; i < pods_.size(); ++i) {
    const PodEntry& entry = pods_[i];
    const PodId id(static_cast<uint32_t>(i));
    if (!entry.pod) {
      TUTTI_CHECK(!entry.node && !entry.reserved, "a free slot weighs nothing");
      continue;
    }
    const auto kept = kept_.find(id);
    const std::string& said = kept == kept_.end() ? entry.pod->nominated_node : kept->second;
    TUTTI_CHECK(nominations_.NodeOf(id) == (Nominations::MayHaveNode(*entry.pod) ? said : std::string()),
                "those that are nominated are known");
    TUTTI_CHECK(!entry.evicted, "an eviction that is only speculated ends");
    if (entry.reserved) {
      ++reserved;
      TUTTI_CHECK(entry.node && !entry.pod->bound(), "a pod weighs where its reservation is");
      add_twice(*entry.pod_class, entry.node, entry.reserved_for, &Sides::second);
    }
    TUTTI_CHECK(entry.reserved || !entry.reserved_for, "only a reservation stands in for victims");
    TUTTI_CHECK(!entry.victim_of || (entry.node && !entry.reserved), "a victim weighs on the node it is bound to");
    if (!entry.node) continue;
    if (entry.victim_of) add_twice(*entry.pod_class, entry.node, entry.victim_of, &Sides::first);
    ++weighing;
    TUTTI_CHECK(pods_on(entry.node)[entry.place] == id, "a node knows what weighs on it");
    TUTTI_CHECK(entry.reserved || entry.pod->occupies(), "what weighs is bound or reserved");
    TUTTI_CHECK(snapshot_.present(entry.node), "what weighs is on a node that exists");
    add(*entry.pod_class, entry.node);
  }
  for (const auto& pods : on_node_) weighing -= pods.size();
  TUTTI_CHECK(weighing == 0, "nothing else is on a node");
  for (const auto& [where, columns] : twice)
    for (const auto& [column, sides] : columns)
      sums[column][where.first.index()] -= std::min(sides.first, sides.second);
  TUTTI_CHECK(reserved == reserved_, "reservations end with their pods");
  for (uint32_t r = 0; r < sums.size(); ++r)
    if (const model::ResourceId column(r); snapshot_.Exists(column))
      TUTTI_CHECK(std::ranges::equal(sums[r], snapshot_.requested(column), {},
                                     [](Columns::Wide sum) { return std::min<Columns::Wide>(sum, kLargestSum); }),
                  "requested is the sum of the pods: " + snapshot_.resources().Text(column));
}

}  // namespace tutti::cluster
