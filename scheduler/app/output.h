// SPDX-License-Identifier: Apache-2.0
// The output forms of -o table|json|yaml.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace tutti::app {

// Render `value` as JSON or YAML, with keys in their order.
std::string ToJsonText(const nlohmann::ordered_json& value);
std::string ToYamlText(const nlohmann::ordered_json& value);

// Returns `text` as it is written in XML and HTML, also within quoted attributes.
std::string EscapedMarkup(std::string_view text);

// Writes `text` to standard output and flushes it. Error: kUnavailable, if not all of it was written.
base::Status Print(std::string_view text);

// Replaces the file's content.
base::Status WriteFile(const std::string& path, std::string_view text);

// Prints each note to standard error as "note: ...".
void ShowNotes(const std::vector<std::string>& notes);

// Aligned columns, as kubectl prints them; no space at the end of a line.
class Table {
 public:
  using Row = std::vector<std::string>;
  static constexpr size_t kGetGap = 3, kDescribeGap = 2;  // between columns, in spaces

  explicit Table(std::vector<std::string> header, size_t gap = kGetGap) : gap_(gap), rows_{std::move(header)} {}
  void Add(Row row);
  bool empty() const { return rows_.size() == 1; }
  std::string Text() const;
  const std::vector<Row>& rows() const { return rows_; }  // the header is the first

  // Returns the rows in lines. No column is narrower than it is in `widths`, which is what was printed above; it grows.
  static std::string Lines(const std::vector<Row>& rows, size_t gap, std::vector<size_t>* widths);

 private:
  const size_t gap_;
  std::vector<Row> rows_;
};

}  // namespace tutti::app
