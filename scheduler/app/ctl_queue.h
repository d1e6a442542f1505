// SPDX-License-Identifier: Apache-2.0
// Opens, closes and holds queues, as `vcctl queue operate`, `kueuectl stop` and `kueuectl resume` do.
//
//             a Queue of Volcano     a ClusterQueue or LocalQueue of Kueue
//   open      Command OpenQueue      stopPolicy None
//   close     Command CloseQueue     stopPolicy HoldAndDrain
//   hold      is refused             stopPolicy Hold
#pragma once

#include <string>

#include "app/api_client.h"

namespace tutti::app {

enum class QueueAction { kOpen, kClose, kHold };

// `name`: NAME or KIND/NAME. `ns`: of a LocalQueue. Returns a sentence that says what was changed. Errors: there is no
// such queue, or there are queues of several kinds; what the API server refuses.
base::Result<std::string> OperateQueue(ApiClient& api, QueueAction action, const std::string& name,
                                       const std::string& ns);

}  // namespace tutti::app
