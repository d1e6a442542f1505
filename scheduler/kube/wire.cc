// SPDX-License-Identifier: Apache-2.0
#include "kube/wire.h"

namespace tutti::kube {
namespace {

enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

}  // namespace

bool WireReader::Varint(uint64_t* value) {
  uint64_t result = 0;
  for (int shift = 0; shift < 64 && at_ < end_; shift += 7) {
    const auto byte = static_cast<unsigned char>(*at_++);
    result |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value = result;
      return true;
    }
  }
  return false;
}

bool WireReader::Stop() {
  ok_ = false;
  at_ = end_;
  return false;
}

bool WireReader::Next() {
  if (at_ == end_) return false;
  uint64_t tag = 0;
  if (!Varint(&tag)) return Stop();
  field_ = static_cast<uint32_t>(tag >> 3);
  bytes_ = {};
  number_ = 0;
  size_t size = 0;
  switch (tag & 7) {
    case kVarint: return Varint(&number_) || Stop();
    case kLength: {
      uint64_t length = 0;
      if (!Varint(&length) || length > static_cast<uint64_t>(end_ - at_)) return Stop();
      bytes_ = std::string_view(at_, length);
      at_ += length;
      return true;
    }
    case kFixed64: size = 8; break;
    case kFixed32: size = 4; break;
    default: return Stop();
  }
  if (static_cast<size_t>(end_ - at_) < size) return Stop();
  at_ += size;
  return true;
}

std::string_view FindBytes(std::string_view message, uint32_t field) {
  for (WireReader r(message); r.Next();)
    if (r.field() == field && r.bytes().data() != nullptr) return r.bytes();
  return {};
}

void WireWriter::Varint(uint64_t value) {
  while (value >= 0x80) {
    out_->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out_->push_back(static_cast<char>(value));
}

void WireWriter::Bytes(uint32_t field, std::string_view bytes) {
  Varint(uint64_t{field} << 3 | kLength);
  Varint(bytes.size());
  out_->append(bytes);
}

void WireWriter::Text(uint32_t field, std::string_view text) {
  if (!text.empty()) Bytes(field, text);
}

void WireWriter::Number(uint32_t field, int64_t number) {
  if (number == 0) return;
  Varint(uint64_t{field} << 3 | kVarint);
  Varint(static_cast<uint64_t>(number));
}

}  // namespace tutti::kube
