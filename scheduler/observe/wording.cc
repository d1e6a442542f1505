// SPDX-License-Identifier: Apache-2.0
#include "observe/wording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "model/quantity.h"
#include "model/resource_list.h"
#include "observe/naming.h"

namespace tutti::observe {
namespace {

constexpr size_t kLongList = 512;  // bytes; the most for a list in a sentence

std::string NameOf(const Reason& reason) {
  return reason.gang.empty() ? "it" : fmt::format("gang {}/{}", Named(reason.ns), Named(reason.gang));
}

// "a, b", and "…" for what would make it too long.
std::string SayList(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (text.size() >= kLongList) return text + ", …";
    text += (text.empty() ? "" : ", ") + OneLine(name);
  }
  return text;
}

std::string_view S(int64_t count) { return count == 1 ? "" : "s"; }

// Lists the parts of a whole: " (head 1, others 8)". Empty if that would add nothing.
std::string InParts(const std::vector<std::string>& parts) {
  constexpr size_t kMostParts = 16;
  return parts.empty() || parts.size() > kMostParts ? "" : fmt::format(" ({})", fmt::join(parts, ", "));
}

// "9 members (head 1, others 8)"
std::string SayMinimum(const Minimum& minimum) {
  std::vector<std::string> parts;
  for (const Minimum::Units& units : minimum.units)
    parts.push_back(fmt::format("{} subgroup{} of {} of {}", units.min, S(units.min), units.size, Named(units.name)));
  int64_t others = minimum.members;
  for (const Minimum::Role& role : minimum.roles) {
    parts.push_back(fmt::format("{} {}", Named(role.name), role.min));
    others -= role.min;
  }
  if (!minimum.roles.empty() && minimum.units.empty() && others > 0) parts.push_back(fmt::format("others {}", others));
  return fmt::format("{} member{}{}", minimum.members, S(minimum.members), InParts(parts));
}

// "is whole", or "has 1 of its 2 required members (headgroup 0 of 1)"
std::string SayStanding(const Standing& standing) {
  if (standing.whole) return "is whole";
  std::string roles;
  for (const Minimum::Role& role : standing.roles)
    if (roles.size() < kLongList)
      roles += fmt::format("{}{} {} of {}", roles.empty() ? "" : ", ", Named(role.name), role.have, role.min);
  return fmt::format("has {} of its {} required members{}", standing.have, standing.members,
                     roles.empty() ? "" : " (" + roles + ")");
}

// "gang ns/g is whole; 2 more pods wait"
std::string SayOnTop(const Reason& reason) {
  const int64_t members = reason.minimum.members;
  return fmt::format("{} {}; {} more pod{}", NameOf(reason), SayStanding(*reason.standing), members,
                     members == 1 ? " waits" : "s wait");
}

// Says which members cannot start, followed by `link`; empty for a lone pod.
std::string WhatWaits(const Reason& reason, std::string_view link) {
  if (reason.standing) return fmt::format("{}{}", SayOnTop(reason), link);
  if (reason.lone) return {};
  return fmt::format("{} cannot start its {}{}", NameOf(reason), SayMinimum(reason.minimum), link);
}

// Says how many members of each role fit: " (gpu 8/9, head 1/1)". It lists all roles if every member is needed; else
// the roles with a minimum, and the others together.
std::string SayByRole(const Minimum& minimum, const Figures& figures) {
  std::vector<std::string> parts;
  const auto add = [&parts](std::string_view name, int64_t fit, int64_t of) {
    parts.push_back(fmt::format("{} {}/{}", name, fit, of));
  };
  if (figures.all && minimum.have == 0) {
    for (const auto& [name, role] : figures.roles) add(name.empty() ? "others" : Named(name), role.fit, role.members);
  } else if (minimum.units.empty() && !minimum.roles.empty()) {
    int64_t others = minimum.members, fit = minimum.have + figures.fit;
    for (const Minimum::Role& role : minimum.roles) {
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
std::string SayFit(const Minimum& minimum, const Figures& figures) {
  const int64_t needed = minimum.have + figures.needed, fit = minimum.have + figures.fit;
  switch (figures.count) {
    case Figures::Count::kExact:
      if (needed == 1) return "the pod that it needs does not fit now";
      return fmt::format("{} of the {} pods it needs fit now{}", fit, needed, SayByRole(minimum, figures));
    case Figures::Count::kAtLeast: return fmt::format("at least {} of the {} pods it needs fit now", fit, needed);
    case Figures::Count::kUnknown: break;
  }
  return fmt::format("it needs {} pod{}", needed, needed == 1 ? "" : "s at once");
}

// "; all must be in one domain of rack: of 4, r1 comes nearest, with room for 6 of 8"
std::string SayNearest(const NearestDomain& nearest) {
  const auto of = [&](std::string_view what) {
    return fmt::format("room for {} of {}{}", nearest.room, nearest.wanted, what);
  };
  const std::string& level = nearest.level_name;
  if (nearest.domains == 0) return "; " + nearest.none;
  if (nearest.unlabelled > 0)
    return fmt::format("; {} must be in one domain of {}, but {} other member{} on nodes that are in none of them",
                       nearest.wanted, level, nearest.unlabelled, nearest.unlabelled == 1 ? " is" : "s are");
  if (nearest.even) return fmt::format("; there is no even split over the {} domains of {}", nearest.domains, level);
  if (!nearest.torn.empty())
    return fmt::format("; {} must be in one domain of {}, but other members are in {} of them: {}", nearest.wanted,
                       level, nearest.torn.size(), OneLine(fmt::format("{}", fmt::join(nearest.torn, ", "))));
  if (nearest.slice > 1)
    return fmt::format("; slices of {} must each be in one domain of {}: the {} domains have {}", nearest.slice, level,
                       nearest.domains, of(" slices"));
  if (nearest.value.empty())
    return fmt::format("; {} must be in one domain of {}: none of {} has room for any", nearest.wanted, level,
                       nearest.domains);
  return fmt::format("; {} must be in one domain of {}: of {}, {} comes nearest, with {}", nearest.wanted, level,
                     nearest.domains, Named(nearest.value), of(""));
}

// " Missing: 1 nvidia.com/gpu. The cluster has 8 nvidia.com/gpu in all, …", or empty.
std::string SayMissing(const Figures& figures, int64_t times) {
  std::string missing, never;
  const auto amount = [](const Figures::Short& it, int64_t of) {
    return fmt::format("{} {}", model::FormatAmount(it.resource, of), it.resource);
  };
  for (const Figures::Short& it : figures.shorts) {
    missing += (missing.empty() ? "" : ", ") + amount(it, it.MissingBy(times));
    if (it.largest_node == 0)
      never += fmt::format(" No node has {}.", it.resource == "pods" ? "room for a pod" : it.resource);
    else if (it.NeedsLargerNode())
      never += fmt::format(" No node has more than {}, and one pod asks for {}: it needs a larger node.",
                           amount(it, it.largest_node), model::FormatAmount(it.resource, it.one));
    else if (figures.NeedsMoreNodes(it, times) && it.resource == "pods")
      never += fmt::format(" The cluster takes {} in all, and {} wait: they need more nodes.", amount(it, it.cluster),
                           it.AskedBy(times));
    else if (figures.NeedsMoreNodes(it, times))
      never += fmt::format(" The cluster has {} in all, and the pods that wait ask for {}: they need more nodes.",
                           amount(it, it.cluster), model::FormatAmount(it.resource, it.AskedBy(times)));
  }
  if (missing.empty()) return {};
  return fmt::format(" Missing: {}{}.{}", figures.more_lack ? "at least " : "", missing, never);
}

// "its head does not exist yet, role gpu has 7 of 8", or "3 of 4 exist": which members do not exist.
std::string SayAbsent(const Minimum& minimum, bool head_missing) {
  std::string lack;
  const auto lacks = [&lack](const auto& part) { return part.exist < part.min && lack.size() < kLongList; };
  const auto and_then = [&lack] { return lack.empty() ? "" : ", "; };
  if (head_missing) lack = "its head does not exist yet";
  for (const Minimum::Role& role : minimum.roles)
    if (lacks(role)) lack += fmt::format("{}role {} has {} of {}", and_then(), Named(role.name), role.exist, role.min);
  for (const Minimum::Units& units : minimum.units)
    if (lacks(units))
      lack += fmt::format("{}of the subgroups of {} {} of {} have {} member{}", and_then(), Named(units.name),
                          units.exist, units.min, units.size, S(units.size));
  return lack.empty() ? fmt::format("{} of {} exist", minimum.exist, minimum.members) : lack;
}

// `queue "q" is full: cpu capability 4, used 3, asked 3 (short by 2); memory …`
std::string SayCells(const QueueRefuses& refuses) {
  using Limit = QueueRefuses::Limit;
  const std::string_view limit = refuses.limit == Limit::kRealCapability ? "real capability" : Word(refuses.limit);
  std::string text;
  const std::string* last_queue = nullptr;
  for (const QueueRefuses::Cell& cell : refuses.cells) {
    if (last_queue && *last_queue == cell.queue)
      text += "; ";
    else
      text += fmt::format("{}queue \"{}\" is full: ", text.empty() ? "" : "; ", cell.queue);
    last_queue = &cell.queue;
    const auto amount = [&](int64_t n) { return model::FormatAmount(cell.resource, n); };
    text += fmt::format(
        "{} {} {}, used {}, asked {} (short by {}{})", cell.resource, limit, amount(cell.limit), amount(cell.used),
        amount(cell.asked), amount(cell.over()),
        cell.asked > cell.limit && refuses.limit != Limit::kDeserved ? ", and more than it ever holds" : "");
  }
  return text;
}

struct SentenceOf {
  const Reason& reason;

  std::string operator()(const Problem& problem) const { return problem.text; }

  std::string operator()(const LacksMembers& it) const {
    std::string lack = SayAbsent(reason.minimum, it.head_missing);
    for (const auto& [scheduler, pods] : it.strangers)
      lack += fmt::format("; {} more name{} {}", pods, pods == 1 ? "s" : "", Named(scheduler));
    if (it.gated > 0) lack += fmt::format("; {} held back by scheduling gates", it.gated);
    if (it.deleting > 0) lack += fmt::format("; {} being deleted", it.deleting);
    return fmt::format("{} waits for members: it needs {}, {}.", NameOf(reason), SayMinimum(reason.minimum), lack);
  }

  std::string operator()(const LacksPart& it) const {
    return fmt::format("{} waits for {} more member{} of {}{}: {} start together.", NameOf(reason), it.lacks,
                       S(it.lacks), it.unit ? "a subgroup of " : "role ", Named(it.of), it.size);
  }

  std::string operator()(const NoHead& it) const {
    const std::string until =
        it.until == NoHead::Until::kExists
            ? "it exists"
            : fmt::format("pod {} {}", Named(it.pod),
                          it.until == NoHead::Until::kAtWork ? "is at work again, or another head is" : "has a place");
    return fmt::format("{} has no head at work: its other members wait until {}.", NameOf(reason), until);
  }

  std::string operator()(const BelowMinimum&) const {
    return fmt::format("{} is below its minimum of {}: what lacks of that comes first.", NameOf(reason),
                       SayMinimum(reason.minimum));
  }

  std::string operator()(const GivesWay&) const {
    return fmt::format("{} until those of its pods have left that are being evicted.", SayOnTop(reason));
  }

  std::string operator()(const QueueRefuses& it) const {
    const std::string who = reason.standing ? SayOnTop(reason)
                                            : fmt::format("{} cannot start {} of its {}", NameOf(reason), it.starting,
                                                          SayMinimum(reason.minimum));
    return fmt::format("{}: {}{}.", who, it.problem.empty() ? SayCells(it) : it.problem,
                       it.by_min_resources ? ", by its minResources" : "");
  }

  std::string operator()(const AwaitsQuota& it) const {
    const std::string name = NameOf(reason), queue = Named(it.queue), why = OneLine(it.why);
    switch (it.stage) {
      case AwaitsQuota::Stage::kLine:
        return fmt::format("{} for quota of queue {}{}{}.", reason.standing ? SayOnTop(reason) : name + " waits", queue,
                           why.empty() ? "" : ": ", why);
      case AwaitsQuota::Stage::kChecks:
        return fmt::format("{} has quota of queue {}, and waits for its checks.", name, queue);
      case AwaitsQuota::Stage::kLeaves:
        return fmt::format("{} gives its quota of queue {} back once its pods are gone: {}.", name, queue, why);
    }
    return {};
  }

  std::string operator()(const LacksNodes& it) const {
    if (!it.figures && it.nearest && it.nearest->domains == 0)
      return fmt::format("It must be in one domain of {}, but {}.", it.nearest->level_name, it.nearest->none);
    if (!it.figures) return {};
    const Figures& figures = *it.figures;
    std::string text = reason.standing ? SayOnTop(reason) : SayFit(reason.minimum, figures);
    if (!reason.standing && !reason.gang.empty()) text = fmt::format("{} waits: {}", NameOf(reason), text);
    if (reason.standing && figures.needed > 1 && figures.count == Figures::Count::kExact)
      text += fmt::format(": {} of {} that start together fit now", figures.fit, figures.needed);
    if (it.nearest) text += SayNearest(*it.nearest);
    if (figures.cut_short) text += "; the search was cut short";
    return text + "." + SayMissing(figures, TimesSearched(reason, figures));
  }

  std::string operator()(const LacksMinResources& it) const {
    const std::string name = NameOf(reason), asked = model::FormatAmount(it.resource, it.asked),
                      free = fmt::format("{} free (short by {})", model::FormatAmount(it.resource, it.free),
                                         model::FormatAmount(it.resource, model::SaturatingSub(it.asked, it.free)));
    if (it.of_pods)
      return fmt::format("{} asks for {} {} in all, and all nodes together have {}.", name, it.resource, asked, free);
    return fmt::format("{} asks for minResources {} {}, and all nodes together have {}.", name, it.resource, asked,
                       free);
  }

  std::string operator()(const BindRefused& it) const {
    const std::string who = WhatWaits(reason, fmt::format("; pod {} ", Named(it.pod)));
    return fmt::format("{}waits to be tried again: {}", who, OneLine(it.why));
  }

  std::string operator()(const ExtenderFailed& it) const {
    return fmt::format("{}{}; it is asked again soon.", WhatWaits(reason, ": "), OneLine(it.failure));
  }

  std::string operator()(const PreparingVolumes& it) const {
    return fmt::format("{} of its volumes {} still to be bound", it.open, it.open == 1 ? "is" : "are");
  }

  std::string operator()(const AwaitsVictims& it) const {
    const int64_t pods = std::ssize(it.pods);
    const std::string who = reason.lone ? "" : fmt::format("{} has places for its members, and ", NameOf(reason));
    return fmt::format("{}waits for {} pod{} to leave node{} {}: {}.", who, pods, S(pods), S(std::ssize(it.nodes)),
                       SayList(it.nodes), SayList(it.pods));
  }

  std::string operator()(const AwaitsPods&) const {
    return fmt::format("{} has places for its {}, and waits for pods that are still to be created: {}.", NameOf(reason),
                       SayMinimum(reason.minimum), SayAbsent(reason.minimum, false));
  }

  std::string operator()(const BeingUndone&) const {
    return fmt::format(
        "{} is being undone, for not every required member could be bound in time: those that are bound go first.",
        NameOf(reason));
  }
};

struct WordOf {
  std::string_view operator()(const Problem&) const { return "Invalid"; }
  std::string_view operator()(const LacksMembers&) const { return "NotEnoughMembers"; }
  std::string_view operator()(const LacksPart&) const { return "NotEnoughMembers"; }
  std::string_view operator()(const NoHead&) const { return "NoHead"; }
  std::string_view operator()(const BelowMinimum&) const { return "BelowMinimum"; }
  std::string_view operator()(const GivesWay&) const { return "GivesWay"; }
  std::string_view operator()(const QueueRefuses& it) const {
    return it.problem.empty() ? "QueueFull" : "QueueUnusable";
  }
  std::string_view operator()(const AwaitsQuota& it) const {
    switch (it.stage) {
      case AwaitsQuota::Stage::kLine: return "AwaitsQuota";
      case AwaitsQuota::Stage::kChecks: return "AwaitsChecks";
      case AwaitsQuota::Stage::kLeaves: return "Leaves";
    }
    return {};
  }
  std::string_view operator()(const LacksNodes& it) const { return it.gave_up ? "SearchGaveUp" : "NoPlacement"; }
  std::string_view operator()(const LacksMinResources&) const { return "NoPlacement"; }
  std::string_view operator()(const BindRefused&) const { return "BindRefused"; }
  std::string_view operator()(const ExtenderFailed&) const { return "ExtenderFailed"; }
  std::string_view operator()(const PreparingVolumes&) const { return "BindingVolumes"; }
  std::string_view operator()(const AwaitsVictims&) const { return "WaitingForVictims"; }
  std::string_view operator()(const AwaitsPods&) const { return "AwaitsPods"; }
  std::string_view operator()(const BeingUndone&) const { return "Undone"; }
};

// "roles gpu, head"
std::string SayRoles(const std::vector<std::string>& roles) {
  std::string text;
  for (const std::string& role : roles)
    text += fmt::format("{}{}", !text.empty() ? ", " : roles.size() == 1 ? "role " : "roles ", Named(role));
  return text;
}

}  // namespace

std::string_view Word(QueueRefuses::Limit limit) {
  switch (limit) {
    case QueueRefuses::Limit::kCapability: return "capability";
    case QueueRefuses::Limit::kRealCapability: return "realCapability";
    case QueueRefuses::Limit::kDeserved: return "deserved";
  }
  return {};
}

std::string_view Word(const Reason& reason) { return std::visit(WordOf{}, reason.cause); }

std::string Words::Full() const {
  if (sentence.empty()) return nodes_sentence;
  return nodes_sentence.empty() ? sentence : sentence + " " + nodes_sentence;
}

Words Say(const Reason& reason) {
  Words words{std::visit(SentenceOf{reason}, reason.cause), {}};
  if (!reason.remark.empty() && !words.sentence.empty()) words.sentence += " " + reason.remark;
  if (const auto* nodes = std::get_if<LacksNodes>(&reason.cause)) {
    words.nodes_sentence = nodes->refusals.Sentence();
    if (nodes->preemption) words.nodes_sentence += " " + Say(*nodes->preemption);
  }
  return words;
}

std::string Say(const PreemptionRefused& preemption) {
  return "preemption: " + (preemption.not_eligible.empty() ? preemption.refusals.Sentence() : preemption.not_eligible);
}

std::string SayTo(Listener member, const Reason& reason, const Words& words) {
  const NodesNews news = NewsFor(member, reason);
  switch (news.kind) {
    case NodesNews::Kind::kOfGang: break;
    case NodesNews::Kind::kFits:
      if (news.waits_for)
        return fmt::format("{} This pod fits; it waits for {}.", words.sentence, SayRoles(*news.waits_for));
      return fmt::format("{} This pod fits; it waits for other pods of its gang: {}", words.sentence,
                         words.nodes_sentence);
    case NodesNews::Kind::kOfMember: return words.sentence + " " + news.refusals->Sentence();
    case NodesNews::Kind::kOfAnother:
      return fmt::format("{} For another pod of its gang: {}", words.sentence, words.nodes_sentence);
  }
  return words.Full();
}

}  // namespace tutti::observe
