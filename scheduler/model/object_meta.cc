// SPDX-License-Identifier: Apache-2.0
#include "model/object_meta.h"

#include <algorithm>

namespace tutti::model {

const std::string* Find(const StringMap& map, std::string_view key) {
  const auto at = std::lower_bound(map.begin(), map.end(), key,
                                   [](const auto& item, std::string_view k) { return item.first < k; });
  return at != map.end() && at->first == key ? &at->second : nullptr;
}

}  // namespace tutti::model
