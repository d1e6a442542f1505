// SPDX-License-Identifier: Apache-2.0
#include "app/changed_rows.h"

#include <algorithm>
#include <set>
#include <utility>

namespace tutti::app {

bool ChangedRows::Differs(const Table::Row& a, const Table::Row& b) const {
  if (a.size() != b.size()) return true;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i] && header_[i] != "AGE" && header_[i] != "SINCE") return true;
  return false;
}

std::string ChangedRows::Print(std::vector<Table::Row> lines) {
  return Table::Lines(lines, Table::kGetGap, &widths_);
}

std::string ChangedRows::Update(const Table& table) {
  std::vector<Table::Row> lines;
  for (size_t i = 1; i < table.rows().size(); ++i) {
    const Table::Row& row = table.rows()[i];
    if (header_ != table.rows().front()) {
      header_ = table.rows().front();
      widths_.clear();
      lines.insert(lines.begin(), header_);
    }
    const auto [at, is_new] = rows_.try_emplace(NameOf(row), row);
    if (is_new || Differs(at->second, row)) lines.push_back(row);
    at->second = row;
  }
  return Print(std::move(lines));
}

void ChangedRows::Remove(std::map<Table::Row, Table::Row>::iterator row, std::vector<Table::Row>* lines) {
  for (size_t i = 0; i < row->second.size(); ++i)
    if (header_[i] == "STATE" || header_[i] == "STATUS") row->second[i] = "gone";
  lines->push_back(std::move(row->second));
  rows_.erase(row);
}

std::string ChangedRows::Replace(const Table& table) {
  std::set<Table::Row> there;
  for (const Table::Row& row : table.rows()) there.insert(NameOf(row));
  std::vector<Table::Row> gone;
  for (auto row = rows_.begin(); row != rows_.end();)
    if (const auto at = row++; !there.contains(at->first)) Remove(at, &gone);
  return Print(std::move(gone)) + Update(table);
}

std::string ChangedRows::Drop(const Table::Row& name) {
  const auto row = rows_.find(name);
  if (row == rows_.end()) return "";
  std::vector<Table::Row> lines;
  Remove(row, &lines);
  return Print(std::move(lines));
}

}  // namespace tutti::app
