// SPDX-License-Identifier: Apache-2.0
// StrongId<Tag>: a dense uint32 that cannot be mistaken for another kind of id.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>

namespace tutti::base {

template <typename Tag>
struct StrongId {
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  uint32_t value = kNone;

  constexpr StrongId() = default;
  constexpr explicit StrongId(uint32_t v) : value(v) {}
  constexpr bool valid() const { return value != kNone; }
  constexpr explicit operator bool() const { return valid(); }
  constexpr size_t index() const { return value; }
  friend constexpr auto operator<=>(StrongId, StrongId) = default;
  template <typename H>
  friend H AbslHashValue(H h, StrongId id) {
    return H::combine(std::move(h), id.value);
  }
};

}  // namespace tutti::base

template <typename Tag>
struct std::hash<tutti::base::StrongId<Tag>> {
  size_t operator()(tutti::base::StrongId<Tag> id) const noexcept { return std::hash<uint32_t>()(id.value); }
};
