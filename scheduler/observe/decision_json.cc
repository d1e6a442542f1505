// SPDX-License-Identifier: Apache-2.0
#include "observe/decision_json.h"

#include "base/json.h"
#include "observe/reason_json.h"

namespace tutti::observe {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const MemberDecision& member) {
  Json out = {{"namespace", member.ns}, {"name", member.name},   {"uid", member.uid},          {"role", member.role},
              {"node", member.node},    {"bound", member.bound}, {"finished", member.finished}};
  if (member.promised) out["promised"] = true;
  if (!member.reason.empty()) out["reason"] = member.reason;
  if (!member.message.empty()) out["message"] = member.message;
  return out;
}

}  // namespace

Json ToJson(const Decision& decision) {
  Json members = Json::array();
  for (const MemberDecision& member : decision.members) members.push_back(ToJson(member));
  Json out = {{"dialect", decision.gang.dialect}, {"namespace", decision.gang.ns},
              {"name", decision.gang.name},       {"schedulerName", decision.scheduler_name},
              {"queue", decision.queue},          {"priority", decision.priority},
              {"minMember", decision.min_member}, {"state", Word(decision.state)},
              {"reason", decision.reason},        {"message", decision.message}};
  if (decision.why) out["why"] = ToJson(*decision.why);
  out["since"] = base::FormatTime(decision.since_ms);
  out["plan"] = decision.plan;
  out["members"] = std::move(members);
  return out;
}

Json ToJson(const DecisionChanges& changes) {
  Json decisions = Json::array(), gone = Json::array();
  for (const Decision& decision : changes.decisions) decisions.push_back(ToJson(decision));
  for (const model::GangKey& key : changes.gone)
    gone.push_back({{"dialect", key.dialect}, {"namespace", key.ns}, {"name", key.name}});
  return {{"sequence", changes.sequence}, {"decisions", std::move(decisions)}, {"gone", std::move(gone)}};
}

}  // namespace tutti::observe
