// SPDX-License-Identifier: Apache-2.0
#include "dialects/preemptable.h"

#include <string>
#include <string_view>

#include "base/text.h"

namespace tutti::dialects {

bool IsPreemptable(const model::Pod& pod) {
  constexpr std::string_view kKey = "volcano.sh/preemptable";
  const std::string* said = model::Find(pod.meta.annotations, kKey);
  if (!said) said = model::Find(*pod.meta.labels, kKey);
  return !said || base::ParseGoBool(*said).value_or(false);
}

}  // namespace tutti::dialects
