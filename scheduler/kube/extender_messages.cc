// SPDX-License-Identifier: Apache-2.0
#include "kube/extender_messages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "base/json.h"
#include "base/json_string.h"
#include "cluster/json_text.h"

namespace tutti::kube {
namespace {

using base::Json;

bool SameName(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// Returns the field of that name, in upper or lower case; null if there is none.
const Json& Field(const Json& object, std::string_view name) {
  static const Json none;
  if (!object.is_object()) return none;
  for (const auto& [key, value] : object.items())
    if (SameName(key, name)) return value;
  return none;
}

std::string Text(const Json& value) { return value.is_string() ? value.get<std::string>() : std::string(); }

base::Result<Json> Parse(const std::string& body) {
  Json json = cluster::ParseJson(body);
  if (json.is_discarded()) return base::Invalid("its answer is not JSON");
  return json;
}

base::Status ErrorOf(const Json& answer) {
  const std::string error = Text(Field(answer, "error"));
  return error.empty() ? base::Status() : base::Invalid(error);
}

}  // namespace

std::string ExtenderArgs(const std::string& pod_json, const NodeNames& nodes) {
  const Json list = nodes.names;
  return fmt::format(R"({{"Pod":{},"Nodes":null,"NodeNames":{}}})", pod_json, base::PrintJson(list));
}

std::string ExtenderArgs(const std::string& pod_json, const NodeObjects& nodes) {
  return fmt::format(
      R"({{"Pod":{},"Nodes":{{"kind":"NodeList","apiVersion":"v1","metadata":{{}},"items":[{}]}},"NodeNames":null}})",
      pod_json, fmt::join(nodes.jsons, ","));
}

base::Result<ExtenderFilterResult> ReadFilterResult(const std::string& body) {
  const auto answer = Parse(body);
  if (!answer) return tl::make_unexpected(answer.error());
  if (const base::Status error = ErrorOf(*answer); !error) return tl::make_unexpected(error.error());
  ExtenderFilterResult result;
  const Json& names = Field(*answer, "nodeNames");
  const Json& items = Field(Field(*answer, "nodes"), "items");
  if (names.is_array()) {
    for (const Json& name : names) result.nodes.push_back(Text(name));
  } else if (items.is_array()) {
    for (const Json& node : items) result.nodes.push_back(Text(Field(Field(node, "metadata"), "name")));
  }
  for (const char* field : {"failedNodes", "failedAndUnresolvableNodes"}) {
    const Json& failed = Field(*answer, field);
    if (!failed.is_object()) continue;
    for (const auto& [node, why] : failed.items()) result.failed[node] = Text(why);
  }
  return result;
}

base::Result<Priorities> ReadPriorities(const std::string& body) {
  const auto answer = Parse(body);
  if (!answer) return tl::make_unexpected(answer.error());
  if (!answer->is_array()) return base::Invalid("its answer is not a list of hosts and scores");
  Priorities priorities;
  for (const Json& one : *answer) {
    const Json& score = Field(one, "score");
    if (!score.is_number_integer()) return base::Invalid("a score in its answer is not an integer");
    priorities.emplace_back(Text(Field(one, "host")), std::clamp<int64_t>(score.get<int64_t>(), 0, 10));
  }
  return priorities;
}

std::string ExtenderPreemptionArgs(const std::string& pod_json, const std::vector<cluster::NodeVictims>& candidates,
                                   const std::map<std::string, std::string>* pod_jsons) {
  std::vector<std::string> nodes;
  for (const cluster::NodeVictims& candidate : candidates) {
    std::vector<std::string> pods;
    for (const auto& victim : candidate.victims) {
      if (!pod_jsons)
        pods.push_back(fmt::format(R"({{"UID":{}}})", base::PrintJson(victim->meta.uid)));
      else if (const auto at = pod_jsons->find(victim->meta.uid); at != pod_jsons->end())
        pods.push_back(at->second);
    }
    nodes.push_back(fmt::format(R"({}:{{"Pods":[{}],"NumPDBViolations":{}}})", base::PrintJson(candidate.node),
                                fmt::join(pods, ","), candidate.violations));
  }
  const std::string all = fmt::format("{{{}}}", fmt::join(nodes, ","));
  return fmt::format(R"({{"Pod":{},"NodeNameToVictims":{},"NodeNameToMetaVictims":{}}})", pod_json,
                     pod_jsons ? all : "null", pod_jsons ? "null" : all);
}

base::Result<std::map<std::string, MetaVictims>> ReadPreemptionResult(const std::string& body) {
  const auto answer = Parse(body);
  if (!answer) return tl::make_unexpected(answer.error());
  if (!answer->is_object()) return base::Invalid("its answer is not an ExtenderPreemptionResult");
  std::map<std::string, MetaVictims> result;
  const Json& nodes = Field(*answer, "nodeNameToMetaVictims");
  if (nodes.is_null()) return result;
  if (!nodes.is_object()) return base::Invalid("nodeNameToMetaVictims in its answer is not a map");
  for (const auto& [node, victims] : nodes.items()) {
    MetaVictims& named = result[node];
    const Json& pods = Field(victims, "pods");
    if (pods.is_array())
      for (const Json& pod : pods) named.uids.push_back(Text(Field(pod, "uid")));
    const Json& violations = Field(victims, "numPDBViolations");
    if (violations.is_number_integer()) named.violations = violations.get<int64_t>();
  }
  return result;
}

base::Status TakePreemptionResult(const std::map<std::string, MetaVictims>& result, bool ignorable,
                                  std::vector<cluster::NodeVictims>* candidates) {
  std::vector<cluster::NodeVictims> taken;
  for (const cluster::NodeVictims& candidate : *candidates) {
    const auto named = result.find(candidate.node);
    if (named == result.end()) continue;
    if (named->second.uids.empty() && ignorable) continue;
    if (named->second.uids.empty())
      return base::Invalid(fmt::format("expected at least one victim pod on node \"{}\"", candidate.node));
    cluster::NodeVictims& one = taken.emplace_back();
    one.node = candidate.node;
    one.violations = named->second.violations;
    std::vector<std::string> missing = named->second.uids;
    for (const auto* pods : {&candidate.victims, &candidate.others})
      for (const auto& pod : *pods) {
        const bool goes = std::erase(missing, pod->meta.uid) > 0;
        (goes ? one.victims : one.others).push_back(pod);
      }
    if (!missing.empty())
      return base::Invalid(
          fmt::format("it names the pod {} on node {}, and no such pod may go from there", missing[0], candidate.node));
  }
  for (const auto& [node, victims] : result)
    if (std::ranges::find(*candidates, node, &cluster::NodeVictims::node) == candidates->end())
      return base::Invalid(fmt::format("it names the node {}, which is no candidate", node));
  *candidates = std::move(taken);
  return {};
}

std::string ExtenderBindingArgs(const cluster::Bind& bind) {
  const Json args = {
      {"PodName", bind.pod.name()}, {"PodNamespace", bind.pod.ns()}, {"PodUID", bind.pod.uid()}, {"Node", bind.node}};
  return base::PrintJson(args);
}

base::Status ReadBindingResult(const std::string& body) {
  if (body.empty()) return {};
  const auto answer = Parse(body);
  return answer ? ErrorOf(*answer) : base::Status(tl::make_unexpected(answer.error()));
}

std::map<std::string, std::string> ItemsByName(const std::string& list_json) {
  std::map<std::string, std::string> items;
  const Json list = cluster::ParseJson(list_json);
  const Json& all = Field(list, "items");
  if (!all.is_array()) return items;
  for (const Json& item : all) items[Text(Field(Field(item, "metadata"), "name"))] = base::PrintJson(item);
  return items;
}

}  // namespace tutti::kube
