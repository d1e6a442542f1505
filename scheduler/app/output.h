// SPDX-License-Identifier: Apache-2.0
// -o table|json|yaml: one result, three ways to print it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace tutti::app {

// "json" and "yaml" of the same value; keys in their order.
std::string ToJsonText(const nlohmann::ordered_json& value);
std::string ToYamlText(const nlohmann::ordered_json& value);

// To standard output, at once and whole. Error kUnavailable: what is not written whole must not look like success.
base::Status Print(std::string_view text);

// In place of what the file held.
base::Status WriteFile(const std::string& path, std::string_view text);

// To standard error, each as "note: ...".
void ShowNotes(const std::vector<std::string>& notes);

// Aligned columns, as kubectl prints them; no space at the end of a line.
class Table {
 public:
  static constexpr size_t kGetGap = 3, kDescribeGap = 2;  // between columns, in spaces

  explicit Table(std::vector<std::string> header, size_t gap = kGetGap) : gap_(gap), rows_{std::move(header)} {}
  void Add(std::vector<std::string> row);
  bool empty() const { return rows_.size() == 1; }
  std::string Text() const;

 private:
  const size_t gap_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace tutti::app
