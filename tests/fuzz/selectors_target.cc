// SPDX-License-Identifier: Apache-2.0
// The first byte chooses: the query of a list, by labels or by fields, or {labels, name, selector, nodeSelector,
// nodeAffinity} in JSON. That is an object, and what may select it: the scheduler's plugins, the dialects and sim each
// say whether it is selected.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"
#include "base/json.h"
#include "cluster/json_decode.h"
#include "cluster/json_reader.h"
#include "cluster/json_text.h"
#include "plugins/common/label_syntax.h"
#include "plugins/common/node_match.h"
#include "plugins/common/pod_term.h"
#include "sim/objects/resources.h"
#include "sim/objects/selectors.h"
#include "tests/fuzz/naive_selectors.h"
#include "tests/fuzz/target.h"

namespace tutti {
namespace {

using base::Json;
using model::Operator;

void CheckSyntax(std::string_view text) {
  TUTTI_CHECK(plugins::IsDnsSubdomain(text) == fuzz::IsSubdomain(text), "another notion of a subdomain");
  TUTTI_CHECK(plugins::IsQualifiedName(text) == fuzz::IsLabelKey(text), "another notion of a label's key");
  TUTTI_CHECK(plugins::IsLabelValue(text) == fuzz::IsLabelText(text), "another notion of a label's value");
  TUTTI_CHECK(plugins::ParseInteger(text) == fuzz::WholeNumber(text), "another notion of a number");
}

// --- Queries ---

void ReadLabelQuery(std::string_view text, const Json& object) {
  const auto selector = sim::LabelSelector::Parse(text);
  if (selector)
    (void)selector->Matches(object);
  else
    TUTTI_CHECK(selector.error().code == 400 && !selector.error().message.empty(), "a refusal without a reason");
}

void ReadFieldQuery(std::string_view text, const Json& object) {
  static const sim::ResourceTable resources;
  for (const auto& [id, resource] : resources.All()) {
    const auto selector = sim::FieldSelector::Parse(text, resource);
    if (!selector) {
      TUTTI_CHECK(selector.error().code == 400 && !selector.error().message.empty(), "a refusal without a reason");
      continue;
    }
    const bool by_name = selector->name().empty() || selector->name() == sim::NameOf(object);
    TUTTI_CHECK(by_name || !selector->Matches(object), "an object of another name than demanded");
  }
}

// --- Matching ---

cluster::LabelEntries Interned(const model::StringMap& labels, cluster::SymbolTable& symbols) {
  cluster::LabelEntries entries;
  for (const auto& [key, value] : labels) entries.emplace_back(symbols.Intern(key), symbols.Intern(value));
  std::ranges::sort(entries);
  return entries;
}

std::string AsQuery(const model::Requirement& r) {
  switch (r.op) {
    case Operator::kIn: return fmt::format("{} in ({})", r.key, fmt::join(r.values, ","));
    case Operator::kNotIn: return fmt::format("{} notin ({})", r.key, fmt::join(r.values, ","));
    case Operator::kExists: return r.key;
    case Operator::kDoesNotExist: return "!" + r.key;
    case Operator::kGt: return r.key + ">" + r.values[0];
    default: return r.key + "<" + r.values[0];
  }
}

// Each requirement as a query of its own, and all of them together.
void CheckQueries(const std::vector<model::Requirement>& requirements, const model::StringMap& labels,
                  const Json& object, cluster::SymbolTable& symbols) {
  plugins::Requirements all(symbols);
  std::vector<std::string> queries;
  for (const model::Requirement& r : requirements) {
    plugins::Requirements one(symbols);
    const bool sound = fuzz::Sound(r);
    TUTTI_CHECK(one.Add(r) == sound, "another notion of a requirement");
    if (!sound) continue;
    all.Add(r);
    queries.push_back(AsQuery(r));
    const bool holds = fuzz::Holds(r, labels);
    TUTTI_CHECK(one.Match(Interned(labels, symbols)) == holds, "a requirement is read otherwise by the plugins");
    const auto query = sim::LabelSelector::Parse(queries.back());
    TUTTI_CHECK(query && query->Matches(object) == holds, "a requirement is read otherwise by sim");
  }
  const auto query = sim::LabelSelector::Parse(fmt::format("{}", fmt::join(queries, ", ")));
  TUTTI_CHECK(query && query->Matches(object) == all.Match(Interned(labels, symbols)), "sim and the plugins differ");
}

void CheckSelector(const Json& json, const model::StringMap& labels, const Json& object,
                   cluster::SymbolTable& symbols) {
  cluster::JsonReader read;
  const auto selector = read.Selector(cluster::JsonField(json));
  if (!read.ok()) return;
  const bool sound = selector && fuzz::Sound(*selector);
  const bool selects = sound && fuzz::Selects(*selector, labels);
  TUTTI_CHECK(plugins::PodSelector(selector, symbols).Match(Interned(labels, symbols)) == selects,
              "a selector is read otherwise by the plugins");
  if (selector) CheckQueries(selector->match_expressions, labels, object, symbols);
  if (selector && !sound) return;  // the API server takes no such selector
  TUTTI_CHECK(!selector || model::Selects(*selector, labels) == selects, "... by the dialects and budgets");
  const auto in_sim = sim::LabelSelector::FromJson(json);
  TUTTI_CHECK(in_sim && in_sim->Matches(object) == selects, "... by sim");
}

void CheckNode(const Json& asked, const model::StringMap& labels, const std::string& name,
               cluster::SymbolTable& symbols) {
  const Json pod = {{"metadata", {{"name", "p"}}},
                    {"spec",
                     {{"nodeSelector", sim::Child(asked, "nodeSelector")},
                      {"affinity",
                       {{"nodeAffinity",
                         {{"requiredDuringSchedulingIgnoredDuringExecution", sim::Child(asked, "nodeAffinity")}}}}}}}};
  std::vector<std::string> problems;
  const auto spec = cluster::DecodePodLeniently(pod, &problems).spec;
  cluster::NodeEntry node;
  node.name = name;
  node.labels = Interned(labels, symbols);
  const plugins::NodeMatch match(spec->node_selector, spec->required_node_affinity, symbols);
  TUTTI_CHECK(match.Match(node) == fuzz::Admits(*spec, name, labels), "node affinity is read otherwise by the plugins");
  TUTTI_CHECK(!match.any() || match.Match(node), "what matches every node does not match this one");
}

void CheckMatching(const Json& asked) {
  cluster::JsonReader read;
  const cluster::JsonField root(asked), its_labels = root["labels"];
  const model::StringMap labels = read.Map(its_labels);
  // The API server takes no other labels.
  const bool sound = std::ranges::all_of(
      labels, [](const auto& l) { return fuzz::IsLabelKey(l.first) && fuzz::IsLabelText(l.second); });
  if (!read.ok() || !sound) return;
  const Json object = {{"metadata", {{"labels", sim::Child(asked, "labels")}}}};
  cluster::SymbolTable symbols;
  CheckSelector(sim::Child(asked, "selector"), labels, object, symbols);
  CheckNode(asked, labels, sim::DigString(asked, "name"), symbols);
}

}  // namespace
}  // namespace tutti

TUTTI_FUZZ_TARGET(selectors) {
  using namespace tutti;
  if (input.empty()) return;
  const std::string_view text = input.substr(1);
  CheckSyntax(text);
  const sim::Json object = {{"metadata", {{"name", "p"}, {"labels", {{"a", "b"}, {"n", "3"}}}}}};
  switch (input[0] % 3) {
    case 0: ReadLabelQuery(text, object); break;
    case 1: ReadFieldQuery(text, object); break;
    default:
      if (const auto json = cluster::ParseJson(text); json.is_object()) CheckMatching(json);
  }
}
