// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_name/node_name.h"

namespace tutti::plugins {
namespace {

using framework::Verdict;

class NodeNameState final : public framework::FilterState {
 public:
  NodeNameState(std::string name, const cluster::Snapshot& snapshot) : name_(std::move(name)), snapshot_(snapshot) {}

  Verdict Check(model::NodeId n) const override {
    return snapshot_.node(n).name == name_ ? Verdict::kFits : Verdict::kNever;
  }
  void Explain(model::NodeId, std::vector<std::string>* reasons) const override {
    reasons->emplace_back("node(s) didn't match the requested node name");
  }
  bool DependsOnNodePods() const override { return false; }

 private:
  const std::string name_;
  const cluster::Snapshot& snapshot_;
};

}  // namespace

std::unique_ptr<framework::FilterState> NodeName::PrepareFilter(const cluster::PodClass& pod_class,
                                                                const cluster::Snapshot& snapshot) const {
  const std::string& name = pod_class.spec->node_name;
  return name.empty() ? nullptr : std::make_unique<NodeNameState>(name, snapshot);
}

}  // namespace tutti::plugins
