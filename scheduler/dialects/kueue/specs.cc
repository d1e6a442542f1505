// SPDX-License-Identifier: Apache-2.0
#include "dialects/kueue/specs.h"

#include <fmt/format.h>

#include <limits>

#include "base/json.h"
#include "cluster/json_reader.h"
#include "dialects/declaration.h"

namespace tutti::dialects::kueue {

using base::Json;
using cluster::JsonField;
using cluster::JsonReader;

namespace {

constexpr size_t kMostGroups = 64, kMostFlavors = 256, kMostChecks = 256, kMostLevels = 64;

// An amount of the resource as a JSON value says it: cpu in thousandths. nullopt: it is no quantity, or negative;
// `why` says so.
std::optional<int64_t> AmountOf(std::string_view resource, const Json& value, std::string* why) {
  const Json amounts = {{std::string(resource), value}};
  JsonReader read;
  const model::ResourceList list = read.Resources(JsonField(amounts));
  if (read.ok()) return list.Get(resource);
  *why = read.problem().substr(resource.size() + 2);  // without "RESOURCE: "
  return std::nullopt;
}

std::optional<int64_t> ReadAmount(JsonReader& read, const JsonField& field, std::string_view resource) {
  if (!field.present()) return std::nullopt;
  std::string why;
  const std::optional<int64_t> amount = AmountOf(resource, field.value(), &why);
  if (!amount) read.Problem(field, why);
  return amount;
}

model::FlavorQuota ReadQuota(JsonReader& read, const JsonField& flavor) {
  model::FlavorQuota quota;
  const JsonField resources = flavor["resources"];
  quota.flavor = read.Text(flavor["name"]);
  if (!FewEnough(read, resources, kMostResources)) return quota;
  read.Items(resources, [&](const JsonField& resource) {
    const std::string name = read.Text(resource["name"]);
    model::CellQuota cell;
    cell.nominal = ReadAmount(read, resource["nominalQuota"], name).value_or(0);
    cell.borrowing_limit = ReadAmount(read, resource["borrowingLimit"], name);
    cell.lending_limit = ReadAmount(read, resource["lendingLimit"], name);
    quota.resources.emplace_back(name, cell);
  });
  return quota;
}

std::vector<model::ResourceGroup> ReadGroups(JsonReader& read, const JsonField& groups) {
  std::vector<model::ResourceGroup> out;
  if (!FewEnough(read, groups, kMostGroups)) return out;
  read.Items(groups, [&](const JsonField& group) {
    const JsonField flavors = group["flavors"], covered = group["coveredResources"];
    model::ResourceGroup& read_group = out.emplace_back();
    if (FewEnough(read, covered, kMostResources)) read_group.resources = read.Texts(covered);
    if (FewEnough(read, flavors, kMostFlavors))
      read.Items(flavors, [&](const JsonField& flavor) { read_group.flavors.push_back(ReadQuota(read, flavor)); });
  });
  return out;
}

double ReadWeight(JsonReader& read, const JsonField& spec) {
  const JsonField sharing = spec["fairSharing"];
  const std::optional<int64_t> milli = ReadAmount(read, sharing["weight"], model::kCpu);
  return milli ? static_cast<double>(*milli) / 1000 : 1;
}

// One of the words, or the first and a problem.
template <typename T>
T ReadWord(JsonReader& read, const JsonField& field, std::initializer_list<std::pair<std::string_view, T>> words) {
  const std::string word = read.Text(field);
  if (word.empty()) return words.begin()->second;
  for (const auto& [name, value] : words)
    if (word == name) return value;
  std::string known;
  for (const auto& [name, value] : words) known += fmt::format("{}{}", known.empty() ? "" : ", ", name);
  read.Problem(field, fmt::format("{} is none of {}", cluster::Describe(field.value()), known));
  return words.begin()->second;
}

model::StopPolicy ReadStop(JsonReader& read, const JsonField& spec) {
  using enum model::StopPolicy;
  return ReadWord<model::StopPolicy>(read, spec["stopPolicy"],
                                     {{"None", kNone}, {"Hold", kHold}, {"HoldAndDrain", kHoldAndDrain}});
}

model::FlavorFungibility ReadFungibility(JsonReader& read, const JsonField& spec) {
  const JsonField rules = spec["flavorFungibility"];
  model::FlavorFungibility out;
  out.stop_when_borrowing = ReadWord<bool>(read, rules["whenCanBorrow"],
                                           {{"MayStopSearch", true}, {"Borrow", true}, {"TryNextFlavor", false}});
  out.stop_when_preempting = ReadWord<bool>(read, rules["whenCanPreempt"],
                                            {{"TryNextFlavor", false}, {"MayStopSearch", true}, {"Preempt", true}});
  using enum model::FlavorPreference;
  out.preference = ReadWord<model::FlavorPreference>(
      read, rules["preference"],
      {{"BorrowingOverPreemption", kBorrowingOverPreemption}, {"PreemptionOverBorrowing", kPreemptionOverBorrowing}});
  return out;
}

model::PreemptionRules ReadPreemption(JsonReader& read, const JsonField& spec) {
  using enum model::PreemptionPolicy;
  const JsonField rules = spec["preemption"], borrowing = rules["borrowWithinCohort"];
  model::PreemptionRules out;
  out.within_queue = ReadWord<model::PreemptionPolicy>(read, rules["withinClusterQueue"],
                                                       {{"Never", kNever},
                                                        {"LowerPriority", kLowerPriority},
                                                        {"LowerOrNewerEqualPriority", kLowerOrNewerEqualPriority}});
  out.within_cohort = ReadWord<model::PreemptionPolicy>(
      read, rules["reclaimWithinCohort"], {{"Never", kNever}, {"LowerPriority", kLowerPriority}, {"Any", kAny}});
  out.while_borrowing = ReadWord<bool>(read, borrowing["policy"], {{"Never", false}, {"LowerPriority", true}});
  if (const JsonField most = borrowing["maxPriorityThreshold"]; most.present())
    out.highest_priority_while_borrowing = static_cast<int32_t>(
        ReadCount(read, most, 0, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
  return out;
}

std::vector<LeafCheck> ReadLeafChecks(JsonReader& read, const JsonField& spec) {
  std::vector<LeafCheck> checks;
  const JsonField names = spec["admissionChecks"], strategy = spec["admissionChecksStrategy"],
                  listed = strategy["admissionChecks"];
  if (FewEnough(read, names, kMostChecks))
    read.Items(names, [&](const JsonField& name) { checks.push_back({read.Text(name), {}}); });
  if (FewEnough(read, listed, kMostChecks))
    read.Items(listed, [&](const JsonField& check) {
      checks.push_back({read.Text(check["name"]), read.Texts(check["onFlavors"])});
    });
  return checks;
}

}  // namespace

model::Flavor ReadFlavor(const model::Object& object) {
  JsonReader read;
  const JsonField root(*object.body), spec = root["spec"], taints = spec["nodeTaints"], tolerated = spec["tolerations"];
  model::Flavor flavor;
  flavor.name = object.meta.name;
  flavor.labels = read.Map(spec["nodeLabels"]);
  if (FewEnough(read, taints, kMostFlavors))
    read.Items(taints, [&](const JsonField& taint) {
      flavor.taints.push_back({read.Text(taint["key"]), read.Text(taint["value"]), read.Text(taint["effect"])});
    });
  if (FewEnough(read, tolerated, kMostFlavors))
    read.Items(tolerated, [&](const JsonField& each) {
      flavor.tolerations.push_back(
          {read.Text(each["key"]), read.Text(each["operator"]), read.Text(each["value"]), read.Text(each["effect"])});
    });
  flavor.topology = read.Text(spec["topologyName"]);
  return flavor;
}

model::CohortSpec ReadCohort(const model::Object& object) {
  JsonReader read;
  const JsonField root(*object.body), spec = root["spec"];
  model::CohortSpec cohort;
  cohort.name = object.meta.name;
  cohort.parent = read.Text(spec["parentName"]);
  if (cohort.parent.empty()) cohort.parent = read.Text(spec["parent"]);  // v1alpha1
  cohort.groups = ReadGroups(read, spec["resourceGroups"]);
  cohort.weight = ReadWeight(read, spec);
  return cohort;
}

Leaf ReadLeaf(const model::Object& object) {
  JsonReader read;
  const JsonField root(*object.body), spec = root["spec"], scope = spec["admissionScope"];
  Leaf leaf;
  leaf.spec.name = object.meta.name;
  leaf.spec.cohort = read.Text(spec["cohortName"]);
  if (leaf.spec.cohort.empty()) leaf.spec.cohort = read.Text(spec["cohort"]);
  leaf.spec.groups = ReadGroups(read, spec["resourceGroups"]);
  leaf.spec.weight = ReadWeight(read, spec);
  using enum model::QueueingStrategy;
  leaf.spec.strategy = ReadWord<model::QueueingStrategy>(
      read, spec["queueingStrategy"], {{"BestEffortFIFO", kBestEffortFifo}, {"StrictFIFO", kStrictFifo}});
  leaf.spec.fungibility = ReadFungibility(read, spec);
  leaf.spec.preemption = ReadPreemption(read, spec);
  leaf.spec.stop = ReadStop(read, spec);
  leaf.spec.by_local_usage = read.Text(scope["admissionMode"]) == "UsageBasedAdmissionFairSharing";
  leaf.namespaces = read.Selector(spec["namespaceSelector"]);
  leaf.checks = ReadLeafChecks(read, spec);
  leaf.fit = ReadFit(read, object);
  leaf.problem = ProblemIn(object, read);
  return leaf;
}

model::LocalQueueSpec ReadLocal(const model::Object& object) {
  JsonReader read;
  const JsonField root(*object.body), spec = root["spec"];
  model::LocalQueueSpec local;
  local.ns = object.meta.ns;
  local.name = object.meta.name;
  local.queue = read.Text(spec["clusterQueue"]);
  local.stop = ReadStop(read, spec);
  local.weight = ReadWeight(read, spec);
  return local;
}

std::vector<std::string> ReadLevels(const model::Object& topology) {
  JsonReader read;
  const JsonField root(*topology.body), spec = root["spec"], levels = spec["levels"];
  std::vector<std::string> keys;
  if (FewEnough(read, levels, kMostLevels))
    read.Items(levels, [&](const JsonField& level) { keys.push_back(read.Text(level["nodeLabel"])); });
  return read.ok() ? keys : std::vector<std::string>();
}

Check ReadCheck(const model::Object& object) {
  JsonReader read;
  const JsonField root(*object.body), spec = root["spec"], parameters = spec["parameters"], status = root["status"];
  Check check;
  check.controller = read.Text(spec["controllerName"]);
  check.parameters_kind = read.Text(parameters["kind"]);
  check.parameters = read.Text(parameters["name"]);
  read.Items(status["conditions"], [&](const JsonField& condition) {
    if (read.Text(condition["type"]) == "Active") check.active = read.Text(condition["status"]) == "True";
  });
  return check;
}

}  // namespace tutti::dialects::kueue
