// SPDX-License-Identifier: Apache-2.0
#include "tests/exact/engine.h"

#include <deque>

#include "base/json_fwd.h"
#include "core/place/planner.h"
#include "plugins/registry.h"
#include "tests/support/test_cluster.h"

namespace tutti::exact {
namespace {

using json = base::Json;

std::string Key(Level level) {
  switch (level) {
    case Level::kNode: return "kubernetes.io/hostname";
    case Level::kRack: return "rack";
    case Level::kZone: return "zone";
  }
  return {};
}

class Asking {
 public:
  Asking(const Question& question, bool packs)
      : question_(question),
        profiles_{packs ? plugins::PackingProfile("s") : plugins::DefaultProfile("s")},
        rankings_(profiles_, cluster_.snapshot(), size_t{64} << 20),
        planner_(cluster_.state(), rankings_) {
    for (size_t n = 0; n < question.nodes.size(); ++n) AddNode(n);
  }

  framework::Verdict Place(size_t g, std::vector<std::vector<int>>* on) {
    const QuestionGang& asked = question_.gangs[g];
    std::deque<core::Member> members;
    core::Gang gang;
    gang.key = {"exact", "default", fmt::format("g{}", g)};
    if (asked.one >= 0) gang.spec.topology.required = Key(static_cast<Level>(asked.one));
    core::Requirement requirement;
    std::vector<size_t> class_of;
    for (size_t c = 0; c < asked.classes.size(); ++c) {
      const QuestionClass& it = asked.classes[c];
      const std::string role = fmt::format("c{}", c);
      model::RoleSpec spec{role, it.count, 1, {}};
      if (it.one >= 0) spec.topology.required = Key(static_cast<Level>(it.one));
      if (it.slice > 0) spec.topology.slice_level = "rack", spec.topology.slice_size = it.slice;
      if (it.even) spec.topology.balanced = "rack";
      gang.spec.roles.push_back(spec);
      requirement.roles.push_back({role, it.count, 0, it.count});
      requirement.min += it.count;
      for (int i = 0; i < it.count; ++i) {
        core::Member& member = members.emplace_back();
        member.id = model::MemberId(static_cast<uint32_t>(members.size() - 1));
        member.pod = cluster_.AddPod(PodOf(g, c, i));
        member.role = role;
        gang.members.push_back(&member);
        class_of.push_back(c);
      }
    }
    const core::PlanResult result = planner_.PlaceRequired(gang, gang.members, requirement);
    if (!result.fits) return result.verdict;
    for (const cluster::Placement& placement : result.placements) {
      const size_t m = placement.member.index();
      ++(*on)[class_of[m]][static_cast<size_t>(std::stoi(cluster_.snapshot().node(placement.node).name.substr(1)))];
      cluster_.state().Reserve(members[m].pod, placement.node);
    }
    return framework::Verdict::kFits;
  }

 private:
  // What is not free is taken by a pod.
  void AddNode(size_t n) {
    const QuestionNode& node = question_.nodes[n];
    const std::string name = fmt::format("n{}", n);
    json labels = {{"kubernetes.io/hostname", name}, {"pool", std::to_string(node.pool)}};
    if (node.rack >= 0) labels["rack"] = fmt::format("r{}", node.rack);
    if (node.zone >= 0) labels["zone"] = fmt::format("z{}", node.zone);
    cluster_.AddNode({{"name", name},
                      {"labels", labels},
                      {"allocatable",
                       {{"cpu", std::to_string(node.cpu + 1)},
                        {"memory", "1Ti"},
                        {"nvidia.com/gpu", std::to_string(node.gpu_total)}}}});
    if (node.gpu < node.gpu_total)
      cluster_.AddPod({{"name", "used-" + name},
                       {"node", name},
                       {"requests", {{"cpu", "1"}, {"nvidia.com/gpu", std::to_string(node.gpu_total - node.gpu)}}}});
    else
      cluster_.AddNode({{"name", name},
                        {"labels", labels},
                        {"allocatable",
                         {{"cpu", std::to_string(node.cpu)},
                          {"memory", "1Ti"},
                          {"nvidia.com/gpu", std::to_string(node.gpu_total)}}}});
  }

  json PodOf(size_t g, size_t c, int i) const {
    const QuestionGang& gang = question_.gangs[g];
    const QuestionClass& it = gang.classes[c];
    json container = {{"name", "c"}, {"resources", {{"requests", {{"cpu", std::to_string(it.cpu)}}}}}};
    if (it.gpu > 0) container["resources"]["requests"]["nvidia.com/gpu"] = std::to_string(it.gpu);
    if (it.port) container["ports"] = json::array({{{"containerPort", 80}, {"hostPort", 8000 + g}}});
    json pod = {{"name", fmt::format("g{}-c{}-{}", g, c, i)},
                {"schedulerName", "s"},
                {"labels", {{"app", fmt::format("g{}-c{}", g, c)}}},
                {"containers", json::array({container})}};
    if (it.pool >= 0) pod["nodeSelector"] = {{"pool", std::to_string(it.pool)}};
    // Of two classes that keep apart one says so: which one must not matter.
    for (const QuestionApart& apart : gang.apart) {
      if (static_cast<size_t>(apart.a) != c) continue;
      pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"].push_back(
          {{"topologyKey", Key(apart.level)},
           {"labelSelector", {{"matchLabels", {{"app", fmt::format("g{}-c{}", g, apart.b)}}}}}});
    }
    return pod;
  }

  const Question& question_;
  tests::TestCluster cluster_;
  std::vector<framework::Profile> profiles_;
  core::Rankings rankings_;
  core::Planner planner_;
};

}  // namespace

EngineAnswer Ask(const Question& question, bool packs) {
  Asking asking(question, packs);
  EngineAnswer answer;
  for (size_t g = 0; g < question.gangs.size(); ++g) {
    answer.layout.emplace_back(question.gangs[g].classes.size(), std::vector<int>(question.nodes.size()));
    answer.verdicts.push_back(asking.Place(g, &answer.layout.back()));
  }
  return answer;
}

}  // namespace tutti::exact
