// SPDX-License-Identifier: Apache-2.0
#include "observe/reason.h"

#include <algorithm>

#include "model/quantity.h"

namespace tutti::observe {
namespace {

template <typename List, typename Same>
bool Alike(const List& a, const List& b, Same same) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

bool SameNames(const Minimum& a, const Minimum& b) {
  const auto named = [](const auto& x, const auto& y) { return x.name == y.name; };
  return Alike(a.roles, b.roles, named) && Alike(a.units, b.units, named);
}

bool SameNames(const Standing& a, const Standing& b) {
  return a.whole == b.whole && Alike(a.roles, b.roles, [](const auto& x, const auto& y) { return x.name == y.name; });
}

// Compares names as sets: their order follows from the numbers of nodes, which are figures.
bool SameNames(const model::NodeRefusals& a, const model::NodeRefusals& b) {
  return (a.nodes == 0) == (b.nodes == 0) && a.of_class == b.of_class &&
         std::ranges::is_permutation(a.reasons, b.reasons,
                                     [](const auto& x, const auto& y) { return x.first == y.first; });
}

bool SameNames(const PreemptionRefused& a, const PreemptionRefused& b) {
  return a.not_eligible == b.not_eligible && SameNames(a.refusals, b.refusals);
}

bool SameNames(const NearestDomain& a, const NearestDomain& b) {
  return a.level == b.level && a.value == b.value && (a.domains == 0) == (b.domains == 0) && a.even == b.even &&
         (a.slice > 1) == (b.slice > 1) && (a.unlabelled > 0) == (b.unlabelled > 0) && a.torn == b.torn;
}

bool SameNames(const QueueRefuses::Cell& a, const QueueRefuses::Cell& b) {
  return a.queue == b.queue && a.resource == b.resource && (a.asked > a.limit) == (b.asked > b.limit);
}

// Compares the parts of the gang's sentence about how many members fit and what is missing.
bool SameSums(const Reason& a, const Figures& of_a, const Reason& b, const Figures& of_b) {
  const int64_t times_a = TimesSearched(a, of_a), times_b = TimesSearched(b, of_b);
  return of_a.count == of_b.count && of_a.cut_short == of_b.cut_short && of_a.all == of_b.all &&
         of_a.more_lack == of_b.more_lack &&
         Alike(of_a.roles, of_b.roles, [](const auto& x, const auto& y) { return x.first == y.first; }) &&
         Alike(of_a.shorts, of_b.shorts, [&](const Figures::Short& x, const Figures::Short& y) {
           return x.resource == y.resource && x.NeedsLargerNode() == y.NeedsLargerNode() &&
                  of_a.NeedsMoreNodes(x, times_a) == of_b.NeedsMoreNodes(y, times_b);
         });
}

bool SameMembers(const Figures& a, const Figures& b) {
  return a.waits_for == b.waits_for && Alike(a.lines, b.lines, [&](const Figures::Line& x, const Figures::Line& y) {
           const model::NodeRefusals *of_x = a.WhyNot(x), *of_y = b.WhyNot(y);
           return x.pod_class == y.pod_class && x.role == y.role && x.fits == y.fits && !of_x == !of_y &&
                  (!of_x || SameNames(*of_x, *of_y));
         });
}

// Whether the same parts of the two minimums lack members.
bool SameLacks(const Minimum& a, const Minimum& b) {
  const auto lacks = [](const auto& m, const auto& n) { return (m.exist < m.min) == (n.exist < n.min); };
  return Alike(a.roles, b.roles, lacks) && Alike(a.units, b.units, lacks);
}

// Compares two causes of one kind by what the gang's sentence says about them.
struct SameCause {
  const Reason &a, &b;

  bool operator()(const Problem& x, const Problem& y) const { return x == y; }
  bool operator()(const LacksMembers& x, const LacksMembers& y) const {
    return x.head_missing == y.head_missing && (x.gated > 0) == (y.gated > 0) && (x.deleting > 0) == (y.deleting > 0) &&
           SameLacks(a.minimum, b.minimum) &&
           Alike(x.strangers, y.strangers, [](const auto& m, const auto& n) { return m.first == n.first; });
  }
  bool operator()(const LacksPart& x, const LacksPart& y) const { return x.of == y.of && x.unit == y.unit; }
  bool operator()(const NoHead& x, const NoHead& y) const { return x == y; }
  bool operator()(const BelowMinimum&, const BelowMinimum&) const { return true; }
  bool operator()(const GivesWay&, const GivesWay&) const { return true; }
  bool operator()(const QueueRefuses& x, const QueueRefuses& y) const {
    return x.problem == y.problem && x.by_min_resources == y.by_min_resources &&
           Alike(x.cells, y.cells, [](const auto& m, const auto& n) { return SameNames(m, n); });
  }
  bool operator()(const AwaitsQuota& x, const AwaitsQuota& y) const { return x == y; }
  bool operator()(const LacksNodes& x, const LacksNodes& y) const {
    return x.gave_up == y.gave_up && !x.figures == !y.figures && x.nearest.has_value() == y.nearest.has_value() &&
           (!x.nearest || SameNames(*x.nearest, *y.nearest)) && x.preemption.has_value() == y.preemption.has_value() &&
           (!x.preemption || SameNames(*x.preemption, *y.preemption)) &&
           (!x.figures || SameSums(a, *x.figures, b, *y.figures));
  }
  bool operator()(const LacksMinResources& x, const LacksMinResources& y) const {
    return x.resource == y.resource && x.of_pods == y.of_pods;
  }
  bool operator()(const BindRefused& x, const BindRefused& y) const { return x == y; }
  bool operator()(const ExtenderFailed& x, const ExtenderFailed& y) const { return x == y; }
  bool operator()(const PreparingVolumes&, const PreparingVolumes&) const { return true; }
  bool operator()(const AwaitsVictims&, const AwaitsVictims&) const { return true; }  // they become fewer
  bool operator()(const AwaitsPods&, const AwaitsPods&) const { return SameLacks(a.minimum, b.minimum); }
  bool operator()(const BeingUndone&, const BeingUndone&) const { return true; }
};

// Whether the gang's sentence is the same except for numbers.
bool SameSentence(const Reason& a, const Reason& b) {
  if (a.cause.index() != b.cause.index() || a.ns != b.ns || a.gang != b.gang || a.lone != b.lone ||
      a.remark != b.remark || !a.standing != !b.standing || (a.standing && !SameNames(*a.standing, *b.standing)) ||
      !SameNames(a.minimum, b.minimum))
    return false;
  return std::visit([&]<typename T>(const T& cause) { return SameCause{a, b}(cause, std::get<T>(b.cause)); }, a.cause);
}

}  // namespace

int64_t QueueRefuses::Cell::over() const { return model::SaturatingSub(model::SaturatingAdd(used, asked), limit); }

int64_t TimesSearched(const Reason& reason, const Figures& figures) {
  return reason.standing ? reason.minimum.members / std::max<int64_t>(figures.needed, 1) : 1;
}

NodesNews NewsFor(Listener member, const Reason& reason) {
  const auto* nodes = std::get_if<LacksNodes>(&reason.cause);
  if (!nodes) return {};
  if (!nodes->figures || nodes->figures->lines.empty()) return {.refusals = &nodes->refusals};
  const Figures& figures = *nodes->figures;
  const Figures::Line* line = figures.Find(member.pod_class, member.role);
  if (line && line->fits && !figures.waits_for.empty())
    return {.kind = NodesNews::Kind::kFits, .waits_for = &figures.waits_for};
  if (line && line->fits) return {.kind = NodesNews::Kind::kFits, .refusals = &nodes->refusals};
  if (line && figures.WhyNot(*line)) return {.kind = NodesNews::Kind::kOfMember, .refusals = figures.WhyNot(*line)};
  return {.kind = NodesNews::Kind::kOfAnother, .refusals = &nodes->refusals};
}

GangState StateOf(const Reason& reason) {
  struct State {
    GangState operator()(const Problem&) const { return GangState::kInvalid; }
    GangState operator()(const LacksMembers&) const { return GangState::kWaitingForMembers; }
    GangState operator()(const LacksPart&) const { return GangState::kWaitingForMembers; }
    GangState operator()(const NoHead&) const { return GangState::kWaitingForMembers; }
    GangState operator()(const BelowMinimum&) const { return GangState::kWaitingForMembers; }
    GangState operator()(const GivesWay&) const { return GangState::kWaitingForMembers; }
    GangState operator()(const QueueRefuses&) const { return GangState::kWaitingForQueue; }
    GangState operator()(const AwaitsQuota&) const { return GangState::kWaitingForQueue; }
    GangState operator()(const LacksNodes&) const { return GangState::kWaitingForNodes; }
    GangState operator()(const LacksMinResources&) const { return GangState::kWaitingForNodes; }
    GangState operator()(const BindRefused&) const { return GangState::kWaitingForNodes; }
    GangState operator()(const ExtenderFailed&) const { return GangState::kWaitingForNodes; }
    GangState operator()(const PreparingVolumes&) const { return GangState::kBinding; }
    GangState operator()(const AwaitsVictims&) const { return GangState::kBinding; }
    GangState operator()(const AwaitsPods&) const { return GangState::kAdmitted; }
    GangState operator()(const BeingUndone&) const { return GangState::kWaitingForNodes; }
  };
  return std::visit(State{}, reason.cause);
}

bool SameButFigures(const Reason& a, const Reason& b) {
  if (!SameSentence(a, b)) return false;
  const auto *of_a = std::get_if<LacksNodes>(&a.cause), *of_b = std::get_if<LacksNodes>(&b.cause);
  return !of_a ||
         (SameNames(of_a->refusals, of_b->refusals) && (!of_a->figures || SameMembers(*of_a->figures, *of_b->figures)));
}

bool SameButFigures(const Reason& a, Listener of_a, const Reason& b, Listener of_b) {
  const NodesNews x = NewsFor(of_a, a), y = NewsFor(of_b, b);
  return x.kind == y.kind && !x.waits_for == !y.waits_for && (!x.waits_for || *x.waits_for == *y.waits_for) &&
         !x.refusals == !y.refusals && (!x.refusals || SameNames(*x.refusals, *y.refusals)) && SameSentence(a, b);
}

}  // namespace tutti::observe
