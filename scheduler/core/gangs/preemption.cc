// SPDX-License-Identifier: Apache-2.0
#include "core/gangs/preemption.h"

#include "base/json.h"
#include "base/json_string.h"
#include "cluster/json_text.h"

namespace tutti::core {

namespace {

constexpr std::pair<const char*, EvictionCause> kLists[] = {{"preempt", EvictionCause::kPreempt},
                                                            {"reclaim", EvictionCause::kReclaim}};

}  // namespace

std::string WriteRecord(const Preemption& preemption, const std::string& uid) {
  base::Json record = {{"plan", preemption.plan}, {"uid", uid}};
  for (const Victim& victim : preemption.victims)
    for (const auto& [name, cause] : kLists)
      if (victim.cause == cause) record[name].push_back(victim.uid);
  return base::PrintJson(record);
}

std::optional<PreemptionRecord> ReadRecord(const model::Pod& pod) {
  if (!pod.preempting) return std::nullopt;
  const base::Json json = cluster::ParseJson(*pod.preempting);
  if (!json.is_object()) return std::nullopt;
  const auto text = [&json](const char* name) {
    const auto at = json.find(name);
    return at != json.end() && at->is_string() ? at->get<std::string>() : std::string();
  };
  if (text("uid") != pod.meta.uid || text("plan").empty()) return std::nullopt;
  PreemptionRecord record{text("plan"), {}};
  for (const auto& [name, cause] : kLists)
    if (const auto list = json.find(name); list != json.end() && list->is_array())
      for (const base::Json& uid : *list)
        if (uid.is_string()) record.victims.emplace_back(uid.get<std::string>(), cause);
  return record;
}

}  // namespace tutti::core
