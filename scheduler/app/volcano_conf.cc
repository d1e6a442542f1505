// SPDX-License-Identifier: Apache-2.0
#include "app/volcano_conf.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "app/yaml_fields.h"

namespace tutti::app {
namespace {

const std::vector<std::string_view> kActions = {"allocate",    "backfill", "elect",   "enqueue", "gangpreempt",
                                                "gangreclaim", "preempt",  "reclaim", "reserve", "shuffle"};
// Plugins that are always in effect here, named or not.
const std::vector<std::string_view> kAlways = {"conformance", "gang", "predicates", "priority"};
const std::vector<std::string_view> kShares = {"capacity", "proportion"};
const std::vector<std::string_view> kScores = {"binpack", "nodeorder", "resource-strategy-fit", "task-topology",
                                               "usage"};
const std::vector<std::string_view> kAbsent = {
    "cdp",           "deviceshare", "drf",        "extender", "network-topology-aware",
    "nodegroup",     "numaaware",   "overcommit", "pdb",      "rescheduling",
    "resourcequota", "sla",         "tdm"};
const std::vector<std::string_view> kSwitches = {
    "enableJobOrder",         "enableNamespaceOrder", "enableHierarchy",       "enableJobReady",
    "enableJobPipelined",     "enableTaskOrder",      "enablePreemptable",     "enableReclaimable",
    "enablePreemptive",       "enableQueueOrder",     "enablePredicate",       "enableBestNode",
    "enableNodeOrder",        "enableTargetJob",      "enableReservedNodes",   "enableJobEnqueued",
    "enabledVictim",          "enableJobStarving",    "enabledOverused",       "enabledAllocatable",
    "enableVictimQueueOrder", "enableHyperNodeOrder", "enableUnifiedEvictable"};
constexpr std::string_view kAncestorLevel = "ancestorReclaimLevel";

struct Plugin {
  std::string name;
  std::map<std::string, bool> switches;  // enableReclaimable and the like, if the file sets them
  std::set<std::string> arguments;       // their names
};

using Kind = core::QueueRule::Kind;

bool In(const std::vector<std::string_view>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

class Reader {
 public:
  explicit Reader(const std::string& file) : errors_(file), notes_(file) {}

  base::Result<VolcanoConf> Read(const YAML::Node& root) {
    Fields fields(root, "", &errors_);
    ReadActions(fields);
    fields.Sequence("tiers", [&](Fields& tier) {
      tier.Sequence("plugins", [&](Fields& plugin) { ReadPlugin(plugin); });
      NoteUnknown(tier, {"plugins"});
    });
    if (rule_.reclaim && rule_.kind == Kind::kCapability) {
      rule_.reclaim = false;
      Note(fields, "actions", "reclaim has no effect without the plugin proportion or capacity");
    }
    for (const char* name : {"configurations", "metrics"})
      if (fields.Has(name)) Note(fields, name, "has no effect");
    NoteUnknown(fields, {"actions", "tiers", "configurations", "metrics"});
    if (!errors_.lines().empty()) return base::Invalid(fmt::format("{}", fmt::join(errors_.lines(), "\n")));
    if (rule_.kind == Kind::kCapacity && !hierarchy_)
      notes_.Add(YAML::Node(YAML::NodeType::Undefined), "capacity",
                 "a queue's parents count, though enableHierarchy is not set");
    return VolcanoConf{rule_, preempts_, notes_.lines()};
  }

 private:
  // Adds a note with the place of the field.
  void Note(const Fields& at, const std::string& name, std::string_view what) {
    notes_.Add(at.node()[name], at.path().empty() ? name : fmt::format("{}.{}", at.path(), name), what);
  }
  // Notes unknown fields, which Volcano ignores.
  void NoteUnknown(const Fields& at, const std::vector<std::string_view>& known) {
    if (!at.node().IsMap()) return;
    Fields all(at.node(), at.path(), &notes_);
    for (const std::string_view name : known) all.Accept(name);
    all.Done();
  }

  void ReadActions(Fields& fields) {
    std::string text;
    fields.String("actions", &text);
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find(',', at), text.size());
      std::string name = text.substr(at, end - at);
      at = end + 1;
      std::erase_if(name, [](char c) { return c == ' ' || c == '\t' || c == '\n'; });
      if (!In(kActions, name)) {
        const std::string_view meant = base::Closest(name, kActions);
        fields.Complain("actions", meant.empty()
                                       ? fmt::format("\"{}\" is no action; known: {}", name, fmt::join(kActions, ", "))
                                       : fmt::format("\"{}\" is no action; did you mean {}?", name, meant));
        continue;
      }
      if (name == "shuffle" || name == "elect" || name == "reserve")
        Note(fields, "actions", fmt::format("{} has no effect", name));
      preempts_ = preempts_ || name == "preempt" || name == "gangpreempt";
      rule_.reclaim = rule_.reclaim || name == "reclaim" || name == "gangreclaim";
    }
  }

  void ReadPlugin(Fields& fields) {
    Plugin plugin;
    fields.String("name", &plugin.name);
    if (plugin.name.empty()) return fields.Complain("", "has no name; name a plugin");
    for (const std::string_view name : kSwitches)
      if (fields.Has(name)) fields.Bool(name, &plugin.switches[std::string(name)]);
    Fields arguments = fields.Map("arguments");
    if (arguments.node().IsMap())
      for (const auto& entry : arguments.node())
        if (entry.first.IsScalar()) plugin.arguments.insert(entry.first.Scalar());
    std::vector<std::string_view> known = kSwitches;
    known.insert(known.end(), {"name", "arguments"});
    NoteUnknown(fields, known);
    Judge(fields, arguments, plugin);
  }

  // Applies the settings of the plugin, and notes those without effect.
  void Judge(Fields& fields, Fields& arguments, const Plugin& plugin) {
    if (In(kShares, plugin.name)) return JudgeShares(fields, arguments, plugin);
    if (In(kAlways, plugin.name)) {
      for (const auto& [name, on] : plugin.switches) Note(fields, name, "has no effect: it cannot be switched");
      if (!plugin.arguments.empty()) Note(fields, "arguments", "have no effect");
    } else if (In(kScores, plugin.name)) {
      Note(fields, "name",
           fmt::format("{} has no effect: nodes are scored as a KubeSchedulerConfiguration says", plugin.name));
    } else if (In(kAbsent, plugin.name)) {
      Note(fields, "name", fmt::format("{} has no effect", plugin.name));
    } else {
      std::vector<std::string_view> all;
      for (const auto* list : {&kAlways, &kShares, &kScores, &kAbsent})
        all.insert(all.end(), list->begin(), list->end());
      const std::string_view meant = base::Closest(plugin.name, all);
      Note(fields, "name",
           fmt::format("{} has no effect: it is not known{}", plugin.name,
                       meant.empty() ? "" : fmt::format("; did you mean {}?", meant)));
    }
  }

  void JudgeShares(Fields& fields, Fields& arguments, const Plugin& plugin) {
    const auto rule = plugin.name == "capacity" ? Kind::kCapacity : Kind::kProportion;
    if (rule_.kind != Kind::kCapability && rule_.kind != rule)
      return fields.Complain("name", "proportion and capacity both say what a queue deserves; keep one");
    rule_.kind = rule;
    for (const auto& [name, on] : plugin.switches) {
      if (rule == Kind::kCapacity && name == "enableHierarchy")
        hierarchy_ = on;
      else
        Note(fields, name, "has no effect: it cannot be switched");
    }
    if (rule == Kind::kCapacity) arguments.Integer(kAncestorLevel, 0, kMostAncestorLevels, &rule_.ancestor_levels);
    for (const std::string& name : plugin.arguments) {
      if (rule != Kind::kCapacity || name != kAncestorLevel)
        Note(arguments, name, "has no effect");
      else if (rule_.ancestor_levels > 0 && !rule_.reclaim)
        Note(arguments, name, "has no effect without the action reclaim");
    }
  }

  Complaints errors_, notes_;
  core::QueueRule rule_;
  bool preempts_ = false;
  bool hierarchy_ = false;  // as enableHierarchy says
};

}  // namespace

base::Result<VolcanoConf> ReadVolcanoConf(const YAML::Node& document, const std::string& file) {
  return Reader(file).Read(document);
}

}  // namespace tutti::app
