// SPDX-License-Identifier: Apache-2.0
#include "plugins/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <set>
#include <span>

#include "base/check.h"
#include "base/json.h"
#include "framework/ranking.h"
#include "plugins/default_preemption/default_preemption.h"
#include "plugins/image_locality/image_locality.h"
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/node_affinity/node_affinity.h"
#include "plugins/node_name/node_name.h"
#include "plugins/node_ports/node_ports.h"
#include "plugins/node_resources/balanced_allocation.h"
#include "plugins/node_resources/fit.h"
#include "plugins/node_unschedulable/node_unschedulable.h"
#include "plugins/node_volume_limits/node_volume_limits.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"
#include "plugins/taint_toleration/taint_toleration.h"
#include "plugins/unsupported/unsupported.h"
#include "plugins/volume_binding/volume_binding.h"
#include "plugins/volume_restrictions/volume_restrictions.h"
#include "plugins/volume_zone/volume_zone.h"
#include "plugins/whole_nodes/whole_nodes.h"

namespace tutti::plugins {
namespace {

using base::Result;
using framework::Plugin;
using json = base::Json;

using Made = Result<std::shared_ptr<const Plugin>>;
using Make = Made (*)(const json& args);

template <typename T>
Made Plain(const json& args) {
  if (args.is_object() && !args.empty()) return base::Invalid("takes no arguments");
  return std::make_shared<const T>();
}

template <typename T>
Made WithArgs(const json& args) {
  auto made = T::Make(args);
  if (!made) return tl::make_unexpected(made.error());
  return *std::move(made);
}

Made MakeFit(const json& args) {
  auto read = FitArgs::Read(args);
  if (!read) return tl::make_unexpected(read.error());
  return std::make_shared<const NodeResourcesFit>(*std::move(read));
}

struct Entry {
  const char* name;
  int64_t weight;      // in the default list; 0: it does not score
  Make make;           // nullptr: no plugin is made
  const char* remark;  // why no plugin is made, for the warning when a config enables it; nullptr: one is made, or the
                       // core does its work
  const char* points;  // the points of kSettledPoints that it extends
};

// Extension points that have the same plugins in every release.
constexpr std::string_view kSettledPoints[] = {"queueSort", "filter",  "postFilter", "score",   "reserve",
                                               "permit",    "preBind", "bind",       "postBind"};
constexpr const char* kBoth = "filter score";
constexpr const char* kAny = nullptr;  // its points are not known

constexpr const char* kBuiltIn = nullptr;
constexpr const char* kNotYet = "is not active yet; pods that need it wait and say so";
constexpr const char* kNotAsked = "is not active yet; a pod is bound whatever it would have said";
constexpr const char* kOwnGangs = "is not used: gangs are placed whole by the scheduler itself";

// In the order of kube-scheduler's default list, which is the order in which filters are asked.
constexpr Entry kRegistry[] = {
    {"SchedulingGates", 0, nullptr, kBuiltIn, ""},
    {"PrioritySort", 0, nullptr, kBuiltIn, "queueSort"},
    {"NodeUnschedulable", 0, Plain<NodeUnschedulable>, nullptr, "filter"},
    {"NodeName", 0, Plain<NodeName>, nullptr, "filter"},
    {"TaintToleration", 3, Plain<TaintToleration>, nullptr, kBoth},
    {"NodeAffinity", 2, WithArgs<NodeAffinity>, nullptr, kBoth},
    {"NodePorts", 0, Plain<NodePorts>, nullptr, "filter"},
    {"NodeResourcesFit", 1, MakeFit, nullptr, kBoth},
    {"VolumeRestrictions", 0, Plain<VolumeRestrictions>, nullptr, "filter"},
    {"NodeVolumeLimits", 0, Plain<NodeVolumeLimits>, nullptr, "filter"},
    {"VolumeBinding", 0, WithArgs<VolumeBinding>, nullptr, "filter reserve preBind score"},
    {"VolumeZone", 0, Plain<VolumeZone>, nullptr, "filter"},
    {"PodTopologySpread", 2, WithArgs<PodTopologySpread>, nullptr, kBoth},
    {"InterPodAffinity", 2, WithArgs<InterPodAffinity>, nullptr, kBoth},
    {"DynamicResources", 2, nullptr, kNotYet, "filter postFilter reserve preBind score"},
    {"DefaultPreemption", 0, WithArgs<DefaultPreemption>, nullptr, "postFilter"},
    {"NodeResourcesBalancedAllocation", 1, WithArgs<NodeResourcesBalancedAllocation>, nullptr, "score"},
    {"ImageLocality", 1, Plain<ImageLocality>, nullptr, "score"},
    {"DefaultBinder", 0, nullptr, kBuiltIn, "bind"},
    {"NodeDeclaredFeatures", 0, nullptr, kNotAsked, "filter"},
};
// Plugins whose feature gates are off in kube-scheduler, so that they are not in the default list.
constexpr Entry kGated[] = {
    {"GangScheduling", 0, nullptr, kOwnGangs, kAny},
    {"TopologyPlacementGenerator", 0, nullptr, kOwnGangs, kAny},
    {"PodGroupPodsCount", 1, nullptr, kOwnGangs, kAny},
    {"DeferredPodScheduling", 0, nullptr, kNotAsked, kAny},
};

const Entry* Find(std::string_view name) {
  for (const std::span<const Entry> list : {std::span<const Entry>(kRegistry), std::span<const Entry>(kGated)})
    if (const auto at = std::ranges::find(list, name, &Entry::name); at != list.end()) return &*at;
  return nullptr;
}

bool Extends(const Entry& entry, std::string_view point) {
  if (entry.points == kAny || std::ranges::find(kSettledPoints, point) == std::end(kSettledPoints)) return true;
  for (const auto word : std::views::split(std::string_view(entry.points), ' '))
    if (std::string_view(word.begin(), word.end()) == point) return true;
  return false;
}

using PluginList = std::vector<ProfileConfig::Plugin>;

bool Has(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}
const ProfileConfig::Plugin* Named(const PluginList& list, std::string_view name) {
  const auto at = std::ranges::find(list, name, &ProfileConfig::Plugin::name);
  return at == list.end() ? nullptr : &*at;
}

// Returns the multiPoint list: first the defaults that are not disabled, in their order and with the config's weights,
// then the other plugins that the config enables.
PluginList MergeMultiPoint(const ProfileConfig::PluginSet& set) {
  PluginList list;
  if (!Has(set.disabled, "*"))
    for (const Entry& entry : kRegistry)
      if (!Has(set.disabled, entry.name)) {
        const ProfileConfig::Plugin* said = Named(set.enabled, entry.name);
        list.push_back({entry.name, said ? said->weight : entry.weight});
      }
  for (const ProfileConfig::Plugin& plugin : set.enabled)
    if (!Named(list, plugin.name)) list.push_back(plugin);
  return list;
}

// Returns the plugins of one extension point: first those in both its list and multiPoint, then the rest of multiPoint,
// then the rest of its list.
PluginList Expand(const ProfileConfig::PluginSet& set, const PluginList& multi_point) {
  if (Has(set.disabled, "*")) return set.enabled;
  PluginList list;
  for (const ProfileConfig::Plugin& plugin : set.enabled)
    if (Named(multi_point, plugin.name) && !Has(set.disabled, plugin.name)) list.push_back(plugin);
  for (const ProfileConfig::Plugin& plugin : multi_point)
    if (!Has(set.disabled, plugin.name) && !Named(set.enabled, plugin.name)) list.push_back(plugin);
  for (const ProfileConfig::Plugin& plugin : set.enabled)
    if (!Named(list, plugin.name)) list.push_back(plugin);
  return list;
}

// Makes each plugin once for all its extension points.
class Maker {
 public:
  explicit Maker(const ProfileConfig& config) : config_(config) {}

  // Makes the plugin; nullptr: none is made for this name. REQUIRES: `name` is a plugin's.
  Made Make(const std::string& name) {
    const Entry& entry = *Find(name);
    if (!entry.make) return nullptr;
    if (const auto at = made_.find(name); at != made_.end()) return at->second;
    json args;
    for (const auto& [whose, given] : config_.plugin_config)
      if (whose == name && given) args = *given;
    auto plugin = entry.make(args);
    if (!plugin)
      return base::Invalid(
          fmt::format("profile {}: pluginConfig: {}: {}", config_.scheduler_name, name, plugin.error().message));
    made_.emplace(name, *plugin);
    return plugin;
  }

 private:
  const ProfileConfig& config_;
  std::map<std::string, std::shared_ptr<const Plugin>> made_;
};

base::Status CheckNames(const ProfileConfig& config, const std::string& who, std::vector<std::string>* warnings) {
  const auto check = [&](const std::string& where, const std::string& name) -> base::Status {
    if (Find(name)) return {};
    return base::Invalid(fmt::format("{}: {}: there is no plugin \"{}\"; known are {}", who, where, name,
                                     fmt::join(KnownPlugins(), ", ")));
  };
  std::set<std::string> warned;
  const auto warn = [&](const std::string& text) {
    if (warnings && warned.insert(text).second) warnings->push_back(fmt::format("{}: {}", who, text));
  };
  for (const auto& [point, set] : config.plugins) {
    std::set<std::string> seen;
    for (const ProfileConfig::Plugin& plugin : set.enabled) {
      if (const auto known = check("plugins." + point + ".enabled", plugin.name); !known) return known;
      if (!seen.insert(plugin.name).second)
        return base::Invalid(fmt::format("{}: plugins.{}.enabled: {} is named twice", who, point, plugin.name));
      if (!Extends(*Find(plugin.name), point))
        return base::Invalid(
            fmt::format("{}: plugins.{}.enabled: {} does not extend {}", who, point, plugin.name, point));
      if (const char* remark = Find(plugin.name)->remark) warn(fmt::format("{} {}", plugin.name, remark));
    }
    for (const std::string& name : set.disabled) {
      if (name == "*") continue;
      if (const auto known = check("plugins." + point + ".disabled", name); !known) return known;
      const Entry& entry = *Find(name);
      if (!entry.make && !entry.remark) warn(fmt::format("{} is built in and stays", name));
    }
    if ((point == "preFilter" || point == "preScore") && !set.disabled.empty())
      warn(fmt::format("plugins.{}.disabled has no effect; disable the plugin under {}", point,
                       point == "preFilter" ? "filter" : "score"));
  }
  std::set<std::string> configured;
  for (const auto& [name, args] : config.plugin_config) {
    if (const auto known = check("pluginConfig", name); !known) return known;
    if (!configured.insert(name).second)
      return base::Invalid(fmt::format("{}: pluginConfig: repeated config for {}", who, name));
    if (const char* remark = Find(name)->remark) warn(fmt::format("{} {}", name, remark));
  }
  return {};
}

}  // namespace

std::vector<std::string> KnownPlugins() {
  std::vector<std::string> names;
  for (const Entry& entry : kRegistry) names.emplace_back(entry.name);
  for (const Entry& entry : kGated) names.emplace_back(entry.name);
  return names;
}

Result<framework::Profile> MakeProfile(const ProfileConfig& config, std::vector<std::string>* warnings) {
  const std::string who = fmt::format("profile {}", config.scheduler_name);
  if (const auto checked = CheckNames(config, who, warnings); !checked) return tl::make_unexpected(checked.error());
  const auto set_of = [&](const char* point) {
    const auto at = config.plugins.find(point);
    return at == config.plugins.end() ? ProfileConfig::PluginSet() : at->second;
  };
  const PluginList multi_point = MergeMultiPoint(set_of("multiPoint"));
  Maker maker(config);
  framework::Profile profile;
  profile.scheduler_name = config.scheduler_name;
  profile.filters.push_back(std::make_shared<Unsupported>());
  for (const ProfileConfig::Plugin& plugin : Expand(set_of("filter"), multi_point)) {
    const Made made = maker.Make(plugin.name);
    if (!made) return tl::make_unexpected(made.error());
    if (auto filter = std::dynamic_pointer_cast<const framework::Filter>(*made))
      profile.filters.push_back(std::move(filter));
    if (const auto binding = std::dynamic_pointer_cast<const VolumeBinding>(*made))
      profile.volume_timeout_ms = binding->bind_timeout_ms();
  }
  for (const ProfileConfig::Plugin& plugin : Expand(set_of("postFilter"), multi_point)) {
    const Made made = maker.Make(plugin.name);
    if (!made) return tl::make_unexpected(made.error());
    if (const auto preemption = std::dynamic_pointer_cast<const DefaultPreemption>(*made))
      profile.preemption = preemption->args();
  }
  int64_t weights = 0;
  for (const ProfileConfig::Plugin& plugin : Expand(set_of("score"), multi_point)) {
    const Made made = maker.Make(plugin.name);
    if (!made) return tl::make_unexpected(made.error());
    auto score = std::dynamic_pointer_cast<const framework::Score>(*made);
    if (!score) continue;
    if (plugin.weight < 0)
      return base::Invalid(fmt::format("{}: plugins: the weight of {} is negative", who, plugin.name));
    const int64_t weight = plugin.weight == 0 ? 1 : plugin.weight;
    weights += std::min(weight, framework::Ranking::kMostWeight + 1);  // the cap keeps the sum from overflowing
    if (weights > framework::Ranking::kMostWeight)
      return base::Invalid(fmt::format("{}: plugins: the weights of the scores add up to more than {}", who,
                                       framework::Ranking::kMostWeight));
    profile.scores.push_back({std::move(score), weight});
  }
  return profile;
}

std::vector<ProfileConfig::Plugin> ActivePlugins(const ProfileConfig& config) {
  const auto at = config.plugins.find("multiPoint");
  PluginList list = MergeMultiPoint(at == config.plugins.end() ? ProfileConfig::PluginSet() : at->second);
  std::erase_if(list, [](const ProfileConfig::Plugin& plugin) { return Find(plugin.name)->remark != nullptr; });
  return list;
}

framework::Profile DefaultProfile(const std::string& scheduler_name) {
  ProfileConfig config;
  config.scheduler_name = scheduler_name;
  auto profile = MakeProfile(config);
  TUTTI_CHECK(profile, "the default profile can be made");
  return *std::move(profile);
}

framework::Profile PackingProfile(const std::string& scheduler_name) {
  framework::Profile profile = DefaultProfile(scheduler_name);
  AddPacking(&profile);
  return profile;
}

void AddPacking(framework::Profile* profile) {
  profile->scores.push_back({std::make_shared<WholeNodes>(), WholeNodes::kWeight});
}

}  // namespace tutti::plugins
