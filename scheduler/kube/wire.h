// SPDX-License-Identifier: Apache-2.0
// The protobuf wire format, read by hand: we need few of the fields, and skipping the others at their tags costs no
// allocation.
//
//   for (WireReader r(bytes); r.Next();)
//     switch (r.field()) {
//       case field::PodCondition::kType: type = r.bytes(); break;
//       case field::PodCondition::kObservedGeneration: generation = r.number(); break;
//     }
//
// Malformed input ends the loop with ok() false; reads never go out of bounds. A value of a wrong wire type reads as
// empty or 0. Views point into the input.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tutti::kube {

// The field numbers of a map's entry.
inline constexpr uint32_t kMapKey = 1, kMapValue = 2;

class WireReader {
 public:
  explicit WireReader(std::string_view message) : at_(message.data()), end_(at_ + message.size()) {}

  // Steps to the next field. False at the end, or if the input is malformed.
  bool Next();
  uint32_t field() const { return field_; }
  std::string_view bytes() const { return bytes_; }
  std::string text() const { return std::string(bytes_); }
  int64_t number() const { return static_cast<int64_t>(number_); }
  bool flag() const { return number_ != 0; }
  bool ok() const { return ok_; }

 private:
  bool Varint(uint64_t* value);
  bool Stop();

  const char* at_;
  const char* const end_;
  uint32_t field_ = 0;
  std::string_view bytes_;
  uint64_t number_ = 0;
  bool ok_ = true;
};

// Returns the first field of this number that holds bytes; empty when absent.
std::string_view FindBytes(std::string_view message, uint32_t field);

// Appends fields to a string. Empty texts and zeros are left out.
class WireWriter {
 public:
  explicit WireWriter(std::string* out) : out_(out) {}

  void Text(uint32_t field, std::string_view text);
  void Number(uint32_t field, int64_t number);
  // Appends a nested message; `fill` gets a writer for its fields.
  template <typename Fill>
  void Message(uint32_t field, Fill fill) {
    std::string nested;
    WireWriter writer(&nested);
    fill(writer);
    Bytes(field, nested);
  }
  // Appends a text even when it is empty.
  void Bytes(uint32_t field, std::string_view bytes);

 private:
  void Varint(uint64_t value);
  std::string* out_;
};

}  // namespace tutti::kube
