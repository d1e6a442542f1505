// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>

#include "base/clock.h"
#include "base/json_string.h"

namespace tutti::base {
namespace {

constexpr size_t kLongestValue = 2048;
std::atomic<LogLevel> g_level{LogLevel::kInfo};
std::atomic<LogFormat> g_format{LogFormat::kJson};
std::atomic<int> g_verbosity{0};

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

std::string JsonLine(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
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
  return line;
}

// "2026-11-26T10:00:00.123000Z" as klog has it: "1126 10:00:00.123000".
std::string TextTime(const std::string& time) {
  return fmt::format("{}{} {}", time.substr(5, 2), time.substr(8, 2), time.substr(11, 15));
}

std::string TextLine(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  const char letter = level == LogLevel::kError ? 'E' : level == LogLevel::kWarn ? 'W' : 'I';
  std::string line =
      fmt::format("{}{} {:>7} tutti] ", letter, TextTime(FormatMicroTime(SystemClock().WallMs())), getpid());
  Append(line, message);
  for (const LogField& field : fields) {
    line += fmt::format(" {}=", field.key);
    if (field.bare)
      line += field.value;
    else
      Append(line, field.value);
  }
  line += '\n';
  return line;
}

}  // namespace

void SetLogLevel(LogLevel level) { g_level = level; }
void SetLogFormat(LogFormat format) { g_format = format; }
void SetVerbosity(int verbosity) { g_verbosity = verbosity; }
bool LogsAt(int verbosity) { return verbosity <= g_verbosity.load(std::memory_order_relaxed); }

void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  if (level < g_level.load(std::memory_order_relaxed)) return;
  const bool text = g_format.load(std::memory_order_relaxed) == LogFormat::kText;
  const std::string line = text ? TextLine(level, message, fields) : JsonLine(level, message, fields);
  std::fwrite(line.data(), 1, line.size(), stderr);  // one call, so lines of several threads do not mix
}

}  // namespace tutti::base
