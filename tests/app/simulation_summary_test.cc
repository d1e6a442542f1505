// SPDX-License-Identifier: Apache-2.0
#include "app/simulation_summary.h"

#include <fmt/format.h>

#include "app/simulate.h"
#include "base/json.h"
#include "tests/support/catch.h"

namespace tutti::app {
namespace {

using Catch::Matchers::Contains;

constexpr const char* kNode =
    "apiVersion: v1\nkind: Node\nmetadata: {name: gpus}\n"
    "status: {allocatable: {cpu: '8', memory: 8Gi, pods: '110', nvidia.com/gpu: '2'}}\n";

// Runs for ten seconds.
std::string Pod(const std::string& name, int gpus, int arrives_s) {
  return fmt::format(
      "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {}, annotations: {{sim.tutti.dev/run-for: 10s, "
      "sim.tutti.dev/arrive-at: {}s}}}}\nspec:\n  schedulerName: tutti\n  containers: [{{name: c, image: i, "
      "resources: {{limits: {{nvidia.com/gpu: '{}'}}}}}}]\n",
      name, arrives_s, gpus);
}

SimulationSummary Run(const std::string& yaml) {
  auto manifests = sim::ParseManifests(yaml, "test.yaml");
  REQUIRE(manifests);
  SimulationSummary summary;
  SimulateOptions options;
  options.summary = &summary;
  REQUIRE(Simulate(*std::move(manifests), std::move(options)));
  return summary;
}

TEST_CASE("A summary tells how long each gang waited, what the GPUs did, and what is still short") {
  const SimulationSummary summary = Run(kNode + Pod("first", 2, 0) + Pod("second", 1, 0) + Pod("huge", 4, 5));
  REQUIRE(summary.gangs.size() == 3);
  const std::string text = SummaryText(summary);
  CHECK_THAT(text, Contains("gangs whole: 2 of 3"));
  CHECK_THAT(text, Contains("waits: median 0 s, 95 % 10 s, longest 10 s (default/second)"));
  CHECK_THAT(text, Contains("2 in use at most"));
  CHECK_THAT(text, Contains("still short: 1 gang\n  default/huge: "));
}

TEST_CASE("A gang that cannot start for what its object says is still short") {
  const std::string job =
      "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: j, labels: {kueue.x-k8s.io/queue-name: q, "
      "kueue.x-k8s.io/priority-class: nosuch}}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: c, "
      "image: i}]}}}\n";
  const std::string text = SummaryText(Run(kNode + job));
  CHECK_THAT(text, Contains("gangs whole: 0 of 1"));
  CHECK_THAT(text, Contains("WorkloadPriorityClass nosuch does not exist"));
}

TEST_CASE("A summary of nothing is a summary") {
  const std::string text = SummaryText({});
  CHECK_THAT(text, Contains("gangs whole: 0 of 0"));
  CHECK_THAT(text, Contains("still short: nothing"));
  CHECK_THAT(SummarySvg({}), Contains("</svg>"));
}

TEST_CASE("The drawing has a line for each gang, and names are text in it") {
  SimulationSummary summary;
  summary.gangs = {{"a/<b>&", 0, 10'000, 20'000, ""}, {"a/c", 5'000, std::nullopt, std::nullopt, "no room"}};
  summary.gpus = {{0, 0, 4}, {10'000, 4, 4}, {20'000, 0, 4}};
  summary.end_ms = 30'000;
  const std::string svg = SummarySvg(summary);
  CHECK_THAT(svg, Contains("a/&lt;b&gt;&amp; waits"));
  CHECK_THAT(svg, Contains("a/&lt;b&gt;&amp; runs"));
  CHECK_THAT(svg, Contains("a/c waits"));
  CHECK_THAT(svg, !Contains("a/c runs"));
}

}  // namespace
}  // namespace tutti::app
