// SPDX-License-Identifier: Apache-2.0
#include "sim/api/table.h"

#include <fmt/format.h>

#include "base/json_string.h"
#include "sim/api/json_path.h"

namespace tutti::sim {
namespace {

Json ColumnJson(const PrinterColumn& column) {
  return {{"name", column.name},
          {"type", column.type},
          {"format", column.format.empty() && column.name == "Name" ? "name" : column.format},
          {"description", column.description},
          {"priority", column.priority}};
}

const std::vector<PrinterColumn>& CustomColumns(const ApiVersion& version) {
  static const std::vector<PrinterColumn> age_only = {{"Age", "date", ".metadata.creationTimestamp", "", "", 0}};
  return version.columns.empty() ? age_only : version.columns;
}

Json CustomCell(const PrinterColumn& column, const Json& object, base::Millis now_ms) {
  const auto found = FindPath(object, column.json_path);
  if (found.empty()) return nullptr;
  const Json& value = *found[0];
  if (column.type == "date") return AgeOf(value, now_ms);
  if (column.type == "integer") {
    if (value.is_number_float()) return int64_t(value.get<double>());
    return value.is_number() ? value : Json();
  }
  if (column.type == "number") return value.is_number() ? value : Json();
  if (column.type == "boolean") return value.is_boolean() ? value : Json();
  return value.is_string() ? value : Json(base::PrintJson(value));
}

}  // namespace

Json NewTable(const ApiResource& resource, std::string_view version, bool with_columns) {
  Json columns = Json::array();
  if (with_columns) {
    if (resource.custom) {
      columns.push_back(ColumnJson({"Name", "string", "", "Name must be unique within a namespace.", "name", 0}));
      for (const PrinterColumn& column : CustomColumns(*resource.FindVersion(version)))
        columns.push_back(ColumnJson(column));
    } else {
      for (const PrinterColumn& column : PrinterFor(resource.stored_as).columns) columns.push_back(ColumnJson(column));
    }
  }
  return {{"kind", "Table"},
          {"apiVersion", "meta.k8s.io/v1"},
          {"metadata", Json::object()},
          {"columnDefinitions", std::move(columns)},
          {"rows", Json::array()}};
}

Json TableCells(const ApiResource& resource, std::string_view version, const Json& stored, base::Millis now_ms) {
  if (!resource.custom) return PrinterFor(resource.stored_as).cells(stored, now_ms);
  Json cells = {NameOf(stored)};
  for (const PrinterColumn& column : CustomColumns(*resource.FindVersion(version))) {
    cells.push_back(CustomCell(column, stored, now_ms));
  }
  return cells;
}

std::string HumanDuration(base::Millis duration_ms) {
  const int64_t seconds = duration_ms / 1000;
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return fmt::format("{}s", seconds);
  const int64_t minutes = seconds / 60;
  if (minutes < 10) return seconds % 60 ? fmt::format("{}m{}s", minutes, seconds % 60) : fmt::format("{}m", minutes);
  if (minutes < 180) return fmt::format("{}m", minutes);
  const int64_t hours = minutes / 60;
  if (hours < 8) return minutes % 60 ? fmt::format("{}h{}m", hours, minutes % 60) : fmt::format("{}h", hours);
  if (hours < 48) return fmt::format("{}h", hours);
  const int64_t days = hours / 24;
  if (hours < 192) return hours % 24 ? fmt::format("{}d{}h", days, hours % 24) : fmt::format("{}d", days);
  if (days < 730) return fmt::format("{}d", days);
  if (days < 2920) return days % 365 ? fmt::format("{}y{}d", days / 365, days % 365) : fmt::format("{}y", days / 365);
  return fmt::format("{}y", days / 365);
}

std::string AgeOf(const Json& time, base::Millis now_ms) {
  const auto at = base::ParseTime(StringOf(time));
  return at ? HumanDuration(now_ms - *at) : "<unknown>";
}

}  // namespace tutti::sim
