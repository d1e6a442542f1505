// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_affinity/node_affinity.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/json.h"
#include "cluster/json_decode.h"
#include "plugins/common/args.h"
#include "plugins/common/node_match.h"

namespace tutti::plugins {
namespace {

using framework::RefusedBy;
using framework::Verdict;
using model::NodeId;

// Returns the nodes that the terms allow by name; nullopt if some term allows any. Terms are ORed, the name lists of a
// term are ANDed.
std::optional<std::vector<std::string>> NamedNodes(const model::NodeSelector& affinity) {
  std::set<std::string> all;
  for (const model::NodeSelectorTerm& term : affinity.terms) {
    std::optional<std::set<std::string>> names;
    for (const model::Requirement& r : term.match_fields) {
      if (r.key != "metadata.name" || r.op != model::Operator::kIn) continue;
      const std::set<std::string> values(r.values.begin(), r.values.end());
      if (!names)
        names = values;
      else
        std::erase_if(*names, [&](const std::string& name) { return !values.contains(name); });
    }
    if (!names) return std::nullopt;
    all.insert(names->begin(), names->end());
  }
  if (affinity.terms.empty()) return std::nullopt;
  return std::vector<std::string>(all.begin(), all.end());
}

class AffinityFilterState final : public framework::FilterState {
 public:
  AffinityFilterState(const model::PodSpec& spec, const std::optional<model::NodeSelector>& added,
                      const cluster::Snapshot& snapshot)
      : snapshot_(snapshot),
        enforced_({}, added, snapshot.symbols()),
        asked_(spec.node_selector, spec.required_node_affinity, snapshot.symbols()) {
    if (spec.required_node_affinity) named_ = NamedNodes(*spec.required_node_affinity);
  }

  Verdict Check(NodeId n) const override {
    const cluster::NodeEntry& node = snapshot_.node(n);
    return enforced_.Match(node) && asked_.Match(node) ? Verdict::kFits : Verdict::kNever;
  }
  void CheckAll(RefusedBy mine, std::span<RefusedBy> refused_by) const override {
    std::vector<NodeId> few;
    if (!asked_.Narrow(snapshot_, &few)) return FilterState::CheckAll(mine, refused_by);
    std::erase_if(few,
                  [&](NodeId n) { return refused_by[n.index()] != framework::kNobody || Check(n) != Verdict::kFits; });
    std::ranges::replace(refused_by, framework::kNobody, mine);
    for (const NodeId n : few) refused_by[n.index()] = framework::kNobody;
  }
  void Explain(NodeId n, std::vector<std::string>* reasons) const override {
    reasons->emplace_back(enforced_.Match(snapshot_.node(n)) ? kMine : kEnforced);
  }
  void ExplainAll(RefusedBy mine, std::span<const RefusedBy> refused_by,
                  std::map<std::string, size_t>* nodes) const override {
    size_t by_pod = 0, by_profile = 0;
    for (uint32_t n = 0; n < refused_by.size(); ++n)
      if (refused_by[n] == mine) ++(enforced_.Match(snapshot_.node(NodeId(n))) ? by_pod : by_profile);
    if (by_pod > 0) (*nodes)[kMine] += by_pod;
    if (by_profile > 0) (*nodes)[kEnforced] += by_profile;
  }
  bool DependsOnNodePods() const override { return false; }
  bool Reads(framework::NodeFacts* facts) const override {
    return enforced_.AddKeys(&facts->labels) && asked_.AddKeys(&facts->labels);
  }
  std::string RefusesClass() const override { return named_ && named_->empty() ? "pod affinity terms conflict" : ""; }
  const std::vector<std::string>* OnlyNodes() const override { return named_ ? &*named_ : nullptr; }

 private:
  static constexpr const char* kMine = "node(s) didn't match Pod's node affinity/selector";
  static constexpr const char* kEnforced = "node(s) didn't match scheduler-enforced node affinity";

  const cluster::Snapshot& snapshot_;
  const NodeMatch enforced_, asked_;
  std::optional<std::vector<std::string>> named_;
};

class AffinityScoreState final : public framework::ScoreState {
 public:
  explicit AffinityScoreState(const cluster::Snapshot& snapshot) : snapshot_(snapshot) {}

  void Add(const std::vector<model::PreferredNodeTerm>& terms) {
    for (const model::PreferredNodeTerm& preferred : terms)
      if (preferred.weight != 0)
        if (auto term = NodeTerm::Compile(preferred.term, snapshot_.symbols()))
          terms_.push_back({preferred.weight, *std::move(term)});
  }

  bool DependsOnNodePods() const override { return false; }
  bool Reads(framework::NodeFacts* facts) const override {
    return std::ranges::all_of(terms_, [&](const auto& term) { return term.second.AddKeys(&facts->labels); });
  }
  int64_t Score(NodeId n) const override {
    int64_t sum = 0;
    for (const auto& [weight, term] : terms_)
      if (term.Match(snapshot_.node(n))) sum += weight;
    return sum;
  }

 private:
  const cluster::Snapshot& snapshot_;
  std::vector<std::pair<int64_t, NodeTerm>> terms_;
};

// Checks the fields of each item of a list.
template <typename Check>
base::Status CheckItems(const base::Json& object, const std::string& path, const char* field, Check&& check) {
  if (const auto list = CheckList(object, path, field); !list) return list;
  if (!object.is_object() || !object.contains(field)) return {};
  for (size_t i = 0; i < object[field].size(); ++i) {
    const std::string at = fmt::format("{}.{}[{}]", path, field, i);
    if (const base::Status checked = check(object[field][i], at); !checked) return checked;
  }
  return {};
}

base::Status CheckTerm(const base::Json& term, const std::string& path) {
  if (const auto checked = CheckFields(term, path, {"matchExpressions", "matchFields"}); !checked) return checked;
  for (const char* field : {"matchExpressions", "matchFields"}) {
    const auto checked = CheckItems(term, path, field, [](const base::Json& one, const std::string& at) {
      return CheckFields(one, at, {"key", "operator", "values"});
    });
    if (!checked) return checked;
  }
  return {};
}

// Checks for misspelt fields and wrong types. In a pod they are ignored, because the API server has checked it.
base::Status CheckAffinity(const base::Json& affinity, const std::string& path) {
  const char* required = "requiredDuringSchedulingIgnoredDuringExecution";
  const char* preferred = "preferredDuringSchedulingIgnoredDuringExecution";
  if (const auto checked = CheckFields(affinity, path, {required, preferred}); !checked) return checked;
  if (affinity.is_object() && affinity.contains(required)) {
    const std::string at = fmt::format("{}.{}", path, required);
    if (const auto checked = CheckFields(affinity[required], at, {"nodeSelectorTerms"}); !checked) return checked;
    if (const auto checked = CheckItems(affinity[required], at, "nodeSelectorTerms", CheckTerm); !checked)
      return checked;
  }
  return CheckItems(affinity, path, preferred, [](const base::Json& one, const std::string& at) -> base::Status {
    if (const auto checked = CheckFields(one, at, {"weight", "preference"}); !checked) return checked;
    if (!one.is_object() || !one.contains("preference")) return {};
    return CheckTerm(one["preference"], at + ".preference");
  });
}

}  // namespace

base::Result<std::shared_ptr<NodeAffinity>> NodeAffinity::Make(const base::Json& args) {
  auto plugin = std::make_shared<NodeAffinity>();
  if (const auto checked = CheckFields(args, "NodeAffinityArgs", {"addedAffinity"}); !checked)
    return tl::make_unexpected(checked.error());
  if (!args.is_object() || !args.contains("addedAffinity")) return plugin;
  if (const auto checked = CheckAffinity(args["addedAffinity"], "NodeAffinityArgs.addedAffinity"); !checked)
    return tl::make_unexpected(checked.error());
  const base::Json pod{{"metadata", {{"name", "added"}}},
                       {"spec", {{"affinity", {{"nodeAffinity", args["addedAffinity"]}}}}}};
  const auto decoded = cluster::DecodePod(pod);
  if (!decoded) return base::Invalid("NodeAffinityArgs.addedAffinity: " + decoded.error().message);
  plugin->added_required_ = decoded->spec->required_node_affinity;
  plugin->added_preferred_ = decoded->spec->preferred_node_affinity;
  cluster::SymbolTable scratch;
  const auto parses = [&](const model::NodeSelectorTerm& term) {
    return (term.match_expressions.empty() && term.match_fields.empty()) || NodeTerm::Compile(term, scratch);
  };
  const bool good =
      (!plugin->added_required_ || std::ranges::all_of(plugin->added_required_->terms, parses)) &&
      std::ranges::all_of(plugin->added_preferred_, [&](const auto& p) { return p.weight == 0 || parses(p.term); });
  if (!good)
    return base::Invalid(
        "NodeAffinityArgs.addedAffinity: a term does not parse; check each operator, the number of its "
        "values, and that keys and values can be labels");
  return plugin;
}

std::unique_ptr<framework::FilterState> NodeAffinity::PrepareFilter(const cluster::PodClass& pod_class,
                                                                    const cluster::Snapshot& snapshot) const {
  const model::PodSpec& spec = *pod_class.spec;
  if (!spec.required_node_affinity && spec.node_selector.empty() && !added_required_) return nullptr;
  return std::make_unique<AffinityFilterState>(spec, added_required_, snapshot);
}

std::unique_ptr<framework::ScoreState> NodeAffinity::PrepareScore(const cluster::PodClass& pod_class,
                                                                  const cluster::Snapshot& snapshot) const {
  const auto& preferred = pod_class.spec->preferred_node_affinity;
  if (preferred.empty() && added_preferred_.empty()) return nullptr;
  auto state = std::make_unique<AffinityScoreState>(snapshot);
  state->Add(added_preferred_);
  state->Add(preferred);
  return state;
}

}  // namespace tutti::plugins
