// SPDX-License-Identifier: Apache-2.0
#include "cluster/budgets.h"

#include "cluster/json_decode.h"
#include "tests/support/catch.h"
#include "tests/support/test_cluster.h"

namespace tutti::cluster {
namespace {

using tests::json;

void Put(Budgets& budgets, const std::string& name, json spec, json status = json::object()) {
  const json object = {{"apiVersion", "policy/v1"},
                       {"kind", "PodDisruptionBudget"},
                       {"metadata", {{"name", name}, {"namespace", "default"}}},
                       {"spec", std::move(spec)},
                       {"status", std::move(status)}};
  std::vector<std::string> problems;
  budgets.Put(*DecodeObject(Budgets::Kind(), std::make_shared<const json>(object)), &problems);
  CHECK(problems.empty());
}

std::vector<std::string> Protecting(const Budgets& budgets, model::StringMap labels,
                                    const std::string& ns = "default") {
  model::Pod pod;
  pod.meta.ns = ns;
  pod.meta.name = "p";
  pod.meta.labels = std::move(labels);
  std::vector<const model::DisruptionBudget*> found;
  budgets.ThatProtect(pod, &found);
  std::vector<std::string> names;
  for (const model::DisruptionBudget* one : found) names.push_back(one->name);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a budget protects the pods of its namespace that it selects") {
  Budgets budgets;
  Put(budgets, "a", {{"selector", {{"matchLabels", {{"app", "a"}}}}}}, {{"disruptionsAllowed", 2}});
  Put(budgets, "not-b",
      {{"selector",
        {{"matchExpressions", json::array({{{"key", "app"}, {"operator", "NotIn"}, {"values", {"b"}}}})}}}});
  CHECK(Protecting(budgets, {{"app", "a"}}) == Names{"a", "not-b"});
  CHECK(Protecting(budgets, {{"app", "b"}}).empty());
  CHECK(Protecting(budgets, {{"other", "x"}}) == Names{"not-b"});
  CHECK(Protecting(budgets, {{"app", "a"}}, "elsewhere").empty());
  CHECK(Protecting(budgets, {}).empty());  // upstream's rule: a pod without labels is protected by none
}

TEST_CASE("a budget without a selector, or with one that says nothing or cannot be read, protects no pod") {
  Budgets budgets;
  Put(budgets, "none", json::object());
  Put(budgets, "empty", {{"selector", json::object()}});
  Put(budgets, "wrong",
      {{"selector",
        {{"matchExpressions", json::array({{{"key", "app"}, {"operator", "In"}, {"values", json::array()}}})}}}});
  CHECK(Protecting(budgets, {{"app", "a"}}).empty());
}

TEST_CASE("a budget without a selector is said to be of no use") {
  const auto why = [](json spec) {
    const json object = {{"metadata", {{"name", "b"}, {"namespace", "default"}}}, {"spec", std::move(spec)}};
    return Budgets::WhyUseless(*DecodeObject(Budgets::Kind(), std::make_shared<const json>(object)));
  };
  CHECK(why({{"minAvailable", 1}}) == "spec.selector: is missing, so the budget protects no pod; write one");
  CHECK(why({{"selector", {{"matchLabels", {{"app", "a"}}}}}}).empty());
}

TEST_CASE("a pod whose eviction a budget has counted already is not protected by it any more") {
  Budgets budgets;
  Put(budgets, "a", {{"selector", {{"matchLabels", {{"app", "a"}}}}}},
      {{"disruptedPods", {{"p", "2026-01-01T00:00:00Z"}}}});
  CHECK(Protecting(budgets, {{"app", "a"}}).empty());
}

TEST_CASE("the version of budgets changes with what they say, and only then") {
  Budgets budgets;
  const json spec = {{"selector", {{"matchLabels", {{"app", "a"}}}}}};
  Put(budgets, "a", spec);
  const uint64_t first = budgets.version();
  Put(budgets, "a", spec);
  CHECK(budgets.version() == first);
  Put(budgets, "a", spec, {{"disruptionsAllowed", 1}});
  CHECK(budgets.version() != first);
  budgets.Drop("default", "a");
  CHECK(budgets.empty());
}

}  // namespace tutti::cluster
