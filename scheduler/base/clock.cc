// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "base/check.h"

namespace tutti::base {
namespace {

struct Civil {
  int year, month, day, hour, minute, second, milli;
};

Civil ToCivil(Millis wall_ms) {
  using namespace std::chrono;
  const sys_time<milliseconds> point{milliseconds{wall_ms}};
  const auto day = floor<days>(point);
  const year_month_day date{day};
  const hh_mm_ss<milliseconds> time{point - day};
  return {int(date.year()),
          int(unsigned(date.month())),
          int(unsigned(date.day())),
          int(time.hours().count()),
          int(time.minutes().count()),
          int(time.seconds().count()),
          int(time.subseconds().count())};
}

// Character by character; 'd' is any digit.
bool HasShape(std::string_view text, std::string_view shape) {
  return std::ranges::equal(text, shape,
                            [](char c, char want) { return want == 'd' ? c >= '0' && c <= '9' : c == want; });
}

}  // namespace

Millis SystemClock::WallMs() const {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

Millis SystemClock::MonotonicMs() const {
  // Not CLOCK_MONOTONIC, which stands still while the machine is suspended: a lease does not.
  timespec now{};
  TUTTI_CHECK(clock_gettime(CLOCK_BOOTTIME, &now) == 0, "clock_gettime failed");
  return Millis{now.tv_sec} * 1'000 + now.tv_nsec / 1'000'000;
}

void VirtualClock::AdvanceTo(Millis monotonic_ms) {
  TUTTI_CHECK(monotonic_ms >= now_ms_, "a virtual clock does not go back");
  now_ms_ = monotonic_ms;
}

std::string FormatTime(Millis wall_ms) {
  const Civil c = ToCivil(wall_ms);
  if (c.year < 0 || c.year > 9999) return fmt::format("{:04}-01-01T00:00:00Z", c.year);
  std::string text = "0000-00-00T00:00:00Z";  // by hand: every write names a time
  const auto put = [&text](size_t at, int value) {
    text[at] = static_cast<char>('0' + value / 10 % 10);
    text[at + 1] = static_cast<char>('0' + value % 10);
  };
  put(0, c.year / 100);
  put(2, c.year);
  put(5, c.month);
  put(8, c.day);
  put(11, c.hour);
  put(14, c.minute);
  put(17, c.second);
  return text;
}

std::string FormatMicroTime(Millis wall_ms) {
  std::string text = FormatTime(wall_ms);
  text.pop_back();
  return text + fmt::format(".{:03}000Z", ToCivil(wall_ms).milli);
}

Result<Millis> ParseTime(std::string_view text) {
  constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:dd";
  if (text.size() <= kShape.size() || !HasShape(text.substr(0, kShape.size()), kShape))
    return Invalid(fmt::format("\"{}\" is not an RFC 3339 time such as 2006-01-02T15:04:05Z", text));
  const auto two = [text](size_t at) { return (text[at] - '0') * 10 + text[at + 1] - '0'; };
  const int year = two(0) * 100 + two(2), month = two(5), day = two(8);
  const int hour = two(11), minute = two(14), second = two(17);
  Millis fraction = 0, scale = 100;
  size_t at = kShape.size();
  if (text[at] == '.')
    for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, scale /= 10)
      fraction += (text[at] - '0') * scale;
  Millis zone_minutes = 0;
  if (const std::string_view zone = text.substr(at); zone != "Z" && zone != "z") {
    if (!HasShape(zone, "+dd:dd") && !HasShape(zone, "-dd:dd"))
      return Invalid(fmt::format("\"{}\" has no time zone (Z or +hh:mm)", text));
    zone_minutes = (zone[0] == '+' ? 1 : -1) * (two(at + 1) * 60 + two(at + 4));
  }
  using namespace std::chrono;
  const year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                            std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok() || hour > 23 || minute > 59 || second > 60)
    return Invalid(fmt::format("\"{}\" is not a date that exists", text));
  const Millis days_ms = duration_cast<milliseconds>(sys_days{date}.time_since_epoch()).count();
  return days_ms + ((hour * 60 + minute - zone_minutes) * 60 + second) * 1000 + fraction;
}

}  // namespace tutti::base
