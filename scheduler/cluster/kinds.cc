// SPDX-License-Identifier: Apache-2.0
#include "cluster/kinds.h"

#include "base/check.h"

namespace tutti::cluster {

const model::ObjectKind& PodKind() {
  static const model::ObjectKind kind{"", "pods", "Pod", {"v1"}};
  return kind;
}

const model::ObjectKind& NodeKind() {
  static const model::ObjectKind kind{"", "nodes", "Node", {"v1"}};
  return kind;
}

const model::ObjectKind& NamespaceKind() {
  static const model::ObjectKind kind{"", "namespaces", "Namespace", {"v1"}};
  return kind;
}

KindId KindTable::Add(const model::ObjectKind& kind) {
  if (const KindId known = Find(kind.group, kind.resource, !kind.label.empty())) {
    TUTTI_CHECK(at(known) == kind, "a kind has the same name and versions for all that read it");
    return known;
  }
  const KindId id(static_cast<uint32_t>(rows_.size()));
  const model::ObjectKind& row = rows_.emplace_back(kind);
  ids_.try_emplace({row.group, row.resource, !row.label.empty()}, id);
  return id;
}

KindId KindTable::Find(std::string_view group, std::string_view resource, bool labelled) const {
  const auto at = ids_.find({group, resource, labelled});
  return at == ids_.end() ? KindId() : at->second;
}

// A resource has no dot in its name.
KindId KindTable::FindByName(std::string_view name) const {
  constexpr std::string_view kLabelled = "labelled-";
  const bool labelled = name.starts_with(kLabelled);
  if (labelled) name.remove_prefix(kLabelled.size());
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos) return Find({}, name, labelled);
  return Find(name.substr(dot + 1), name.substr(0, dot), labelled);
}

}  // namespace tutti::cluster
