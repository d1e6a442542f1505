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

std::string ExtenderArgs(const std::string& pod_json, const std::vector<std::string>& names,
                         const std::vector<std::string>& node_jsons) {
  if (node_jsons.empty()) {
    Json list = names;
    return fmt::format(R"({{"Pod":{},"Nodes":null,"NodeNames":{}}})", pod_json, base::PrintJson(list));
  }
  return fmt::format(
      R"({{"Pod":{},"Nodes":{{"kind":"NodeList","apiVersion":"v1","metadata":{{}},"items":[{}]}},"NodeNames":null}})",
      pod_json, fmt::join(node_jsons, ","));
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
