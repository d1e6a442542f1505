// SPDX-License-Identifier: Apache-2.0
// sim/api/reviews.h - questions that are posted and answered, never stored: who am I, may I.
#pragma once

#include <optional>

#include "sim/api/http_types.h"

namespace tutti::sim {

// Access, token and subject reviews: everyone is the cluster's admin. Nothing for other paths.
std::optional<HttpResponse> AnswerReview(const HttpRequest& request);

}  // namespace tutti::sim
