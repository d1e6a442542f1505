// SPDX-License-Identifier: Apache-2.0
// PriorityClasses by name, for declarations that name one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/object.h"

namespace tutti::dialects {

class PriorityClasses {
 public:
  static model::ObjectKind Kind();

  // True when the value of the class changed.
  bool Put(const model::Object& object);
  bool Drop(std::string_view name);

  // nullopt: no such class. The two that every cluster has are known without their objects.
  std::optional<int32_t> Value(std::string_view name) const;

 private:
  std::map<std::string, int32_t, std::less<>> values_;
};

}  // namespace tutti::dialects
