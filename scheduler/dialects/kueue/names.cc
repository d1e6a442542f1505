// SPDX-License-Identifier: Apache-2.0
#include "dialects/kueue/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/sha1.h"
#include "base/text.h"

namespace tutti::dialects::kueue {

std::string WorkloadName(std::string_view kind, std::string_view group, std::string_view name, std::string_view uid) {
  constexpr size_t kLongestPrefix = 247;  // 253 without "-" and the five digits
  std::string prefix = fmt::format("{}-{}", base::LowerCase(kind), name);
  if (prefix.size() > kLongestPrefix) prefix.resize(kLongestPrefix);
  const std::string hash = base::Sha1Hex(fmt::format("{}\n{}\n{}\n{}", kind, group, name, uid));
  return fmt::format("{}-{}", prefix, hash.substr(0, 5));
}

}  // namespace tutti::dialects::kueue
