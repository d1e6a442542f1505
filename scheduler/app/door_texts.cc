// SPDX-License-Identifier: Apache-2.0
#include "app/door_texts.h"

#include <absl/strings/numbers.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "app/output.h"
#include "base/json.h"
#include "model/resource_list.h"
#include "sim/api/table.h"

namespace tutti::app {
namespace {

using Json = base::Json;

const Json& At(const Json& object, const char* field) {
  static const Json nothing;
  const auto at = object.is_object() ? object.find(field) : object.end();
  return at != object.end() ? *at : nothing;
}
std::string Text(const Json& object, const char* field) {
  const Json& value = At(object, field);
  return value.is_string() ? Shown(value.get<std::string>()) : std::string();
}
// A number of 64 bits is text in protobuf's JSON.
int64_t Number(const Json& value) {
  int64_t number = 0;
  if (value.is_string()) return absl::SimpleAtoi(value.get_ref<const std::string&>(), &number) ? number : 0;
  return value.is_number() ? value.get<int64_t>() : 0;
}
int64_t Number(const Json& object, const char* field) { return Number(At(object, field)); }
bool Flag(const Json& object, const char* field) { return At(object, field) == true; }
const Json& List(const Json& object, const char* field) {
  static const Json none = Json::array();
  const Json& list = At(object, field);
  return list.is_array() ? list : none;
}

std::string OrDash(std::string text) { return text.empty() ? "-" : text; }

std::string QueueName(const Json& queue) {
  const std::string ns = Text(queue, "namespace");
  return (ns.empty() ? "" : ns + "/") + Text(queue, "name");
}

std::string NameOf(const Json& gang) { return Text(gang, "namespace") + "/" + Text(gang, "name"); }

std::string Since(const Json& object, const char* field, base::Millis now_ms) {
  const auto at = base::ParseTime(Text(object, field));
  return at ? sim::HumanDuration(std::max<base::Millis>(0, now_ms - *at)) : "-";
}

std::string Amount(const std::string& resource, int64_t amount) { return model::FormatAmount(resource, amount); }

std::string Amounts(const Json& amounts) {
  std::vector<std::string> texts;
  if (amounts.is_object())
    for (const auto& [resource, amount] : amounts.items())
      texts.push_back(fmt::format("{} {}", Amount(resource, Number(amount)), Shown(resource)));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string PositionOf(const Json& gang) {
  const int64_t position = Number(gang, "position");
  return position == 0 ? "-" : fmt::format("{}/{}", position, Number(gang, "line"));
}

// What the reason says can never be, without other nodes.
std::string NeverText(const Json& gang) {
  const Json& nodes = At(At(gang, "why"), "nodes");
  std::string text;
  for (const Json& it : List(nodes, "short")) {
    const std::string resource = Text(it, "resource");
    if (Flag(it, "needsLargerNode"))
      text +=
          fmt::format("It can never start on these nodes: one pod asks for more {} than the largest node has, {}.\n",
                      resource, Amount(resource, Number(it, "largestNode")));
    else if (Flag(it, "needsMoreNodes"))
      text +=
          fmt::format("It can never start on these nodes: it asks for {} {}, and the cluster has {} in all.\n",
                      Amount(resource, Number(it, "asked")), resource, Amount(resource, Number(it, "cluster")));
  }
  return text;
}

std::string HolderTable(const Json& gang) {
  const Json& holders = List(gang, "holders");
  if (holders.empty()) return "";
  Table table({"GANG", "QUEUE", "PRIORITY", "PODS", "HOLDS"}, Table::kDescribeGap);
  for (const Json& holder : holders)
    table.Add({NameOf(At(holder, "gang")), OrDash(Text(holder, "queue")), std::to_string(Number(holder, "priority")),
               std::to_string(Number(holder, "pods")), Amounts(At(holder, "amounts"))});
  return "\nThese gangs hold most of what it waits for:\n" + table.Text();
}

// When a gang that waits could start: an instant, and how long that is from now, if now is known.
std::string StartText(const Json& start, std::optional<base::Millis> now_ms) {
  if (!start.is_object()) return "";
  std::string when = Text(start, "at");
  if (const auto at = base::ParseTime(when); at && now_ms)
    when += fmt::format(", in {}", sim::HumanDuration(std::max<base::Millis>(0, *at - *now_ms)));
  return fmt::format("Estimated start: {}. {}\n", when.empty() ? "none" : when, Text(start, "message"));
}

std::string MemberTable(const Json& gang) {
  Table table({"POD", "ROLE", "NODE", "STATE"}, Table::kDescribeGap);
  for (const Json& member : List(gang, "memberList")) {
    const char* state = Flag(member, "finished")       ? "finished"
                        : Flag(member, "bound")        ? "bound"
                        : Flag(member, "promised")     ? "promised"
                        : Text(member, "node").empty() ? "waits"
                                                       : "reserved";
    table.Add({OrDash(Text(member, "name")), OrDash(Text(member, "role")), OrDash(Text(member, "node")), state});
  }
  return table.empty() ? "" : "\n" + table.Text();
}

// "3 on gpu-1, 1 on gpu-2"
std::string PlacesText(const Json& prospect) {
  constexpr size_t kShown = 6;
  std::map<std::string, int64_t> pods;
  for (const Json& place : List(prospect, "places")) pods[Text(place, "node")] += Number(place, "pods");
  std::vector<std::string> texts;
  for (const auto& [node, count] : pods) {
    if (texts.size() < kShown) texts.push_back(fmt::format("{} on {}", count, node.empty() ? "nodes that you may not see" : node));
  }
  std::string text = fmt::format("{}", fmt::join(texts, ", "));
  if (pods.size() > kShown) text += fmt::format(" and {} more nodes", pods.size() - kShown);
  return text;
}

bool WouldStart(const Json& prospect) {
  const std::string verdict = Text(prospect, "verdict");
  return verdict == "fits" || verdict == "needs-victims";
}

std::string ProspectTable(const Json& answer) {
  Table table({"GANG", "QUEUE", "PODS", "VERDICT", "WHERE"});
  for (const Json& prospect : List(answer, "prospects")) {
    std::string verdict = Text(prospect, "verdict");
    if (Flag(prospect, "breaks")) verdict += ", breaks its gang";
    table.Add({NameOf(prospect), OrDash(Text(prospect, "queue")), std::to_string(Number(prospect, "members")),
               std::move(verdict), OrDash(PlacesText(prospect))});
  }
  return table.empty() ? "" : table.Text();
}

// Why a gang waits, which pods leave for it, and what of the answer is not certain.
std::string ProspectText(const Json& prospect) {
  std::string text;
  if (const std::string message = Text(prospect, "message"); !message.empty()) text += message + "\n";
  text += NeverText(prospect);
  text += StartText(At(prospect, "start"), std::nullopt);
  for (const Json& victim : List(prospect, "victims")) {
    const std::string node = Text(victim, "node");
    text += fmt::format("Pod {}/{}{} leaves{}: its {}.\n", Text(victim, "namespace"), Text(victim, "pod"),
                        Text(victim, "gang") == Text(victim, "pod") ? "" : " of gang " + Text(victim, "gang"),
                        node.empty() ? "" : " node " + node,
                        Flag(victim, "reclaim") ? "queue has more than its share" : "priority is lower");
  }
  if (const int64_t others = Number(prospect, "otherVictims"); others > 0)
    text += fmt::format("Pods leave in namespaces that you may not see: {}.\n", others);
  for (const Json& note : List(prospect, "notes"))
    if (note.is_string()) text += Shown(note.get<std::string>()) + "\n";
  return text.empty() ? "" : fmt::format("\n{}:\n{}", NameOf(prospect), text);
}

std::string NotesText(const Json& answer) {
  std::string text;
  for (const Json& note : List(answer, "notes"))
    if (note.is_string()) text += "note: " + Shown(note.get<std::string>()) + "\n";
  return text.empty() ? "" : "\n" + text;
}

std::string ProspectTexts(const Json& answer) {
  std::string text = ProspectTable(answer);
  for (const Json& prospect : List(answer, "prospects")) text += ProspectText(prospect);
  return text;
}

// Of gangs that the caller did not name; `none`: what is said if there are none.
std::string TextOfAll(const Json& answer, const std::string& none) {
  std::string text = ProspectTexts(answer);
  if (text.empty() && Number(answer, "otherGangs") == 0) text = none;
  if (const int64_t others = Number(answer, "otherGangs"); others > 0)
    text += fmt::format("Gangs of namespaces that you may not see: {}; of these, {} would wait.\n", others,
                        Number(answer, "otherGangsWait"));
  return text + NotesText(answer);
}

}  // namespace

std::string Shown(std::string_view text, Lines lines) {
  // As UTF-8: C1 controls, and the characters that change the direction of what follows.
  constexpr std::string_view kTurns[] = {"\u061C", "\u200E", "\u200F", "\u202A", "\u202B", "\u202C",
                                         "\u202D", "\u202E", "\u2066", "\u2067", "\u2068", "\u2069"};
  std::string shown;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = [&](size_t at) { return static_cast<unsigned char>(at < text.size() ? text[at] : 0); };
    const bool kept = byte(i) == '\n' && lines == Lines::kKept;
    const auto turn = std::ranges::find_if(kTurns, [&](std::string_view it) { return text.substr(i).starts_with(it); });
    if ((byte(i) < 0x20 && !kept) || byte(i) == 0x7F) {
      shown += '?';
    } else if (byte(i) == 0xC2 && byte(i + 1) >= 0x80 && byte(i + 1) < 0xA0) {
      shown += '?';
      ++i;
    } else if (turn != std::end(kTurns)) {
      shown += '?';
      i += turn->size() - 1;
    } else {
      shown += text[i];
    }
  }
  return shown;
}

Table GangTable(const Json& list, const GangColumns& columns, base::Millis now_ms) {
  const bool wide = columns.width == Width::kWide;
  Table::Row header;
  if (columns.namespaces) header.emplace_back("NAMESPACE");
  header.insert(header.end(), {"NAME", "KIND", "QUEUE", "PRIORITY", "STATE", "BOUND"});
  if (columns.positions) header.emplace_back("POSITION");
  header.emplace_back("AGE");
  if (wide) header.insert(header.end(), {"SINCE", "REASON", "MESSAGE"});
  Table table(std::move(header));
  for (const Json& gang : List(list, "gangs")) {
    Table::Row row;
    if (columns.namespaces) row.push_back(Text(gang, "namespace"));
    row.insert(row.end(), {Text(gang, "name"), Text(gang, "dialect"), OrDash(Text(gang, "queue")),
                           std::to_string(Number(gang, "priority")), Text(gang, "state"),
                           fmt::format("{}/{}", Number(gang, "bound"),
                                       std::max(Number(gang, "minMember"), Number(gang, "members")))});
    if (columns.positions) row.push_back(PositionOf(gang));
    row.push_back(Since(gang, "created", now_ms));
    if (wide) {
      row.push_back(Since(gang, "since", now_ms));
      row.push_back(OrDash(Text(gang, "reason")));
      row.push_back(Text(gang, "message"));
    }
    table.Add(std::move(row));
  }
  return table;
}

Table QueueTable(const Json& list, Width width) {
  std::vector<std::string> header = {"NAME", "KIND", "PARENT", "STATE", "USED", "WAITING", "RUNNING"};
  if (width == Width::kWide) header.insert(header.end(), {"DIALECT", "WEIGHT", "PROBLEM"});
  Table table(std::move(header));
  for (const Json& queue : List(list, "queues")) {
    std::vector<std::string> used;
    for (const Json& cell : List(queue, "cells")) {
      const std::string resource = Text(cell, "resource"), flavor = Text(cell, "flavor");
      const Json& most = cell.contains("limit") ? At(cell, "limit") : At(cell, "nominal");
      const int64_t has = std::max(Number(cell, "used"), Number(cell, "reserved"));
      if (most.is_null() && (has == 0 || resource == model::kPods)) continue;
      used.push_back(fmt::format("{}{}{}={}{}", flavor, flavor.empty() ? "" : "/", resource, Amount(resource, has),
                                 most.is_null() ? "" : "/" + Amount(resource, Number(most))));
    }
    const Json& gangs = At(queue, "gangs");
    std::vector<std::string> row = {QueueName(queue),
                                    Text(queue, "kind"),
                                    OrDash(Text(queue, "parent")),
                                    Text(queue, "state"),
                                    OrDash(fmt::format("{}", fmt::join(used, " "))),
                                    std::to_string(Number(gangs, "pending") + Number(gangs, "starting")),
                                    std::to_string(std::max(Number(gangs, "running"), Number(gangs, "admitted")))};
    if (width == Width::kWide) {
      row.push_back(Text(queue, "dialect"));
      row.push_back(At(queue, "weight").is_number() ? fmt::format("{:g}", At(queue, "weight").get<double>()) : "0");
      row.push_back(Text(queue, "problem"));
    }
    table.Add(std::move(row));
  }
  return table;
}

Table NodeTable(const Json& list, Width width) {
  // Resources that are not on every node of every cluster have columns of their own.
  std::set<std::string> devices;
  for (const Json& node : List(list, "nodes"))
    if (const Json& amounts = At(node, "allocatable"); amounts.is_object())
      for (const auto& [resource, amount] : amounts.items())
        if (resource.find('/') != std::string::npos && Number(amount) > 0) devices.insert(resource);
  std::vector<std::string> resources = {"cpu", "memory", "pods"};
  resources.insert(resources.begin(), devices.begin(), devices.end());
  std::vector<std::string> header = {"NAME", "STATUS"};
  for (const std::string& resource : resources) header.push_back("FREE " + Shown(resource));
  header.push_back("GANGS");
  if (width == Width::kWide) header.push_back("HELD BY");
  Table table(std::move(header));
  for (const Json& node : List(list, "nodes")) {
    std::vector<std::string> row = {Text(node, "name"), fmt::format("{}{}", Flag(node, "ready") ? "Ready" : "NotReady",
                                                      Flag(node, "unschedulable") ? ",SchedulingDisabled" : "")};
    for (const std::string& resource : resources) {
      const int64_t all = Number(At(node, "allocatable"), resource.c_str());
      row.push_back(all == 0 ? "-"
                             : fmt::format("{}/{}", Amount(resource, Number(At(node, "free"), resource.c_str())),
                                           Amount(resource, all)));
    }
    std::vector<std::string> held;
    for (const Json& holder : List(node, "holders")) held.push_back(NameOf(At(holder, "gang")));
    row.push_back(std::to_string(held.size()));
    if (width == Width::kWide) row.push_back(fmt::format("{}", fmt::join(held, " ")));
    table.Add(std::move(row));
  }
  return table;
}

std::string NameLines(const Json& list, const std::string& kind) {
  std::string text;
  for (const Json& one : List(list, (kind + "s").c_str()))
    text += fmt::format("{}/{}\n", kind, kind == "queue" ? QueueName(one) : Text(one, "name"));
  return text;
}

std::string WhyText(const Json& gang, base::Millis now_ms) {
  const std::string state = Text(gang, "state");
  std::string text = fmt::format("{} is {} for {}", NameOf(gang), state, Since(gang, "since", now_ms));
  text += fmt::format(": {} of {} pods bound", Number(gang, "bound"), Number(gang, "members"));
  if (const std::string queue = Text(gang, "queue"); !queue.empty()) text += fmt::format(", queue {}", queue);
  text += ".\n";
  if (const std::string message = Text(gang, "message"); !message.empty()) text += message + "\n";
  text += NeverText(gang);
  if (const Json& quota = At(gang, "quota"); quota.is_object()) {
    text += fmt::format("Its quota is {}", Text(quota, "state"));
    if (const std::string why = Text(quota, "message"); !why.empty()) text += fmt::format(": {}", why);
    text += "\n";
  }
  if (const int64_t position = Number(gang, "position"); position > 0)
    text += fmt::format("It is number {} of {} that wait{}, by priority and age.\n", position, Number(gang, "line"),
                        Text(gang, "queue").empty() ? "" : " in this queue");
  text += StartText(At(gang, "start"), now_ms);
  return text + HolderTable(gang) + MemberTable(gang);
}

bool AllWouldStart(const Json& answer) {
  return std::ranges::all_of(List(answer, "prospects"), WouldStart) && Number(answer, "otherGangsWait") == 0;
}

bool StartsSome(const Json& answer) { return !List(answer, "prospects").empty() && AllWouldStart(answer); }

std::string PlanText(const Json& answer) { return ProspectTexts(answer) + NotesText(answer); }

std::string DrainText(const Json& answer, const std::string& node) {
  return TextOfAll(answer, fmt::format("No gang has pods on node {}.\n", Shown(node)));
}

std::string QuotaText(const Json& answer, const std::string& queue) {
  return TextOfAll(answer, fmt::format("No gang waits in queue {}.\n", Shown(queue)));
}

std::string HistoryText(const Json& history) {
  Table table({"TIME", "STEP", "TIMES", "REASON", "MESSAGE"});
  for (const Json& event : List(history, "events")) {
    std::string message = Text(event, "message");
    if (message.empty() && !Text(event, "pod").empty())
      message = fmt::format("pod {}{}", Text(event, "pod"),
                            Text(event, "node").empty() ? "" : " on node " + Text(event, "node"));
    if (const Json& by = At(event, "by"); by.is_object()) message = "for " + NameOf(by);
    if (Flag(event, "byAnother")) message = "for a gang of another namespace";
    table.Add({Text(event, "at"), Text(event, "step"), std::to_string(std::max<int64_t>(1, Number(event, "times"))),
               OrDash(Text(event, "reason")), message});
  }
  return table.Text() + fmt::format("Nothing since {} is missing.\n", Text(history, "wholeFrom"));
}

}  // namespace tutti::app
