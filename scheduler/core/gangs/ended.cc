// SPDX-License-Identifier: Apache-2.0
#include "core/gangs/ended.h"

#include <algorithm>

namespace tutti::core {

int64_t CountGone(const Gang& gang, const std::string& role, int64_t there) {
  if (!gang.quota || !gang.quota->terms) return 0;
  const auto done = gang.quota->terms->done.find(role);
  return done == gang.quota->terms->done.end() ? 0 : std::max<int64_t>(0, done->second - there);
}

int64_t CountEnded(const Gang& gang, const std::string& role, int64_t there) {
  if (gang.whole || !gang.quota || !gang.quota->terms) return there;
  const auto done = gang.quota->terms->done.find(role);
  return done == gang.quota->terms->done.end() ? 0 : std::min(done->second, there);
}

}  // namespace tutti::core
