// SPDX-License-Identifier: Apache-2.0
#include "core/gangs/lightest.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>

#include "model/quantity.h"

namespace tutti::core {

using model::ResourceList;

namespace {

// What pods weigh, worked out once for each class.
class Scale {
 public:
  Scale(const Members& members, const cluster::ClusterState& state) : state_(state) {
    for (const Member* member : members) {
      const auto [at, fresh] = by_class_.try_emplace(ClassOf(*member));
      if (fresh) at->second = WeightOf(*at->first);
    }
  }
  const ResourceList& Of(const Member& member) const { return by_class_.at(ClassOf(member)); }

 private:
  const cluster::PodClass* ClassOf(const Member& member) const { return state_.pod(member.pod).pod_class.get(); }

  const cluster::ClusterState& state_;
  absl::flat_hash_map<const cluster::PodClass*, ResourceList> by_class_;
};

// First those that must be, then of each role up to its minimum those of which `amount_of` is least, then those of the
// rest of which it is.
template <typename AmountOf>
Members ChooseLeast(const Members& pending, const Requirement& requirement, AmountOf amount_of) {
  Members chosen = requirement.must;
  const absl::flat_hash_set<const Member*> must(chosen.begin(), chosen.end());
  std::vector<std::pair<int64_t, Member*>> others;
  for (Member* member : pending)
    if (!must.contains(member)) others.emplace_back(amount_of(*member), member);
  std::ranges::stable_sort(others, {}, [](const auto& item) { return item.first; });

  absl::flat_hash_map<std::string_view, int64_t> needs;
  for (const Requirement::Role& role : requirement.roles) needs[role.name] = role.min - role.have - role.must;
  Members rest;
  for (const auto& [amount, member] : others) {
    const auto need = needs.find(member->role);
    (need != needs.end() && need->second-- > 0 ? chosen : rest).push_back(member);
  }
  const int64_t wanted = requirement.min - requirement.have;
  for (size_t i = 0; i < rest.size() && static_cast<int64_t>(chosen.size()) < wanted; ++i) chosen.push_back(rest[i]);
  return chosen;
}

Members Choose(const Members& pending, const Requirement& requirement, const Scale& scale, std::string_view resource) {
  return ChooseLeast(pending, requirement, [&](const Member& member) { return scale.Of(member).Get(resource); });
}

}  // namespace

model::ResourceList WeightOf(const cluster::PodClass& pod_class) {
  model::ResourceList weight;
  for (const auto& [name, amount] : pod_class.spec->requests)
    if (amount > 0) weight.Set(name, std::min(amount, model::kLargestRequest));
  weight.Set(model::kPods, 1);
  return weight;
}

Members Lightest(const Members& pending, const Requirement& requirement, const cluster::ClusterState& state,
                 std::string_view resource) {
  return Choose(pending, requirement, Scale(pending, state), resource);
}

Members HighestPriority(const Members& pending, const Requirement& requirement) {
  return ChooseLeast(pending, requirement, [](const Member& member) { return -int64_t{member.priority}; });
}

ResourceList LeastWeight(const Members& pending, const Requirement& requirement, const cluster::ClusterState& state,
                         const std::set<std::string_view>& resources) {
  ResourceList least;
  if (resources.empty()) return least;
  const Scale scale(pending, state);
  for (const std::string_view name : resources) {
    int64_t sum = 0;
    for (const Member* member : Choose(pending, requirement, scale, name))
      sum = model::SaturatingAdd(sum, scale.Of(*member).Get(name));
    if (sum > 0) least.Set(name, sum);
  }
  return least;
}

}  // namespace tutti::core
