// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_unschedulable/node_unschedulable.h"

#include "plugins/common/tolerations.h"

namespace tutti::plugins {
namespace {

using framework::RefusedBy;
using framework::Verdict;

class NodeUnschedulableState final : public framework::FilterState {
 public:
  explicit NodeUnschedulableState(const cluster::Snapshot& snapshot) : snapshot_(snapshot) {}

  void CheckAll(RefusedBy mine, std::span<RefusedBy> refused_by) const override {
    for (uint32_t n = 0; n < refused_by.size(); ++n)
      if (refused_by[n] == framework::kNobody && snapshot_.unschedulable(model::NodeId(n))) refused_by[n] = mine;
  }
  Verdict Check(model::NodeId n) const override {
    return snapshot_.unschedulable(n) ? Verdict::kNever : Verdict::kFits;
  }
  void Explain(model::NodeId, std::vector<std::string>* reasons) const override {
    reasons->emplace_back("node(s) were unschedulable");
  }
  bool DependsOnNodePods() const override { return false; }
  bool Reads(framework::NodeFacts*) const override { return true; }

 private:
  const cluster::Snapshot& snapshot_;
};

}  // namespace

std::unique_ptr<framework::FilterState> NodeUnschedulable::PrepareFilter(const cluster::PodClass& pod_class,
                                                                         const cluster::Snapshot& snapshot) const {
  cluster::SymbolTable& symbols = snapshot.symbols();
  const cluster::TaintEntry cordon{symbols.Intern("node.kubernetes.io/unschedulable"), symbols.Intern(""),
                                   symbols.Intern("NoSchedule")};
  if (Tolerations(pod_class.spec->tolerations, symbols).Tolerates(cordon)) return nullptr;
  return std::make_unique<NodeUnschedulableState>(snapshot);
}

}  // namespace tutti::plugins
