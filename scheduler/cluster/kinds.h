// SPDX-License-Identifier: Apache-2.0
// KindTable: the kinds of objects that a scheduler reads. Each has a dense id, so that what is kept of each kind is an
// array, and an event finds its place there by one look-up.
//
// A row is a model::ObjectKind. Rows are added and never removed. One thread.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <deque>
#include <string_view>
#include <tuple>

#include "base/strong_id.h"
#include "model/object.h"

namespace tutti::cluster {

using KindId = base::StrongId<struct KindTag>;  // a row of one KindTable

// Events of their own carry these two. A feed reads them unasked.
const model::ObjectKind& PodKind();
const model::ObjectKind& NodeKind();
// Affinity terms select pods by the labels of their namespaces.
const model::ObjectKind& NamespaceKind();

class KindTable {
 public:
  KindTable() = default;
  KindTable(const KindTable&) = delete;
  KindTable& operator=(const KindTable&) = delete;

  // Returns the id of the kind's row, and adds the row if there is none. REQUIRES: all that add a kind of one group and
  // resource, with a label or without one, agree on the rest of it.
  KindId Add(const model::ObjectKind& kind);

  // Both return an invalid id if there is no such row. They allocate nothing.
  KindId Find(std::string_view group, std::string_view resource, bool labelled = false) const;
  KindId FindByName(std::string_view name) const;  // ObjectKind::Name()

  const model::ObjectKind& at(KindId id) const { return rows_[id.index()]; }
  size_t size() const { return rows_.size(); }

 private:
  std::deque<model::ObjectKind> rows_;  // by id; a row stays where it is
  // By the row's group and resource, and whether it has a label.
  absl::flat_hash_map<std::tuple<std::string_view, std::string_view, bool>, KindId> ids_;
};

}  // namespace tutti::cluster
