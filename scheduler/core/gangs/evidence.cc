// SPDX-License-Identifier: Apache-2.0
#include "core/gangs/evidence.h"

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/json_string.h"
#include "base/planted.h"
#include "cluster/json_text.h"

namespace tutti::core {
namespace {

// Whether they differ in nothing but what our binds wrote.
bool SameButForEvidence(const model::StringMap& a, const model::StringMap& b) {
  const auto next = [](auto at, const model::StringMap& map) {
    return at != map.end() && at->first == kBindAnnotation ? std::next(at) : at;
  };
  for (auto i = next(a.begin(), a), j = next(b.begin(), b);; i = next(std::next(i), a), j = next(std::next(j), b)) {
    if (i == a.end() || j == b.end()) return i == a.end() && j == b.end();
    if (*i != *j) return false;
  }
}

}  // namespace

std::string WriteEvidence(const std::string& plan, const std::string& uid, const std::string& node,
                          const std::string& commit_uid, int64_t restarts) {
  std::string text;
  text.reserve(48 + commit_uid.size() + node.size() + plan.size() + uid.size());
  const auto field = [&text](std::string_view before, const std::string& value) {
    text += before;
    base::AppendQuoted(value, &text);
  };
  field(R"({"commit":)", commit_uid);
  field(R"(,"node":)", node);
  field(R"(,"plan":)", plan);
  if (restarts > 0) text += fmt::format(R"(,"restarts":{})", restarts);
  field(R"(,"uid":)", uid);
  return text += '}';
}

std::optional<Evidence> ReadEvidence(const model::Pod& pod) {
  const std::string* text = model::Find(pod.meta.annotations, kBindAnnotation);
  if (!text || text->size() > 4096) return std::nullopt;
  const auto json = cluster::ParseJson(*text);
  const auto field = [&json](const char* name) -> std::string {
    if (!json.is_object()) return {};
    const auto at = json.find(name);
    return at != json.end() && at->is_string() ? at->get<std::string>() : std::string();
  };
  Evidence evidence{field("plan"), field("commit"), 0};
  if (base::Planted(base::Bug::kBelieveForgery) && !field("commit").empty()) return evidence;
  if (field("uid") != pod.meta.uid || field("node") != pod.node_name || field("commit").empty()) return std::nullopt;
  if (const auto at = json.find("restarts"); at != json.end() && at->is_number_integer())
    evidence.restarts = std::clamp<int64_t>(at->get<int64_t>(), 0, kMostRestarts);
  return evidence;
}

bool SameMetadata(const model::Pod& a, const model::Pod& b) {
  return a.meta.labels == b.meta.labels && a.scheduling_group == b.scheduling_group &&
         SameButForEvidence(a.meta.annotations, b.meta.annotations);
}

bool WasLast(const model::Pod& pod) {
  const std::optional<Evidence> evidence = pod.bound() ? ReadEvidence(pod) : std::nullopt;
  return evidence && evidence->commit_uid == pod.meta.uid;
}

Finding Examine(const Gang& gang, const Census& census, const cluster::ClusterState& state) {
  Finding finding;
  absl::flat_hash_map<std::string_view, const model::Pod*> by_uid;
  for (const Member* member : gang.members) {
    const model::Pod& pod = *state.pod(member->pod).pod;
    by_uid.emplace(pod.meta.uid, &pod);
  }
  for (const Members* members : {&census.placed, &census.lost, &census.ran})
    for (const Member* member : *members) {
      const std::optional<Evidence> evidence = ReadEvidence(*state.pod(member->pod).pod);
      if (evidence) finding.restarts = std::max(finding.restarts, evidence->restarts);
      finding.proven = finding.proven || evidence;
      const auto commit = evidence ? by_uid.find(evidence->commit_uid) : by_uid.end();
      if (commit == by_uid.end()) continue;
      if (WasLast(*commit->second)) return {true, true, finding.restarts, {evidence->plan, {}, 0}};
      // Where it was bound by a later plan, before the last of that one, what it says itself counts.
      if (!commit->second->bound()) finding.half_done = *evidence;
    }
  finding.whole = finding.half_done.commit_uid.empty();
  return finding;
}

}  // namespace tutti::core
