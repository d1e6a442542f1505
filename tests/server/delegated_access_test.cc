// SPDX-License-Identifier: Apache-2.0
#include "server/delegated_access.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

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
    if (token == "unknown") return std::nullopt;
    return User{std::string(token), "", {}, {}};
  }
  base::Result<bool> Authorize(const User& user, std::string_view verb, std::string_view path) override {
    ++accesses;
    last = user;
    if (down) return base::Fail(base::ErrorCode::kUnavailable, "down");
    return user.name == allowed && verb == "get" && path == "/metrics";
  }
  base::Result<bool> AuthorizeResource(const User& user, const ResourceAccess& access) override {
    ++accesses;
    if (down) return base::Fail(base::ErrorCode::kUnavailable, "down");
    return user.name == allowed && access.ns == "monitoring";
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
  CHECK(rig.Ask(Token("dev")) == Kind::kForbidden);
  CHECK(rig.access.Decide(Token("dev"), "get", "/metrics").user == "dev");
  CHECK(rig.Ask(Token("unknown")) == Kind::kUnauthenticated);
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
  caller.token = "dev";
  CHECK(rig.Ask(caller) == Kind::kAllowed);
  CHECK(rig.api.tokens == 0);
  caller.certificate = base::Invalid("not trusted");
  CHECK(rig.Ask(caller) == Kind::kForbidden);
  CHECK(rig.api.last.name == "dev");
  caller.token.clear();
  CHECK(rig.Ask(caller) == Kind::kUnauthenticated);
}

TEST_CASE("system:masters may do all without a question") {
  Rig rig;
  rig.api.down = true;
  CHECK(rig.Ask(Certificate("admin", {"system:masters"}), "/debug/decisions") == Kind::kAllowed);
  CHECK(rig.api.accesses == 0);
}

TEST_CASE("an API server that gives no answer lets no caller in, and is asked again") {
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
  caller.token = "unknown";
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

TEST_CASE("a sender has rights of its own, which are reviewed when they matter") {
  Rig rig;
  const auto known = rig.access.Identify(Token("prometheus"));
  REQUIRE(known.rights);
  CHECK(rig.api.accesses == 0);
  CHECK(known.rights->user() == "prometheus");
  CHECK(*known.rights->MayListPods("monitoring"));
  CHECK_FALSE(*known.rights->MayListPods("default"));
  CHECK(*known.rights->MayListPods("monitoring"));
  CHECK(rig.api.accesses == 2);
  CHECK(*known.rights->MayAccess({"get", "g", "v1", "pods", "log", "monitoring", "x"}));
  CHECK_FALSE(*known.rights->MayAccess({"get", "g", "v1", "pods", "log", "", "monitoring"}));
  CHECK(rig.api.accesses == 4);
  CHECK(*known.rights->MayGet("/metrics"));
  CHECK_FALSE(*known.rights->MayGet("/configz"));
  CHECK(rig.access.Identify(Token("unknown")).refused.kind == Kind::kUnauthenticated);
  CHECK(rig.access.Identify({}).rights->user() == "system:anonymous");
  CHECK(*rig.access.Identify(Certificate("root", {"system:masters"})).rights->MayListPods(""));
  rig.api.down = true;
  CHECK_FALSE(known.rights->MayListPods("other"));
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

// Answers so many questions as it is let, and none before. Any token may do everything. Thread-safe.
class SlowApi final : public AccessReview {
 public:
  base::Result<std::optional<User>> Authenticate(std::string_view token) override {
    Wait();
    return User{std::string(token), "", {"system:masters"}, {}};
  }
  base::Result<bool> Authorize(const User&, std::string_view, std::string_view) override {
    Wait();
    return true;
  }
  base::Result<bool> AuthorizeResource(const User&, const ResourceAccess&) override {
    Wait();
    return true;
  }

  void Answer(int questions) {
    const std::lock_guard lock(mutex_);
    answers_ += questions;
    changed_.notify_all();
  }
  // Until so many were asked in all; false if no caller is left that could ask.
  bool UntilAsked(int questions) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return asked_ >= questions || callers_ == open_; });
    return asked_ >= questions;
  }
  void Come() {
    const std::lock_guard lock(mutex_);
    ++callers_;
  }
  void Go() {
    const std::lock_guard lock(mutex_);
    --callers_;
    changed_.notify_all();
  }
  int asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  int most_open() const {
    const std::lock_guard lock(mutex_);
    return most_open_;
  }

 private:
  void Wait() {
    std::unique_lock lock(mutex_);
    ++asked_;
    most_open_ = std::max(most_open_, ++open_);
    changed_.notify_all();
    changed_.wait(lock, [&] { return answers_ > 0; });
    --answers_;
    --open_;
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int callers_ = 0, asked_ = 0, open_ = 0, most_open_ = 0, answers_ = 0;
};

constexpr int kAtATime = 4;
constexpr base::Millis kForEver = 600'000;

// Callers on threads of their own. They come with a token or a certificate in turn: each is one question.
struct Crowd {
  explicit Crowd(base::Millis patience_ms) : access(&api, {.patience_ms = patience_ms}, clock) {}
  ~Crowd() { Leave(); }
  void Come() {
    api.Come();
    const std::string name = std::to_string(threads.size());
    threads.emplace_back([this, caller = threads.size() % 2 == 0 ? Token(name.c_str()) : Certificate(name)] {
      ++came;
      const Kind kind = access.Decide(caller, "get", "/metrics").kind;
      allowed += kind == Kind::kAllowed;
      unavailable += kind == Kind::kUnavailable;
      api.Go();
    });
  }
  // As many as are asked about at a time, one after the other.
  void ComeFirst() {
    for (int i = 1; i <= kAtATime; ++i) {
      Come();
      REQUIRE(api.UntilAsked(i));
    }
  }
  void Leave() {
    api.Answer(1'000);
    for (std::thread& one : threads) one.join();
    threads.clear();
  }

  SlowApi api;
  base::VirtualClock clock{1'000'000};
  DelegatedAccess access;
  std::atomic<int> came = 0, allowed = 0, unavailable = 0;
  std::vector<std::thread> threads;
};

TEST_CASE("a question whose turn does not come in time is not put, and says that there is no answer") {
  Crowd crowd(0);
  crowd.ComeFirst();
  for (int i = 0; i < 2; ++i) {
    crowd.Come();
    REQUIRE_FALSE(crowd.api.UntilAsked(kAtATime + 1));
  }
  CHECK(crowd.access.Decide(Certificate("admin", {"system:masters"}), "get", "/metrics").kind == Kind::kAllowed);
  crowd.Leave();
  CHECK(crowd.api.asked() == kAtATime);
  CHECK(crowd.allowed == kAtATime);
  CHECK(crowd.unavailable == 2);
  CHECK(crowd.access.Decide(Token("one-more"), "get", "/metrics").kind == Kind::kAllowed);
}

TEST_CASE("four questions are on their way at a time, and each of a flood of tokens has its turn") {
  constexpr int kCallers = 20;
  Crowd crowd(kForEver);
  crowd.ComeFirst();
  for (int i = kAtATime; i < kCallers; ++i) crowd.Come();
  while (crowd.came < kCallers) std::this_thread::yield();
  CHECK(crowd.api.asked() == kAtATime);
  for (int asked = kAtATime + 1; asked <= kCallers; ++asked) {
    crowd.api.Answer(1);
    REQUIRE(crowd.api.UntilAsked(asked));
  }
  crowd.Leave();
  CHECK(crowd.allowed == kCallers);
  CHECK(crowd.api.most_open() == kAtATime);
}

TEST_CASE("with no API server to ask, no token is a user's") {
  base::VirtualClock clock{0};
  DelegatedAccess access(nullptr, {}, clock);
  CHECK(access.Decide(Token("admin"), "get", "/metrics").kind == Kind::kUnauthenticated);
  CHECK(access.Decide({}, "get", "/metrics").kind == Kind::kForbidden);
}

}  // namespace
}  // namespace tutti::server
