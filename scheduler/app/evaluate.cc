// SPDX-License-Identifier: Apache-2.0
#include "app/evaluate.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/output.h"
#include "base/json.h"
#include "base/json_string.h"
#include "cluster/json_decode.h"
#include "cluster/selections.h"
#include "cluster/state.h"
#include "framework/ranking.h"
#include "sim/store/store.h"
#include "sim/store/strategy.h"

namespace tutti::app {
namespace {

using nlohmann::ordered_json;

// Validates the object and sets its defaults, as the API server does when it is created.
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
      state_.planning().PutNamespace(sim::NameOf(object), labels);
    } else if (kind == "Pod") {
      auto pod = ReadPod(object);
      if (!pod) return tl::make_unexpected(pod.error());
      const bool asked = pod->meta.ns == ns_ && pod->meta.name == name_;
      if (asked) {
        auto spec = std::make_shared<model::PodSpec>(*pod->spec);
        spec->node_name = pod->scheduled.present && pod->scheduled.status ? "" : pod->node_name;
        pod->node_name.clear();
        pod->spec = std::move(spec);
      }
      const auto change = state_.ApplyPod(std::make_shared<const model::Pod>(*std::move(pod)));
      if (change.replaced)
        return base::Invalid(fmt::format("Pod {} is given twice, with two uids", sim::KeyOf(object)));
      if (asked) asked_ = change.id;
    } else if (const auto known = std::ranges::find(cluster::SelectionKinds(), kind, &model::ObjectKind::kind);
               known != cluster::SelectionKinds().end()) {
      return AddSelection(object, *cluster::FindSelectionKind(known->Name()));
    } else {
      return AddStorage(object, kind);
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
  // Adds a volume, a claim or another object that volume plugins read. Ignores other kinds.
  base::Status AddStorage(const sim::Json& object, const std::string& kind) {
    const auto known = std::ranges::find(cluster::StorageKinds(), kind, &model::ObjectKind::kind);
    if (known == cluster::StorageKinds().end()) return {};
    auto decoded = cluster::DecodeObject(*known, std::make_shared<const sim::Json>(object));
    std::vector<std::string> problems;
    if (!decoded)
      problems.push_back(decoded.error().message);
    else {
      const bool namespaced = kind == "PersistentVolumeClaim" || kind == "CSIStorageCapacity";
      if (namespaced && decoded->meta.ns.empty()) decoded->meta.ns = "default";
      state_.ApplyStorage(*decoded, &problems);
    }
    if (!problems.empty()) return base::Invalid(fmt::format("{} {}: {}", kind, sim::KeyOf(object), problems.front()));
    return {};
  }

  const std::string ns_, name_;
  cluster::ClusterState state_;
  model::PodId asked_;
};

bool IsRead(const sim::Store& store, const sim::Json& object) {
  const std::string& kind = sim::DigString(object, "kind");
  const std::string& version = sim::DigString(object, "apiVersion");
  const std::string group = version.substr(0, version.find('/') == std::string::npos ? 0 : version.find('/'));
  // A kind of the same name in another group is another kind.
  if (std::ranges::none_of(store.resources().All(), [&](const auto& each) { return each.first.group == group; }))
    return false;
  const auto among = [&](const auto& kinds) {
    return std::ranges::find(kinds, kind, &model::ObjectKind::kind) != kinds.end();
  };
  return kind == "Node" || kind == "Pod" || kind == "Namespace" || kind == "PriorityClass" ||
         among(cluster::SelectionKinds()) || among(cluster::StorageKinds());
}

std::vector<model::NodeId> NodesByName(const cluster::Snapshot& snapshot) {
  std::vector<model::NodeId> nodes;
  for (uint32_t n = 0; n < snapshot.slots(); ++n)
    if (snapshot.present(model::NodeId(n))) nodes.emplace_back(n);
  std::ranges::sort(nodes, {}, [&](model::NodeId n) -> const std::string& { return snapshot.node(n).name; });
  return nodes;
}

ordered_json Answer(const framework::Ranking& ranking, model::NodeId n, const std::string& name) {
  ordered_json node = {{"name", name}, {"feasible", ranking.Feasible(n)}};
  node["rejected_by"] = ordered_json::array();
  node["scores"] = ordered_json::object();
  node["total"] = 0;
  if (!ranking.Feasible(n)) {
    const framework::NodeVerdict verdict = ranking.Explain(n);
    node["rejected_by"].push_back({{"plugin", verdict.plugin},
                                   {"reasons", verdict.reasons},
                                   {"resolvable", verdict.verdict == framework::Verdict::kNotNow}});
    return node;
  }
  for (const framework::NodeScore& score : ranking.Scores(n))
    node["scores"][std::string(score.plugin)] = {
        {"raw", score.raw}, {"normalized", score.normalized}, {"weighted", score.weighted}};
  node["total"] = ranking.Total(n);
  return node;
}

std::string Summary(const framework::Ranking& ranking, const cluster::Snapshot& snapshot) {
  if (ranking.feasible_count() == 0) return ranking.Explain().Sentence();
  return fmt::format("{}/{} nodes are available; the best is {} with {}.", ranking.feasible_count(),
                     snapshot.node_count(), snapshot.node(ranking.Best()).name, ranking.Total(ranking.Best()));
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
  const framework::Ranking ranking(*profile, question.pod_class(), question.snapshot());
  ordered_json result = {{"apiVersion", "tutti.dev/v1alpha1"},
                         {"kind", "EvaluationResult"},
                         {"pod", fmt::format("{}/{}", ns, name)},
                         {"summary", Summary(ranking, question.snapshot())}};
  result["nodes"] = ordered_json::array();
  for (const model::NodeId n : NodesByName(question.snapshot()))
    result["nodes"].push_back(Answer(ranking, n, question.snapshot().node(n).name));
  return result;
}

base::Result<std::vector<sim::Json>> PrepareToEvaluate(std::vector<sim::Manifest> manifests) {
  const base::VirtualClock clock(0);
  sim::Store store(clock);
  std::erase_if(manifests, [&](const sim::Manifest& one) { return !IsRead(store, one.object); });
  std::vector<sim::Manifest> checked = manifests;
  for (sim::Manifest& one : checked) {
    // The priority class may be missing, because nothing here depends on a priority.
    if (sim::DigString(one.object, "kind") != "Pod" || sim::DigString(one.object, "spec", "priorityClassName").empty())
      continue;
    sim::SetDefault(one.object["spec"], "priority", 0);
  }
  if (const base::Status stored = sim::StoreManifests(store, std::move(checked)); !stored)
    return tl::make_unexpected(stored.error());
  std::vector<sim::Json> objects;
  for (sim::Manifest& one : manifests) {
    const std::string& kind = sim::DigString(one.object, "kind");
    if (kind == "PriorityClass") continue;
    if (kind == "Pod") sim::DefaultPod(one.object);
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
    for (const ordered_json& rejection : node["rejected_by"]) {
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
  return fmt::format("{}\n{}\n", table.Text(), result["summary"].get<std::string>());
}

}  // namespace tutti::app
