// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <atomic>
#include <cstdio>

#include "base/clock.h"

namespace tutti::base {
namespace {

constexpr size_t kLongestValue = 2048;
std::atomic<LogLevel> g_level{LogLevel::kInfo};

void AppendQuoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text.substr(0, kLongestValue)) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  if (text.size() > kLongestValue) out += "...";
  out += '"';
}

std::string_view Word(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "debug";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarn: return "warn";
    case LogLevel::kError: return "error";
  }
  return "info";
}

}  // namespace

void SetLogLevel(LogLevel level) { g_level = level; }
bool LogEnabled(LogLevel level) { return level >= g_level.load(std::memory_order_relaxed); }

void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  if (!LogEnabled(level)) return;
  std::string line = fmt::format("{{\"ts\":\"{}\",\"level\":\"{}\",\"msg\":", FormatMicroTime(SystemClock().WallMs()), Word(level));
  AppendQuoted(line, message);
  for (const LogField& field : fields) {
    line += ',';
    AppendQuoted(line, field.key);
    line += ':';
    if (field.bare) line += field.value;
    else AppendQuoted(line, field.value);
  }
  line += "}\n";
  std::fwrite(line.data(), 1, line.size(), stderr);  // one call, so lines of several threads do not mix
}

}  // namespace tutti::base
