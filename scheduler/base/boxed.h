// SPDX-License-Identifier: Apache-2.0
// Boxed<T>: an optional that takes one pointer while it is empty, for large things that most of many objects do not
// have.
#pragma once

#include <memory>
#include <utility>

namespace tutti::base {

template <typename T>
class Boxed {
 public:
  Boxed() = default;
  Boxed(T value) : box_(std::make_unique<T>(std::move(value))) {}
  Boxed& operator=(T value) {
    box_ = std::make_unique<T>(std::move(value));
    return *this;
  }

  T& emplace() { return *(box_ = std::make_unique<T>()); }

  explicit operator bool() const { return box_ != nullptr; }
  bool has_value() const { return box_ != nullptr; }
  void reset() { box_.reset(); }
  // REQUIRES: not empty.
  T& operator*() { return *box_; }
  const T& operator*() const { return *box_; }
  T* operator->() { return box_.get(); }
  const T* operator->() const { return box_.get(); }

 private:
  std::unique_ptr<T> box_;
};

}  // namespace tutti::base
