// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/expectation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <regex>
#include <string_view>

#include "base/json_string.h"
#include "cluster/json_text.h"
#include "observe/reason_json.h"
#include "tests/scenarios/shorthand.h"

namespace tutti::scenarios {
namespace {

using sim::Json;
using Complaints = std::vector<std::string>;

bool IsRegex(const std::string& text) { return text.size() > 1 && text.front() == '/' && text.back() == '/'; }

bool Contains(const std::string& text, const std::string& wanted) {
  if (IsRegex(wanted)) return std::regex_search(text, std::regex(wanted.substr(1, wanted.size() - 2)));
  return text.find(wanted) != std::string::npos;
}

// Where `there` has not what `wanted` says: a path and both values; else empty. `exact` strings are compared whole.
std::string Missing(const Json& there, const Json& wanted, const std::string& path) {
  if (wanted.is_object()) {
    for (const auto& [key, value] : wanted.items())
      if (std::string why = Missing(sim::Child(there, key), value, path + "." + key); !why.empty()) return why;
    return there.is_object() || wanted.empty() ? "" : fmt::format("{} is {}", path, base::PrintJson(there));
  }
  if (wanted.is_array()) {
    for (const Json& one : wanted) {
      const Json& list = sim::ArrayOf(there);
      if (std::ranges::none_of(list, [&](const Json& item) { return Missing(item, one, "").empty(); }))
        return fmt::format("{} has no {}: {}", path, base::PrintJson(one), base::PrintJson(there));
    }
    return wanted.empty() && !sim::ArrayOf(there).empty() ? fmt::format("{} is not empty", path) : "";
  }
  const bool regex = wanted.is_string() && IsRegex(wanted.get<std::string>());
  if (regex ? Contains(sim::StringOf(there), wanted.get<std::string>()) : there == wanted) return "";
  return fmt::format("{} is {}, not {}", path, base::PrintJson(there), base::PrintJson(wanted));
}

const std::string& NodeOf(const Json& pod) { return sim::DigString(pod, "spec", "nodeName"); }
bool IsDone(const Json& pod) {
  const std::string& phase = sim::DigString(pod, "status", "phase");
  return phase == "Succeeded" || phase == "Failed";
}
bool IsBound(const Json& pod) { return !NodeOf(pod).empty() && !IsDone(pod); }
bool Waits(const Json& pod) { return NodeOf(pod).empty() && !IsDone(pod); }

Complaints CheckPod(const Json& pod, const std::string& word) {
  const std::string& node = NodeOf(pod);
  const bool holds = word == "bound"      ? IsBound(pod)
                     : word == "waits"    ? Waits(pod)
                     : word == "finished" ? IsDone(pod)
                                          : node == word;
  if (holds) return {};
  const std::string& message = sim::DigString(sim::ConditionOf(pod, "PodScheduled"), "message");
  return {fmt::format("pod {} is {}, not {}", sim::NameOf(pod),
                      node.empty() ? fmt::format("without a node ({})", message) : "on " + node, word)};
}

Complaints CheckPodFields(const Json& pod, const Json& wanted) {
  Complaints complaints;
  const Json& condition = sim::ConditionOf(pod, "PodScheduled");
  const std::string& message = sim::DigString(condition, "message");
  for (const auto& [word, value] : wanted.items()) {
    const std::string& text = sim::StringOf(value);
    if (word == "message" && !Contains(message, text))
      complaints.push_back(fmt::format("pod {} says \"{}\", not \"{}\"", sim::NameOf(pod), message, text));
    if (word == "says" && message != text)
      complaints.push_back(fmt::format("pod {} says \"{}\", not just \"{}\"", sim::NameOf(pod), message, text));
    if (word == "lacks" && Contains(message, text))
      complaints.push_back(fmt::format("pod {} says \"{}\", with \"{}\"", sim::NameOf(pod), message, text));
    if (word == "reason" && sim::DigString(condition, "reason") != text)
      complaints.push_back(fmt::format("pod {} has the reason \"{}\", not \"{}\"", sim::NameOf(pod),
                                       sim::DigString(condition, "reason"), text));
    if (word == "node" || word == "state") {
      const Complaints more = CheckPod(pod, text);
      complaints.insert(complaints.end(), more.begin(), more.end());
    }
  }
  return complaints;
}

// What else may be said of pods, besides how many there are.
constexpr std::array<std::string_view, 7> kWordsOfOne = {"at", "lacks", "message", "node", "reason", "says", "state"};

Complaints CheckCounts(const std::string& pattern, const std::vector<sim::Object>& pods, const Json& wanted) {
  Complaints complaints;
  const std::map<std::string_view, std::function<bool(const Json&)>> counted = {
      {"count", [](const Json&) { return true; }}, {"bound", IsBound}, {"waits", Waits}, {"finished", IsDone}};
  for (const auto& [nodes, value] : sim::MapOf(sim::Dig(wanted, "at")).items()) {
    const auto count = std::ranges::count_if(
        pods, [&nodes](const sim::Object& pod) { return IsBound(*pod) && MatchesGlob(nodes, NodeOf(*pod)); });
    if (count != sim::IntOf(value, -1))
      complaints.push_back(fmt::format("at {} are {} of {} pods {}", nodes, count, pods.size(), pattern));
  }
  for (const auto& [word, value] : wanted.items()) {
    const auto test = counted.find(word);
    if (test == counted.end()) {
      if (std::ranges::find(kWordsOfOne, word) == kWordsOfOne.end())
        complaints.push_back(fmt::format("unknown word \"{}\" of pods", word));
      continue;
    }
    const auto count = std::ranges::count_if(pods, [&](const sim::Object& pod) { return test->second(*pod); });
    if (count != sim::IntOf(value, -1))
      complaints.push_back(fmt::format("{} of {} pods {}: {}", word, pods.size(), pattern, count));
  }
  return complaints;
}

Complaints CheckPods(Stage& stage, const Json& wanted) {
  Complaints complaints;
  const auto add = [&](Complaints more) { complaints.insert(complaints.end(), more.begin(), more.end()); };
  for (const auto& [pattern, value] : wanted.items()) {
    const auto pods = stage.Find("pod", pattern);
    const bool counts = value.is_object() && (value.contains("count") || value.contains("waits"));
    if (value == "gone") {
      if (!pods->empty()) complaints.push_back(fmt::format("pod {} is there", pattern));
      continue;
    }
    if (pods->empty() && !counts) complaints.push_back(fmt::format("there is no pod {}", pattern));
    if (value.is_object()) add(CheckCounts(pattern, *pods, value));
    for (const sim::Object& pod : *pods)
      add(value.is_object() ? CheckPodFields(*pod, value) : CheckPod(*pod, sim::StringOf(value)));
  }
  return complaints;
}

Json GangFields(const observe::Decision& decision) {
  const auto bound = std::ranges::count_if(decision.members, &observe::MemberDecision::bound);
  Json fields = {{"state", std::string(observe::Word(decision.state))},
                 {"dialect", decision.gang.dialect},
                 {"queue", decision.queue},
                 {"reason", decision.reason},
                 {"message", decision.message},
                 {"minMember", decision.min_member},
                 {"members", decision.members.size()},
                 {"bound", bound}};
  if (decision.why) fields["why"] = cluster::ParseJson(observe::ToJson(*decision.why).dump());
  return fields;
}

Complaints CheckGangs(Stage& stage, const Json& wanted) {
  std::map<std::string, Json> gangs;
  for (const observe::Decision& decision : stage.Decisions())
    gangs[decision.gang.ns + "/" + decision.gang.name] = GangFields(decision);
  Complaints complaints;
  for (const auto& [name, fields] : wanted.items()) {
    const ObjectName key = SplitName(name);
    const auto gang = gangs.find(key.ns + "/" + key.name);
    if (fields == "gone" || gang == gangs.end()) {
      if ((fields == "gone") != (gang == gangs.end()))
        complaints.push_back(fmt::format("gang {} is {}there", name, fields == "gone" ? "" : "not "));
      continue;
    }
    for (const auto& [word, value] : fields.items()) {
      if (word == "reason" && value.is_object()) {
        const std::string why = Missing(sim::Child(gang->second, "why"), value, "reason");
        if (!why.empty()) complaints.push_back(fmt::format("gang {}: {}", name, why));
        continue;
      }
      const Json& there = sim::Child(gang->second, word);
      const bool text = word == "message";
      const bool holds = text ? Contains(sim::StringOf(there), sim::StringOf(value)) : there == value;
      if (!holds)
        complaints.push_back(
            fmt::format("gang {}: {} is {}, not {}", name, word, base::PrintJson(there), base::PrintJson(value)));
    }
  }
  return complaints;
}

Complaints CheckObjects(Stage& stage, const Json& wanted) {
  Complaints complaints;
  for (const Json& one : wanted) {
    const std::string& kind = sim::DigString(one, "kind");
    const std::string& name = sim::DigString(one, "name");
    const auto objects = stage.Find(kind, name);
    if (!objects) {
      complaints.push_back(objects.error().message);
    } else if (sim::Dig(one, "has") == "gone") {
      if (!objects->empty()) complaints.push_back(fmt::format("{} {} is there", kind, name));
    } else if (objects->empty()) {
      complaints.push_back(fmt::format("there is no {} {}", kind, name));
    }
    if (!objects || !one.contains("has") || one["has"] == "gone") continue;
    for (const sim::Object& object : *objects)
      if (const std::string why = Missing(*object, one["has"], ""); !why.empty())
        complaints.push_back(fmt::format("{} {}: {}", kind, sim::NameOf(*object), why));
  }
  return complaints;
}

Complaints CheckEvents(Stage& stage, const Json& wanted) {
  Complaints complaints;
  for (const Json& one : wanted) {
    int64_t happened = 0;
    stage.store().ForEach(sim::kEvents, [&](const sim::Store::Key&, const sim::Object& event) {
      const bool about = MatchesGlob(sim::DigString(one, "about"), sim::DigString(*event, "involvedObject", "name"));
      const std::string& reason = sim::DigString(one, "reason");
      if (about && (reason.empty() || sim::DigString(*event, "reason") == reason) &&
          Contains(sim::DigString(*event, "message"), sim::DigString(one, "message")))
        ++happened;
    });
    if (!one.contains("count") && happened == 0)
      complaints.push_back(fmt::format("no event like {}", base::PrintJson(one)));
    if (one.contains("count") && sim::IntOf(one["count"], -1) != happened)
      complaints.push_back(fmt::format("{} events like {}", happened, base::PrintJson(one)));
  }
  return complaints;
}

// Each name, with its labels as the page has them, and the number that stands behind it.
Complaints CheckMetrics(Stage& stage, const Json& wanted) {
  const std::string page = "\n" + stage.MetricsText();
  Complaints complaints;
  for (const auto& [name, value] : wanted.items()) {
    const size_t at = page.find("\n" + name + " ");
    const size_t begin = at + name.size() + 2;
    const std::string there = at == std::string::npos ? "" : page.substr(begin, page.find('\n', begin) - begin);
    if (there != (value.is_null() ? "" : value.dump()))
      complaints.push_back(
          fmt::format("metric {} is {}, not {}", name, there.empty() ? "not there" : there, value.dump()));
  }
  return complaints;
}

}  // namespace

std::vector<std::string> CheckExpectation(Stage& stage, const Json& expect) {
  using Check = Complaints (*)(Stage&, const Json&);
  const std::map<std::string_view, Check> checks = {{"pods", CheckPods},
                                                    {"gangs", CheckGangs},
                                                    {"objects", CheckObjects},
                                                    {"events", CheckEvents},
                                                    {"metrics", CheckMetrics}};
  Complaints complaints;
  for (const auto& [word, wanted] : sim::MapOf(expect).items()) {
    const auto check = checks.find(word);
    Complaints more = check == checks.end() ? Complaints{fmt::format("unknown word \"{}\" in expect", word)}
                                            : check->second(stage, wanted);
    complaints.insert(complaints.end(), more.begin(), more.end());
  }
  if (sim::MapOf(expect).empty()) complaints.emplace_back("expect says nothing");
  return complaints;
}

std::string Show(Stage& stage) {
  std::string text;
  for (const observe::Decision& decision : stage.Decisions())
    text += fmt::format("    gang {}/{}: {}\n", decision.gang.ns, decision.gang.name,
                        base::PrintJson(GangFields(decision)));
  stage.store().ForEach(sim::kPods, [&](const sim::Store::Key& key, const sim::Object& pod) {
    const std::string& node = NodeOf(*pod);
    text += fmt::format("    pod {}/{}: {} {} {}\n", key.first, key.second, sim::DigString(*pod, "status", "phase"),
                        node.empty() ? "-" : node,
                        node.empty() ? sim::DigString(sim::ConditionOf(*pod, "PodScheduled"), "message") : "");
  });
  return text;
}

}  // namespace tutti::scenarios
