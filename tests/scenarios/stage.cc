// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "app/config.h"
#include "app/profiles.h"
#include "base/duration.h"
#include "base/json_string.h"
#include "base/text.h"
#include "tests/scenarios/shorthand.h"

namespace tutti::scenarios {
namespace {

using base::Invalid;
using sim::Json;

constexpr base::Millis kEpochMs = 1'767'225'600'000;  // 2026-01-01T00:00:00Z

base::Status Told(const sim::ApiError& error) { return Invalid(error.message); }

base::Result<app::Config> ReadConfiguration(const Json& documents) {
  app::Config config;
  for (const auto& [kind, fields] : sim::MapOf(documents).items()) {
    Json document = sim::MapOf(fields);
    document["kind"] = kind;
    document["apiVersion"] = kind == "TuttiConfiguration" ? "tutti.dev/v1alpha1" : "kubescheduler.config.k8s.io/v1";
    if (const base::Status read = app::ReadConfig(base::PrintJson(document), "config", &config); !read)
      return tl::make_unexpected(read.error());
  }
  return config;
}

base::Result<sim::KubeRayOptions> ReadKubeRay(const Json& kuberay) {
  sim::KubeRayOptions options;
  if (sim::DigString(kuberay, "release") == "1.7") options.release = sim::KubeRayRelease::k1_7;
  auto scheduler = sim::ParseBatchScheduler(sim::DigString(kuberay, "batch-scheduler"), options.release);
  if (!scheduler) return tl::make_unexpected(scheduler.error());
  options.batch_scheduler = *scheduler;
  return options;
}

std::vector<std::string> Texts(const Json& value) {
  if (value.is_string()) return {value.get<std::string>()};
  std::vector<std::string> texts;
  for (const Json& one : sim::ArrayOf(value)) texts.push_back(sim::StringOf(one));
  return texts;
}

// The words of a step; what else a step says is a mistake.
base::Status CheckStep(const Json& step) {
  constexpr std::array kWords = {"expect", "nodes",  "pods",   "apply", "delete", "patch",   "merge",
                                 "json",   "status", "resize", "first", "wait",   "restart", "refuse"};
  for (const auto& [word, value] : sim::MapOf(step).items())
    if (std::ranges::find(kWords, word) == kWords.end())
      return Invalid(fmt::format("unknown word \"{}\" in a step", word));
  return step.is_object() ? base::Status() : Invalid("a step is not a map");
}

}  // namespace

base::Result<std::unique_ptr<Stage>> Stage::Set(const Scenario& scenario) {
  auto config = ReadConfiguration(sim::Dig(scenario.content, "config"));
  if (!config) return tl::make_unexpected(config.error());
  auto options = app::MakeOptions(*config, app::OfflineSchedulerNames());
  if (!options) return tl::make_unexpected(options.error());
  const auto kuberay = ReadKubeRay(sim::Dig(scenario.content, "kuberay"));
  if (!kuberay) return tl::make_unexpected(kuberay.error());
  std::unique_ptr<Stage> stage(new Stage);
  stage->clock_ = std::make_unique<base::VirtualClock>(kEpochMs);
  app::EmbeddedCluster::Options cluster;
  cluster.scheduler = *std::move(options);
  cluster.dialects = config->dialects;
  cluster.world.kuberay = *kuberay;
  cluster.loose_definitions = sim::BoolOf(sim::Dig(scenario.content, "loose"));
  stage->metrics_.SetLeading(true);
  cluster.observer = &stage->metrics_;
  cluster.interceptor = &stage->refusals_;
  stage->cluster_ = std::make_unique<app::EmbeddedCluster>(*stage->clock_, std::move(cluster));
  // What the scheduler remembers must agree with itself after every cycle.
  stage->cluster_->on_decided = [&cluster = *stage->cluster_] { cluster.scheduler()->Audit(); };
  std::vector<Json> objects = ExpandNodes(sim::Dig(scenario.content, "nodes"));
  for (const Json& object : sim::ArrayOf(sim::Dig(scenario.content, "objects"))) objects.push_back(object);
  for (Json& pod : ExpandPods(sim::Dig(scenario.content, "pods"))) objects.push_back(std::move(pod));
  if (const base::Status loaded = stage->Load(std::move(objects)); !loaded) return tl::make_unexpected(loaded.error());
  if (const base::Status rested = stage->Rest(); !rested) return tl::make_unexpected(rested.error());
  return stage;
}

base::Status Stage::Load(std::vector<Json> objects) {
  std::vector<sim::Manifest> manifests;
  for (Json& object : objects) {
    sim::Manifest& manifest = manifests.emplace_back();
    manifest.object = std::move(object);
    manifest.file = "scenario";
    manifest.document = static_cast<int>(manifests.size());
  }
  return cluster_->Load(std::move(manifests));
}

base::Status Stage::Rest() {
  return cluster_->RunUntilIdle() ? base::Status() : Invalid("the cluster does not come to rest");
}

base::Status Stage::Do(const Json& step) {
  if (const base::Status checked = CheckStep(step); !checked) return checked;
  base::Status done;
  if (step.contains("refuse")) done = refusals_.Set(step["refuse"]);
  std::vector<Json> objects = ExpandNodes(sim::Dig(step, "nodes"));
  for (Json& pod : ExpandPods(sim::Dig(step, "pods"))) objects.push_back(std::move(pod));
  for (const Json& object : sim::ArrayOf(sim::Dig(step, "apply"))) objects.push_back(object);
  for (const Json& object : objects)
    if (done) done = Apply(object);
  if (done && step.contains("delete")) done = Delete(step);
  if (done && step.contains("patch")) done = Patch(step);
  if (done && step.contains("restart")) cluster_->RestartScheduler();
  if (done) done = Rest();
  if (!done || !step.contains("wait")) return done;
  const auto time = base::ParseDuration(sim::DigString(step, "wait"));
  if (!time) return tl::make_unexpected(time.error());
  return Wait(*time);
}

base::Status Stage::Wait(base::Millis ms) {
  const base::Millis until = clock_->MonotonicMs() + ms;
  for (;;) {
    const auto next = cluster_->NextDeadline();
    if (!next || *next > until) break;
    clock_->AdvanceTo(std::max(*next, clock_->MonotonicMs()));
    if (const base::Status rested = Rest(); !rested) return rested;
  }
  clock_->AdvanceTo(until);
  return Rest();
}

base::Result<const sim::ApiResource*> Stage::ResourceOf(const std::string& kind) const {
  const std::string wanted = base::LowerCase(kind);
  for (const auto& [id, resource] : store().resources().All()) {
    if (id != resource.stored_as) continue;
    const std::array names = {base::LowerCase(resource.kind), resource.singular, id.resource, id.ToString()};
    if (std::ranges::find(names, wanted) != names.end()) return &resource;
  }
  return Invalid(fmt::format("there is no kind \"{}\"", kind));
}

base::Result<std::vector<sim::Object>> Stage::Find(const std::string& kind, const std::string& name) const {
  const auto resource = ResourceOf(kind);
  if (!resource) return tl::make_unexpected(resource.error());
  ObjectName wanted = SplitName(name);
  if (!(*resource)->namespaced) wanted.ns.clear();
  std::vector<sim::Object> found;
  store().ForEach((*resource)->stored_as, [&](const sim::Store::Key& key, const sim::Object& object) {
    if (key.first == wanted.ns && MatchesGlob(wanted.name, key.second)) found.push_back(object);
  });
  return found;
}

base::Result<std::vector<sim::Object>> Stage::Named(const std::string& kind_and_name, int64_t first) const {
  const size_t space = kind_and_name.find(' ');
  if (space == std::string::npos) return Invalid(fmt::format("\"{}\" is not \"KIND NAME\"", kind_and_name));
  auto found = Find(kind_and_name.substr(0, space), kind_and_name.substr(space + 1));
  if (found && found->empty()) return Invalid(fmt::format("there is no {}", kind_and_name));
  if (found && first > 0 && std::ssize(*found) > first) found->resize(static_cast<size_t>(first));
  return found;
}

base::Status Stage::Apply(const Json& manifest) {
  const sim::ApiResource* resource =
      store().resources().FindKind(sim::DigString(manifest, "apiVersion"), sim::DigString(manifest, "kind"));
  const std::string ns =
      resource && resource->namespaced && sim::NamespaceOf(manifest).empty() ? "default" : sim::NamespaceOf(manifest);
  if (!resource || !store().Find(resource->stored_as, ns, sim::NameOf(manifest))) return Load({manifest});
  const auto patched =
      cluster_->store().Patch(resource->id, ns, sim::NameOf(manifest), sim::PatchType::kMerge, manifest);
  return patched ? base::Status() : Told(patched.error());
}

base::Status Stage::Delete(const Json& step) {
  for (const std::string& what : Texts(step["delete"])) {
    const auto objects = Named(what, sim::IntOf(sim::Dig(step, "first")));
    if (!objects) return tl::make_unexpected(objects.error());
    const auto resource = ResourceOf(what.substr(0, what.find(' ')));
    for (const sim::Object& object : *objects) {
      const auto deleted =
          cluster_->store().Delete((*resource)->stored_as, sim::NamespaceOf(*object), sim::NameOf(*object));
      if (!deleted) return Told(deleted.error());
    }
  }
  return {};
}

base::Status Stage::Patch(const Json& step) {
  const bool json = step.contains("json");
  if (!json && !step.contains("merge")) return Invalid("a patch needs `merge` or `json`");
  const sim::Part part = sim::BoolOf(sim::Dig(step, "status"))   ? sim::Part::kStatus
                         : sim::BoolOf(sim::Dig(step, "resize")) ? sim::Part::kResize
                                                                 : sim::Part::kMain;
  for (const std::string& what : Texts(step["patch"])) {
    const auto objects = Named(what, sim::IntOf(sim::Dig(step, "first")));
    if (!objects) return tl::make_unexpected(objects.error());
    const auto resource = ResourceOf(what.substr(0, what.find(' ')));
    for (const sim::Object& object : *objects) {
      const auto patched = cluster_->store().Patch(
          (*resource)->stored_as, sim::NamespaceOf(*object), sim::NameOf(*object),
          json ? sim::PatchType::kJson : sim::PatchType::kMerge, step[json ? "json" : "merge"], part);
      if (!patched) return Told(patched.error());
    }
  }
  return {};
}

}  // namespace tutti::scenarios
