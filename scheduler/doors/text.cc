// SPDX-License-Identifier: Apache-2.0
#include "doors/text.h"

#include <google/protobuf/timestamp.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <limits>

namespace tutti::doors {
namespace {

// Returns the length of the UTF-8 sequence at the beginning of `text`; 0: there is none.
size_t SequenceAt(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t size = first >= 0xC2 && first < 0xE0 ? 2 : first >= 0xE0 && first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
  if (first < 0xC2 || size == 0 || text.size() < size) return 0;
  for (size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool surrogate = first == 0xED && byte(1) > 0x9F;
  const bool beyond = first == 0xF4 && byte(1) > 0x8F;
  return overlong || surrogate || beyond ? 0 : size;
}

}  // namespace

std::string Utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t size = SequenceAt(text);
    out += size == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, size);
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return out;
}

std::string JsonOf(const google::protobuf::Message& message) {
  std::string text;
  // It fails for a time that JSON cannot say; what was written until then is no JSON.
  if (!google::protobuf::util::MessageToJsonString(message, &text).ok()) return "";
  return text;
}

void SetTime(base::Millis ms, google::protobuf::Timestamp* to) {
  constexpr base::Millis kLatest = 253'402'300'799'000;  // the end of the year 9999, as protobuf has it
  const base::Millis cut = std::clamp<base::Millis>(ms, 0, kLatest);
  to->set_seconds(cut / 1000);
  to->set_nanos(static_cast<int32_t>(cut % 1000 * 1'000'000));
}

int32_t Small(int64_t number) {
  return static_cast<int32_t>(
      std::clamp<int64_t>(number, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
}

}  // namespace tutti::doors
