// SPDX-License-Identifier: Apache-2.0
#include "app/demo_story.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/embedded_files.h"
#include "app/output.h"
#include "app/profiles.h"
#include "base/json.h"

namespace tutti::app {
namespace {

using sim::Child;
using sim::DigString;
using sim::Json;

constexpr base::Millis kStartMs = 1'767'225'600'000;  // 2026-01-01T00:00:00Z

}  // namespace

void Story::Say(std::string_view text) { fmt::print("\n# {}\n", text); }

void Story::MakeNodes(const std::string& name, int count, const std::string& amounts) {
  Check(cluster_.Load({}).has_value(), "the kinds of the dialects are defined");
  for (int i = 0; i < count; ++i) {
    const std::string node = fmt::format(
        "apiVersion: v1\nkind: Node\nmetadata: {{name: {}-{}}}\nstatus: {{capacity: {}, allocatable: {}}}\n", name, i,
        amounts, amounts);
    Check(kubectl_.Create("/api/v1/nodes", node).has_value(), "there is a node");
  }
  Let(5'000);
}

void Story::Create(const std::string& file, const std::string& path, const std::string& yaml,
                   const std::string& expected) {
  fmt::print("$ kubectl create -f {}\n", file);
  Check(Shown(kubectl_.Create(path, yaml)) == expected + " created\n", expected + " is created");
}

void Story::Delete(const std::string& shown, const std::string& path, const std::string& name,
                   const std::string& what) {
  fmt::print("$ kubectl delete {} {}\n", shown, name);
  Shown(kubectl_.Delete(path + "/" + name, what));
}

void Story::GetTable(const std::string& shown, const std::string& path) {
  fmt::print("$ kubectl get {}\n", shown);
  Shown(kubectl_.GetTable(path));
}

Json Story::GetYaml(const std::string& what, const std::string& path, const std::string& name) {
  fmt::print("$ kubectl get {} {} -o yaml\n", what, name);
  Shown(kubectl_.GetYaml(path + "/" + name));
  return kubectl_.Get(path + "/" + name).value_or(Json());
}

std::string Story::Describe(const std::string& shown, const Json& object) {
  fmt::print("$ kubectl describe {} {} | tail -n 4\n", shown, sim::NameOf(object));
  return Shown(kubectl_.Events("default", sim::UidOf(object), clock_.WallMs()));
}

Json Story::Pods() { return Child(Get(kDemoPods), "items"); }

size_t Story::Count(const std::string& ray_cluster, const std::string& phase, bool bound) {
  size_t count = 0;
  for (const Json& pod : Pods()) {
    count += sim::LabelOf(pod, "ray.io/cluster") == ray_cluster && DigString(pod, "status", "phase") == phase &&
             DigString(pod, "spec", "nodeName").empty() != bound;
  }
  return count;
}

void Story::Let(base::Millis ms) {
  const base::Millis until = clock_.MonotonicMs() + ms;
  for (;;) {
    Check(cluster_.RunUntilIdle(), "the cluster comes to rest");
    const auto next = cluster_.NextDeadline();
    if (!next || *next > until) break;
    clock_.AdvanceTo(std::max(*next, clock_.MonotonicMs() + 1));
  }
  clock_.AdvanceTo(until);
  Check(cluster_.RunUntilIdle(), "the cluster comes to rest");
}

void Story::Check(bool come_true, const std::string& what) {
  if (come_true) return;
  ++broken_;
  fmt::print("\nNOT SO: {}\n", what);
}

std::string Story::Shown(const base::Result<std::string>& text) {
  fmt::print("{}", text ? *text : text.error().message + "\n");
  return text.value_or("");
}

std::string_view DemoFile(std::string_view name) {
  for (const EmbeddedFile& file : EmbeddedDemo()) {
    if (file.name == name) return file.text;
  }
  return "";
}

std::string DemoFileWith(std::string_view name, const std::vector<std::pair<std::string, std::string>>& words) {
  std::string text(DemoFile(name));
  for (const auto& [word, value] : words)
    for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + value.size()))
      text.replace(at, word.size(), value);
  return text;
}

std::string LastCondition(const Json& object, const char* field) {
  const Json& conditions = sim::Dig(object, "status", "conditions");
  return conditions.is_array() && !conditions.empty() ? DigString(conditions.back(), field) : "";
}

base::Result<bool> TellStory(const DemoSettings& settings, void (*tell)(Story&)) {
  Config config;
  auto options = MakeOptions(config, DefaultSchedulerNames());
  if (!options) return tl::make_unexpected(options.error());
  base::VirtualClock clock(kStartMs);
  EmbeddedCluster::Options cluster_options;
  cluster_options.world.kuberay.batch_scheduler = settings.batch_scheduler;
  cluster_options.with_takeover = settings.with_takeover;
  cluster_options.scheduler = *std::move(options);
  EmbeddedCluster cluster(clock, std::move(cluster_options));
  sim::Door door(cluster.store());
  Story story(clock, cluster, door);

  fmt::print("{} Times are virtual.\n", settings.title);
  tell(story);
  if (story.broken() == 0) {
    fmt::print("\n{}\n", settings.moral);
  } else {
    fmt::print("\n{} of the expectations above did not come true.\n", story.broken());
  }
  if (const base::Status printed = Print(""); !printed) return tl::make_unexpected(printed.error());
  return story.broken() == 0;
}

}  // namespace tutti::app
