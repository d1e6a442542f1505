// SPDX-License-Identifier: Apache-2.0
// Single fields of JSON by any author, for what need not be complained about. What is absent, or of another type, is
// nothing: null, "", 0 or an empty list.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/json_fwd.h"

namespace tutti::dialects {

const base::Json& Field(const base::Json& object, std::string_view key);
std::string TextIn(const base::Json& object, std::string_view key);
// A count: a whole number, which is brought into [0, kLargestCount].
int64_t CountIn(const base::Json& object, std::string_view key);
// The number that all of the text is, as users write it in labels and annotations; nullopt: it is no whole number.
std::optional<int64_t> WholeNumber(std::string_view text);
// Wall time.
base::Millis TimeIn(const base::Json& object, std::string_view key);
const base::Json& ListIn(const base::Json& object, std::string_view key);
const base::Json& AsList(const base::Json& value);
// The API group and the version in an apiVersion: "batch" and "v1" in "batch/v1", "" and "v1" in "v1".
struct GroupVersion {
  std::string_view group, version;
};
GroupVersion SplitVersion(std::string_view api_version);

// The first condition of the type in a list of them; null: there is none.
const base::Json* FindCondition(const base::Json& conditions, std::string_view type);
// The same if its status is True; null: it does not hold.
const base::Json* FindTrue(const base::Json& conditions, std::string_view type);
inline bool IsTrue(const base::Json& conditions, std::string_view type) {
  return FindTrue(conditions, type) != nullptr;
}

}  // namespace tutti::dialects
