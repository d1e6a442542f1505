// SPDX-License-Identifier: Apache-2.0
#include "server/delegated_access.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace tutti::server {
namespace {

constexpr const char* kEverybody = "system:authenticated";
constexpr const char* kNobody = "system:unauthenticated";
constexpr const char* kMasters = "system:masters";

std::string Digest(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
  return std::string(reinterpret_cast<const char*>(digest.data()), size);
}

bool In(const std::string& group, const User& user) {
  return std::ranges::find(user.groups, group) != user.groups.end();
}

User Anonymous() { return {kAnonymousUser, "", {kNobody}, {}}; }

User Authenticated(User user) {
  // A front proxy may name the anonymous user.
  if (user.name != kAnonymousUser && !In(kNobody, user) && !In(kEverybody, user)) user.groups.emplace_back(kEverybody);
  return user;
}

// Makes the key of a question: each part that the answer depends on, with its length, so that no two questions share a
// key.
std::string Key(const User& user, std::initializer_list<std::string_view> what) {
  std::string text;
  const auto add = [&](std::string_view part) { text += fmt::format("{}:{}", part.size(), part); };
  add(std::to_string(what.size()));
  for (const std::string_view part : what) add(part);
  add(user.name);
  add(user.uid);
  add(std::to_string(user.groups.size()));
  for (const std::string& group : user.groups) add(group);
  for (const auto& [name, values] : user.extra) {
    add(name);
    add(std::to_string(values.size()));
    for (const std::string& value : values) add(value);
  }
  return Digest(text);
}

}  // namespace

DelegatedAccess::Sender DelegatedAccess::SenderOf(const Caller& caller) {
  bool refused = !caller.certificate;
  const bool unjudged = refused && caller.certificate.error().code == base::ErrorCode::kUnavailable;
  std::optional<User> user;
  if (!refused) user = *caller.certificate;
  if (!user && !caller.token.empty()) {
    auto whose = WhoseToken(caller.token);
    if (!whose) return {std::nullopt, Access::Kind::kUnavailable};
    user = *std::move(whose);
    refused = !user;
  }
  if (!user && refused) return {std::nullopt, unjudged ? Access::Kind::kUnavailable : Access::Kind::kUnauthenticated};
  return {user ? Authenticated(*std::move(user)) : Anonymous()};
}

Access DelegatedAccess::Decide(const Caller& caller, std::string_view verb, std::string_view path) {
  const Sender sender = SenderOf(caller);
  if (!sender.user) return {sender.refused, {}};
  const auto may = May(*sender.user, verb, path);
  if (!may) return {Access::Kind::kUnavailable, {}};
  return {*may ? Access::Kind::kAllowed : Access::Kind::kForbidden, sender.user->name};
}

class DelegatedAccess::UserRights final : public Rights {
 public:
  UserRights(DelegatedAccess& access, User user) : access_(access), user_(std::move(user)) {}
  std::string user() const override { return user_.name; }
  base::Result<bool> MayAccess(const ResourceAccess& access) const override {
    return access_.MayAccess(user_, access);
  }
  base::Result<bool> MayGet(std::string_view path) const override { return access_.May(user_, "get", path); }

 private:
  DelegatedAccess& access_;
  const User user_;
};

DelegatedAccess::Identity DelegatedAccess::Identify(const Caller& caller) {
  Sender sender = SenderOf(caller);
  if (!sender.user) return {nullptr, {sender.refused, {}}};
  return {std::make_shared<const UserRights>(*this, *std::move(sender.user))};
}

template <typename Value, typename Question, typename GoodFor>
base::Result<Value> DelegatedAccess::Ask(ReviewMemory<Value>* memory, const std::string& key, Question question,
                                         GoodFor good_for_ms) {
  if (auto known = memory->Find(key, clock_.MonotonicMs())) return *known;
  if (!questions_.try_acquire_for(std::chrono::milliseconds(times_.patience_ms)))
    return base::Fail(base::ErrorCode::kUnavailable, "too many questions");
  base::Result<Value> answer = question();
  questions_.release();
  const base::Millis now = clock_.MonotonicMs();
  if (answer) memory->Keep(key, *answer, now, now + good_for_ms(*answer));
  return answer;
}

base::Result<std::optional<User>> DelegatedAccess::WhoseToken(const std::string& token) {
  if (review_ == nullptr) return std::nullopt;
  return Ask(
      &users_, Digest(token), [&] { return review_->Authenticate(token); },
      [this](const std::optional<User>&) { return times_.authenticated_ms; });
}

base::Result<bool> DelegatedAccess::May(const User& user, std::string_view verb, std::string_view path) {
  return MayDo(user, {verb, path}, [&] { return review_->Authorize(user, verb, path); });
}

base::Result<bool> DelegatedAccess::MayAccess(const User& user, const ResourceAccess& access) {
  const auto& [verb, group, version, resource, subresource, ns, name] = access;
  return MayDo(user, {verb, group, version, resource, subresource, ns, name},
               [&] { return review_->AuthorizeResource(user, access); });
}

template <typename Question>
base::Result<bool> DelegatedAccess::MayDo(const User& user, std::initializer_list<std::string_view> what,
                                          Question question) {
  if (In(kMasters, user)) return true;
  if (review_ == nullptr) return false;
  return Ask(&permissions_, Key(user, what), question,
             [this](bool may) { return may ? times_.allowed_ms : times_.denied_ms; });
}

}  // namespace tutti::server
