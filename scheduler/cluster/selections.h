// SPDX-License-Identifier: Apache-2.0
// Selections: the Services and controllers of pods, by what they select. Kept for default spread constraints.
//
// One thread.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/object.h"
#include "model/pod.h"
#include "model/selection.h"

namespace tutti::cluster {

// The kinds as a feed is asked for them, in the order of Selection::Kind.
const std::vector<model::ObjectKind>& SelectionKinds();
const model::ObjectKind& ObjectKindOf(model::Selection::Kind kind);
// By ObjectKind::Name(); nullopt: none of them.
std::optional<model::Selection::Kind> FindSelectionKind(const std::string& name);

class Selections {
 public:
  // Both return whether some pod may be selected otherwise now.
  bool Put(const model::Selection& selection);
  bool Drop(model::Selection::Kind kind, const std::string& ns, const std::string& name);

  // What the Services that select the pod, and the controller that owns it, ask of pods together; null: nothing.
  // (helper.DefaultSelector)
  std::shared_ptr<const model::LabelSelector> Of(const model::Pod& pod);

 private:
  using Kind = model::Selection::Kind;
  using Label = std::pair<std::string, std::string>;
  struct Namespace {
    std::map<std::string, Label> services;  // by name: the label that it stands under below
    // The label maps of Services, by one of their labels, the one that fewest others stand under, and their names.
    std::map<Label, std::map<std::string, model::StringMap>> by_label;
    std::map<std::pair<Kind, std::string>, model::LabelSelector> controllers;
  };

  bool Knows(const model::Selection& selection) const;  // as it is
  static std::optional<Kind> ControllerOf(const model::Pod& pod);

  absl::flat_hash_map<std::string, Namespace> namespaces_;
  // The last that was asked for: pods of one template come one after another.
  model::ObjectMeta last_of_;
  std::shared_ptr<const model::LabelSelector> last_;
};

}  // namespace tutti::cluster
