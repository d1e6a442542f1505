// SPDX-License-Identifier: Apache-2.0
// SmallInts: a number for each slot. Each takes as many bytes as the widest one needs: 1, 2, 4 or 8, and none while all
// are 0. A ranking keeps such numbers for each class of pods and node, so their size limits how many classes are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <variant>
#include <vector>

namespace tutti::framework {

class SmallInts {
 public:
  // True while only 0 was put.
  bool empty() const { return size_ == 0; }
  int64_t at(size_t slot) const {
    if (slot >= size_) return 0;
    return std::visit([slot](const auto& numbers) -> int64_t { return numbers[slot]; }, numbers_);
  }
  // Sets the number of a slot, and makes room for `slots` slots. REQUIRES: slot < slots
  void Put(size_t slot, int64_t number, size_t slots) {
    if (empty() && number == 0) return;
    if (size_ < slots) Resize(slots);
    const auto put = [slot, number](auto& numbers) {
      using Number = std::decay_t<decltype(numbers[0])>;
      if (number < std::numeric_limits<Number>::min() || number > std::numeric_limits<Number>::max()) return false;
      numbers[slot] = static_cast<Number>(number);
      return true;
    };
    while (!std::visit(put, numbers_)) Widen();
  }
  void Clear() {
    numbers_ = std::vector<int8_t>();
    size_ = 0;
  }
  // Returns the bytes held.
  size_t memory() const {
    return std::visit([](const auto& numbers) { return numbers.capacity() * sizeof numbers[0]; }, numbers_);
  }

 private:
  void Resize(size_t slots) {
    std::visit([slots](auto& numbers) { numbers.resize(slots); }, numbers_);
    size_ = slots;
  }
  void Widen() {
    if (const auto* bytes = std::get_if<std::vector<int8_t>>(&numbers_))
      numbers_ = std::vector<int16_t>(bytes->begin(), bytes->end());
    else if (const auto* shorts = std::get_if<std::vector<int16_t>>(&numbers_))
      numbers_ = std::vector<int32_t>(shorts->begin(), shorts->end());
    else if (const auto* words = std::get_if<std::vector<int32_t>>(&numbers_))
      numbers_ = std::vector<int64_t>(words->begin(), words->end());
  }

  std::variant<std::vector<int8_t>, std::vector<int16_t>, std::vector<int32_t>, std::vector<int64_t>> numbers_;
  size_t size_ = 0;
};

}  // namespace tutti::framework
