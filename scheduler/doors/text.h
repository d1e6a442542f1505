// SPDX-License-Identifier: Apache-2.0
// Text of messages: what protobuf takes as text, and messages as JSON.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"

namespace google::protobuf {
class Message;
class Timestamp;
}  // namespace google::protobuf

namespace tutti::doors {

// Returns `text` as UTF-8: bytes that are none become U+FFFD. Names in annotations may hold any bytes, and protobuf
// refuses such text.
std::string Utf8(std::string_view text);

// Returns the message on one line, with names in camelCase. Fields that have nothing to say are left out. Empty:
// JSON cannot say it.
std::string JsonOf(const google::protobuf::Message& message);

// Sets a wall time.
void SetTime(base::Millis ms, google::protobuf::Timestamp* to);

// Returns the number, or the nearest that 32 bits hold.
int32_t Small(int64_t number);

}  // namespace tutti::doors
