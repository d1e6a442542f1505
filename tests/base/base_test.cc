// SPDX-License-Identifier: Apache-2.0
#include <rapidcheck.h>
#include <rapidcheck/catch.h>

#include <chrono>
#include <ctime>
#include <thread>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_string.h"
#include "base/mailbox.h"
#include "base/random.h"
#include "base/result.h"
#include "base/slots.h"
#include "base/strong_id.h"
#include "tests/support/catch.h"

namespace tutti::base {
namespace {

TEST_CASE("A result is a value, or a code to act on and a message for people") {
  const Result<int> good = 3, bad = Fail(ErrorCode::kNotFound, "no such pod");
  REQUIRE(good);
  CHECK(*good == 3);
  REQUIRE_FALSE(bad);
  CHECK(bad.error().code == ErrorCode::kNotFound);
  CHECK(bad.error().message == "no such pod");
  CHECK(Status(Invalid("spec.x")).error().code == ErrorCode::kInvalid);
}

TEST_CASE("An id that was not given is none") {
  struct Tag;
  CHECK_FALSE(StrongId<Tag>());
  CHECK(StrongId<Tag>(0).valid());
  CHECK(StrongId<Tag>(1) < StrongId<Tag>(2));
}

TEST_CASE("A seed's stream is the same on every machine, and stays within what was asked") {
  Random random(42);
  CHECK(random.Next() == 0xBDD732262FEB6E95ull);
  CHECK(random.Next() == 0x28EFE333B266F103ull);
  rc::prop("between", [](uint64_t seed) {
    const int64_t low = *rc::gen::inRange(-1'000, 1'000), high = low + *rc::gen::inRange(0, 1'000);
    const int64_t drawn = Random(seed).Between(low, high);
    RC_ASSERT(drawn >= low && drawn <= high);
  });
}

TEST_CASE("Any text is a JSON string") {
  const auto quoted = [](std::string_view text) {
    std::string to = "x";
    AppendQuoted(text, &to);
    return to;
  };
  CHECK(quoted("plain text") == R"(x"plain text")");
  CHECK(quoted("\"a\"\n\\\x01") == R"(x"\"a\"\n\\\u0001")");
  CHECK(quoted("Größe") == "x\"Größe\"");
  CHECK(quoted("a\xff") == "x\"a\xef\xbf\xbd\"");
  rc::prop("as the JSON library writes it, wherever in it what is special stands", [&] {
    const auto text =
        *rc::gen::container<std::string>(rc::gen::oneOf(rc::gen::inRange<char>('a', 'z'), rc::gen::arbitrary<char>(),
                                                        rc::gen::element('~', '\x7f', ' ', '\x1f', '"', '\\')));
    RC_ASSERT(quoted(text) == "x" + Json(text).dump(-1, ' ', false, Json::error_handler_t::replace));
  });
}

TEST_CASE("A value is printed as the JSON library prints it") {
  const Json value = {{"text", "a\"\n\xff"},    {"none", nullptr},       {"most", UINT64_MAX},
                      {"least", INT64_MIN},     {"part", 0.1},           {"list", {1, -1, true}},
                      {"empty", Json::array()}, {"bare", Json::object()}};
  CHECK(PrintJson(value) == value.dump(-1, ' ', false, Json::error_handler_t::replace));
  CHECK(PrintJson(Json(Json::value_t::discarded)) == Json(Json::value_t::discarded).dump());

  using Ordered = nlohmann::ordered_json;
  const Ordered nested = {
      {"z", value}, {"a", {{{"b", 1.5}}, Ordered::array(), Ordered::array({1, {{"\"c\n", false}}})}}};
  std::string text;
  AppendIndented(nested, 0, &text);
  CHECK(text == nested.dump(2, ' ', false, Ordered::error_handler_t::replace));
}

TEST_CASE("The monotonic clock counts the time in which the machine sleeps, too") {
  // As CLOCK_BOOTTIME does, which is CLOCK_MONOTONIC until a machine has slept.
  const auto since_boot = [] {
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return Millis{now.tv_sec} * 1'000 + now.tv_nsec / 1'000'000;
  };
  const Millis before = since_boot(), now = SystemClock().MonotonicMs(), after = since_boot();
  CHECK(before <= now);
  CHECK(now <= after);
}

TEST_CASE("Times are read back as written") {
  CHECK(FormatTime(0) == "1970-01-01T00:00:00Z");
  CHECK(FormatMicroTime(1'787'220'000'123) == "2026-08-20T10:00:00.123000Z");
  rc::prop("seconds, and milliseconds with MicroTime", [] {
    const Millis at = *rc::gen::inRange<Millis>(0, 4'000'000'000'000);
    RC_ASSERT(ParseTime(FormatTime(at)).value() == at / 1000 * 1000);
    RC_ASSERT(ParseTime(FormatMicroTime(at)).value() == at);
  });
  CHECK(ParseTime("2026-08-20T12:00:00+02:00").value() == 1'787'220'000'000);
  for (const char* text : {"", "yesterday", "2026-08-20", "2026-13-01T00:00:00Z", "2026-08-20T10:00:00"}) {
    INFO(text);
    CHECK_FALSE(ParseTime(text));
  }
}

TEST_CASE("A virtual clock's monotonic time knows nothing of the wall's steps") {
  VirtualClock clock(1'000);
  clock.Advance(500);
  clock.StepWall(-10'000);
  CHECK(clock.MonotonicMs() == 1'500);
  CHECK(clock.WallMs() == -8'500);
}

TEST_CASE("A mailbox keeps the newest of each key in the oldest's place, and every item without a key") {
  Mailbox<int> mailbox;
  mailbox.PutKeyed("a", 1);
  mailbox.Put(2);
  mailbox.PutKeyed("b", 3);
  mailbox.PutKeyed("a", 4);
  mailbox.Put(5);
  CHECK(mailbox.TakeAll(std::chrono::milliseconds(0)) == std::vector<int>{4, 2, 3, 5});
  mailbox.PutKeyed("a", 6);
  CHECK(mailbox.TakeAll(std::chrono::milliseconds(0)) == std::vector<int>{6});
  CHECK(mailbox.TakeAll(std::chrono::milliseconds(0)).empty());
}

TEST_CASE("Many threads put, one takes, and nothing is lost") {
  Mailbox<int> mailbox;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&mailbox] {
      for (int i = 0; i < 1'000; ++i) mailbox.Put(1);
    });
  size_t taken = 0;
  while (taken < 4'000) taken += mailbox.TakeAll(std::chrono::seconds(10)).size();
  for (std::thread& thread : threads) thread.join();
  CHECK(taken == 4'000);
  mailbox.Wake();
  CHECK(mailbox.TakeAll(std::chrono::seconds(10)).empty());
}

TEST_CASE("Slots never move what they hold, and each is its own") {
  Slots<std::string, 4> slots;
  std::vector<const std::string*> places;
  for (int i = 0; i < 21; ++i) {
    slots.Add() = std::to_string(i);
    places.push_back(&slots[slots.size() - 1]);
  }
  REQUIRE(slots.size() == 21);
  for (size_t i = 0; i < slots.size(); ++i) {
    CHECK(&slots[i] == places[i]);
    CHECK(slots[i] == std::to_string(i));
  }
}

}  // namespace
}  // namespace tutti::base
