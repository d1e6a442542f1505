// SPDX-License-Identifier: Apache-2.0
// The reasons of a ranking, and its full answer about one node.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "framework/ranking_parts.h"

namespace tutti::framework {

using model::NodeId;

NodeVerdict Ranking::Impl::ExplainLeftOut() const {
  if (class_refuser) return {Verdict::kNever, class_refuser->name(), {class_refusal}};
  std::vector<std::string_view> names;
  for (const Filter* plugin : narrowing) names.push_back(plugin->name());
  std::ranges::sort(names);
  return {
      Verdict::kNever, names.front(), {fmt::format("node(s) didn't satisfy plugin(s) [{}]", fmt::join(names, " "))}};
}

NodeVerdict Ranking::Explain(NodeId n) const {
  NodeVerdict result;
  const RefusedBy by = impl_->by_group ? impl_->FilterNode(n) : impl_->RefusedNow(n);
  if (by == kNobody) return result;
  if (impl_->class_refuser || by == kExcluded) return impl_->ExplainLeftOut();
  const ActiveFilter& filter = impl_->filters[by - 1];
  result.verdict = filter.state->Check(n);
  result.plugin = filter.plugin->name();
  filter.state->Explain(n, &result.reasons);
  return result;
}

Refusals Ranking::Explain() const {
  Refusals refusals{{.nodes = impl_->snapshot.node_count(), .reasons = {}, .of_class = impl_->class_refusal}, {}};
  if (impl_->class_refuser) {
    refusals.plugins.push_back(impl_->class_refuser->name());
    return refusals;
  }
  std::map<std::string, size_t> count;
  const std::vector<RefusedBy> refused_by = impl_->Refusers();
  std::array<bool, 256> refuses{};
  for (const RefusedBy by : refused_by) refuses[by] = true;
  for (size_t i = 0; i < impl_->filters.size(); ++i)
    if (refuses[i + 1]) {
      impl_->filters[i].state->ExplainAll(static_cast<RefusedBy>(i + 1), refused_by, &count);
      refusals.plugins.push_back(impl_->filters[i].plugin->name());
    }
  if (impl_->refusals[kExcluded] > 0) {
    for (const Filter* plugin : impl_->narrowing) refusals.plugins.push_back(plugin->name());
    for (uint32_t n = 0; n < impl_->refused_by.size(); ++n)
      if (impl_->refused_by[n] == kExcluded)
        for (std::string& reason : Explain(NodeId(n)).reasons) ++count[std::move(reason)];
  }
  refusals.SetReasons(count);
  return refusals;
}

Wake Ranking::WakesOn() const {
  if (impl_->class_refuser) return impl_->class_refuser->WakesOn();
  Wake wakes = Wake::kNodeAdded;
  if (impl_->by_group) {
    std::array<bool, 256> refuses{};
    for (const RefusedBy by : impl_->RefusersOfGroups()) refuses[by] = true;
    for (size_t i = 0; i < impl_->filters.size(); ++i)
      if (refuses[i + 1]) wakes = wakes | impl_->filters[i].plugin->WakesOn();
    if (impl_->snapshot.node_count() > 0) return wakes;
  }
  for (size_t i = 0; i < impl_->filters.size(); ++i)
    if (impl_->snapshot.node_count() == 0 || impl_->MayRefuse(i)) wakes = wakes | impl_->filters[i].plugin->WakesOn();
  if (impl_->refusals[kExcluded] > 0)
    for (const Filter* plugin : impl_->narrowing) wakes = wakes | plugin->WakesOn();
  return wakes;
}

std::vector<NodeScore> Ranking::Scores(NodeId n) const {
  std::vector<NodeScore> list;
  const std::optional<Sharing>& sharing = impl_->sharing;
  const auto add = [&](const ActiveScore& score, auto share) {
    const int64_t raw = score.state->Score(n), normalized = share(raw);
    const bool scored = Normalizer::Counts(score.plugin->normalize(), raw);
    list.push_back({score.plugin->name(), scored ? raw : 0, normalized, normalized * score.weight});
  };
  for (size_t i = 0; i <= impl_->scores.size(); ++i) {
    if (sharing && sharing->score && sharing->score_place == i)
      add(*sharing->score, [&](int64_t raw) {
        return Normalizer::ShareOf(sharing->score->plugin->normalize(), raw, sharing->extremes);
      });
    if (i == impl_->scores.size()) break;
    const ActiveScore& score = impl_->scores[i];
    add(score, [&](int64_t raw) { return impl_->Share(i, raw); });
  }
  return list;
}

}  // namespace tutti::framework
