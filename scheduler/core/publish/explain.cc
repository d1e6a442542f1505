// SPDX-License-Identifier: Apache-2.0
#include "core/publish/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "dialects/wording.h"
#include "model/quantity.h"

namespace tutti::core {

using dialects::GangState;
using dialects::Named;
using framework::Verdict;
using framework::Wake;

namespace {

std::string Name(const Gang& gang) { return fmt::format("gang {}/{}", Named(gang.key.ns), Named(gang.key.name)); }

bool Lone(const Gang& gang, const Requirement& requirement) { return requirement.min == 1 && gang.members.size() == 1; }

// The parts of a whole, all or none of them: " (head 1, others 8)", or nothing where that would say no more.
std::string InParts(const std::vector<std::string>& parts) {
  constexpr size_t kMostParts = 16;
  return parts.empty() || parts.size() > kMostParts ? "" : fmt::format(" ({})", fmt::join(parts, ", "));
}

// "9 members (head 1, others 8)"
std::string Minimum(const Requirement& requirement) {
  std::vector<std::string> parts;
  for (const Requirement::Units& units : requirement.units)
    parts.push_back(
        fmt::format("{} subgroup{} of {} of {}", units.min, units.min == 1 ? "" : "s", units.size, Named(units.name)));
  int64_t others = requirement.min;
  for (const Requirement::Role& role : requirement.roles) {
    parts.push_back(fmt::format("{} {}", Named(role.name), role.min));
    others -= role.min;
  }
  if (!requirement.roles.empty() && requirement.units.empty() && others > 0)
    parts.push_back(fmt::format("others {}", others));
  return fmt::format("{} member{}{}", requirement.min, requirement.min == 1 ? "" : "s", InParts(parts));
}

// "gang ns/g is whole; 2 more pods wait"
std::string OnTop(const Gang& gang, const Requirement& requirement) {
  return fmt::format("{} {}; {} more pod{}", Name(gang), requirement.stands, requirement.min,
                     requirement.min == 1 ? " waits" : "s wait");
}

// How many of each role fit: " (gpu 8/9, head 1/1)". By all roles that there are, if every member is needed; else by
// those that have a minimum, and the others together.
std::string ByRole(const Requirement& requirement, const Figures& figures) {
  std::vector<std::string> parts;
  const auto add = [&parts](std::string_view name, int64_t fit, int64_t of) {
    parts.push_back(fmt::format("{} {}/{}", name, fit, of));
  };
  if (figures.all && requirement.have == 0) {
    for (const auto& [name, role] : figures.roles) add(name.empty() ? "others" : Named(name), role.fit, role.members);
  } else if (requirement.units.empty() && !requirement.roles.empty()) {
    int64_t others = requirement.min, fit = requirement.have + figures.fit;
    for (const Requirement::Role& role : requirement.roles) {
      const auto found = figures.roles.find(role.name);
      const int64_t have = role.have + (found == figures.roles.end() ? 0 : found->second.fit);
      add(Named(role.name), std::min(have, role.min), role.min);
      others -= role.min;
      fit -= std::min(have, role.min);
    }
    if (others > 0) add("others", fit, others);
  }
  return parts.size() < 2 ? "" : InParts(parts);
}

// "11 of the 12 pods it needs fit now (gpu 8/9, head 1/1, others 2/2)"
std::string Fit(const Requirement& requirement, const Figures& figures) {
  const int64_t needed = requirement.have + figures.needed, fit = requirement.have + figures.fit;
  switch (figures.count) {
    case Figures::Count::kExact:
      if (needed == 1) return "the pod that it needs does not fit now";
      return fmt::format("{} of the {} pods it needs fit now{}", fit, needed, ByRole(requirement, figures));
    case Figures::Count::kAtLeast: return fmt::format("at least {} of the {} pods it needs fit now", fit, needed);
    case Figures::Count::kUnknown: break;
  }
  return fmt::format("it needs {} pod{}", needed, needed == 1 ? "" : "s at once");
}

// "; all must be in one domain of rack: of 4, r1 comes nearest, with room for 6 of 8"
std::string Nearest(const NearestDomain& nearest) {
  const auto of = [&](std::string_view what) {
    return fmt::format("room for {} of {}{}", nearest.room, nearest.wanted, what);
  };
  if (nearest.domains == 0) return "; " + dialects::NobodyIn(nearest.level);
  if (nearest.unlabelled > 0)
    return fmt::format("; {} must be in one domain of {}, but {} other member{} on nodes that are in none of them",
                       nearest.wanted, dialects::NamedLevel(nearest.level), nearest.unlabelled,
                       nearest.unlabelled == 1 ? " is" : "s are");
  if (nearest.even)
    return fmt::format("; there is no even split over the {} domains of {}", nearest.domains,
                       dialects::NamedLevel(nearest.level));
  if (!nearest.torn.empty())
    return fmt::format("; {} must be in one domain of {}, but other members are in {} of them: {}", nearest.wanted,
                       dialects::NamedLevel(nearest.level), nearest.torn.size(),
                       dialects::OneLine(fmt::format("{}", fmt::join(nearest.torn, ", "))));
  if (nearest.slice > 1)
    return fmt::format("; slices of {} must each be in one domain of {}: the {} domains have {}", nearest.slice,
                       dialects::NamedLevel(nearest.level), nearest.domains, of(" slices"));
  if (nearest.value.empty())
    return fmt::format("; {} must be in one domain of {}: none of {} has room for any", nearest.wanted,
                       dialects::NamedLevel(nearest.level), nearest.domains);
  return fmt::format("; {} must be in one domain of {}: of {}, {} comes nearest, with {}", nearest.wanted,
                     dialects::NamedLevel(nearest.level), nearest.domains, Named(nearest.value), of(""));
}

}  // namespace

Refusal ExplainProblem(const std::string& problem) {
  Refusal refusal;
  refusal.state = GangState::kInvalid;
  refusal.verdict = Verdict::kNever;
  refusal.reason = "Invalid";
  refusal.sentence = problem;
  refusal.wakes = Wake::kMembers;
  return refusal;
}

Refusal ExplainUndoing(const Gang& gang) {
  Refusal refusal;
  refusal.state = GangState::kWaitingForNodes;
  refusal.reason = "Undone";
  refusal.wakes = Wake::kMembers;
  refusal.sentence = fmt::format(
      "{} is being undone, for not every required member could be bound in time: those that are bound go first.",
      Name(gang));
  return refusal;
}

Refusal ExplainMembers(const Gang& gang, const Requirement& requirement, const Census& census,
                       const std::string& strangers) {
  Refusal refusal;
  refusal.state = GangState::kWaitingForMembers;
  refusal.reason = "NotEnoughMembers";
  refusal.wakes = Wake::kMembers;
  std::string lack;
  if (requirement.head_missing) lack = "its head does not exist yet";
  for (const Requirement::Role& role : requirement.roles)
    if (role.exist < role.min && lack.size() < 512)
      lack += fmt::format("{}role {} has {} of {}", lack.empty() ? "" : ", ", Named(role.name), role.exist, role.min);
  for (const Requirement::Units& units : requirement.units)
    if (units.exist < units.min && lack.size() < 512)
      lack += fmt::format("{}of the subgroups of {} {} of {} have {} member{}", lack.empty() ? "" : ", ",
                          Named(units.name), units.exist, units.min, units.size, units.size == 1 ? "" : "s");
  if (lack.empty()) lack = fmt::format("{} of {} exist", requirement.exist, requirement.min);
  std::string held = strangers;
  if (census.gated > 0) held += fmt::format("; {} held back by scheduling gates", census.gated);
  if (census.deleting > 0) held += fmt::format("; {} being deleted", census.deleting);
  refusal.sentence =
      fmt::format("{} waits for members: it needs {}, {}{}.", Name(gang), Minimum(requirement), lack, held);
  return refusal;
}

std::string Stands(const Requirement& requirement) {
  if (requirement.met()) return "is whole";
  std::string roles;
  for (const Requirement::Role& role : requirement.roles)
    if (role.have < role.min && roles.size() < 512)
      roles += fmt::format("{}{} {} of {}", roles.empty() ? "" : ", ", Named(role.name), role.have, role.min);
  return fmt::format("has {} of its {} required members{}", requirement.min - requirement.lacking(), requirement.min,
                     roles.empty() ? "" : " (" + roles + ")");
}

Refusal ExplainRefusedBind(const Gang& gang, const Requirement& requirement, const Member& member,
                           const cluster::ClusterState& state, base::Millis now_ms) {
  Refusal refusal;
  refusal.state = GangState::kWaitingForNodes;
  refusal.reason = "BindRefused";
  refusal.figures_ms = now_ms;
  refusal.wakes = Wake::kMembers;
  const std::string pod = Named(state.pod(member.pod).pod->meta.name);
  std::string who;
  if (requirement.on_top)
    who = fmt::format("{}; pod {} ", OnTop(gang, requirement), pod);
  else if (!Lone(gang, requirement))
    who = fmt::format("{} cannot start its {}; pod {} ", Name(gang), Minimum(requirement), pod);
  refusal.sentence = fmt::format("{}waits to be tried again: {}", who, dialects::OneLine(member.refused->why));
  return refusal;
}

Refusal ExplainExtender(const Gang& gang, const Requirement& requirement, const std::string& failure) {
  Refusal refusal;
  refusal.state = GangState::kWaitingForNodes;
  refusal.reason = "ExtenderFailed";
  std::string who;
  if (requirement.on_top)
    who = OnTop(gang, requirement) + ": ";
  else if (!Lone(gang, requirement))
    who = fmt::format("{} cannot start its {}: ", Name(gang), Minimum(requirement));
  refusal.sentence = fmt::format("{}{}; it is asked again soon.", who, dialects::OneLine(failure));
  return refusal;
}

Refusal ExplainPart(const Gang& gang, const Member& member, int64_t size, int64_t lacks) {
  Refusal refusal;
  refusal.state = GangState::kWaitingForMembers;
  refusal.reason = "NotEnoughMembers";
  refusal.wakes = Wake::kMembers;
  const model::UnitSpec* units = UnitsOf(gang, member);
  refusal.sentence =
      fmt::format("{} waits for {} more member{} of {}{}: {} start together.", Name(gang), lacks, lacks == 1 ? "" : "s",
                  units ? "a subgroup of " : "role ", Named(units ? units->name : member.role), size);
  return refusal;
}

Refusal ExplainNoHead(const Gang& gang, const Member* head, const cluster::ClusterState& state) {
  Refusal refusal;
  refusal.state = GangState::kWaitingForMembers;
  refusal.reason = "NoHead";
  refusal.wakes = Wake::kMembers | Wake::kNodeAdded;  // its node may come back
  std::string until = "it exists";
  if (head) {
    const model::Pod& pod = *state.pod(head->pod).pod;
    until = fmt::format("pod {} {}", Named(pod.meta.name),
                        pod.bound() ? "is at work again, or another head is" : "has a place");
  }
  refusal.sentence = fmt::format("{} has no head at work: its other members wait until {}.", Name(gang), until);
  return refusal;
}

Refusal ExplainBelowMinimum(const Gang& gang, const Requirement& requirement) {
  Refusal refusal;
  refusal.state = GangState::kWaitingForMembers;
  refusal.reason = "BelowMinimum";
  refusal.wakes = Wake::kMembers;
  refusal.sentence =
      fmt::format("{} is below its minimum of {}: what lacks of that comes first.", Name(gang), Minimum(requirement));
  return refusal;
}

Refusal ExplainQueue(const Gang& gang, const Requirement& requirement, const queue::Admission& admission,
                     bool min_resources) {
  Refusal refusal;
  refusal.state = GangState::kWaitingForQueue;
  refusal.reason = admission.problem.empty() ? "QueueFull" : "QueueUnusable";
  refusal.wakes = Wake::kQueue | Wake::kMembers;
  const int64_t lacking = std::max<int64_t>(requirement.lacking(), 1);
  const std::string who = requirement.on_top
                              ? OnTop(gang, requirement)
                              : fmt::format("{} cannot start {} of its {}", Name(gang), lacking, Minimum(requirement));
  refusal.sentence = fmt::format("{}: {}{}.", who, admission.Sentence(), min_resources ? ", by its minResources" : "");
  return refusal;
}

Refusal ExplainNodes(const Gang& gang, const Requirement& requirement, const PlanResult& result) {
  Refusal refusal;
  refusal.state = GangState::kWaitingForNodes;
  refusal.verdict = result.verdict;
  refusal.reason = result.verdict == Verdict::kGaveUp ? "SearchGaveUp" : "NoPlacement";
  refusal.wakes = result.wakes | Wake::kMembers;
  refusal.nodes_sentence = result.refusals.Sentence();
  refusal.plugins = result.refusals.plugins;
  if (Lone(gang, requirement)) return refusal;
  const Figures& figures = *result.figures;
  refusal.figures = result.figures;
  std::string text = requirement.on_top ? OnTop(gang, requirement)
                                        : fmt::format("{} waits: {}", Name(gang), Fit(requirement, figures));
  const bool exact = figures.count == Figures::Count::kExact;
  if (requirement.on_top && figures.needed > 1 && exact)
    text += fmt::format(": {} of {} that start together fit now", figures.fit, figures.needed);
  if (result.nearest) text += Nearest(*result.nearest);
  if (figures.cut_short) text += "; the search was cut short";
  const int64_t times = requirement.on_top ? requirement.min / std::max<int64_t>(figures.needed, 1) : 1;
  refusal.sentence = text + "." + SayMissing(figures, times);
  return refusal;
}

Refusal ExplainNodes(const Gang& gang, const Requirement& requirement, std::shared_ptr<Certificate> certificate) {
  Refusal refusal = ExplainNodes(gang, requirement, certificate->result);
  refusal.figures_ms = certificate->made_ms;
  refusal.figures_id = certificate->figures_id;
  refusal.certificate = std::move(certificate);
  return refusal;
}

bool WasCutOff(const Refusal& refusal) {
  return refusal.certificate && CertificateOf(*refusal.certificate).result.verdict == Verdict::kGaveUp;
}

bool HasFigures(GangState state) {
  return state == GangState::kWaitingForNodes || state == GangState::kWaitingForQueue;
}

bool KeepFigures(const Refusal& before, base::Millis for_ms, Refusal* now) {
  if (!HasFigures(now->state) || before.reason != now->reason || now->figures_ms >= before.figures_ms + for_ms ||
      !SaysTheSame(before.sentence, now->sentence) || !SaysTheSame(before.nodes_sentence, now->nodes_sentence))
    return false;
  if (!before.figures != !now->figures || (now->figures && !SaysTheSame(*before.figures, *now->figures))) return false;
  const bool differ = before.sentence != now->sentence || before.nodes_sentence != now->nodes_sentence;
  now->sentence = before.sentence;
  now->nodes_sentence = before.nodes_sentence;
  now->figures = before.figures;
  now->figures_ms = before.figures_ms;
  now->figures_id = before.figures_id;
  return differ;
}

Refusal ExplainMinResources(const Gang& gang, const std::string& resource, int64_t asked, int64_t free) {
  Refusal refusal;
  refusal.state = GangState::kWaitingForNodes;
  refusal.reason = "NoPlacement";
  refusal.wakes = Wake::kMembers | Wake::kPodGone | Wake::kNodeAdded | Wake::kNodeCapacity;
  refusal.sentence =
      fmt::format("{} asks for minResources {} {}, and all nodes together have {} free (short by {}).", Name(gang),
                  resource, model::FormatAmount(resource, asked), model::FormatAmount(resource, free),
                  model::FormatAmount(resource, model::SaturatingSub(asked, free)));
  return refusal;
}

std::string FullMessage(const Refusal& refusal) {
  if (refusal.sentence.empty()) return refusal.nodes_sentence;
  return refusal.nodes_sentence.empty() ? refusal.sentence : refusal.sentence + " " + refusal.nodes_sentence;
}

std::string MemberMessage(const Refusal& refusal, model::ClassId pod_class, const std::string& role) {
  if (!refusal.figures || refusal.figures->lines.empty()) return FullMessage(refusal);
  const Figures& figures = *refusal.figures;
  const Figures::Line* line = figures.Find(pod_class, role);
  if (line && line->fits && !figures.waits_for.empty())
    return fmt::format("{} This pod fits; it waits for {}.", refusal.sentence, figures.waits_for);
  if (line && line->fits)
    return fmt::format("{} This pod fits; it waits for other pods of its gang: {}", refusal.sentence,
                       refusal.nodes_sentence);
  if (line && !line->nodes_sentence.empty()) return refusal.sentence + " " + line->nodes_sentence;
  if (refusal.nodes_sentence.empty()) return refusal.sentence;
  return fmt::format("{} For another pod of its gang: {}", refusal.sentence, refusal.nodes_sentence);
}

}  // namespace tutti::core
