// SPDX-License-Identifier: Apache-2.0
// ChangedRows: prints a table whose rows change, as `kubectl get --watch` does: each new or changed row is one more
// line.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/output.h"

namespace tutti::app {

class ChangedRows {
 public:
  // `name_columns`: how many of the first columns name a row.
  explicit ChangedRows(size_t name_columns) : name_columns_(name_columns) {}

  // Returns the lines of these rows that are new or have changed. An age alone is no change. The header stands above
  // the first of them, and is repeated if it is another one.
  std::string Update(const Table& table);
  // The same for a table of all rows: one that is not in it is gone.
  std::string Replace(const Table& table);
  // Returns the line of a row that is gone.
  std::string Drop(const Table::Row& name);
  bool Has(const Table::Row& name) const { return rows_.contains(name); }

 private:
  Table::Row NameOf(const Table::Row& row) const { return {row.begin(), row.begin() + name_columns_}; }
  // Whether the rows differ in more than ages.
  bool Differs(const Table::Row& a, const Table::Row& b) const;
  void Remove(std::map<Table::Row, Table::Row>::iterator row, std::vector<Table::Row>* lines);
  std::string Print(std::vector<Table::Row> lines);

  const ptrdiff_t name_columns_;
  Table::Row header_;
  std::map<Table::Row, Table::Row> rows_;  // by name
  std::vector<size_t> widths_;
};

}  // namespace tutti::app
