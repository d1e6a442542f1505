// SPDX-License-Identifier: Apache-2.0
#include "kube/extender_nodes.h"

#include "kube/extender_messages.h"

namespace tutti::kube {

ExtenderNodes::Listed ExtenderNodes::AsOf(base::Millis at_ms) {
  const base::MutexLock lock(mutex_);
  if (asked_ms_ >= 0 && asked_ms_ >= at_ms) return last_;
  asked_ms_ = clock_.MonotonicMs();
  const auto list = read_("/api/v1/nodes");
  if (list)
    last_ = std::make_shared<const ByName>(ItemsByName(*list));
  else
    last_ = base::Invalid("the nodes could not be read for an extender: " + list.error().message);
  return last_;
}

}  // namespace tutti::kube
