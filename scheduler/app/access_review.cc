// SPDX-License-Identifier: Apache-2.0
#include "app/access_review.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/json_string.h"
#include "base/log.h"
#include "cluster/json_text.h"

namespace tutti::app {
namespace {

using Json = base::Json;

constexpr const char* kTrust = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";

const Json& Dig(const Json& object, const char* field) {
  static const Json nothing;
  const auto at = object.is_object() ? object.find(field) : object.end();
  return at != object.end() ? *at : nothing;
}

std::string Text(const Json& value) { return value.is_string() ? value.get<std::string>() : std::string(); }

std::vector<std::string> Texts(const Json& value) {
  std::vector<std::string> texts;
  if (!value.is_array()) return texts;
  for (const Json& one : value) texts.push_back(Text(one));
  return texts;
}

// Returns the member `field` of the answer. Its errors give only the status, because the body may repeat the question
// and with it a token.
base::Result<Json> Read(const base::Result<kube::KubeClient::Reply>& answered, const std::string& what,
                        const char* field) {
  const auto fail = [&](const std::string& why) -> base::Result<Json> {
    base::LogWarn("the API server does not answer; is the role that manifests/ ships bound?",
                  {{"asked", what}, {"error", why}});
    return base::Fail(base::ErrorCode::kUnavailable, fmt::format("{}: {}", what, why));
  };
  if (!answered) return fail(answered.error().message);
  if (answered->status < 200 || answered->status > 299) return fail(fmt::format("HTTP {}", answered->status));
  const Json answer = cluster::ParseJson(answered->body);
  const Json& found = Dig(answer, field);
  if (!found.is_object()) return fail(fmt::format("the answer has no {}", field));
  return found;
}

base::Result<Json> Ask(kube::KubeClient& client, const std::string& group, const char* kind, const char* resource,
                       Json spec) {
  const Json review = {{"apiVersion", group + "/v1"}, {"kind", kind}, {"spec", std::move(spec)}};
  const auto answered = client.Post(fmt::format("/apis/{}/v1/{}", group, resource), base::PrintJson(review));
  return Read(answered, kind, "status");
}

}  // namespace

base::Result<std::optional<server::User>> ApiAccessReview::Authenticate(std::string_view token) {
  const auto status = Ask(authentication_, "authentication.k8s.io", "TokenReview", "tokenreviews", {{"token", token}});
  if (!status) return tl::make_unexpected(status.error());
  const Json& user = Dig(*status, "user");
  if (Dig(*status, "authenticated") != true || !user.is_object()) return std::nullopt;
  server::User known{Text(Dig(user, "username")), Text(Dig(user, "uid")), Texts(Dig(user, "groups")), {}};
  if (const Json& extra = Dig(user, "extra"); extra.is_object())
    for (const auto& [name, values] : extra.items()) known.extra[name] = Texts(values);
  return known;
}

base::Result<bool> ApiAccessReview::Authorize(const server::User& user, std::string_view verb, std::string_view path) {
  return MayDo(user, "nonResourceAttributes", {{"path", path}, {"verb", verb}});
}

base::Result<bool> ApiAccessReview::AuthorizeResource(const server::User& user, const server::ResourceAccess& access) {
  Json attributes = Json::object();
  for (const auto& [field, value] : {std::pair("verb", &access.verb),
                                     {"group", &access.group},
                                     {"version", &access.version},
                                     {"resource", &access.resource},
                                     {"subresource", &access.subresource},
                                     {"namespace", &access.ns},
                                     {"name", &access.name}})
    if (!value->empty()) attributes[field] = *value;
  return MayDo(user, "resourceAttributes", std::move(attributes));
}

base::Result<bool> ApiAccessReview::MayDo(const server::User& user, const char* field, Json attributes) {
  Json spec = {{field, std::move(attributes)}, {"user", user.name}, {"groups", user.groups}};
  if (!user.uid.empty()) spec["uid"] = user.uid;
  if (!user.extra.empty()) spec["extra"] = user.extra;
  const auto status =
      Ask(authorization_, "authorization.k8s.io", "SubjectAccessReview", "subjectaccessreviews", std::move(spec));
  if (!status) return tl::make_unexpected(status.error());
  return Dig(*status, "allowed") == true && Dig(*status, "denied") != true;
}

base::Result<server::ClientAuthorities::Trust> ClusterTrust(kube::KubeClient& client) {
  const auto data = Read(client.Get(kTrust), "ConfigMap kube-system/extension-apiserver-authentication", "data");
  if (!data) return tl::make_unexpected(data.error());
  server::ClientAuthorities::Trust trust{Text(Dig(*data, "client-ca-file")), server::FrontProxy{}};
  // A list is written as JSON. Any name may be a proxy's if the list is empty, and none if it is no list of names.
  const auto list = [&data](const char* field) { return cluster::ParseJson(Text(Dig(*data, field))); };
  const Json names = list("requestheader-allowed-names");
  if (names.is_array() && std::ranges::all_of(names, [](const Json& name) { return name.is_string(); }))
    *trust.proxy = {Text(Dig(*data, "requestheader-client-ca-file")),
                    Texts(names),
                    Texts(list("requestheader-username-headers")),
                    Texts(list("requestheader-uid-headers")),
                    Texts(list("requestheader-group-headers")),
                    Texts(list("requestheader-extra-headers-prefix"))};
  return trust;
}

}  // namespace tutti::app
