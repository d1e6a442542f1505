// SPDX-License-Identifier: Apache-2.0
// WhatIf: a speculation on a cluster: pods that are placed, some of which leave again, and pods that are evicted.
// Dropping it undoes it.
//
// It changes the snapshot in place and keeps what it did, so that rankings follow it through the change log at the cost
// of the nodes touched. Speculations nest: a search is handed one, opens a Scope on it, and leaves it as it was.
// Thread safety: the snapshot's. Invariants
//   (1) Rewind(m) restores exactly the state at Here() == m;
//   (2) the last begun is undone first, of scopes and of several on one cluster (CHECKed);
//   (3) nothing else changes the cluster meanwhile (ClusterState CHECKs it).
#pragma once

#include <compare>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "cluster/snapshot.h"
#include "cluster/state.h"

namespace tutti::cluster {

struct Placement {
  model::MemberId member;  // invalid: it is placed for no gang, such as a nominated pod
  model::NodeId node;
  const PodClass* pod_class = nullptr;  // never null; outlives the WhatIf
  Takings takings = {};
  bool departed = false;  // it has left the node again, in the speculation
};

class WhatIf {
 public:
  // How much was done.
  struct Mark {
    size_t placements = 0, evictions = 0, departures = 0;
    friend bool operator==(const Mark&, const Mark&) = default;
  };
  class Scope;
  class Unlogged;

  // `state` must outlive it.
  explicit WhatIf(ClusterState& state) : state_(state) {}
  ~WhatIf() {
    TUTTI_CHECK(scopes_ == 0, "a speculation ends after those within it");
    Rewind({});
  }
  WhatIf(const WhatIf&) = delete;
  WhatIf& operator=(const WhatIf&) = delete;

  // With all that is speculated.
  const Snapshot& snapshot() const { return state_.snapshot(); }

  // REQUIRES: the member is not placed yet; the caller checked that it fits.
  void Place(model::MemberId member, const PodClass& pod_class, model::NodeId node, Takings takings = {}) {
    Count();
    state_.snapshot_.Place(pod_class, node, takings);
    placements_.push_back({member, node, &pod_class, std::move(takings)});
  }
  // Takes the last placement back.
  void TakeBack() { Rewind({placements_.size() - 1, evicted_.size(), departed_.size()}); }

  // Takes the pod off its node, and gives back what it takes there. REQUIRES: it weighs on one (ClusterState::pods_on),
  // and is not evicted yet.
  void Evict(model::PodId pod) {
    Count();
    state_.Evict(pod);
    evicted_.push_back(pod);
  }

  // Has what was placed here (its index in placements) leave its node, as a pod that has ended. It stays listed.
  // REQUIRES: it has not left yet.
  void Depart(size_t placement) {
    Count();
    Placement& one = placements_[placement];
    TUTTI_CHECK(!one.departed, "what was placed leaves once");
    state_.snapshot_.Remove(*one.pod_class, one.node, one.takings);
    one.departed = true;
    departed_.push_back(placement);
  }

  Mark Here() const { return {placements_.size(), evicted_.size(), departed_.size()}; }
  // REQUIRES: no Scope was begun after `to`.
  void Rewind(Mark to) {
    UndoTo(to);
    placements_.erase(placements_.begin() + static_cast<ptrdiff_t>(to.placements), placements_.end());
  }

  const std::vector<Placement>& placements() const { return placements_; }
  const std::vector<model::PodId>& evicted() const { return evicted_; }

 private:
  size_t steps() const { return placements_.size() + evicted_.size() + departed_.size(); }
  void Count() {
    if (steps() == 0) below_ = state_.speculated_;
    TUTTI_CHECK(state_.speculated_ == below_ + steps(), "the last speculation begun is the one that goes on");
    ++state_.speculated_;
  }
  // Undoes what was done since, and keeps the list of placements. An eviction or a departure makes room for placements,
  // and no placement for one of those: so placements are undone first.
  void UndoTo(Mark to) {
    TUTTI_CHECK(to.placements <= placements_.size() && to.evictions <= evicted_.size() &&
                    to.departures <= departed_.size() && to.placements >= floor_.placements &&
                    to.evictions >= floor_.evictions && to.departures >= floor_.departures,
                "a scope is rewound to a mark of its own");
    if (to == Here()) return;
    TUTTI_CHECK(state_.speculated_ == below_ + steps(), "the last speculation begun is undone first");
    state_.speculated_ = below_ + to.placements + to.evictions + to.departures;
    for (size_t i = placements_.size(); i-- > to.placements;) {
      const Placement& one = placements_[i];
      if (!one.departed) state_.snapshot_.Remove(*one.pod_class, one.node, one.takings);
    }
    for (; departed_.size() > to.departures; departed_.pop_back()) {
      if (departed_.back() >= to.placements) continue;
      Placement& one = placements_[departed_.back()];
      state_.snapshot_.Place(*one.pod_class, one.node, one.takings);
      one.departed = false;
    }
    for (; evicted_.size() > to.evictions; evicted_.pop_back()) state_.Reinstate(evicted_.back());
  }

  ClusterState& state_;
  std::vector<Placement> placements_;
  std::vector<model::PodId> evicted_;
  std::vector<size_t> departed_;  // of the placements
  size_t below_ = 0;   // steps of the speculations begun before, while there are any of this
  Mark floor_;         // where the innermost scope began
  size_t scopes_ = 0;  // that are open
};

// What is done to a WhatIf while a Scope of it lives is undone when the Scope ends.
class WhatIf::Scope {
 public:
  explicit Scope(WhatIf& what_if)
      : what_if_(what_if), outer_(std::exchange(what_if.floor_, what_if.Here())), depth_(++what_if.scopes_) {}
  ~Scope() {
    TUTTI_CHECK(what_if_.scopes_ == depth_, "the last scope begun ends first");
    what_if_.Rewind(what_if_.floor_);
    what_if_.floor_ = outer_;
    --what_if_.scopes_;
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // What was placed in it. REQUIRES, as Take: no scope is open within it.
  std::span<const Placement> placements() const {
    return std::span(what_if_.placements_).subspan(what_if_.floor_.placements);
  }
  // The same, and all is as before it.
  std::vector<Placement> Take() {
    TUTTI_CHECK(what_if_.scopes_ == depth_, "what was found is taken from the innermost scope");
    what_if_.UndoTo(what_if_.floor_);
    const auto from = what_if_.placements_.begin() + static_cast<ptrdiff_t>(what_if_.floor_.placements);
    std::vector<Placement> taken(std::make_move_iterator(from), std::make_move_iterator(what_if_.placements_.end()));
    what_if_.placements_.erase(from, what_if_.placements_.end());
    return taken;
  }

 private:
  WhatIf& what_if_;
  const Mark outer_;
  const size_t depth_;
};

// A Scope of which no ranking learns, if none is refreshed while it lives: the snapshot's logs end where they did. So a
// question about one node costs no other question anything.
class WhatIf::Unlogged {
 public:
  explicit Unlogged(WhatIf& what_if)
      : snapshot_(what_if.state_.snapshot_), places_(snapshot_.log_places()), scope_(std::in_place, what_if) {}
  ~Unlogged() {
    scope_.reset();
    snapshot_.TakeBackLogs(places_);
  }
  Unlogged(const Unlogged&) = delete;
  Unlogged& operator=(const Unlogged&) = delete;

 private:
  Snapshot& snapshot_;
  const Snapshot::LogPlaces places_;
  std::optional<Scope> scope_;
};

}  // namespace tutti::cluster
