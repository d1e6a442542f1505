// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>

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
  return {int(date.year()),          int(unsigned(date.month())),  int(unsigned(date.day())),
          int(time.hours().count()), int(time.minutes().count()),  int(time.seconds().count()),
          int(time.subseconds().count())};
}

}  // namespace

Millis SystemClock::WallMs() const {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

Millis SystemClock::MonotonicMs() const {
  using namespace std::chrono;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

void VirtualClock::AdvanceTo(Millis monotonic_ms) {
  TUTTI_CHECK(monotonic_ms >= now_ms_, "a virtual clock does not go back");
  now_ms_ = monotonic_ms;
}

std::string FormatTime(Millis wall_ms) {
  const Civil c = ToCivil(wall_ms);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", c.year, c.month, c.day, c.hour, c.minute, c.second);
}

std::string FormatMicroTime(Millis wall_ms) {
  const Civil c = ToCivil(wall_ms);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}000Z", c.year, c.month, c.day, c.hour, c.minute,
                     c.second, c.milli);
}

Result<Millis> ParseTime(std::string_view text) {
  const std::string copy(text);
  int year, month, day, hour, minute, second, used = 0;
  if (std::sscanf(copy.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%n", &year, &month, &day, &hour, &minute, &second, &used) != 6)
    return Invalid(fmt::format("\"{}\" is not an RFC 3339 time such as 2006-01-02T15:04:05Z", text));
  Millis fraction = 0, scale = 100;
  size_t at = static_cast<size_t>(used);
  if (at < copy.size() && copy[at] == '.')
    for (++at; at < copy.size() && copy[at] >= '0' && copy[at] <= '9'; ++at, scale /= 10) fraction += (copy[at] - '0') * scale;
  Millis zone_minutes = 0;
  if (const std::string zone = copy.substr(at); zone != "Z" && zone != "z") {
    int h = 0, m = 0;
    char sign = 0;
    if (std::sscanf(zone.c_str(), "%c%2d:%2d", &sign, &h, &m) != 3 || (sign != '+' && sign != '-'))
      return Invalid(fmt::format("\"{}\" has no time zone (Z or +hh:mm)", text));
    zone_minutes = (sign == '+' ? 1 : -1) * (h * 60 + m);
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
