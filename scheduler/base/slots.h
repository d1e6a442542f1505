// SPDX-License-Identifier: Apache-2.0
// Slots<T>: an array that grows at its end and never moves what it holds. One more costs the same however many there
// are, and references stay valid.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace tutti::base {

// `kBlock` of them are made at a time; a power of two.
template <typename T, size_t kBlock>
class Slots {
  static_assert(kBlock > 0 && (kBlock & (kBlock - 1)) == 0);

 public:
  size_t size() const { return size_; }
  // REQUIRES: i < size().
  T& operator[](size_t i) { return blocks_[i / kBlock][i % kBlock]; }
  const T& operator[](size_t i) const { return blocks_[i / kBlock][i % kBlock]; }
  T& Add() {
    if (size_ % kBlock == 0) blocks_.push_back(std::make_unique<T[]>(kBlock));
    return (*this)[size_++];
  }

 private:
  std::vector<std::unique_ptr<T[]>> blocks_;
  size_t size_ = 0;
};

}  // namespace tutti::base
