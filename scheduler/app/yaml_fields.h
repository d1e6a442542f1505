// SPDX-License-Identifier: Apache-2.0
// Reads YAML strictly. A field that is unknown, of a wrong type or out of range makes a complaint, which names the
// file, the line, the field and the remedy. One run shows all complaints of a file.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/closest.h"
#include "base/json_fwd.h"
#include "base/result.h"

namespace tutti::app {

// Returns the text with blanks in place of line ends and other control characters.
std::string InOneLine(std::string text);

// The complaints about one file, in the order in which they were found.
class Complaints {
 public:
  explicit Complaints(std::string file) : file_(std::move(file)) {}
  // Adds "FILE:LINE: FIELD: what", without the line if the node has none.
  void Add(const YAML::Node& at, std::string_view field, std::string_view what);
  // Adds the complaints of another reader of the file. They are whole lines already.
  void AddLines(std::string lines) { lines_.push_back(std::move(lines)); }
  const std::vector<std::string>& lines() const { return lines_; }
  const std::string& file() const { return file_; }

 private:
  std::string file_;
  std::vector<std::string> lines_;
};

using base::Closest;

// One mapping; scalars are read as in base/yaml_scalar.h. Each field is read once; an absent or null one leaves `out`
// unchanged. Done() complains about fields that were not read. `complaints` must outlive this.
class Fields {
 public:
  // Complains when `node` is neither a mapping nor absent.
  Fields(const YAML::Node& node, std::string path, Complaints* complaints);

  void String(std::string_view name, std::string* out);
  void OneOf(std::string_view name, std::initializer_list<std::string_view> allowed, std::string* out);
  void Bool(std::string_view name, bool* out);
  void Integer(std::string_view name, int64_t least, int64_t most, int64_t* out);
  void Number(std::string_view name, double* out);
  void Duration(std::string_view name, base::Millis* out);
  void Json(std::string_view name, base::Json* out);
  // Returns the field as a mapping of its own; the caller calls its Done().
  Fields Map(std::string_view name);
  // Calls `each` for every item of a sequence of mappings.
  void Sequence(std::string_view name, const std::function<void(Fields&)>& each);
  // Accepts the field with any value.
  void Accept(std::string_view name);

  bool Has(std::string_view name) const;
  void Complain(std::string_view name, std::string_view what);
  void Done();

  const std::string& path() const { return path_; }
  const YAML::Node& node() const { return node_; }
  // Returns the place of the mapping: "FILE:LINE: FIELD".
  std::string Where() const;

 private:
  // Returns the value and marks the field as read; undefined when absent or null.
  YAML::Node Take(std::string_view name);
  const YAML::Node* TakeScalar(std::string_view name, std::string_view expected, YAML::Node* hold);
  std::string PathOf(std::string_view name) const;

  YAML::Node node_;
  std::string path_;
  Complaints* complaints_;
  std::vector<std::string_view> known_;
};

}  // namespace tutti::app
