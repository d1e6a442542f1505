// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <atomic>
#include <cstdio>

#include "base/clock.h"
#include "base/json_string.h"

namespace tutti::base {
namespace {

constexpr size_t kLongestValue = 2048;
std::atomic<LogLevel> g_level{LogLevel::kInfo};

void Append(std::string& line, std::string_view text) {
  if (text.size() <= kLongestValue) return AppendQuoted(text, &line);
  AppendQuoted(std::string(text.substr(0, kLongestValue)) + "...", &line);
}

std::string_view Word(LogLevel level) {
  switch (level) {
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarn: return "warn";
    case LogLevel::kError: return "error";
    case LogLevel::kNone: break;
  }
  return "info";
}

}  // namespace

void SetLogLevel(LogLevel level) { g_level = level; }

void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  if (level < g_level.load(std::memory_order_relaxed)) return;
  std::string line =
      fmt::format("{{\"ts\":\"{}\",\"level\":\"{}\",\"msg\":", FormatMicroTime(SystemClock().WallMs()), Word(level));
  Append(line, message);
  for (const LogField& field : fields) {
    line += ',';
    Append(line, field.key);
    line += ':';
    if (field.bare)
      line += field.value;
    else
      Append(line, field.value);
  }
  line += "}\n";
  std::fwrite(line.data(), 1, line.size(), stderr);  // one call, so lines of several threads do not mix
}

}  // namespace tutti::base
