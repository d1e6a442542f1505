// SPDX-License-Identifier: Apache-2.0
#include "app/report.h"

#include <fmt/format.h>

#include <initializer_list>
#include <set>
#include <string_view>
#include <utility>

#include "app/output.h"
#include "base/json.h"
#include "base/json_string.h"

namespace tutti::app {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
pre { overflow-x: auto; padding: .75rem; border: 1px solid #8886; border-radius: .4rem; }
svg { width: 100%; height: auto; border: 1px solid #8886; border-radius: .4rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
caption { text-align: left; opacity: .75; padding: .2rem 0; }
th, td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid #8884; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
)";

// Of the style; `openssl dgst -sha256 -binary | base64` computes it.
constexpr std::string_view kStyleHash = "YtfdRFtdoNbyGOmInH7DhGik0jeWpIBYVXeZYw3Lpp4=";

// Begins the document. The policy names the one style by its hash, so that no other style is used either.
std::string Head(std::string_view title) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{}'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n<style>{}</style>\n</head>\n"
      "<body>\n<h1>{}</h1>\n",
      kStyleHash, EscapedMarkup(title), kStyle, EscapedMarkup(title));
}

constexpr std::string_view kTail = "</body>\n</html>\n";

struct Column {
  std::string title;
  std::string field;
};

std::string Shown(const ordered_json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : base::PrintOrdered(value);
}

std::string Cell(const ordered_json& value) {
  return fmt::format("<td{}>{}</td>", value.is_number() ? " class=\"number\"" : "", EscapedMarkup(Shown(value)));
}

std::string TableOf(const std::vector<std::string>& titles, const std::string& rows, size_t count) {
  std::string text = fmt::format("<div class=\"scroll\"><table><caption>{} line{}</caption>\n<thead><tr>", count,
                                 count == 1 ? "" : "s");
  for (const std::string& title : titles) text += fmt::format("<th scope=\"col\">{}</th>", EscapedMarkup(title));
  return text + "</tr></thead>\n<tbody>\n" + rows + "</tbody></table></div>\n";
}

// Adds a heading with a table of `items`; nothing, if there are none.
void AddTable(std::string* page, std::string_view heading, const ordered_json& items,
              std::initializer_list<Column> columns) {
  if (!items.is_array() || items.empty()) return;
  std::vector<std::string> titles;
  for (const Column& column : columns) titles.push_back(column.title);
  std::string rows;
  for (const ordered_json& item : items) {
    rows += "<tr>";
    for (const Column& column : columns)
      rows += Cell(item.contains(column.field) ? item[column.field] : ordered_json());
    rows += "</tr>\n";
  }
  *page += fmt::format("<h2>{}</h2>\n", heading) + TableOf(titles, rows, items.size());
}

std::string ReasonsAgainst(const ordered_json& node) {
  std::string text;
  for (const ordered_json& rejection : node["rejectedBy"]) {
    std::string reasons;
    for (const ordered_json& reason : rejection["reasons"]) reasons += (reasons.empty() ? "" : ", ") + Shown(reason);
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", Shown(rejection["plugin"]), reasons);
  }
  return text;
}

// A line for each node: its total, each plugin's weighted score, and the reasons against it.
std::string NodeTable(const ordered_json& nodes) {
  std::set<std::string> plugins;
  for (const ordered_json& node : nodes)
    if (node.contains("scores"))
      for (const auto& [plugin, score] : node["scores"].items()) plugins.insert(plugin);
  std::vector<std::string> titles = {"Node", "Fits", "Total"};
  titles.insert(titles.end(), plugins.begin(), plugins.end());
  titles.emplace_back("Reasons against it");
  std::string rows;
  for (const ordered_json& node : nodes) {
    const bool fits = node["feasible"].get<bool>();
    rows += "<tr>" + Cell(node["name"]) + Cell(fits ? "yes" : "no") + Cell(fits ? node["total"] : ordered_json());
    for (const std::string& plugin : plugins) {
      const bool scored = fits && node["scores"].contains(plugin);
      rows += Cell(scored ? node["scores"][plugin]["weighted"] : ordered_json());
    }
    rows += Cell(ReasonsAgainst(node)) + "</tr>\n";
  }
  return TableOf(titles, rows, nodes.size());
}

}  // namespace

std::string SimulationReport(const ordered_json& result, const SimulationSummary& summary,
                             const std::vector<std::string>& notes) {
  std::string page = Head("A simulation by Tutti");
  page += fmt::format("<pre>{}</pre>\n", EscapedMarkup(SummaryText(summary)));
  if (!notes.empty()) {
    page += "<h2>Notes</h2>\n<ul>\n";
    for (const std::string& note : notes) page += fmt::format("<li>{}</li>\n", EscapedMarkup(note));
    page += "</ul>\n";
  }
  page += "<h2>Over time</h2>\n" + SummarySvg(summary);
  AddTable(&page, "Gangs", result["gangs"],
           {{"Namespace", "namespace"},
            {"Name", "name"},
            {"Dialect", "dialect"},
            {"Queue", "queue"},
            {"Minimum", "minMember"},
            {"Members", "members"},
            {"Bound", "bound"},
            {"State", "state"},
            {"Message", "message"}});
  if (result.contains("workloads"))
    AddTable(&page, "Workloads", result["workloads"],
             {{"Namespace", "namespace"},
              {"Name", "name"},
              {"Queue", "queue"},
              {"ClusterQueue", "clusterQueue"},
              {"State", "state"},
              {"Message", "message"}});
  AddTable(&page, "Pods", result["pods"],
           {{"Namespace", "namespace"}, {"Name", "name"}, {"State", "state"}, {"Node", "node"}, {"Reason", "reason"}});
  AddTable(&page, "Timeline", result["timeline"],
           {{"Second", "atSeconds"},
            {"Action", "action"},
            {"Pod", "pod"},
            {"Node", "node"},
            {"Gang", "gang"},
            {"For", "by"},
            {"Reason", "reason"}});
  return page.append(kTail);
}

std::string EvaluationReport(const ordered_json& result) {
  std::string page = Head("Pod " + Shown(result["pod"]));
  page += fmt::format("<p>{}</p>\n<h2>Nodes</h2>\n", EscapedMarkup(Shown(result["summary"])));
  page += NodeTable(result["nodes"]);
  if (!result.contains("preemption")) return page.append(kTail);
  const ordered_json& preemption = result["preemption"];
  page += fmt::format("<h2>Preemption</h2>\n<p>{}</p>\n", EscapedMarkup(Shown(preemption["message"])));
  std::string rows;
  for (const ordered_json& one : preemption["candidates"]) {
    std::string victims;
    for (const ordered_json& victim : one["victims"]) victims += (victims.empty() ? "" : ", ") + Shown(victim);
    rows += "<tr>" + Cell(one["node"]) + Cell(one["node"] == preemption["nominatedNode"] ? "yes" : "") + Cell(victims) +
            "</tr>\n";
  }
  if (!rows.empty()) page += TableOf({"Node", "Chosen", "Pods that would go"}, rows, preemption["candidates"].size());
  return page.append(kTail);
}

}  // namespace tutti::app
