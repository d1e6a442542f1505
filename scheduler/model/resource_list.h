// SPDX-License-Identifier: Apache-2.0
// ResourceList: amounts by resource name, as objects say them. Sorted by name; cpu in thousandths, all else in units.
// (Planning uses dense columns instead, see cluster/columns.h.)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace tutti::model {

inline constexpr std::string_view kCpu = "cpu";
inline constexpr std::string_view kMemory = "memory";
inline constexpr std::string_view kEphemeralStorage = "ephemeral-storage";
inline constexpr std::string_view kPods = "pods";

class ResourceList {
 public:
  using Item = std::pair<std::string, int64_t>;

  // 0 when absent.
  int64_t Get(std::string_view name) const;
  bool Has(std::string_view name) const;
  void Set(std::string_view name, int64_t amount);
  void Add(std::string_view name, int64_t amount);  // saturating
  void AddAll(const ResourceList& other);
  void MaxAll(const ResourceList& other);

  // Parses `text` in the unit of `name`. Error kInvalid names the resource.
  base::Status SetText(std::string_view name, std::string_view text);

  bool empty() const { return items_.empty(); }
  const std::vector<Item>& items() const { return items_; }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  friend bool operator==(const ResourceList&, const ResourceList&) = default;

 private:
  std::vector<Item> items_;
};

// "2", "500m", "4Gi": `amount` of resource `name` as Kubernetes would print it.
std::string FormatAmount(std::string_view name, int64_t amount);

}  // namespace tutti::model
