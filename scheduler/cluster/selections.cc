// SPDX-License-Identifier: Apache-2.0
#include "cluster/selections.h"

#include <algorithm>

namespace tutti::cluster {
namespace {

using model::LabelSelector;
using model::Operator;
using model::Selection;
using model::StringMap;

bool Holds(const StringMap& labels, const StringMap& wanted) {
  return std::ranges::all_of(wanted, [&](const auto& one) {
    const std::string* value = model::Find(labels, one.first);
    return value && *value == one.second;
  });
}

// `wins` replaces what differs.
void Merge(const StringMap& wins, StringMap* into) {
  for (const auto& [key, value] : wins) {
    const auto at = std::ranges::lower_bound(*into, key, {}, [](const auto& one) -> const auto& { return one.first; });
    if (at != into->end() && at->first == key)
      at->second = value;
    else
      into->insert(at, {key, value});
  }
}

// Both hold.
void Add(const LabelSelector& more, LabelSelector* selector) {
  for (const auto& [key, value] : more.match_labels) {
    const std::string* there = model::Find(selector->match_labels, key);
    if (!there)
      Merge({{key, value}}, &selector->match_labels);
    else if (*there != value)
      selector->match_expressions.push_back({key, Operator::kIn, {value}});
  }
  std::ranges::copy(more.match_expressions, std::back_inserter(selector->match_expressions));
}

}  // namespace

const std::vector<model::ObjectKind>& SelectionKinds() {
  static const std::vector<model::ObjectKind> kinds = {
      {"", "services", "Service", {"v1"}},
      {"", "replicationcontrollers", "ReplicationController", {"v1"}},
      {"apps", "replicasets", "ReplicaSet", {"v1"}},
      {"apps", "statefulsets", "StatefulSet", {"v1"}},
  };
  return kinds;
}

const model::ObjectKind& ObjectKindOf(Selection::Kind kind) { return SelectionKinds()[static_cast<size_t>(kind)]; }

std::optional<Selection::Kind> FindSelectionKind(const std::string& name) {
  static const auto by_name = [] {
    absl::flat_hash_map<std::string, Selection::Kind> map;
    for (const model::ObjectKind& kind : SelectionKinds())
      map.emplace(kind.Name(), static_cast<Selection::Kind>(map.size()));
    return map;
  }();
  const auto at = by_name.find(name);
  if (at == by_name.end()) return std::nullopt;
  return at->second;
}

bool Selections::Put(const Selection& selection) {
  if (Knows(selection)) return false;
  const bool dropped = Drop(selection.kind, selection.ns, selection.name);
  if (!CanSelect(selection.selector)) return dropped;
  last_of_ = {};
  Namespace& ns = namespaces_[selection.ns];
  if (selection.kind == Kind::kService) {
    const StringMap& labels = selection.selector.match_labels;
    const Label& rarest = *std::ranges::min_element(labels, {}, [&ns](const Label& label) {
      const auto others = ns.by_label.find(label);
      return others == ns.by_label.end() ? 0 : others->second.size();
    });
    ns.services[selection.name] = rarest;
    ns.by_label[rarest][selection.name] = labels;
  } else {
    ns.controllers[{selection.kind, selection.name}] = selection.selector;
  }
  return true;
}

bool Selections::Knows(const Selection& selection) const {
  const auto at = namespaces_.find(selection.ns);
  if (at == namespaces_.end()) return false;
  const Namespace& ns = at->second;
  if (selection.kind == Kind::kService) {
    const auto service = ns.services.find(selection.name);
    return service != ns.services.end() &&
           ns.by_label.at(service->second).at(selection.name) == selection.selector.match_labels;
  }
  const auto controller = ns.controllers.find({selection.kind, selection.name});
  return controller != ns.controllers.end() && controller->second == selection.selector;
}

bool Selections::Drop(Kind kind, const std::string& ns, const std::string& name) {
  const auto at = namespaces_.find(ns);
  if (at == namespaces_.end()) return false;
  Namespace& there = at->second;
  last_of_ = {};
  bool dropped = false;
  if (kind != Kind::kService) {
    dropped = there.controllers.erase({kind, name}) > 0;
  } else if (const auto service = there.services.find(name); service != there.services.end()) {
    const auto by_label = there.by_label.find(service->second);
    by_label->second.erase(name);
    if (by_label->second.empty()) there.by_label.erase(by_label);
    there.services.erase(service);
    dropped = true;
  }
  if (there.services.empty() && there.controllers.empty()) namespaces_.erase(at);
  return dropped;
}

std::optional<Selections::Kind> Selections::ControllerOf(const model::Pod& pod) {
  const model::OwnerReference* owner = pod.meta.Controller();
  if (!owner) return std::nullopt;
  for (const Kind kind : {Kind::kReplicationController, Kind::kReplicaSet, Kind::kStatefulSet}) {
    const model::ObjectKind& known = ObjectKindOf(kind);
    const std::string version = known.group.empty() ? known.versions[0] : known.group + "/" + known.versions[0];
    if (owner->kind == known.kind && owner->api_version == version) return kind;
  }
  return std::nullopt;
}

std::shared_ptr<const LabelSelector> Selections::Of(const model::Pod& pod) {
  const auto at = namespaces_.find(pod.meta.ns);
  if (at == namespaces_.end()) return nullptr;
  if (!last_of_.ns.empty() && last_of_.ns == pod.meta.ns && last_of_.labels == pod.meta.labels &&
      last_of_.controller == pod.meta.controller)
    return last_;
  const Namespace& ns = at->second;
  LabelSelector selector;
  for (const auto& label : pod.meta.labels)
    if (const auto services = ns.by_label.find(label); services != ns.by_label.end())
      for (const auto& [name, labels] : services->second)
        if (Holds(pod.meta.labels, labels)) Merge(labels, &selector.match_labels);
  if (const auto kind = ControllerOf(pod))
    if (const auto owner = ns.controllers.find({*kind, pod.meta.controller->name}); owner != ns.controllers.end()) {
      if (kind == Kind::kReplicationController)
        Merge(owner->second.match_labels, &selector.match_labels);
      else
        Add(owner->second, &selector);
    }
  last_of_.ns = pod.meta.ns;
  last_of_.labels = pod.meta.labels;
  last_of_.controller = pod.meta.controller;
  last_ = selector == LabelSelector() ? nullptr : std::make_shared<const LabelSelector>(std::move(selector));
  return last_;
}

}  // namespace tutti::cluster
