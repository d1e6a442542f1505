// SPDX-License-Identifier: Apache-2.0
// Reads YAML strictly: every field is known, of its type and in its range, or there is a complaint that names the
// file, the line, the field and the remedy. All complaints of a file are collected, so that one run shows them all.
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

// The text with blanks for line ends and other control characters, which what people write may have.
std::string InOneLine(std::string text);

// The complaints about one file, in the order of their finding.
class Complaints {
 public:
  explicit Complaints(std::string file) : file_(std::move(file)) {}
  // "FILE:LINE: FIELD: what"; without a line when the node has none.
  void Add(const YAML::Node& at, std::string_view field, std::string_view what);
  const std::vector<std::string>& lines() const { return lines_; }
  const std::string& file() const { return file_; }

 private:
  std::string file_;
  std::vector<std::string> lines_;
};

using base::Closest;

// One mapping, scalars as in base/yaml_scalar.h. Each field is asked for once, an absent or null one leaves `out` as it is; Done() complains about
// those that nobody asked for. `complaints` must outlive this.
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
  // The field as a mapping of its own; its Done() is the caller's to call.
  Fields Map(std::string_view name);
  // Calls `each` with every item of a sequence of mappings.
  void Sequence(std::string_view name, const std::function<void(Fields&)>& each);
  // Known, and not looked into.
  void Accept(std::string_view name);

  bool Has(std::string_view name) const;
  void Complain(std::string_view name, std::string_view what);
  void Done();

  const std::string& path() const { return path_; }
  const YAML::Node& node() const { return node_; }
  // Where the mapping stands: "FILE:LINE: FIELD".
  std::string Where() const;

 private:
  // The value, marked as asked for; undefined when absent or null.
  YAML::Node Take(std::string_view name);
  const YAML::Node* TakeScalar(std::string_view name, std::string_view expected, YAML::Node* hold);
  std::string PathOf(std::string_view name) const;

  YAML::Node node_;
  std::string path_;
  Complaints* complaints_;
  std::vector<std::string_view> known_;
};

}  // namespace tutti::app
