// SPDX-License-Identifier: Apache-2.0
// base/json_fwd.h - the name of the JSON value, for headers that only mention it.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace tutti::base {

template <class Key, class T, class Compare, class Allocator>
class FlatMap;

// A JSON value as nlohmann's library has it, but that an object is one sorted array: its keys print in order, and a
// reference into an object does not outlive the next key that is added to it.
using Json = nlohmann::basic_json<FlatMap>;

}  // namespace tutti::base
