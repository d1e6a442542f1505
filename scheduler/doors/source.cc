// SPDX-License-Identifier: Apache-2.0
#include "doors/source.h"

namespace tutti::doors {

int StatusOf(Failure::Kind kind) {
  switch (kind) {
    case Failure::Kind::kInvalid: return 400;
    case Failure::Kind::kAnonymous: return 401;
    case Failure::Kind::kForbidden: return 403;
    case Failure::Kind::kNotFound: return 404;
    case Failure::Kind::kTooMany: return 429;
    case Failure::Kind::kUnavailable: return 503;
  }
  return 500;
}

}  // namespace tutti::doors
