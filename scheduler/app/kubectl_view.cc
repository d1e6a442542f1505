// SPDX-License-Identifier: Apache-2.0
#include "app/kubectl_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "app/output.h"
#include "base/json.h"
#include "base/json_string.h"
#include "base/text.h"
#include "cluster/json_text.h"

namespace tutti::app {
namespace {

using sim::Child;
using sim::DigString;
using sim::Json;

constexpr const char* kTable = "application/json;as=Table;v=v1;g=meta.k8s.io";
constexpr const char* kJson = "application/json";

std::string Upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string CellText(const Json& cell) {
  if (cell.is_string()) return cell.get<std::string>();
  return cell.is_null() ? "<none>" : base::PrintJson(cell);
}

// "raycluster.ray.io", "pod"
std::string KindAndGroup(const Json& object) {
  const std::string group = sim::SplitApiVersion(DigString(object, "apiVersion")).group;
  return base::LowerCase(DigString(object, "kind")) + (group.empty() ? "" : "." + group);
}

base::Millis EventTime(const Json& event) {
  for (const std::string& text : {DigString(event, "series", "lastObservedTime"), DigString(event, "lastTimestamp"),
                                  DigString(event, "eventTime"), DigString(event, "metadata", "creationTimestamp")}) {
    if (const auto time = base::ParseTime(text)) return *time;
  }
  return 0;
}

}  // namespace

std::string ShortAge(base::Millis age_ms) {
  const base::Millis seconds = std::max<base::Millis>(0, age_ms / 1000);
  if (seconds < 120) return fmt::format("{}s", seconds);
  const base::Millis minutes = seconds / 60;
  if (minutes < 10)
    return seconds % 60 == 0 ? fmt::format("{}m", minutes) : fmt::format("{}m{}s", minutes, seconds % 60);
  if (minutes < 180) return fmt::format("{}m", minutes);
  return fmt::format("{}h", minutes / 60);
}

base::Result<Json> KubectlView::Ask(const char* method, const std::string& path, const char* accept, std::string body,
                                    const char* content_type) {
  const sim::HttpResponse response = handler_.Handle({.method = method,
                                                      .path = path,
                                                      .params = {},
                                                      .accept = accept,
                                                      .content_type = content_type,
                                                      .body = std::move(body)});
  Json answer = cluster::ParseJson(response.body);
  if (response.code >= 200 && response.code < 300 && !answer.is_discarded()) return answer;
  const std::string message = answer.is_object() ? DigString(answer, "message") : response.body;
  return base::Fail(response.code == 404 ? base::ErrorCode::kNotFound : base::ErrorCode::kInvalid,
                    fmt::format("Error from server ({}): {}", response.code, message));
}

base::Result<std::string> KubectlView::GetTable(const std::string& path) {
  const auto table = Ask("GET", path, kTable);
  if (!table) return tl::make_unexpected(table.error());
  std::vector<size_t> shown;
  std::vector<std::string> header;
  const Json& columns = Child(*table, "columnDefinitions");
  for (size_t i = 0; i < columns.size(); ++i) {
    if (sim::IntOf(Child(columns[i], "priority")) != 0) continue;
    shown.push_back(i);
    header.push_back(Upper(DigString(columns[i], "name")));
  }
  Table text(std::move(header));
  for (const Json& row : Child(*table, "rows")) {
    std::vector<std::string> cells;
    for (const size_t i : shown) cells.push_back(CellText(Child(row, "cells")[i]));
    text.Add(std::move(cells));
  }
  return text.empty() ? "No resources found in default namespace.\n" : text.Text();
}

base::Result<Json> KubectlView::Get(const std::string& path) { return Ask("GET", path, kJson); }

base::Result<std::string> KubectlView::GetYaml(const std::string& path) {
  auto object = Get(path);
  if (!object) return tl::make_unexpected(object.error());
  (*object)["metadata"].erase("managedFields");
  return ToYamlText(nlohmann::ordered_json(*object));
}

base::Result<std::string> KubectlView::Create(const std::string& path, std::string_view yaml) {
  const auto made = Ask("POST", path, kJson, std::string(yaml), "application/yaml");
  if (!made) return tl::make_unexpected(made.error());
  return fmt::format("{}/{} created\n", KindAndGroup(*made), sim::NameOf(*made));
}

base::Result<std::string> KubectlView::Delete(const std::string& path, const std::string& what) {
  const auto gone = Ask("DELETE", path, kJson);
  if (!gone) return tl::make_unexpected(gone.error());
  return fmt::format("{} \"{}\" deleted\n", what, path.substr(path.rfind('/') + 1));
}

base::Result<std::string> KubectlView::Events(const std::string& ns, const std::string& uid, base::Millis now_ms) {
  const auto list = Get("/api/v1/namespaces/" + ns + "/events");
  if (!list) return tl::make_unexpected(list.error());
  Table table({"Type", "Reason", "Age", "From", "Message"}, Table::kDescribeGap);
  table.Add({"----", "------", "----", "----", "-------"});
  for (const Json& event : Child(*list, "items")) {
    if (DigString(event, "involvedObject", "uid") != uid) continue;
    std::string from = DigString(event, "source", "component");
    if (from.empty()) from = DigString(event, "reportingComponent");
    table.Add({DigString(event, "type"), DigString(event, "reason"), ShortAge(now_ms - EventTime(event)), from,
               DigString(event, "message")});
  }
  std::string text = "Events:\n", rows = table.Text();
  for (size_t at = 0, end; (end = rows.find('\n', at)) != std::string::npos; at = end + 1) {
    text += "  " + rows.substr(at, end - at + 1);
  }
  return text;
}

}  // namespace tutti::app
