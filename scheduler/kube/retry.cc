// SPDX-License-Identifier: Apache-2.0
#include "kube/retry.h"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::kube {
namespace {

constexpr base::Millis kWaitUnlessSaidMs = 1'000;

Meaning MeaningOf(int status, bool retry_after) {
  if (status >= 200 && status < 300) return Meaning::kDone;
  if (status == 304) return Meaning::kDone;
  if (status == 401 || status == 429) return Meaning::kNotDone;
  if (status == 503 && retry_after) return Meaning::kNotDone;
  if (status >= 500) return Meaning::kUncertain;
  return Meaning::kRefused;
}

}  // namespace

Judgement Judge(const Response& response) {
  Judgement judgement;
  judgement.http_status = response.status;
  // After a status line the server has decided, even if the body is incomplete.
  if (response.status == 0) {
    judgement.meaning = response.failure == Response::Failure::kNotSent ? Meaning::kNotDone : Meaning::kUncertain;
    judgement.message = response.error;
    return judgement;
  }
  judgement.meaning = MeaningOf(response.status, response.retry_after_ms >= 0);
  if (judgement.meaning == Meaning::kDone) {
    judgement.message = response.error;
    return judgement;
  }
  const ApiStatus status = DecodeStatus(response.body);
  judgement.reason = status.reason;
  judgement.message = status.message.empty() ? fmt::format("HTTP {}", response.status) : status.message;
  judgement.wait_ms = std::max(response.retry_after_ms, status.retry_after_ms);
  if (judgement.wait_ms < 0) judgement.wait_ms = judgement.meaning == Meaning::kNotDone ? kWaitUnlessSaidMs : 0;
  return judgement;
}

std::string Complaint(const Judgement& judgement) {
  if (judgement.http_status == 401) return "";
  if (judgement.http_status != 403) return judgement.message;
  return judgement.message + "; manifests/deploy/20-rbac.yaml grants it";
}

base::Millis Backoff::Next() {
  step_ms_ = step_ms_ == 0 ? first_ms_ : std::min(2 * step_ms_, longest_ms_);
  return random_.Between(step_ms_ / 2, step_ms_);
}

}  // namespace tutti::kube
