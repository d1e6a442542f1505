// SPDX-License-Identifier: Apache-2.0
#include "model/resource_list.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/quantity.h"

namespace tutti::model {
namespace {

auto Find(auto& items, std::string_view name) {
  return std::lower_bound(items.begin(), items.end(), name,
                          [](const auto& item, std::string_view n) { return item.first < n; });
}

}  // namespace

int64_t ResourceList::Get(std::string_view name) const {
  const auto at = Find(items_, name);
  return at != items_.end() && at->first == name ? at->second : 0;
}

bool ResourceList::Has(std::string_view name) const {
  const auto at = Find(items_, name);
  return at != items_.end() && at->first == name;
}

void ResourceList::Set(std::string_view name, int64_t amount) {
  const auto at = Find(items_, name);
  if (at != items_.end() && at->first == name)
    at->second = amount;
  else
    items_.emplace(at, std::string(name), amount);
}

void ResourceList::Add(std::string_view name, int64_t amount) { Set(name, SaturatingAdd(Get(name), amount)); }

void ResourceList::AddAll(const ResourceList& other) {
  for (const auto& [name, amount] : other.items_) Add(name, amount);
}

void ResourceList::MaxAll(const ResourceList& other) {
  for (const auto& [name, amount] : other.items_) Set(name, Has(name) ? std::max(Get(name), amount) : amount);
}

base::Status ResourceList::SetText(std::string_view name, std::string_view text) {
  const auto parsed = name == kCpu ? ParseMilli(text) : ParseUnits(text);
  if (!parsed) return base::Invalid(fmt::format("{}: {}", name, parsed.error().message));
  Set(name, parsed->value);
  return {};
}

std::string FormatAmount(std::string_view name, int64_t amount) {
  if (name == kCpu) return FormatCpu(amount);
  if (name == kMemory || name == kEphemeralStorage || name.starts_with("hugepages-")) return FormatBytes(amount);
  return fmt::format("{}", amount);
}

}  // namespace tutti::model
