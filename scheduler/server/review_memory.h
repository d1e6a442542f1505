// SPDX-License-Identifier: Apache-2.0
// ReviewMemory: keeps answers of the API server, each until its time is over. Bounded and thread-safe.
//
// Adding an answer copies the memory. If two threads add at once, one answer may be lost; its question is then asked
// again.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "observe/published.h"

namespace tutti::server {

template <typename Value>
class ReviewMemory {
 public:
  static constexpr size_t kMost = 512;  // there are few callers at a time; a flood of tokens must not take more memory

  std::optional<Value> Find(const std::string& key, base::Millis now) const {
    const auto entries = entries_.Latest();
    if (!entries) return std::nullopt;
    const auto at = entries->find(key);
    if (at == entries->end() || at->second.until <= now) return std::nullopt;
    return at->second.value;
  }

  void Keep(const std::string& key, Value value, base::Millis now, base::Millis until) {
    if (until <= now) return;
    auto next = std::make_shared<Entries>();
    if (const auto entries = entries_.Latest(); entries)
      for (const auto& [old, entry] : *entries)
        if (entry.until > now) next->emplace(old, entry);
    if (next->size() >= kMost) next->clear();
    next->insert_or_assign(key, Entry{std::move(value), until});
    entries_.Publish(std::move(next));
  }

  size_t size() const {
    const auto entries = entries_.Latest();
    return entries ? entries->size() : 0;
  }

 private:
  struct Entry {
    Value value;
    base::Millis until = 0;
  };
  using Entries = std::map<std::string, Entry>;
  observe::Published<Entries> entries_;
};

}  // namespace tutti::server
