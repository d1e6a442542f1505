// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "doors/messages.h"
#include "doors/text.h"
#include "observe/wording.h"

namespace tutti::doors {
namespace {

using namespace observe;

template <typename Message>
void FillRoles(const std::vector<Minimum::Role>& roles, Message* to) {
  for (const Minimum::Role& role : roles) {
    v1::MinimumRole& line = *to->add_roles();
    line.set_name(Utf8(role.name));
    line.set_min(Small(role.min));
    line.set_have(Small(role.have));
    line.set_exist(Small(role.exist));
  }
}

void Fill(const Minimum& minimum, v1::Minimum* to) {
  to->set_members(Small(minimum.members));
  to->set_have(Small(minimum.have));
  to->set_exist(Small(minimum.exist));
  FillRoles(minimum.roles, to);
  for (const Minimum::Units& units : minimum.units) {
    v1::MinimumUnits& line = *to->add_units();
    line.set_name(Utf8(units.name));
    line.set_size(Small(units.size));
    line.set_min(Small(units.min));
    line.set_exist(Small(units.exist));
  }
}

void Fill(const Standing& standing, v1::Standing* to) {
  to->set_whole(standing.whole);
  if (standing.whole) return;
  to->set_have(Small(standing.have));
  to->set_members(Small(standing.members));
  FillRoles(standing.roles, to);
}

void Fill(const NearestDomain& nearest, v1::NearestDomain* to) {
  to->set_level(Utf8(nearest.level));
  to->set_domain(Utf8(nearest.value));
  to->set_domains(Small(static_cast<int64_t>(nearest.domains)));
  to->set_wanted(Small(nearest.wanted));
  to->set_room(Small(nearest.room));
  to->set_slice(Small(nearest.slice));
  to->set_even(nearest.even);
  for (const std::string& domain : nearest.torn) to->add_torn(Utf8(domain));
  to->set_unlabelled(Small(nearest.unlabelled));
}

void FillFigures(const Minimum& minimum, const Figures& figures, int64_t times, v1::LacksNodes* to) {
  constexpr const char* kCounts[] = {"exact", "at-least", "unknown"};
  to->set_needed(Small(minimum.have + figures.needed));
  if (figures.count != Figures::Count::kUnknown) to->set_fit(Small(minimum.have + figures.fit));
  to->set_count(kCounts[static_cast<int>(figures.count)]);
  to->set_cut_short(figures.cut_short);
  for (const auto& [name, role] : figures.roles) {
    if (name.empty()) continue;
    v1::RoleFit& line = *to->add_roles();
    line.set_role(Utf8(name));
    line.set_members(Small(role.members));
    line.set_fit(Small(role.fit));
  }
  for (const Figures::Short& it : figures.shorts) {
    v1::ShortResource& line = *to->add_short_();
    line.set_resource(Utf8(it.resource));
    line.set_missing(it.MissingBy(times));
    line.set_asked(it.AskedBy(times));
    line.set_cluster(it.cluster);
    line.set_largest_node(it.largest_node);
    line.set_needs_more_nodes(figures.NeedsMoreNodes(it, times));
    line.set_needs_larger_node(it.NeedsLargerNode());
    if (line.needs_more_nodes() || line.needs_larger_node()) to->set_needs_more_nodes(true);
  }
  to->set_more_short(figures.more_lack);
}

struct Kind {
  const Reason& reason;
  v1::Reason& out;

  void operator()(const Problem& it) const { out.set_kind("problem"), out.set_problem(Utf8(it.text)); }
  void operator()(const LacksMembers& it) const {
    out.set_kind("members");
    v1::LacksMembers& to = *out.mutable_members();
    to.set_head_missing(it.head_missing);
    to.set_gated(Small(it.gated));
    to.set_deleting(Small(it.deleting));
    for (const auto& [scheduler, pods] : it.strangers) (*to.mutable_other_schedulers())[Utf8(scheduler)] = Small(pods);
  }
  void operator()(const LacksPart& it) const {
    out.set_kind("part");
    v1::LacksPart& to = *out.mutable_part();
    it.unit ? to.set_unit(Utf8(it.of)) : to.set_role(Utf8(it.of));
    to.set_size(Small(it.size));
    to.set_lacks(Small(it.lacks));
  }
  void operator()(const NoHead& it) const { out.set_kind("no-head"), out.set_head(Utf8(it.pod)); }
  void operator()(const BelowMinimum&) const { out.set_kind("below-minimum"); }
  void operator()(const GivesWay&) const { out.set_kind("gives-way"); }
  void operator()(const QueueRefuses& it) const {
    out.set_kind("queue");
    v1::QueueRefuses& to = *out.mutable_queue();
    to.set_problem(Utf8(it.problem));
    to.set_limited_by(std::string(observe::Word(it.limit)));
    to.set_by_min_resources(it.by_min_resources);
    for (const QueueRefuses::Cell& cell : it.cells) {
      v1::ShortCell& line = *to.add_cells();
      line.set_queue(Utf8(cell.queue));
      line.set_resource(Utf8(cell.resource));
      line.set_limit(cell.limit);
      line.set_used(cell.used);
      line.set_asked(cell.asked);
      line.set_short_(cell.over());
    }
  }
  void operator()(const AwaitsQuota& it) const {
    using Stage = AwaitsQuota::Stage;
    out.set_kind(it.stage == Stage::kLine ? "quota" : it.stage == Stage::kChecks ? "checks" : "leaves");
    out.mutable_quota()->set_queue(Utf8(it.queue));
    out.mutable_quota()->set_why(Utf8(it.why));
  }
  void operator()(const LacksNodes& it) const {
    out.set_kind("nodes");
    v1::LacksNodes& to = *out.mutable_nodes();
    to.set_gave_up(it.gave_up);
    if (it.figures) FillFigures(reason.minimum, *it.figures, TimesSearched(reason, *it.figures), &to);
    if (it.nearest) Fill(*it.nearest, to.mutable_nearest());
    to.set_nodes(Small(it.refusals.nodes));
    for (const auto& [why, nodes] : it.refusals.reasons) (*to.mutable_refused())[Utf8(why)] = Small(nodes);
    to.set_never(Utf8(it.refusals.of_class));
    if (it.preemption) to.set_preemption(Utf8(Say(*it.preemption)));
  }
  void operator()(const LacksMinResources& it) const {
    out.set_kind("min-resources");
    out.mutable_min_resources()->set_resource(Utf8(it.resource));
    out.mutable_min_resources()->set_asked(it.asked);
    out.mutable_min_resources()->set_free(it.free);
  }
  void operator()(const BindRefused& it) const {
    out.set_kind("bind-refused");
    out.mutable_bind_refused()->set_pod(Utf8(it.pod));
    out.mutable_bind_refused()->set_why(Utf8(it.why));
  }
  void operator()(const ExtenderFailed& it) const {
    out.set_kind("extender-failed"), out.set_extender_failed(Utf8(it.failure));
  }
  void operator()(const PreparingVolumes& it) const { out.set_kind("volumes"), out.set_open_volumes(Small(it.open)); }
  void operator()(const AwaitsVictims& it) const {
    out.set_kind("victims");
    for (const std::string& pod : it.pods) out.mutable_victims()->add_pods(Utf8(pod));
    for (const std::string& node : it.nodes) out.mutable_victims()->add_nodes(Utf8(node));
  }
  void operator()(const AwaitsPods&) const { out.set_kind("pods"); }
  void operator()(const BeingUndone&) const { out.set_kind("undoing"); }
};

// "namespace/name" is of a namespace that the reader may not know.
bool IsHidden(std::string_view pod, const SeesNamespace& sees) {
  const size_t slash = pod.find('/');
  return slash != std::string_view::npos && !sees(std::string(pod.substr(0, slash)));
}

}  // namespace

std::optional<std::string> HideVictims(std::string_view sentence, const SeesNamespace& sees) {
  // "… waits for 2 pods to leave node n: a/x, b/y." No name has a space in it.
  constexpr std::string_view kBefore = " to leave node";
  const size_t leave = sentence.find(kBefore);
  const size_t colon = leave == std::string_view::npos ? leave : sentence.find(": ", leave);
  if (colon == std::string_view::npos) return std::nullopt;
  const size_t begin = colon + 2, end = std::min({sentence.find(". ", begin), sentence.size()});
  std::string shown;
  int64_t hidden = 0;
  for (size_t at = begin; at < end;) {
    const size_t next = std::min(sentence.find(", ", at), end);
    std::string_view name = sentence.substr(at, next - at);
    if (next == end && name.ends_with('.')) name.remove_suffix(1);
    if (IsHidden(name, sees))
      ++hidden;
    else
      shown += fmt::format("{}{}", shown.empty() ? "" : ", ", name);
    at = next + 2;
  }
  if (hidden == 0) return std::nullopt;
  shown += fmt::format("{}{} of other namespaces", shown.empty() ? "" : ", ", hidden);
  const std::string_view rest = end == sentence.size() ? "." : sentence.substr(end);
  return fmt::format("{}{}{}", sentence.substr(0, begin), shown, rest);
}

bool HideVictims(const Decision& decision, const SeesNamespace& sees, v1::Gang* to) {
  const auto* awaits = decision.why ? std::get_if<AwaitsVictims>(&decision.why->cause) : nullptr;
  if (awaits == nullptr) return false;
  v1::AwaitsVictims& victims = *to->mutable_why()->mutable_victims();
  victims.clear_pods();
  for (const std::string& pod : awaits->pods)
    if (!IsHidden(pod, sees)) victims.add_pods(Utf8(pod));
  const int64_t hidden = std::ssize(awaits->pods) - victims.pods_size();
  if (hidden == 0) return false;
  victims.set_other_pods(Small(hidden));
  if (auto said = HideVictims(to->message(), sees)) to->set_message(*std::move(said));
  for (v1::Member& member : *to->mutable_member_list())
    if (auto said = HideVictims(member.message(), sees)) member.set_message(*std::move(said));
  return true;
}

void Fill(const Reason& reason, v1::Reason* to) {
  std::visit(Kind{reason, *to}, reason.cause);
  if (reason.minimum.members > 0) Fill(reason.minimum, to->mutable_minimum());
  if (reason.standing) Fill(*reason.standing, to->mutable_standing());
}

}  // namespace tutti::doors
