// SPDX-License-Identifier: Apache-2.0
// Log: one line for each message on stderr. Thread-safe.
//
//   LogFormat::kJson   {"ts":…,"level":…,"msg":…,"key":value,…}
//   LogFormat::kText   I1126 10:00:00.000000       1 tutti] "message" key="value", as klog writes it
//
// Values come from the cluster and so may hold anything: they are escaped, cut at 2 KiB, and the caller never passes
// a token, a key or an environment value.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>

namespace tutti::base {

enum class LogLevel { kInfo, kWarn, kError, kNone };

struct LogField {
  std::string_view key;
  std::string value;

  LogField(std::string_view k, std::string_view v) : key(k), value(v) {}
  LogField(std::string_view k, const char* v) : key(k), value(v) {}
  LogField(std::string_view k, const std::string& v) : key(k), value(v) {}
  template <typename Number>
    requires std::is_arithmetic_v<Number>
  LogField(std::string_view k, Number v) : key(k), value(fmt::format("{}", v)), bare(true) {}

  bool bare = false;  // a number or a boolean: not quoted
};

enum class LogFormat { kJson, kText };

// How lines are written, and how many there are: klog's -v. Set once, before threads start; until then kJson and 0.
void SetLogFormat(LogFormat format);
void SetVerbosity(int verbosity);
// Tells whether lines of this verbosity are written. 2: each bind, lone pods, what is watched.
bool LogsAt(int verbosity);

// Lines below `level` are not written; kNone: no line is. Set once, before threads start; until then kInfo.
void SetLogLevel(LogLevel level);
// REQUIRES: a `level` below kNone.
void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});

inline void LogInfo(std::string_view m, std::initializer_list<LogField> f = {}) { Log(LogLevel::kInfo, m, f); }
// Written from this verbosity on.
inline void LogAt(int verbosity, std::string_view m, std::initializer_list<LogField> f = {}) {
  if (LogsAt(verbosity)) Log(LogLevel::kInfo, m, f);
}
inline void LogWarn(std::string_view m, std::initializer_list<LogField> f = {}) { Log(LogLevel::kWarn, m, f); }
inline void LogError(std::string_view m, std::initializer_list<LogField> f = {}) { Log(LogLevel::kError, m, f); }

}  // namespace tutti::base
