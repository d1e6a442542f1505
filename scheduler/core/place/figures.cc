// SPDX-License-Identifier: Apache-2.0
#include "core/place/figures.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/planted.h"
#include "model/quantity.h"

namespace tutti::core {

using cluster::Snapshot;
using model::NodeId;

namespace {

constexpr size_t kMostNames = 8;
const std::string kPods = "pods";

// One resource that a class asks for.
struct Ask {
  const std::string* name = nullptr;
  model::ResourceId column;
  int64_t amount = 0;
  bool named = false;  // the nodes' words name it
  bool lacks = false;  // some node that could hold the pod has too little free
  int64_t cluster = 0, largest_node = 0;
};

std::vector<Ask> AsksOf(const cluster::PodClass& pod_class, const framework::Refusals& refusals,
                        const Snapshot& snapshot) {
  std::vector<Ask> asks;
  for (const auto& [name, amount] : pod_class.spec->requests) {
    if (amount == 0) continue;
    Ask& ask = asks.emplace_back(Ask{&name, snapshot.resources().ColumnOfPods(name), amount});
    ask.named = std::ranges::any_of(refusals.reasons,
                                    [&name](const auto& reason) { return reason.first == "Insufficient " + name; });
  }
  // Every pod takes one of them, and no pod asks for it.
  if (std::ranges::any_of(refusals.reasons, [](const auto& reason) { return reason.first == "Too many pods"; })) {
    Ask& ask = asks.emplace_back(Ask{&kPods, cluster::kPodsColumn, 1});
    ask.named = true;
  }
  return asks;
}

// What the kind is short of: what the nodes name, as far as it is of nodes that could hold the pod if they were empty.
std::vector<Ask> ShortOf(const cluster::PodClass& pod_class, const Unfit& unfit, const Snapshot& snapshot) {
  std::vector<Ask> asks = AsksOf(pod_class, unfit.refusals, snapshot);
  if (std::ranges::none_of(asks, &Ask::named)) return {};
  bool any_holds = false;
  for (uint32_t slot = 0; slot < snapshot.slots(); ++slot) {
    const NodeId n(slot);
    if (!snapshot.present(n)) continue;
    bool holds = !unfit.nodes || std::ranges::binary_search(*unfit.nodes, n);
    for (Ask& ask : asks) {
      const int64_t has = snapshot.Exists(ask.column) ? snapshot.allocatable(ask.column)[n.index()] : 0;
      ask.cluster = model::SaturatingAdd(ask.cluster, has);
      ask.largest_node = std::max(ask.largest_node, has);
      holds = holds && has >= ask.amount;
    }
    any_holds = any_holds || holds;
    if (holds)
      for (Ask& ask : asks) ask.lacks = ask.lacks || snapshot.Free(n, ask.column) < ask.amount;
  }
  std::erase_if(asks, [&](const Ask& ask) { return !ask.named || (any_holds && !ask.lacks); });
  return asks;
}

int64_t AskOf(const MemberKind& kind, const std::string& resource) {
  return resource == kPods ? 1 : kind.pod_class->spec->requests.Get(resource);
}

void AddShorts(const Problem& problem, const Attempt& attempt, const std::vector<Unfit>& unfit,
               const Snapshot& snapshot, Figures* figures) {
  size_t seen = 0;
  std::map<const cluster::PodClass*, int64_t> unplaced;
  for (const auto& [k, count] : attempt.unplaced) unplaced[problem.kinds[k].pod_class.get()] += count;
  for (const Unfit& one : unfit) {
    const cluster::PodClass& pod_class = *problem.kinds[one.kind].pod_class;
    const auto lacking = unplaced.find(&pod_class);
    if (lacking == unplaced.end()) continue;
    ++seen;
    for (const Ask& ask : ShortOf(pod_class, one, snapshot)) {
      auto at = std::ranges::find(figures->shorts, *ask.name, &Figures::Short::resource);
      if (at == figures->shorts.end()) at = figures->shorts.insert(at, {*ask.name, 0, 0, 0, 0, 0});
      at->missing = model::SaturatingAdd(at->missing, model::SaturatingMul(ask.amount, lacking->second));
      at->one = std::max(at->one, ask.amount);
      at->cluster = ask.cluster;
      at->largest_node = ask.largest_node;
    }
  }
  figures->more_lack = seen < unplaced.size();
  for (Figures::Short& it : figures->shorts)
    for (const MemberKind& kind : problem.kinds)
      it.asked = model::SaturatingAdd(it.asked, model::SaturatingMul(AskOf(kind, it.resource), kind.count()));
}

void AddLines(const Problem& problem, const Attempt& attempt, const std::vector<Unfit>& unfit, Figures* figures) {
  std::map<model::ClassId, size_t> places;
  for (const Unfit& one : unfit) {
    places[problem.kinds[one.kind].pod_class->id] = figures->refused.size();
    figures->refused.push_back(one.refusals);
  }
  for (size_t k = 0; k < problem.kinds.size(); ++k) {
    if (attempt.taken[k] == 0 && !attempt.failed[k]) continue;
    const MemberKind& kind = problem.kinds[k];
    Figures::Line& line = figures->lines.emplace_back(Figures::Line{kind.pod_class->id, kind.role, !attempt.failed[k]});
    if (const auto place = places.find(line.pod_class); !line.fits && place != places.end())
      line.refused = place->second;
  }
  // Of kinds that are alike in class and role one that does not fit comes first, and stays.
  const auto key = [](const Figures::Line& line) { return std::tie(line.pod_class, line.role); };
  std::ranges::stable_sort(figures->lines, [&](const Figures::Line& a, const Figures::Line& b) {
    return key(a) != key(b) ? key(a) < key(b) : a.fits < b.fits;
  });
  const auto twice = std::ranges::unique(figures->lines, {}, key);
  figures->lines.erase(twice.begin(), twice.end());
}

void NameRoles(const Attempt& attempt, const Problem& problem, Figures* figures) {
  std::set<std::string_view> names;
  for (const auto& [k, count] : attempt.unplaced) names.insert(problem.kinds[k].role);
  if (figures->roles.size() < 2 || names.contains("") || names.size() > kMostNames) return;
  figures->waits_for.assign(names.begin(), names.end());
}

}  // namespace

Figures MakeFigures(const Problem& problem, const Attempt& attempt, const std::vector<Unfit>& unfit, int64_t most,
                    bool proven, const Snapshot& snapshot) {
  Figures figures;
  figures.cut_short = !proven;
  figures.needed = problem.total();
  figures.fit = std::ssize(attempt.spots) + base::Planted(base::Bug::kOneMoreFits);
  int64_t members = 0;
  for (size_t k = 0; k < problem.kinds.size(); ++k) {
    const MemberKind& kind = problem.kinds[k];
    Figures::Role& role = figures.roles[kind.role];
    role.members += kind.count();
    role.fit += static_cast<int64_t>(attempt.taken[k]);
    members += kind.count();
  }
  figures.all = members == figures.needed;
  const bool exact = figures.fit >= most || (proven && figures.fit == figures.needed - 1);
  figures.count = exact ? Figures::Count::kExact : Figures::Count::kAtLeast;
  AddLines(problem, attempt, unfit, &figures);
  NameRoles(attempt, problem, &figures);
  if (exact) AddShorts(problem, attempt, unfit, snapshot, &figures);
  return figures;
}

}  // namespace tutti::core
