// SPDX-License-Identifier: Apache-2.0
#include "core/gangs/ended.h"

#include <algorithm>

namespace tutti::core {

int64_t DoneIn(const model::QuotaTerms& terms, const std::string& role) {
  const auto done = terms.done.find(role);
  return done == terms.done.end() ? 0 : done->second;
}

bool MayBeFollowed(const Gang& gang) { return !gang.whole && gang.quota && gang.quota->terms; }

int64_t CountGone(const Gang& gang, const std::string& role, int64_t there) {
  if (!gang.quota || !gang.quota->terms) return 0;
  return std::max<int64_t>(0, DoneIn(*gang.quota->terms, role) - there);
}

int64_t CountEnded(const Gang& gang, const std::string& role, int64_t there) {
  return MayBeFollowed(gang) ? std::min(DoneIn(*gang.quota->terms, role), there) : there;
}

}  // namespace tutti::core
