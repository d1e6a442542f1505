// SPDX-License-Identifier: Apache-2.0
#include "app/access_review.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/log.h"

namespace tutti::app {
namespace {

using Json = nlohmann::json;
using server::Access;

// The status of a posted review; nothing, with a log line, when there is none.
std::optional<Json> Ask(kube::KubeClient& client, const std::string& target, const Json& review) {
  const auto reply = client.Post(target, review.dump(-1, ' ', false, Json::error_handler_t::replace));
  if (!reply || reply->status < 200 || reply->status > 299) {
    base::LogWarn("a review was not answered; is the role that manifests/ ships bound?",
                  {{"target", target}, {"error", reply ? reply->body : reply.error().message}});
    return std::nullopt;
  }
  const Json answer = Json::parse(reply->body, nullptr, false);
  if (!answer.is_object() || !answer.contains("status") || !answer["status"].is_object()) return std::nullopt;
  return answer["status"];
}

bool IsTrue(const Json& status, const char* field) { return status.contains(field) && status[field] == true; }

}  // namespace

Access ApiAccessReview::Review(std::string_view token, std::string_view path) {
  const auto who =
      Ask(client_, "/apis/authentication.k8s.io/v1/tokenreviews",
          {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenReview"}, {"spec", {{"token", token}}}});
  if (!who) return Access::kUnavailable;
  if (!IsTrue(*who, "authenticated") || !who->contains("user")) return Access::kUnauthenticated;

  const Json& user = (*who)["user"];
  Json spec = {{"nonResourceAttributes", {{"path", path}, {"verb", "get"}}}};
  const std::pair<const char*, const char*> fields[] = {
      {"username", "user"}, {"uid", "uid"}, {"groups", "groups"}, {"extra", "extra"}};
  for (const auto& [from, to] : fields) {
    if (user.contains(from)) spec[to] = user[from];
  }
  const auto may = Ask(client_, "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                       {{"apiVersion", "authorization.k8s.io/v1"}, {"kind", "SubjectAccessReview"}, {"spec", spec}});
  if (!may) return Access::kUnavailable;
  return IsTrue(*may, "allowed") ? Access::kAllowed : Access::kForbidden;
}

}  // namespace tutti::app
