// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "app/demo_story.h"
#include "base/json.h"

namespace tutti::app {
namespace {

using sim::DigString;
using sim::Json;

constexpr const char* kWrappers = "/apis/mcad.ibm.com/v1beta1/namespaces/default/appwrappers";
constexpr const char* kKind = "appwrapper.mcad.ibm.com";

// The manifest with other names, and so many GPUs a worker.
std::string Wrapper(const std::string& suffix, const std::string& gpus) {
  return DemoFileWith("aw-ray-glue.yaml", {{"${suffix}", suffix}, {"${gpus}", gpus}});
}

std::string ConditionTypes(const Json& wrapper) {
  std::string types;
  for (const Json& condition : sim::Dig(wrapper, "status", "conditions"))
    types += (types.empty() ? "" : " ") + DigString(condition, "type");
  return types;
}

void FirstIsDispatched(Story& story) {
  story.Say("A node with 2 GPUs, and an AppWrapper of a RayCluster: a head (2 CPUs) and a worker (4 CPUs, 2 GPUs):");
  story.Create("aw-ray-glue.yaml", kWrappers, Wrapper("", "2"), std::string(kKind) + "/raycluster-glue");
  story.Let(10'000);
  story.Say("Both pods had a place, so the RayCluster was created. The conditions say how it went:");
  const Json wrapper = story.GetYaml("appwrapper", kWrappers, "raycluster-glue");
  story.Check(ConditionTypes(wrapper) == "Init Queueing HeadOfLine Dispatched", "its conditions end with Dispatched");
  story.GetTable("pods", kDemoPods);
  story.Check(story.Count("glue-cluster", "Running", true) == 2, "the two pods of glue-cluster run");
}

void SecondQueues(Story& story) {
  story.Say("A second one, under another name:");
  story.Create("aw-ray-glue-1.yaml", kWrappers, Wrapper("-1", "2"), std::string(kKind) + "/raycluster-glue-1");
  story.Let(60'000);
  story.GetTable("appwrappers", kWrappers);
  story.GetTable("pods", kDemoPods);
  story.Check(story.Pods().size() == 2, "there are no pods but those of the first");
  story.Say("Nothing of it is created, because its worker would find no node. It says so:");
  const Json wrapper = story.Get(std::string(kWrappers) + "/raycluster-glue-1");
  const std::string events = story.Describe("appwrapper", wrapper);
  story.Check(events.find("nvidia.com/gpu") != std::string::npos, "the Event names what is short");
  story.Check(LastCondition(wrapper, "type") == "Backoff", "its last condition is Backoff");
  story.Say("The first one goes. When its pods are gone, the second one is created:");
  story.Delete("appwrapper", kWrappers, "raycluster-glue", kKind);
  story.Let(60'000);
  story.GetTable("pods", kDemoPods);
  story.Check(story.Count("glue-cluster-1", "Running", true) == 2, "the two pods of glue-cluster-1 run");
  story.Check(story.Count("glue-cluster", "Running", true) == 0, "those of glue-cluster are gone");
  story.Delete("appwrapper", kWrappers, "raycluster-glue-1", kKind);
  story.Let(60'000);
}

void TrapIsSeen(Story& story) {
  story.Say(
      "A trap: a worker of 3 GPUs. With a second node of 2 GPUs the sum suffices, and a dispatcher that compares sums\n"
      "# would create both pods; the worker would never start. Here nothing is created, and the reason is said:");
  story.MakeNodes("another", 1, "{cpu: \"16\", memory: 122Gi, nvidia.com/gpu: \"2\", pods: \"110\"}");
  story.Create("aw-ray-glue-2.yaml", kWrappers, Wrapper("-2", "3"), std::string(kKind) + "/raycluster-glue-2");
  story.Let(10'000);
  const std::string events = story.Describe("appwrapper", story.Get(std::string(kWrappers) + "/raycluster-glue-2"));
  story.Check(events.find("No node has more than 2 nvidia.com/gpu") != std::string::npos, "it names the largest node");
  story.Check(story.Pods().empty(), "there are no pods");
}

}  // namespace

void TellOfAppWrappers(Story& story) {
  story.MakeNodes("node", 1, "{cpu: \"16\", memory: 122Gi, nvidia.com/gpu: \"2\", pods: \"110\"}");
  FirstIsDispatched(story);
  SecondQueues(story);
  TrapIsSeen(story);
}

}  // namespace tutti::app
