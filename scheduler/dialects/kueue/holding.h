// SPDX-License-Identifier: Apache-2.0
// Holding: what a job, a Pod or a pod template with a queue's label becomes when it is created, so that nothing of it
// runs before it is admitted; and the AdmissionReview by which an API server asks for that. The policies of
// manifests/kueue/hold say the same to servers that have them. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "dialects/kueue/jobs.h"
#include "model/object.h"

namespace tutti::dialects::kueue {

// The object's body as it is to be stored; the body that it has, where it is not held. `creates`: it is not there yet.
// `scheduler_name`: the one that places pods of queues.
base::Json Held(const JobKind& kind, const model::Object& object, bool creates, const std::string& scheduler_name);

struct ReviewAnswer {
  std::string text;   // the AdmissionReview to send back
  bool held = false;  // it changes the object
};
// Answers an AdmissionReview of admission.k8s.io/v1. Every object is allowed. Error kInvalid: the text is no such
// review; the message names the field.
base::Result<ReviewAnswer> AnswerReview(std::string_view text, const std::string& scheduler_name);

}  // namespace tutti::dialects::kueue
