// SPDX-License-Identifier: Apache-2.0
#include "server/delegated_access.h"

#include "tests/support/catch.h"

namespace tutti::server {
namespace {

using Kind = Access::Kind;

// Knows a token by the user's name; lets `allowed` users in.
class Api final : public AccessReview {
 public:
  base::Result<std::optional<User>> Authenticate(std::string_view token) override {
    ++tokens;
    if (down) return base::Fail(base::ErrorCode::kUnavailable, "down");
    if (token == "nobody") return std::nullopt;
    return User{std::string(token), "", {}, {}};
  }
  base::Result<bool> Authorize(const User& user, std::string_view verb, std::string_view path) override {
    ++accesses;
    last = user;
    if (down) return base::Fail(base::ErrorCode::kUnavailable, "down");
    return user.name == allowed && verb == "get" && path == "/metrics";
  }

  bool down = false;
  std::string allowed = "prometheus";
  int tokens = 0, accesses = 0;
  User last;
};

struct Rig {
  Api api;
  base::VirtualClock clock{1'000'000};
  DelegatedAccess access{&api, AccessTimes{10'000, 5'000, 1'000}, clock};

  Kind Ask(const Caller& caller, const char* path = "/metrics", const char* verb = "get") {
    return access.Decide(caller, verb, path).kind;
  }
};

Caller Token(const char* token) { return {token, std::nullopt}; }
Caller Certificate(std::string name, std::vector<std::string> groups = {}) {
  return {"", std::optional<User>(User{std::move(name), "", std::move(groups), {}})};
}

TEST_CASE("a token is reviewed, and its user may what the API server allows") {
  Rig rig;
  CHECK(rig.Ask(Token("prometheus")) == Kind::kAllowed);
  CHECK(rig.api.last.groups == std::vector<std::string>{"system:authenticated"});
  CHECK(rig.Ask(Token("prometheus"), "/configz") == Kind::kForbidden);
  CHECK(rig.Ask(Token("prometheus"), "/metrics", "post") == Kind::kForbidden);
  CHECK(rig.Ask(Token("somebody")) == Kind::kForbidden);
  CHECK(rig.access.Decide(Token("somebody"), "get", "/metrics").user == "somebody");
  CHECK(rig.Ask(Token("nobody")) == Kind::kUnauthenticated);
}

TEST_CASE("without a credential one is anonymous, and the API server is asked all the same") {
  Rig rig;
  CHECK(rig.Ask({}) == Kind::kForbidden);
  CHECK(rig.api.last == User{"system:anonymous", "", {"system:unauthenticated"}, {}});
  rig.api.allowed = "system:anonymous";
  rig.clock.Advance(1'000);
  CHECK(rig.Ask({}) == Kind::kAllowed);
  CHECK(rig.api.tokens == 0);
}

TEST_CASE(
    "a client certificate goes before a token, and one that is not trusted is no worse than none if the token is "
    "good") {
  Rig rig;
  Caller caller = Certificate("prometheus");
  caller.token = "somebody";
  CHECK(rig.Ask(caller) == Kind::kAllowed);
  CHECK(rig.api.tokens == 0);
  caller.certificate = base::Invalid("not trusted");
  CHECK(rig.Ask(caller) == Kind::kForbidden);
  CHECK(rig.api.last.name == "somebody");
  caller.token.clear();
  CHECK(rig.Ask(caller) == Kind::kUnauthenticated);
}

TEST_CASE("system:masters may do all without a question") {
  Rig rig;
  rig.api.down = true;
  CHECK(rig.Ask(Certificate("admin", {"system:masters"}), "/debug/decisions") == Kind::kAllowed);
  CHECK(rig.api.accesses == 0);
}

TEST_CASE("an API server that gives no answer lets nobody in, and is asked again") {
  Rig rig;
  rig.api.down = true;
  CHECK(rig.Ask(Token("prometheus")) == Kind::kUnavailable);
  CHECK(rig.Ask(Certificate("prometheus")) == Kind::kUnavailable);
  rig.api.down = false;
  CHECK(rig.Ask(Token("prometheus")) == Kind::kAllowed);
}

TEST_CASE("a client certificate that cannot be judged yet is no reason to refuse a user whose token is good") {
  Rig rig;
  Caller caller{"", base::Fail(base::ErrorCode::kUnavailable, "down")};
  CHECK(rig.Ask(caller) == Kind::kUnavailable);
  caller.token = "nobody";
  CHECK(rig.Ask(caller) == Kind::kUnavailable);
  caller.token = "prometheus";
  CHECK(rig.Ask(caller) == Kind::kAllowed);
}

TEST_CASE("answers are good for their time, each kind for its own") {
  Rig rig;
  for (int i = 0; i < 3; ++i) CHECK(rig.Ask(Token("prometheus")) == Kind::kAllowed);
  CHECK(rig.api.tokens == 1);
  CHECK(rig.api.accesses == 1);
  rig.clock.Advance(5'000);
  rig.api.allowed = "";
  CHECK(rig.Ask(Token("prometheus")) == Kind::kForbidden);
  CHECK(rig.api.tokens == 1);
  CHECK(rig.api.accesses == 2);
  rig.clock.Advance(1'000);
  rig.api.allowed = "prometheus";
  CHECK(rig.Ask(Token("prometheus")) == Kind::kAllowed);
  rig.clock.Advance(4'000);
  CHECK(rig.Ask(Token("prometheus")) == Kind::kAllowed);
  CHECK(rig.api.tokens == 2);
}

TEST_CASE("no user is taken for another") {
  Rig rig;
  rig.api.allowed = "a";
  const auto ask = [&](User user) { return rig.Ask({"", std::optional<User>(std::move(user))}); };
  CHECK(ask({"a", "", {"b", "c"}, {}}) == Kind::kAllowed);
  const int before = rig.api.accesses;
  CHECK(ask({"a", "b", {"c"}, {}}) == Kind::kAllowed);
  CHECK(ask({"ab", "", {"c"}, {}}) == Kind::kForbidden);
  CHECK(ask({"a", "", {"bc"}, {}}) == Kind::kAllowed);
  CHECK(ask({"a", "", {"b"}, {{"c", {}}}}) == Kind::kAllowed);
  CHECK(ask({"a", "", {"b"}, {{"c", {"d"}}}}) == Kind::kAllowed);
  CHECK(rig.api.accesses == before + 5);
}

TEST_CASE("a flood of tokens does not grow the memory without end") {
  ReviewMemory<int> memory;
  for (int i = 0; i < 5'000; ++i) {
    memory.Keep(std::to_string(i), i, 0, 10);
    REQUIRE(memory.size() <= ReviewMemory<int>::kMost);
  }
  CHECK(memory.Find("4999", 9) == 4999);
  CHECK_FALSE(memory.Find("4999", 10));
  memory.Keep("fresh", 1, 10, 20);
  CHECK(memory.size() == 1);
}

TEST_CASE("with nobody to ask, no token is anybody's") {
  base::VirtualClock clock{0};
  DelegatedAccess access(nullptr, {}, clock);
  CHECK(access.Decide(Token("admin"), "get", "/metrics").kind == Kind::kUnauthenticated);
  CHECK(access.Decide({}, "get", "/metrics").kind == Kind::kForbidden);
}

}  // namespace
}  // namespace tutti::server
