// SPDX-License-Identifier: Apache-2.0
#include "app/question_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "app/embedded_cluster.h"
#include "app/manifest_check.h"
#include "app/simulation_notes.h"
#include "base/json.h"
#include "dialects/pod_sets.h"
#include "model/quantity.h"

namespace tutti::app {
namespace {

using sim::Json;

constexpr const char* kWhere = "manifests";
// Kinds of queues, and of what queues have.
constexpr std::string_view kOfQueues[] = {"Queue",          "ClusterQueue", "LocalQueue",  "Cohort",
                                          "ResourceFlavor", "ElasticQuota", "QuotaSubtree"};
// After so many rounds the embedded cluster is at rest, or never.
constexpr int kMostRounds = 1'000;
// Kinds of Kueue that have no namespace; the definitions of Kueue are loaded where an object needs them.
constexpr std::string_view kOfCluster[] = {"ClusterQueue",   "ResourceFlavor",       "Cohort", "Topology",
                                           "AdmissionCheck", "WorkloadPriorityClass"};

struct Asked {
  int64_t made = 0, declared = 0;
  std::string problem;  // of an object whose pods cannot be counted; empty: there is none
};

int64_t Add(int64_t sum, int64_t more) { return model::SaturatingAdd(sum, std::max<int64_t>(more, 0)); }

int64_t ToCount(double number) { return static_cast<int64_t>(std::clamp(number, 0.0, 1e15)); }

// Counts the pods of all objects in the value. An AppWrapper declares its pods in lists of these names; it has those of
// the objects in it.
void CountPods(const Json& value, Asked* asked) {
  if (value.is_object() && value.contains("apiVersion") && sim::DigString(value, "kind") != "AppWrapper") {
    const auto sets = dialects::PodSetsOf(value);
    if (sets)
      for (const dialects::PodSet& set : *sets) asked->made = Add(asked->made, set.count);
    else if (sets.error().code == base::ErrorCode::kInvalid)
      asked->problem = sets.error().message;
  }
  if (!value.is_structured()) return;
  for (const auto& [key, item] : value.items()) {
    if (item.is_array() && (key == "podSets" || key == "custompodresources"))
      for (const Json& one : item) {
        const Json& replicas = sim::Child(one, "replicas");
        asked->declared = Add(asked->declared, replicas.is_number() ? ToCount(replicas.get<double>()) : 1);
      }
    CountPods(item, asked);
  }
}

// The object as it would be if it were made now.
void MakeNew(Json& object) {
  object.erase("status");
  if (Json& meta = object["metadata"]; meta.is_object())
    for (const char* field : {"deletionTimestamp", "deletionGracePeriodSeconds", "creationTimestamp", "uid",
                              "resourceVersion", "ownerReferences"})
      meta.erase(field);
  // No pod gets ready here, so that none would follow the first of a StatefulSet.
  if (sim::DigString(object, "kind") == "StatefulSet")
    if (Json& spec = object["spec"]; spec.is_object()) spec["podManagementPolicy"] = "Parallel";
  if (sim::DigString(object, "kind") == "Pod")
    if (Json& spec = object["spec"]; spec.is_object()) spec.erase("nodeName");
}

bool HasNamespace(const sim::Store& store, const Json& object) {
  const std::string& kind = sim::DigString(object, "kind");
  const sim::ApiResource* resource = store.resources().FindKind(sim::DigString(object, "apiVersion"), kind);
  if (resource != nullptr) return resource->namespaced;
  return std::ranges::find(kOfCluster, kind) == std::end(kOfCluster);
}

base::Error TooMany(int64_t pods) {
  return {base::ErrorCode::kInvalid,
          fmt::format("the manifests make {} pods; a question may have {}", pods, QuestionReader::kMostPods)};
}

// An API server would know the class.
base::Error WithRemedy(base::Error error) {
  if (error.message.find("no PriorityClass with name") != std::string::npos)
    error.message += "; add the PriorityClass to the manifests";
  return error;
}

}  // namespace

base::Result<int64_t> PodsAskedFor(const std::vector<sim::Manifest>& manifests) {
  Asked asked;
  for (const sim::Manifest& one : manifests) {
    CountPods(one.object, &asked);
    if (!asked.problem.empty())
      return base::Invalid(fmt::format("{} {}: {}", sim::DigString(one.object, "kind"),
                                       sim::DigString(one.object, "metadata", "name"), asked.problem));
  }
  return std::max(asked.made, asked.declared);
}

QuestionReader::QuestionReader(core::Options options, dialects::DialectSettings dialects, const base::Clock& clock)
    : options_(std::move(options)), dialects_(std::move(dialects)), clock_(clock) {
  options_.extenders.clear();
  options_.flush_after_ms = 0;
}

base::Result<QuestionReader::Gangs> QuestionReader::Read(const std::string& manifests, const std::string& ns) {
  auto objects = sim::ParseManifests(manifests, kWhere);
  if (!objects) return tl::make_unexpected(objects.error());
  Gangs gangs;
  const auto is_node = [](const sim::Manifest& one) { return sim::DigString(one.object, "kind") == "Node"; };
  if (std::erase_if(*objects, is_node) > 0)
    gangs.notes.emplace_back("Nodes are left out: the answer is about the nodes that the cluster has.");
  if (std::ranges::any_of(*objects, [](const sim::Manifest& one) {
        return std::ranges::find(kOfQueues, sim::DigString(one.object, "kind")) != std::end(kOfQueues);
      }))
    gangs.notes.emplace_back("Queues count as they are in the cluster, and not as the manifests have them.");
  if (objects->size() > kMostObjects)
    return base::Invalid(fmt::format("there are {} objects; a question may have {}", objects->size(), kMostObjects));
  const base::Result<int64_t> pods = PodsAskedFor(*objects);
  if (!pods) return tl::make_unexpected(pods.error());
  if (*pods > kMostPods) return tl::make_unexpected(TooMany(*pods));
  if (const base::Status checked = CheckQuantities(*objects); !checked) return tl::make_unexpected(checked.error());

  const base::MutexLock lock(mutex_);
  const base::VirtualClock clock(clock_.WallMs());
  EmbeddedCluster::Options options;
  options.scheduler = options_;
  options.dialects = dialects_;
  options.loose_definitions = true;
  options.world.event_log = 0;
  options.world.events = sim::EventsWritten::kNone;
  EmbeddedCluster cluster(clock, std::move(options));
  if (const base::Status defined = cluster.Load({}); !defined) return tl::make_unexpected(defined.error());
  for (sim::Manifest& one : *objects) {
    MakeNew(one.object);
    if (!ns.empty() && sim::DigString(one.object, "metadata", "namespace").empty() &&
        HasNamespace(cluster.store(), one.object))
      one.object["metadata"]["namespace"] = ns;
  }
  if (const base::Status loaded = cluster.Load(*std::move(objects)); !loaded)
    return tl::make_unexpected(WithRemedy(loaded.error()));
  for (int round = 0; round < kMostRounds && !cluster.RunUntilIdle(1); ++round)
    if (const auto pods = static_cast<int64_t>(cluster.store().Count(sim::kPods)); pods > kMostPods)
      return tl::make_unexpected(TooMany(pods));
  gangs.drafts = cluster.scheduler()->Drafts();
  int64_t members = 0;
  for (const model::GangDraft& draft : gangs.drafts) members += std::ssize(draft.members);
  if (members > kMostPods) return tl::make_unexpected(TooMany(members));
  std::vector<std::string> names;
  for (const framework::Profile& profile : options_.profiles) names.push_back(profile.scheduler_name);
  std::ranges::move(cluster.NotesOfLoading(), std::back_inserter(gangs.notes));
  std::ranges::move(SimulationNotes(cluster.store(), names), std::back_inserter(gangs.notes));
  if (gangs.drafts.empty()) gangs.notes.emplace_back("No pods would come of these manifests.");
  return gangs;
}

}  // namespace tutti::app
