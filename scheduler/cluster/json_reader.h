// SPDX-License-Identifier: Apache-2.0
// Reads fields out of an object's JSON and remembers what could not be read, by its path.
//
//   JsonReader read;
//   const JsonField root(body), spec = root["spec"];
//   const int64_t minimum = read.Integer(spec["minMember"], 1);
//   if (!read.ok()) ... read.problem() == "spec.minMember: \"abc\" is not a whole number"
//
// Absent and null are the same and never a problem. One may have a hundred thousand problems: the first sixteen are
// remembered, and how many there are. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "model/object_meta.h"
#include "model/resource_list.h"
#include "model/selector.h"

namespace tutti::cluster {

// A place in an object. Paths are spelled only when a problem asks for one.
// REQUIRES: the JSON, the key and the field it was reached through outlive it; that is why a temporary has no [].
class JsonField {
 public:
  explicit JsonField(const base::Json& root) : value_(&root) {}

  JsonField operator[](std::string_view key) const&;
  JsonField operator[](std::string_view key) && = delete;

  bool present() const;
  const base::Json& value() const { return *value_; }  // null when absent
  std::string Path() const;

 private:
  friend class JsonReader;
  JsonField(const base::Json* value, const JsonField* parent, std::string_view key, int64_t index)
      : value_(value), parent_(parent), key_(key), index_(index) {}

  const base::Json* value_;
  const JsonField* parent_ = nullptr;
  std::string_view key_;
  int64_t index_ = -1;  // of an item; -1 for a key
};

class JsonReader {
 public:
  std::string Text(const JsonField& field);  // "" when absent or unreadable
  int64_t Integer(const JsonField& field, int64_t fallback);
  bool Flag(const JsonField& field);
  base::Millis Time(const JsonField& field, base::Millis fallback);
  std::vector<std::string> Texts(const JsonField& field);
  model::StringMap Map(const JsonField& field);
  // Quantities may be strings or numbers; a negative one is a problem. What is unreadable is left out.
  model::ResourceList Resources(const JsonField& field);
  std::optional<model::LabelSelector> Selector(const JsonField& field);
  std::vector<model::Requirement> Requirements(const JsonField& field);

  // Calls `each` for the items of a list, or for the values of an object.
  void Items(const JsonField& list, const std::function<void(const JsonField&)>& each);
  void Values(const JsonField& object, const std::function<void(std::string_view key, const JsonField&)>& each);

  void Problem(const JsonField& field, std::string_view what);

  bool ok() const { return found_ == 0; }
  // The first: "spec.containers[0].resources.requests.cpu: \"abc\" is not a quantity; ...".
  const std::string& problem() const { return problems_.front(); }
  // Those remembered, and as the last line how many more there are.
  std::vector<std::string> TakeProblems();

 private:
  std::vector<std::string> problems_;
  size_t found_ = 0;
};

// "a string", "a list", ... and the value itself, shortened: for people.
std::string Describe(const base::Json& value);

}  // namespace tutti::cluster
