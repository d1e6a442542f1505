// SPDX-License-Identifier: Apache-2.0
// Occupants: which pods are where, by class; and an index by which the few classes that a selector may select are found
// without a walk through all.
//
// One thread: of the snapshot. A label key is indexed from the first question about it on, which costs one walk.
//
// Invariants
//   (1) a class is here exactly while one of its pods occupies a node, or is reserved on one;
//   (2) for each indexed key, by_label_ has every class here that has the key, and no other.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <tuple>

#include "cluster/pod_class.h"
#include "model/ids.h"

namespace tutti::cluster {

// The pods of one class, by the nodes that they occupy or are reserved on. Do not decide by its order.
struct Occupants {
  std::shared_ptr<const PodClass> pod_class;
  absl::flat_hash_map<model::NodeId, int32_t> nodes;
};

class OccupantIndex {
 public:
  using ById = absl::flat_hash_map<model::ClassId, Occupants>;
  using Classes = absl::flat_hash_set<model::ClassId>;

  const ById& all() const { return by_id_; }
  // Those with terms about other pods, or claims: PodClass::affine.
  const Classes& affine() const { return affine_; }
  const Occupants& at(model::ClassId id) const { return by_id_.at(id); }

  // How many classes of the namespace have one of the values, which are sorted, for the label key. nullopt: the key is
  // not indexed, and would be one too many.
  std::optional<size_t> CountLabelled(model::Symbol ns, model::Symbol key, std::span<const model::Symbol> values) const;
  // Calls f(occupants) for each of them. REQUIRES: CountLabelled was not nullopt.
  template <typename F>
  void ForEachLabelled(model::Symbol ns, model::Symbol key, std::span<const model::Symbol> values, F f) const {
    for (size_t i = 0; i < values.size(); ++i) {
      if (i > 0 && values[i] == values[i - 1]) continue;
      if (const auto at = by_label_.find({ns, key, values[i]}); at != by_label_.end())
        for (const model::ClassId id : at->second) f(by_id_.at(id));
    }
  }

  // Adds `by` pods of the class on n, and returns what is kept of the class. REQUIRES: none is below zero.
  std::shared_ptr<const PodClass> Record(const PodClass& pod_class, model::NodeId n, int32_t by);

 private:
  using Label = std::tuple<model::Symbol, model::Symbol, model::Symbol>;  // namespace, key, value

  void PutLabel(const PodClass& pod_class, model::Symbol key, model::Symbol value) const;
  void Enter(const PodClass& pod_class);
  void Leave(const PodClass& pod_class);

  ById by_id_;
  Classes affine_;
  // Made by questions, and no part of what a reader sees.
  mutable absl::flat_hash_set<model::Symbol> indexed_;
  mutable absl::flat_hash_map<Label, Classes> by_label_;
};

}  // namespace tutti::cluster
