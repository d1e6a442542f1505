// SPDX-License-Identifier: Apache-2.0
#include "dialects/preemptable.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace tutti::dialects {

bool IsPreemptable(const model::Pod& pod) {
  constexpr std::string_view kKey = "volcano.sh/preemptable";
  constexpr std::array<std::string_view, 6> kTrue = {"1", "t", "T", "true", "TRUE", "True"};
  const std::string* said = model::Find(pod.meta.annotations, kKey);
  if (!said) said = model::Find(*pod.meta.labels, kKey);
  return !said || std::ranges::find(kTrue, *said) != kTrue.end();
}

}  // namespace tutti::dialects
