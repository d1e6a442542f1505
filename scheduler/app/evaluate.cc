// SPDX-License-Identifier: Apache-2.0
#include "app/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "app/output.h"
#include "base/json.h"
#include "base/json_string.h"
#include "cluster/json_decode.h"
#include "cluster/selections.h"
#include "cluster/state.h"
#include "core/place/lone_preemption.h"
#include "framework/node_trial.h"
#include "framework/ranking.h"
#include "observe/wording.h"
#include "sim/store/store.h"
#include "sim/store/strategy.h"

namespace tutti::app {
namespace {

using nlohmann::ordered_json;

// Decodes the pod, after the API server's merge of label keys into selectors.
base::Result<model::Pod> ReadPod(sim::Json& object) {
  sim::MergeLabelKeys(object);
  auto pod = cluster::DecodePod(object);
  if (!pod) return base::Invalid(fmt::format("Pod {}: {}", sim::KeyOf(object), pod.error().message));
  if (pod->meta.ns.empty()) pod->meta.ns = "default";
  return pod;
}

// Fills a state and finds the pod of the question. That pod stays unbound; a node in its spec is a wish (plugin
// NodeName).
class Question {
 public:
  Question(const std::string& ns, const std::string& name) : ns_(ns), name_(name) {}

  base::Status Add(sim::Json& object) {
    const std::string& kind = sim::DigString(object, "kind");
    if (kind == "Node") {
      auto node = cluster::DecodeNode(object);
      if (!node) return base::Invalid(fmt::format("Node {}: {}", sim::NameOf(object), node.error().message));
      state_.ApplyNode(std::make_shared<const model::Node>(*std::move(node)));
    } else if (kind == "Namespace") {
      model::StringMap labels;
      for (const auto& [key, value] : sim::MapOf(sim::Dig(object, "metadata", "labels")).items())
        labels.emplace_back(key, sim::StringOf(value));
      state_.planning().namespaces().Put(sim::NameOf(object), labels);
    } else if (kind == "Pod") {
      const std::string& ns = sim::NamespaceOf(object);
      const bool asked = (ns.empty() ? "default" : ns) == ns_ && sim::NameOf(object) == name_;
      const std::string node = asked ? sim::DigString(object, "spec", "nodeName") : "";
      if (!node.empty()) object["spec"].erase("nodeName");  // it counts as one that waits
      auto pod = ReadPod(object);
      if (!pod) return tl::make_unexpected(pod.error());
      if (!node.empty() && !(pod->scheduled.present && pod->scheduled.status)) {
        auto spec = std::make_shared<model::PodSpec>(*pod->spec);
        spec->node_name = node;
        pod->spec = std::move(spec);
      }
      const auto change = state_.ApplyPod(std::make_shared<const model::Pod>(*std::move(pod)));
      if (change.replaced)
        return base::Invalid(fmt::format("Pod {} is given twice, with two uids", sim::KeyOf(object)));
      if (asked) asked_ = change.id;
    } else if (const auto known = std::ranges::find(cluster::SelectionKinds(), kind, &model::ObjectKind::kind);
               known != cluster::SelectionKinds().end()) {
      return AddSelection(object, *cluster::FindSelectionKind(known->Name()));
    } else if (kind == cluster::Budgets::Kind().kind) {
      return AddPlain(object, cluster::Budgets::Kind());
    } else if (const auto stored = std::ranges::find(cluster::StorageKinds(), kind, &model::ObjectKind::kind);
               stored != cluster::StorageKinds().end()) {
      return AddPlain(object, *stored);
    }
    return {};
  }
  // Completes the state after the last object. False: the pod was not among the objects.
  bool Finish() {
    if (asked_) state_.Reselect(asked_);
    state_.Reclassify();
    return asked_.valid();
  }

  const cluster::PodClass& pod_class() const { return *state_.pod(asked_).pod_class; }
  const cluster::Snapshot& snapshot() const { return state_.snapshot(); }
  cluster::ClusterState& state() { return state_; }
  model::PodId asked() const { return asked_; }

 private:
  base::Status AddSelection(const sim::Json& object, model::Selection::Kind kind) {
    std::vector<std::string> problems;
    model::Selection selection = cluster::DecodeSelection(kind, object, &problems);
    if (!problems.empty())
      return base::Invalid(
          fmt::format("{} {}: {}", sim::DigString(object, "kind"), sim::KeyOf(object), problems.front()));
    if (selection.ns.empty()) selection.ns = "default";
    state_.ApplySelection(selection);
    return {};
  }
  // Adds a disruption budget, or a volume, a claim or another object that volume plugins read.
  base::Status AddPlain(const sim::Json& object, const model::ObjectKind& kind) {
    auto decoded = cluster::DecodeObject(kind, std::make_shared<const sim::Json>(object));
    std::vector<std::string> problems;
    const bool is_budget = kind.kind == cluster::Budgets::Kind().kind;
    if (!decoded) {
      problems.push_back(decoded.error().message);
    } else {
      const bool namespaced = is_budget || kind.kind == "PersistentVolumeClaim" || kind.kind == "CSIStorageCapacity";
      if (namespaced && decoded->meta.ns.empty()) decoded->meta.ns = "default";
      if (is_budget)
        state_.budgets().Put(*decoded, &problems);
      else
        state_.ApplyStorage(*decoded, &problems);
    }
    if (problems.empty()) return {};
    return base::Invalid(fmt::format("{} {}: {}", kind.kind, sim::KeyOf(object), problems.front()));
  }

  const std::string ns_, name_;
  cluster::ClusterState state_;
  model::PodId asked_;
};

bool IsRead(const sim::Store& store, const sim::Json& object) {
  const std::string& kind = sim::DigString(object, "kind");
  const std::string group = sim::SplitApiVersion(sim::DigString(object, "apiVersion")).group;
  // A kind of the same name in another group is another kind.
  if (std::ranges::none_of(store.resources().All(), [&](const auto& each) { return each.first.group == group; }))
    return false;
  const auto among = [&](const auto& kinds) {
    return std::ranges::find(kinds, kind, &model::ObjectKind::kind) != kinds.end();
  };
  return kind == "Node" || kind == "Pod" || kind == "Namespace" || kind == "PriorityClass" ||
         kind == cluster::Budgets::Kind().kind || among(cluster::SelectionKinds()) || among(cluster::StorageKinds());
}

std::vector<model::NodeId> NodesByName(const cluster::Snapshot& snapshot) {
  std::vector<model::NodeId> nodes;
  for (uint32_t n = 0; n < snapshot.slots(); ++n)
    if (snapshot.present(model::NodeId(n))) nodes.emplace_back(n);
  std::ranges::sort(nodes, {}, [&](model::NodeId n) -> const std::string& { return snapshot.node(n).name; });
  return nodes;
}

constexpr std::string_view kNoGangs =
    "Which pods are of gangs is not looked at: of a gang only what it can spare goes for this pod.";

// Refuses these nodes, whatever the class.
class Refuses final : public framework::Filter {
 public:
  explicit Refuses(const std::map<model::NodeId, framework::NodeVerdict>& nodes) : nodes_(nodes) {}

  std::string_view name() const override { return {}; }
  framework::Wake WakesOn() const override { return framework::Wake::kNothing; }
  std::unique_ptr<framework::FilterState> PrepareFilter(const cluster::PodClass&,
                                                        const cluster::Snapshot&) const override {
    return std::make_unique<State>(nodes_);
  }

 private:
  struct State final : framework::FilterState {
    explicit State(const std::map<model::NodeId, framework::NodeVerdict>& refused) : nodes(refused) {}
    framework::Verdict Check(model::NodeId n) const override {
      return nodes.contains(n) ? framework::Verdict::kNotNow : framework::Verdict::kFits;
    }
    void Explain(model::NodeId, std::vector<std::string>*) const override {}
    const std::map<model::NodeId, framework::NodeVerdict>& nodes;
  };
  const std::map<model::NodeId, framework::NodeVerdict>& nodes_;
};

// What the pod's profile says of the asked pod on every node. The pods that are nominated for a node count there.
class Evaluation {
 public:
  Evaluation(Question& question, const framework::Profile& profile)
      : question_(question),
        snapshot_(question.snapshot()),
        profile_(profile),
        refusing_(profile),
        what_if_(question.state()),
        victims_(question.state()),
        preemption_(question.state(), what_if_, victims_),
        ranking_(profile, question.pod_class(), snapshot_) {
    RefuseBesideNominated();
    if (refused_.empty()) return;
    refusing_.filters.push_back(std::make_shared<Refuses>(refused_));
    with_refused_.emplace(refusing_, question.pod_class(), snapshot_);
  }

  ordered_json Answer(model::NodeId n) const {
    const std::string& name = snapshot_.node(n).name;
    ordered_json node = {{"name", name}, {"feasible", ranking().Feasible(n)}};
    node["rejectedBy"] = ordered_json::array();
    node["scores"] = ordered_json::object();
    node["total"] = 0;
    if (!ranking().Feasible(n)) {
      const framework::NodeVerdict verdict = VerdictOf(n);
      node["rejectedBy"].push_back({{"plugin", verdict.plugin},
                                    {"reasons", verdict.reasons},
                                    {"resolvable", verdict.verdict == framework::Verdict::kNotNow}});
      return node;
    }
    for (const framework::NodeScore& score : ranking().Scores(n))
      node["scores"][std::string(score.plugin)] = {
          {"raw", score.raw}, {"normalized", score.normalized}, {"weighted", score.weighted}};
    node["total"] = ranking().Total(n);
    return node;
  }

  bool fits() const { return ranking().feasible_count() > 0; }
  std::string Summary() const {
    if (!fits()) return Sentence();
    return fmt::format("{}/{} nodes are available; the best is {} with {}.", ranking().feasible_count(),
                       snapshot_.node_count(), snapshot_.node(ranking().Best()).name,
                       ranking().Total(ranking().Best()));
  }

  // Of a pod that does not fit.
  ordered_json Preemption() {
    core::PreemptionResult result;
    result.outcome = core::PreemptionResult::Outcome::kNotEligible;
    std::string message = Sentence();
    if (profile_.preemption && snapshot_.node_count() > 0) {
      result = preemption_.Search({question_.asked(), *profile_.preemption, 0, true, nullptr}, ranking_);
      if (result.outcome != core::PreemptionResult::Outcome::kFound)
        if (const std::string tail = observe::Say(result.refused); !tail.empty()) message += " " + tail;
    }
    ordered_json told = {{"eligible", result.outcome != core::PreemptionResult::Outcome::kNotEligible},
                         {"message", message},
                         {"nominatedNode", result.chosen.node ? snapshot_.node(result.chosen.node).name : ""},
                         {"victims", NamesOf(result.chosen.victims)}};
    told["candidates"] = ordered_json::array();
    std::ranges::sort(result.candidates, {}, [this](const core::PreemptionCandidate& one) -> const std::string& {
      return snapshot_.node(one.node).name;
    });
    for (const core::PreemptionCandidate& one : result.candidates)
      told["candidates"].push_back({{"node", snapshot_.node(one.node).name},
                                    {"victims", NamesOf(one.victims)},
                                    {"pdbViolations", one.violations}});
    if (!result.candidates.empty()) told["note"] = kNoGangs;
    return told;
  }

 private:
  // Fills refused_ with the nodes that refuse the pod beside the pods nominated there. Its own nominated node is judged
  // by all filters, even if the ranking left it out, because upstream looks there first.
  void RefuseBesideNominated() {
    const cluster::Nominations& nominations = question_.state().nominations();
    if (nominations.empty()) return;
    framework::NodeTrial trial(ranking_);
    for (const auto& [pod, name] : nominations.nodes()) {
      const model::NodeId n = snapshot_.FindNode(name);
      if (!n) continue;
      auto verdict = preemption_.VerdictBesideNominated(question_.asked(), n, trial);
      if (!verdict && pod == question_.asked()) verdict = trial.Explain(n, framework::NodeTrial::Ask::kAllFilters);
      if (verdict && verdict->verdict != framework::Verdict::kFits) refused_[n] = *std::move(verdict);
    }
  }
  const framework::Ranking& ranking() const { return with_refused_ ? *with_refused_ : ranking_; }
  framework::NodeVerdict VerdictOf(model::NodeId n) const {
    const auto known = refused_.find(n);
    return known == refused_.end() ? ranking().Explain(n) : known->second;
  }
  std::string Sentence() const {
    model::NodeRefusals refusals = ranking().Explain();
    if (refused_.empty() || !refusals.of_class.empty()) return refusals.Sentence();
    std::map<std::string, size_t> reasons;
    for (const model::NodeId n : NodesByName(snapshot_))
      for (std::string& reason : VerdictOf(n).reasons) ++reasons[std::move(reason)];
    refusals.SetReasons(reasons);
    return refusals.Sentence();
  }
  std::vector<std::string> NamesOf(const std::vector<model::PodId>& pods) const {
    std::vector<std::string> names;
    for (const model::PodId id : pods) {
      const model::ObjectMeta& meta = question_.state().pod(id).pod->meta;
      names.push_back(meta.ns + "/" + meta.name);
    }
    return names;
  }

  Question& question_;
  const cluster::Snapshot& snapshot_;
  const framework::Profile& profile_;
  framework::Profile refusing_;  // with a filter for refused_
  cluster::WhatIf what_if_;
  core::VictimTable victims_;
  core::LonePreemption preemption_;
  framework::Ranking ranking_;  // of the profile
  std::map<model::NodeId, framework::NodeVerdict> refused_;
  std::optional<framework::Ranking> with_refused_;  // of refusing_, if refused_ has any
};

// Sets the pod's defaults, and the priority and preemptionPolicy that the store took from its PriorityClass or from the
// default one.
void DefaultByStore(const sim::Store& store, sim::Json& pod) {
  sim::DefaultPod(pod);
  const std::string& ns = sim::NamespaceOf(pod);
  const sim::Object stored = store.Find(sim::kPods, ns.empty() ? "default" : ns, sim::NameOf(pod));
  if (!stored) return;
  for (const char* field : {"priority", "preemptionPolicy"})
    if (const sim::Json& value = sim::Dig(*stored, "spec", field); !value.is_null())
      sim::SetDefault(pod["spec"], field, value);
}

}  // namespace

base::Result<ordered_json> Evaluate(std::vector<sim::Json> objects, const std::vector<framework::Profile>& profiles,
                                    const std::string& ns, const std::string& name) {
  Question question(ns, name);
  for (sim::Json& object : objects)
    if (const auto added = question.Add(object); !added) return tl::make_unexpected(added.error());
  if (!question.Finish())
    return base::Fail(base::ErrorCode::kNotFound, fmt::format("no Pod {}/{} in what was given", ns, name));
  const std::string& wanted = question.pod_class().spec->scheduler_name;
  const framework::Profile* profile = framework::FindProfile(profiles, wanted);
  if (!profile)
    return base::Invalid(fmt::format(
        "Pod {}/{}: spec.schedulerName is \"{}\", which no profile serves; name it in --config", ns, name, wanted));
  Evaluation evaluation(question, *profile);
  ordered_json result = {{"apiVersion", "tutti.dev/v1alpha1"},
                         {"kind", "EvaluationResult"},
                         {"pod", fmt::format("{}/{}", ns, name)},
                         {"summary", evaluation.Summary()}};
  result["nodes"] = ordered_json::array();
  for (const model::NodeId n : NodesByName(question.snapshot())) result["nodes"].push_back(evaluation.Answer(n));
  if (!evaluation.fits()) result["preemption"] = evaluation.Preemption();
  return result;
}

base::Result<std::vector<sim::Json>> PrepareToEvaluate(std::vector<sim::Manifest> manifests) {
  const base::VirtualClock clock(0);
  sim::Store store(clock);
  std::erase_if(manifests, [&](const sim::Manifest& one) { return !IsRead(store, one.object); });
  std::set<std::string> classes;
  for (const sim::Manifest& one : manifests)
    if (sim::DigString(one.object, "kind") == "PriorityClass") classes.insert(sim::NameOf(one.object));
  std::vector<sim::Manifest> checked = manifests;
  for (sim::Manifest& one : checked) {
    // Its class may be left out: it then counts as if there were none.
    const std::string& named = sim::DigString(one.object, "spec", "priorityClassName");
    if (sim::DigString(one.object, "kind") == "Pod" && !named.empty() && !classes.contains(named))
      sim::SetDefault(one.object["spec"], "priority", 0);
  }
  if (const base::Status stored = sim::StoreManifests(store, std::move(checked)); !stored)
    return tl::make_unexpected(stored.error());
  std::vector<sim::Json> objects;
  for (sim::Manifest& one : manifests) {
    const std::string& kind = sim::DigString(one.object, "kind");
    if (kind == "PriorityClass") continue;
    if (kind == "Pod") DefaultByStore(store, one.object);
    const sim::Object node = kind == "Node" ? store.Find(sim::kNodes, "", sim::NameOf(one.object)) : nullptr;
    if (node)
      objects.push_back(*node);
    else
      objects.push_back(std::move(one.object));
  }
  return objects;
}

std::string EvaluationTable(const ordered_json& result) {
  Table table({"NODE", "TOTAL", "PLUGIN", "RAW", "NORMALIZED", "WEIGHTED", "REASON"});
  for (const ordered_json& node : result["nodes"]) {
    const std::string name = node["name"];
    for (const ordered_json& rejection : node["rejectedBy"]) {
      std::string reasons;
      for (const ordered_json& reason : rejection["reasons"])
        reasons += (reasons.empty() ? "" : ", ") + reason.get<std::string>();
      table.Add({name, "-", rejection["plugin"], "", "", "", reasons});
    }
    if (!node["feasible"].get<bool>()) continue;
    table.Add({name, base::PrintOrdered(node["total"]), "", "", "", "", ""});
    for (const auto& [plugin, score] : node["scores"].items())
      table.Add({"", "", plugin, base::PrintOrdered(score["raw"]), base::PrintOrdered(score["normalized"]),
                 base::PrintOrdered(score["weighted"]), ""});
  }
  if (!result.contains("preemption"))
    return fmt::format("{}\n{}\n", table.Text(), result["summary"].get<std::string>());
  const ordered_json& preemption = result["preemption"];
  std::string text = fmt::format("{}\n{}\n", table.Text(), preemption["message"].get<std::string>());
  for (const ordered_json& one : preemption["candidates"])
    text += fmt::format("With {} gone it fits {}{}.\n", fmt::join(one["victims"].get<std::vector<std::string>>(), ", "),
                        one["node"].get<std::string>(),
                        one["node"] == preemption["nominatedNode"] ? ", which would be chosen" : "");
  if (preemption.contains("note")) text += preemption["note"].get<std::string>() + "\n";
  return text;
}

}  // namespace tutti::app
