// SPDX-License-Identifier: Apache-2.0
// The example of docs/plugins.md.
#pragma once

#include "framework/plugin.h"

namespace tutti::plugins {

// [example]
// SameGeneration: keeps pods on nodes whose label "generation" is the one that configuration asks for.
class SameGeneration final : public framework::Filter {
 public:
  explicit SameGeneration(std::string wanted) : wanted_(std::move(wanted)) {}

  std::string_view name() const override { return "SameGeneration"; }

  // Called once for a class of pods. Everything that is the same for all nodes is worked out here.
  std::unique_ptr<framework::FilterState> PrepareFilter(const cluster::PodClass&,
                                                        const cluster::Snapshot& snapshot) const override {
    return std::make_unique<Prepared>(snapshot, snapshot.symbols().Intern("generation"),
                                      snapshot.symbols().Intern(wanted_));
  }

  // A refused pod is looked at again when one of these happens, and not before.
  framework::Wake WakesOn() const override { return framework::Wake::kNodeAdded | framework::Wake::kNodeLabels; }

 private:
  class Prepared final : public framework::FilterState {
   public:
    Prepared(const cluster::Snapshot& snapshot, model::Symbol key, model::Symbol wanted)
        : snapshot_(snapshot), key_(key), wanted_(wanted) {}

    // Called for every node once, and then for each node that changed. It compares two numbers.
    framework::Verdict Check(model::NodeId n) const override {
      return snapshot_.node(n).Label(key_) == wanted_ ? framework::Verdict::kFits : framework::Verdict::kNever;
    }
    void Explain(model::NodeId, std::vector<std::string>* reasons) const override {
      reasons->emplace_back("node(s) were of another generation");
    }

   private:
    const cluster::Snapshot& snapshot_;
    const model::Symbol key_, wanted_;
  };

  const std::string wanted_;
};
// [example]

}  // namespace tutti::plugins
