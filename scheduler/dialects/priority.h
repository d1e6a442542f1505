// SPDX-License-Identifier: Apache-2.0
// PriorityClasses by name, for declarations that name one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "model/object.h"

namespace tutti::dialects {

class PriorityClasses {
 public:
  static model::ObjectKind Kind();

  // True when the class changed: its value, or whether it is a default.
  bool Put(const model::Object& object);
  bool Drop(std::string_view name);

  // nullopt: no such class. The two that every cluster has are known without their objects.
  std::optional<int32_t> Value(std::string_view name) const;
  // The class of what names none: of those that say globalDefault, the one with the lowest value. Empty: none says it.
  std::string Default() const;

 private:
  struct Class {
    int32_t value = 0;
    bool is_default = false;
    friend bool operator==(const Class&, const Class&) = default;
  };
  std::map<std::string, Class, std::less<>> classes_;
  std::set<std::pair<int32_t, std::string>> defaults_;  // value, name
};

}  // namespace tutti::dialects
