// SPDX-License-Identifier: Apache-2.0
// Shared<T>: a value that many objects have in common. It does not change; a copy costs no memory, and T() takes none.
// MaybeShared<T>: the same, where there may be none.
#pragma once

#include <initializer_list>
#include <memory>
#include <utility>

namespace tutti::model {

template <typename T>
class Shared {
 public:
  Shared() = default;
  Shared(T value) {
    if (!(value == T())) value_ = std::make_shared<const T>(std::move(value));
  }
  template <typename U = T>
  Shared(std::initializer_list<typename U::value_type> items) : Shared(T(items)) {}

  const T& operator*() const { return value_ ? *value_ : Nothing(); }
  const T* operator->() const { return &**this; }
  operator const T&() const { return **this; }
  auto begin() const { return (**this).begin(); }
  auto end() const { return (**this).end(); }

  friend bool operator==(const Shared& a, const Shared& b) { return a.value_ == b.value_ || *a == *b; }
  friend bool operator==(const Shared& a, const T& b) { return *a == b; }

 private:
  template <typename>
  friend class SharedPool;
  static const T& Nothing() {
    static const T nothing;
    return nothing;
  }

  std::shared_ptr<const T> value_;  // null: T()
};

// A value that many objects have in common, or none. Two are equal if their values are, or if both have none.
template <typename T>
class MaybeShared : public std::shared_ptr<const T> {
 public:
  using std::shared_ptr<const T>::shared_ptr;
  MaybeShared(std::shared_ptr<const T> value) : std::shared_ptr<const T>(std::move(value)) {}

  friend bool operator==(const MaybeShared& a, const MaybeShared& b) {
    return a.get() == b.get() || (a && b && *a == *b);
  }
};

}  // namespace tutti::model
