// SPDX-License-Identifier: Apache-2.0
#include "queue/policies/kueue/assigner.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "model/quantity.h"
#include "queue/policies/kueue/flavor_match.h"

namespace tutti::queue {
namespace {

// How a flavor would serve, from worst to best.
enum class Way { kNone, kNoCandidates, kPreempt, kReclaim, kFits };

struct Grade {
  Way way = Way::kNone;
  int borrowing = std::numeric_limits<int>::max();
};

bool IsPreferred(const Grade& a, const Grade& b, model::FlavorPreference preference) {
  if (a.way == Way::kNone || b.way == Way::kNone) return a.way != Way::kNone;
  if ((a.way == Way::kNoCandidates) != (b.way == Way::kNoCandidates)) return b.way == Way::kNoCandidates;
  if (preference == model::FlavorPreference::kPreemptionOverBorrowing && a.borrowing != b.borrowing)
    return a.borrowing < b.borrowing;
  return a.way != b.way ? a.way > b.way : a.borrowing < b.borrowing;
}

bool TriesNext(const Grade& grade, const model::FlavorFungibility& fungibility) {
  switch (grade.way) {
    case Way::kNone:
    case Way::kNoCandidates: return true;
    case Way::kPreempt:
    case Way::kReclaim:
      if (!fungibility.stop_when_preempting) return true;
      break;
    case Way::kFits: break;
  }
  return grade.borrowing > 0 && !fungibility.stop_when_borrowing;
}

model::ResourceList Times(const model::ResourceList& one, int64_t count) {
  model::ResourceList all;
  for (const auto& [resource, amount] : one) all.Set(resource, model::SaturatingMul(amount, count));
  return all;
}

}  // namespace

// One assignment in the making.
class Assigner::Search {
 public:
  Search(const Assigner& by, const AssignQuestion& question)
      : by_(by),
        shares_(by.arena_.shares),
        question_(question),
        ask_(*question.ask),
        queue_(shares_.leaf(question.leaf)) {}

  Assignment Run() {
    std::vector<RoleAssignment> roles = Roles();
    for (const std::vector<size_t>& group : RoleGroups()) {
      const bool failed = AssignGroup(group, roles);
      for (const size_t i : group) Add(i, std::move(roles[i]));
      if (failed) break;
    }
    if (assignment_.fit() == Fit::kNone) assignment_.no_fit = no_fit_;
    return std::move(assignment_);
  }

 private:
  std::vector<RoleAssignment> Roles() const {
    std::vector<RoleAssignment> roles;
    for (size_t i = 0; i < ask_.roles.size(); ++i) {
      const model::RoleAsk& role = ask_.roles[i];
      RoleAssignment& assigned = roles.emplace_back();
      assigned.name = role.name;
      assigned.count = question_.counts.empty() ? role.count : question_.counts[i];
      assigned.requests = Times(role.pod->requests, assigned.count);
      if (GroupOf(std::string(model::kPods))) assigned.requests.Set(model::kPods, assigned.count);
    }
    return roles;
  }

  // Roles that name the same group stand where the first of them does.
  std::vector<std::vector<size_t>> RoleGroups() const {
    std::vector<std::vector<size_t>> groups;
    std::map<std::string, size_t> by_name;
    for (size_t i = 0; i < ask_.roles.size(); ++i) {
      const std::string& name = ask_.roles[i].group;
      const auto [at, first] = by_name.try_emplace(name, groups.size());
      if (first || name.empty())
        groups.push_back({i});
      else
        groups[at->second].push_back(i);
    }
    return groups;
  }

  const model::ResourceGroup* GroupOf(const std::string& resource) const {
    for (const model::ResourceGroup& group : queue_.groups)
      if (std::ranges::find(group.resources, resource) != group.resources.end()) return &group;
    return nullptr;
  }

  // What was found for the roles of a group.
  struct Found {
    std::map<std::string, FlavorPick> picks;
    std::vector<std::string> obstacles;
    std::vector<CellId> short_cells;
    std::optional<WaitReason> mildest;  // of the flavors that do not do
  };

  // Returns true when the roles have no flavors.
  bool AssignGroup(const std::vector<size_t>& group, std::vector<RoleAssignment>& roles) {
    model::ResourceList requests;
    for (const size_t i : group) requests.AddAll(roles[i].requests);
    Found all;
    bool failed = false;
    for (const auto& [resource, amount] : requests) {
      if (all.picks.contains(resource) || (amount == 0 && !GroupOf(resource))) continue;
      Found found = FindFlavor(group, requests, resource);
      if (found.mildest) no_fit_ = std::max(no_fit_, *found.mildest);
      failed = found.picks.empty();
      if (failed) {
        all = std::move(found);
        break;
      }
      all.picks.merge(found.picks);
      all.obstacles.insert(all.obstacles.end(), found.obstacles.begin(), found.obstacles.end());
      all.short_cells.insert(all.short_cells.end(), found.short_cells.begin(), found.short_cells.end());
    }
    for (const size_t i : group) {
      roles[i].obstacles = all.obstacles;
      roles[i].short_cells = all.short_cells;
      for (const auto& [resource, pick] : all.picks)
        if (roles[i].requests.Has(resource)) roles[i].picks[resource] = pick;
    }
    return failed;
  }

  void Add(size_t index, RoleAssignment role) {
    for (const auto& [resource, pick] : role.picks) {
      assignment_.borrowing = std::max(assignment_.borrowing, pick.borrowing);
      const int64_t amount = role.requests.Get(resource);
      if (amount == 0) continue;
      AddTo(assignment_.usage, pick.cell, model::SaturatingSub(amount, Replaced(index, resource)));
      AddTo(assignment_.total, pick.cell, amount);
    }
    assignment_.roles.push_back(std::move(role));
  }

  int64_t Replaced(size_t role, const std::string& resource) const {
    if (!question_.replaces || role >= question_.replaces->roles.size()) return 0;
    return question_.replaces->roles[role].requests.Get(resource);
  }

  int FirstToTry(size_t role, const std::string& resource) const {
    if (role >= question_.progress.size()) return 0;
    const auto at = question_.progress[role].find(resource);
    return at == question_.progress[role].end() ? 0 : at->second + 1;
  }

  // Chooses one flavor for all resources of the group that `resource` is in. Without picks: none will do.
  Found FindFlavor(const std::vector<size_t>& roles, const model::ResourceList& requests, const std::string& resource) {
    Found found;
    const model::ResourceGroup* group = GroupOf(resource);
    if (!group) {
      found.obstacles.push_back(fmt::format("resource {} unavailable in ClusterQueue", resource));
      found.mildest = WaitReason::kNoMatchingFlavor;
      return found;
    }
    Grade best;
    int last = -1;
    for (int i = FirstToTry(roles[0], resource); i < static_cast<int>(group->flavors.size()); ++i) {
      last = i;
      const std::string& flavor = group->flavors[static_cast<size_t>(i)].flavor;
      if (std::string mismatch = MismatchWith(roles, flavor, resource); !mismatch.empty()) {
        found.obstacles.push_back(std::move(mismatch));
        Note(&found.mildest, WaitReason::kNoMatchingFlavor);
        continue;
      }
      std::map<std::string, FlavorPick> picks;
      const Grade grade = Try(roles, requests, *group, flavor, &picks, &found);
      const bool stop = !TriesNext(grade, queue_.fungibility);
      if (stop || IsPreferred(grade, best, queue_.fungibility.preference)) {
        best = grade;
        found.picks = std::move(picks);
      }
      if (stop) break;
    }
    const int tried = last + 1 == static_cast<int>(group->flavors.size()) ? -1 : last;
    for (auto& [name, pick] : found.picks) pick.tried = tried;
    if (best.way == Way::kFits) {
      found.obstacles.clear();
      found.short_cells.clear();
    }
    return found;
  }

  static void Note(std::optional<WaitReason>* mildest, WaitReason reason) {
    *mildest = mildest->has_value() ? std::min(**mildest, reason) : reason;
  }

  std::string MismatchWith(const std::vector<size_t>& roles, const std::string& name,
                           const std::string& resource) const {
    if (question_.within && !IsWithin(roles, name, resource))
      return fmt::format("skipping flavor {} as it is not found in the nomination mapping for resource {}", name,
                         resource);
    if (question_.without && question_.without->contains(name)) return fmt::format("flavor {} has no nodes", name);
    const auto flavor = by_.flavors_.find(name);
    if (flavor == by_.flavors_.end()) return fmt::format("flavor {} not found", name);
    for (const size_t i : roles) {
      const bool in_topology = ask_.roles[i].in_topology;
      if (in_topology && flavor->second.topology.empty())
        return fmt::format("Flavor \"{}\" does not support TopologyAwareScheduling", name);
      if (!in_topology && !flavor->second.topology.empty() && !AreAllInTopologies())
        return fmt::format("Flavor \"{}\" supports only TopologyAwareScheduling", name);
    }
    for (const size_t i : roles)
      if (std::string mismatch = MismatchOf(*ask_.roles[i].pod, flavor->second); !mismatch.empty()) return mismatch;
    return {};
  }

  // All flavors of the queue have a topology, so that roles that do not ask for one get them too.
  bool AreAllInTopologies() const {
    for (const model::ResourceGroup& group : queue_.groups)
      for (const model::FlavorQuota& quota : group.flavors)
        if (const auto at = by_.flavors_.find(quota.flavor); at != by_.flavors_.end() && at->second.topology.empty())
          return false;
    return true;
  }

  bool IsWithin(const std::vector<size_t>& roles, const std::string& flavor, const std::string& resource) const {
    return std::ranges::all_of(roles, [&](size_t i) {
      if (i >= question_.within->roles.size()) return true;
      const auto& picks = question_.within->roles[i].picks;
      const auto at = picks.find(resource);
      return at == picks.end() || at->second.flavor == flavor;
    });
  }

  // Tries one flavor for all requests that the group covers; the grade is that of the worst of them.
  Grade Try(const std::vector<size_t>& roles, const model::ResourceList& requests, const model::ResourceGroup& group,
            const std::string& flavor, std::map<std::string, FlavorPick>* picks, Found* found) {
    Grade worst{Way::kFits, 0};
    WaitReason severest = WaitReason::kNone;
    for (const auto& [resource, asked] : requests) {
      if (std::ranges::find(group.resources, resource) == group.resources.end()) continue;
      const CellId cell = shares_.cells().Find(flavor, resource);
      int64_t amount = asked;
      bool other_flavor = false;
      for (const size_t i : roles) {
        other_flavor = other_flavor || !IsFlavorOfReplaced(i, resource, flavor, found);
        amount = model::SaturatingSub(amount, Replaced(i, resource));
      }
      WaitReason reason = WaitReason::kNoMatchingFlavor;
      Grade grade;
      if (!cell.valid())
        found->obstacles.push_back(fmt::format("resource {} unavailable in ClusterQueue", resource));
      else if (!other_flavor)
        grade = GradeOf(cell, amount, &reason, found);
      if (grade.way == Way::kNone) severest = std::max(severest, reason);
      if (IsPreferred(worst, grade, queue_.fungibility.preference)) worst = grade;
      if (worst.way == Way::kNone) break;
      const Fit fit = grade.way == Way::kFits ? Fit::kNow : Fit::kPreempt;
      (*picks)[resource] = {flavor, cell, fit, grade.borrowing, -1};
    }
    if (worst.way == Way::kNone) {
      picks->clear();
      Note(&found->mildest, severest);
    }
    return worst;
  }

  bool IsFlavorOfReplaced(size_t role, const std::string& resource, const std::string& flavor, Found* found) const {
    if (!question_.replaces || role >= question_.replaces->roles.size()) return true;
    const auto& picks = question_.replaces->roles[role].picks;
    const auto at = picks.find(resource);
    const std::string had = at == picks.end() ? std::string() : at->second.flavor;
    if (had == flavor) return true;
    found->obstacles.push_back(
        fmt::format("could not assign {} flavor since the original workload is assigned: {}", flavor, had));
    return false;
  }

  // How the cell would serve so much besides what other roles of the gang take of it.
  Grade GradeOf(CellId cell, int64_t asked, WaitReason* reason, Found* found) {
    const std::string& resource = shares_.cells().resource(cell);
    const std::string& flavor = shares_.cells().flavor(cell);
    const auto print = [&](int64_t amount) { return model::FormatAmount(resource, amount); };
    const int64_t before = AmountOf(assignment_.usage, cell);
    const int64_t amount = model::SaturatingAdd(before, asked);
    const int64_t most = shares_.Potential(question_.leaf, cell);
    if (amount > most) {
      found->obstacles.push_back(by_.old_words_
                                     ? OldObstacle(cell, amount)
                                     : fmt::format("insufficient quota for {} in flavor {}, previously considered "
                                                   "podsets requests ({}) + current podset request ({}) > maximum "
                                                   "capacity ({})",
                                                   resource, flavor, print(before), print(asked), print(most)));
      found->short_cells.push_back(cell);
      *reason = WaitReason::kExceedsMaxQuota;
      return {};
    }
    const auto lowest = shares_.FindLowestFit(question_.leaf, cell, amount);
    const int64_t available = std::max<int64_t>(0, shares_.Available(question_.leaf, cell));
    if (amount <= available) return {Way::kFits, lowest.height};
    found->obstacles.push_back(by_.old_words_
                                   ? OldObstacle(cell, amount)
                                   : fmt::format("insufficient unused quota for {} in flavor {}, {} more needed",
                                                 resource, flavor, print(amount - available)));
    found->short_cells.push_back(cell);
    *reason = WaitReason::kWaitingForQuota;
    const bool may_preempt = amount <= shares_.Quota(question_.leaf, cell).nominal || lowest.below_root ||
                             queue_.preemption.while_borrowing ||
                             (by_.by_fair_share_ && queue_.preemption.within_cohort != model::PreemptionPolicy::kNever);
    return may_preempt ? GradeOfPreempting(cell, amount) : Grade{};
  }

  // Why the cell does not take so much now, in the words of Kueue 0.8.
  std::string OldObstacle(CellId cell, int64_t amount) const {
    const std::string &resource = shares_.cells().resource(cell), &flavor = shares_.cells().flavor(cell);
    const model::CellQuota quota = shares_.Quota(question_.leaf, cell);
    const int64_t used = shares_.Used(question_.leaf, cell);
    if (quota.borrowing_limit &&
        model::SaturatingAdd(used, amount) > model::SaturatingAdd(quota.nominal, *quota.borrowing_limit))
      return fmt::format("borrowing limit for {} in flavor {} exceeded", resource, flavor);
    if (queue_.cohort.empty() && amount > quota.nominal)
      return fmt::format("insufficient quota for {} in flavor {} in ClusterQueue", resource, flavor);
    const int64_t lacks = amount - std::max<int64_t>(0, shares_.Available(question_.leaf, cell));
    return fmt::format("insufficient unused quota {}for {} in flavor {}, {} more needed",
                       queue_.cohort.empty() ? "" : "in cohort ", resource, flavor,
                       model::FormatAmount(resource, lacks));
  }

  Grade GradeOfPreempting(CellId cell, int64_t amount) const {
    const std::vector<Victim> victims =
        by_.find_victims_({ask_.uid, question_.leaf, ask_.priority, ask_.queued_ms, {{cell, amount}}, {cell}});
    const Ledger::Mark mark = by_.arena_.ledger.Here();
    bool own = false;
    for (const Victim& victim : victims) {
      const Holding& holding = *by_.arena_.holdings.Find(victim.gang);
      own = own || holding.leaf == question_.leaf;
      by_.arena_.ledger.Release(by_.arena_.holdings.ChargeOf(holding));
    }
    const int height = shares_.FindLowestFit(question_.leaf, cell, amount).height;
    by_.arena_.ledger.Rewind(mark);
    if (victims.empty()) return {Way::kNoCandidates, height};
    return {own ? Way::kPreempt : Way::kReclaim, height};
  }

  const Assigner& by_;
  const ShareTree& shares_;
  const AssignQuestion& question_;
  const model::GangAsk& ask_;
  const model::LeafQueueSpec& queue_;
  Assignment assignment_;
  WaitReason no_fit_ = WaitReason::kNone;
};

Assignment Assigner::Assign(const AssignQuestion& question) const { return Search(*this, question).Run(); }

}  // namespace tutti::queue
