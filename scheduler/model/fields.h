// SPDX-License-Identifier: Apache-2.0
// Fields: the members of a struct as a tuple of references, in the order of their declaration. What must look at every
// member (a hash, a footprint, a comparison) is made from it, and so forgets none.
//
// A struct takes part once kFieldCount says how many members it has; a wrong number does not compile.
#pragma once

#include <cstddef>
#include <memory>
#include <tuple>

namespace tutti::model {

// 0: a value without members to look at.
template <typename T>
inline constexpr size_t kFieldCount = 0;

template <typename T>
concept HasFields = kFieldCount<T> > 0;

// clang-format off
#define TUTTI_FIELDS(count, ...) \
  if constexpr (kFieldCount<T> == count) { const auto& [__VA_ARGS__] = value; return std::tie(__VA_ARGS__); }
// clang-format on
template <HasFields T>
auto Fields(const T& value) {
  static_assert(kFieldCount<T> <= 24, "add a line below");
  TUTTI_FIELDS(1, a)
  TUTTI_FIELDS(2, a, b)
  TUTTI_FIELDS(3, a, b, c)
  TUTTI_FIELDS(4, a, b, c, d)
  TUTTI_FIELDS(5, a, b, c, d, e)
  TUTTI_FIELDS(6, a, b, c, d, e, f)
  TUTTI_FIELDS(7, a, b, c, d, e, f, g)
  TUTTI_FIELDS(8, a, b, c, d, e, f, g, h)
  TUTTI_FIELDS(9, a, b, c, d, e, f, g, h, i)
  TUTTI_FIELDS(10, a, b, c, d, e, f, g, h, i, j)
  TUTTI_FIELDS(11, a, b, c, d, e, f, g, h, i, j, k)
  TUTTI_FIELDS(12, a, b, c, d, e, f, g, h, i, j, k, l)
  TUTTI_FIELDS(13, a, b, c, d, e, f, g, h, i, j, k, l, m)
  TUTTI_FIELDS(14, a, b, c, d, e, f, g, h, i, j, k, l, m, n)
  TUTTI_FIELDS(15, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)
  TUTTI_FIELDS(16, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
  TUTTI_FIELDS(17, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q)
  TUTTI_FIELDS(18, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r)
  TUTTI_FIELDS(19, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s)
  TUTTI_FIELDS(20, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t)
  TUTTI_FIELDS(21, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u)
  TUTTI_FIELDS(22, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v)
  TUTTI_FIELDS(23, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w)
  TUTTI_FIELDS(24, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x)
}
#undef TUTTI_FIELDS

template <HasFields T, typename... Member>
bool SameBut(const T& a, const T& b, Member T::*... left_out);

template <typename T>
bool SameValue(const T& a, const T& b) {
  if constexpr (HasFields<T>)
    return SameBut(a, b);
  else
    return a == b;
}
// Of what is shared, the values.
template <typename T>
bool SameValue(const std::shared_ptr<T>& a, const std::shared_ptr<T>& b) {
  return a == b || (a != nullptr && b != nullptr && SameValue(*a, *b));
}

// Tells whether `a` and `b` agree in every member that is not among `left_out`.
template <HasFields T, typename... Member>
bool SameBut(const T& a, const T& b, Member T::*... left_out) {
  const auto same = [&](const auto& of_a, const auto& of_b) {
    [[maybe_unused]] const void* at = &of_a;
    return ((at == static_cast<const void*>(&(a.*left_out))) || ...) || SameValue(of_a, of_b);
  };
  return std::apply(
      [&](const auto&... of_a) {
        return std::apply([&](const auto&... of_b) { return (same(of_a, of_b) && ...); }, Fields(b));
      },
      Fields(a));
}

}  // namespace tutti::model
