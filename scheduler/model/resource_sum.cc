// SPDX-License-Identifier: Apache-2.0
#include "model/resource_sum.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace tutti::model {

void ResourceSum::Add(const ResourceList& amounts) {
  for (const auto& [name, amount] : amounts) Shift(name, amount);
}

void ResourceSum::Add(const ResourceSum& other) {
  for (const auto& [name, sum] : other.sums_) Shift(name, sum);
}

void ResourceSum::Subtract(const ResourceList& amounts) {
  for (const auto& [name, amount] : amounts) Shift(name, -Wide{amount});
}

// Users that make pods make up names of resources: what comes to nothing is let go.
void ResourceSum::Shift(std::string_view name, Wide by) {
  auto at = sums_.find(name);
  if (at == sums_.end()) at = sums_.emplace(name, 0).first;
  at->second += by;
  TUTTI_CHECK(at->second >= 0, "what is taken away was added: " + at->first);
  if (at->second == 0) sums_.erase(at);
}

int64_t ResourceSum::Get(std::string_view name) const {
  const auto at = sums_.find(name);
  return at == sums_.end() ? 0 : static_cast<int64_t>(std::min(at->second, Wide{std::numeric_limits<int64_t>::max()}));
}

ResourceList ResourceSum::Seen() const {
  ResourceList seen;
  for (const auto& [name, sum] : sums_) seen.Set(name, Get(name));
  return seen;
}

}  // namespace tutti::model
