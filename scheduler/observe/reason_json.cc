// SPDX-License-Identifier: Apache-2.0
#include "observe/reason_json.h"

#include <string>
#include <utility>

#include "base/json.h"
#include "observe/wording.h"

namespace tutti::observe {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const Minimum& minimum) {
  Json out = {{"members", minimum.members}, {"have", minimum.have}, {"exist", minimum.exist}};
  for (const Minimum::Role& role : minimum.roles)
    out["roles"][role.name] = {{"min", role.min}, {"have", role.have}, {"exist", role.exist}};
  for (const Minimum::Units& units : minimum.units)
    out["units"][units.name] = {{"min", units.min}, {"size", units.size}, {"exist", units.exist}};
  return out;
}

Json ToJson(const Standing& standing) {
  Json out = {{"whole", standing.whole}};
  if (standing.whole) return out;
  out["have"] = standing.have;
  out["members"] = standing.members;
  for (const Minimum::Role& role : standing.roles) out["roles"][role.name] = {{"min", role.min}, {"have", role.have}};
  return out;
}

Json ToJson(const NearestDomain& nearest) {
  Json out = {{"level", nearest.level}, {"domains", nearest.domains}, {"wanted", nearest.wanted}};
  if (!nearest.value.empty()) out["domain"] = nearest.value, out["room"] = nearest.room;
  if (nearest.slice > 1) out["slice"] = nearest.slice;
  if (nearest.even) out["even"] = true;
  if (!nearest.torn.empty()) out["torn"] = nearest.torn;
  if (nearest.unlabelled > 0) out["unlabelled"] = nearest.unlabelled;
  return out;
}

void AddFigures(const Minimum& minimum, const Figures& figures, int64_t times, Json* out) {
  constexpr const char* kCounts[] = {"exact", "at-least", "unknown"};
  (*out)["needed"] = minimum.have + figures.needed;
  if (figures.count != Figures::Count::kUnknown) (*out)["fit"] = minimum.have + figures.fit;
  (*out)["count"] = kCounts[static_cast<int>(figures.count)];
  if (figures.cut_short) (*out)["cutShort"] = true;
  for (const auto& [name, role] : figures.roles) (*out)["roles"][name] = {{"members", role.members}, {"fit", role.fit}};
  for (const Figures::Short& it : figures.shorts) {
    (*out)["missing"][it.resource] = it.MissingBy(times);
    (*out)["cluster"][it.resource] = it.cluster;
    (*out)["largestNode"][it.resource] = it.largest_node;
  }
  if (figures.more_lack) (*out)["moreMissing"] = true;
}

struct Kind {
  const Reason& reason;
  Json& out;

  void operator()(const Problem& it) const { out["kind"] = "problem", out["problem"] = it.text; }
  void operator()(const LacksMembers& it) const {
    out["kind"] = "members";
    if (it.head_missing) out["headMissing"] = true;
    if (it.gated > 0) out["gated"] = it.gated;
    if (it.deleting > 0) out["deleting"] = it.deleting;
    for (const auto& [scheduler, pods] : it.strangers) out["otherSchedulers"][scheduler] = pods;
  }
  void operator()(const LacksPart& it) const {
    out["kind"] = "part";
    out[it.unit ? "unit" : "role"] = it.of;
    out["size"] = it.size;
    out["lacks"] = it.lacks;
  }
  void operator()(const NoHead& it) const {
    out["kind"] = "no-head";
    if (!it.pod.empty()) out["pod"] = it.pod;
  }
  void operator()(const BelowMinimum&) const { out["kind"] = "below-minimum"; }
  void operator()(const GivesWay&) const { out["kind"] = "gives-way"; }
  void operator()(const QueueRefuses& it) const {
    out["kind"] = "queue";
    if (!it.problem.empty()) out["problem"] = it.problem;
    if (it.by_min_resources) out["byMinResources"] = true;
    if (it.limit != QueueRefuses::Limit::kCapability) out["limitedBy"] = Word(it.limit);
    for (const QueueRefuses::Cell& cell : it.cells) {
      if (!out.contains("queue")) out["queue"] = cell.queue;
      if (out["queue"] == cell.queue) out["short"][cell.resource] = cell.over();
      out["cells"].push_back({{"queue", cell.queue},
                              {"resource", cell.resource},
                              {"limit", cell.limit},
                              {"used", cell.used},
                              {"asked", cell.asked}});
    }
  }
  void operator()(const AwaitsQuota& it) const {
    using Stage = AwaitsQuota::Stage;
    out["kind"] = it.stage == Stage::kLine ? "quota" : it.stage == Stage::kChecks ? "checks" : "leaves";
    out["queue"] = it.queue;
    if (!it.why.empty()) out["why"] = it.why;
  }
  void operator()(const LacksNodes& it) const {
    out["kind"] = "nodes";
    if (it.gave_up) out["gaveUp"] = true;
    if (it.figures) AddFigures(reason.minimum, *it.figures, TimesSearched(reason, *it.figures), &out);
    if (it.nearest) out["nearest"] = ToJson(*it.nearest);
    out["nodes"] = it.refusals.nodes;
    for (const auto& [why, nodes] : it.refusals.reasons) out["refused"][why] = nodes;
    if (!it.refusals.of_class.empty()) out["never"] = it.refusals.of_class;
    if (it.preemption) out["preemption"] = Say(*it.preemption);
  }
  void operator()(const LacksMinResources& it) const {
    out["kind"] = "min-resources";
    out["resource"] = it.resource;
    out["asked"] = it.asked;
    out["free"] = it.free;
  }
  void operator()(const BindRefused& it) const {
    out["kind"] = "bind-refused";
    out["pod"] = it.pod;
    out["why"] = it.why;
  }
  void operator()(const ExtenderFailed& it) const { out["kind"] = "extender-failed", out["why"] = it.failure; }
  void operator()(const PreparingVolumes& it) const { out["kind"] = "volumes", out["open"] = it.open; }
  void operator()(const AwaitsVictims& it) const {
    out["kind"] = "victims";
    out["pods"] = it.pods;
    out["nodes"] = it.nodes;
  }
  void operator()(const AwaitsPods&) const { out["kind"] = "pods"; }
  void operator()(const BeingUndone&) const { out["kind"] = "undoing"; }
};

}  // namespace

Json ToJson(const Reason& reason) {
  Json out = Json::object();
  std::visit(Kind{reason, out}, reason.cause);
  if (reason.minimum.members > 0) out["minimum"] = ToJson(reason.minimum);
  if (reason.standing) out["standing"] = ToJson(*reason.standing);
  return out;
}

}  // namespace tutti::observe
