// SPDX-License-Identifier: Apache-2.0
#include "doors/text.h"

#include <google/protobuf/timestamp.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <limits>

#include "base/text.h"

namespace tutti::doors {
std::string Utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t size = base::CharacterAt(text, 0);
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
