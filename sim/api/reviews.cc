// SPDX-License-Identifier: Apache-2.0
#include "sim/api/reviews.h"

#include "sim/api/representation.h"

namespace tutti::sim {
namespace {

const Json kAdmin = {{"username", "tutti:admin"}, {"groups", {"system:masters", "system:authenticated"}}};

Json StatusFor(const Json& review) {
  const std::string kind = DigString(review, "kind");
  if (kind == "TokenReview") return {{"authenticated", true}, {"user", kAdmin}};
  if (kind == "SelfSubjectReview") return {{"userInfo", kAdmin}};
  if (kind == "SelfSubjectRulesReview") {
    const Json all = {"*"};
    return {{"resourceRules", {{{"verbs", all}, {"apiGroups", all}, {"resources", all}}}},
            {"nonResourceRules", {{{"verbs", all}, {"nonResourceURLs", all}}}},
            {"incomplete", false}};
  }
  if (DigString(review, "spec", "user") == "system:anonymous") return {{"allowed", false}};
  return {{"allowed", true}, {"reason", "the embedded cluster allows everything to users with a token"}};
}

}  // namespace

std::optional<HttpResponse> AnswerReview(const HttpRequest& request) {
  const bool known = request.path.starts_with("/apis/authorization.k8s.io/v1/") ||
                     request.path.starts_with("/apis/authentication.k8s.io/v1/");
  if (!known || request.method != "POST") return std::nullopt;
  auto body = ParseBody(request);
  if (!body) return ErrorResponse(body.error());
  if (!body->is_object()) return ErrorResponse(BadRequest("a review is a JSON object"));
  (*body)["status"] = StatusFor(*body);
  return JsonResponse(*body, 201);
}

}  // namespace tutti::sim
