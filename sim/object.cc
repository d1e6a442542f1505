// SPDX-License-Identifier: Apache-2.0
#include "sim/object.h"

#include <charconv>
#include <chrono>
#include <fmt/format.h>

namespace tutti::sim {
namespace {

const Json kNull;
const std::string kEmpty;

// Reads exactly `digits` digits at `pos` and moves past them.
bool ReadNumber(std::string_view text, size_t& pos, size_t digits, int& out) {
  if (pos + digits > text.size()) return false;
  const char* begin = text.data() + pos;
  const auto [end, error] = std::from_chars(begin, begin + digits, out);
  if (error != std::errc() || end != begin + digits) return false;
  pos += digits;
  return true;
}

bool ReadChar(std::string_view text, size_t& pos, std::string_view any_of) {
  if (pos >= text.size() || any_of.find(text[pos]) == std::string_view::npos) return false;
  ++pos;
  return true;
}

struct CivilTime {
  int year, month, day, hour, minute, second;
  int64_t sub_ms;
};

CivilTime ToCivil(int64_t unix_ms) {
  using namespace std::chrono;
  const sys_time<milliseconds> at{milliseconds(unix_ms)};
  const auto day = floor<days>(at);
  const year_month_day date{day};
  const hh_mm_ss time{at - day};
  return {int(date.year()), int(unsigned(date.month())), int(unsigned(date.day())), int(time.hours().count()),
          int(time.minutes().count()), int(time.seconds().count()), time.subseconds().count()};
}

}  // namespace

const Json& Child(const Json& from, std::string_view key) {
  if (!from.is_object()) return kNull;
  const auto it = from.find(key);
  return it == from.end() ? kNull : *it;
}

const std::string& StringOf(const Json& value) {
  const auto* text = value.get_ptr<const Json::string_t*>();
  return text ? *text : kEmpty;
}

int64_t IntOf(const Json& value, int64_t fallback) {
  return value.is_number_integer() ? value.get<int64_t>() : fallback;
}

bool BoolOf(const Json& value) { return value.is_boolean() && value.get<bool>(); }

const std::string& NameOf(const Json& object) { return DigString(object, "metadata", "name"); }
const std::string& NamespaceOf(const Json& object) { return DigString(object, "metadata", "namespace"); }
const std::string& UidOf(const Json& object) { return DigString(object, "metadata", "uid"); }

const std::string& LabelOf(const Json& object, std::string_view key) {
  return DigString(object, "metadata", "labels", key);
}

const std::string& AnnotationOf(const Json& object, std::string_view key) {
  return DigString(object, "metadata", "annotations", key);
}

std::string KeyOf(const Json& object) {
  const std::string& ns = NamespaceOf(object);
  return ns.empty() ? NameOf(object) : ns + "/" + NameOf(object);
}

int64_t ResourceVersionOf(const Json& object) {
  const std::string& text = DigString(object, "metadata", "resourceVersion");
  int64_t version = 0;
  std::from_chars(text.data(), text.data() + text.size(), version);
  return version;
}

bool IsTerminating(const Json& object) { return !Dig(object, "metadata", "deletionTimestamp").is_null(); }

bool HasFinalizer(const Json& object, std::string_view finalizer) {
  for (const Json& each : Dig(object, "metadata", "finalizers")) {
    if (StringOf(each) == finalizer) return true;
  }
  return false;
}

GroupVersion SplitApiVersion(std::string_view api_version) {
  const size_t slash = api_version.find('/');
  if (slash == std::string_view::npos) return {"", std::string(api_version)};
  return {std::string(api_version.substr(0, slash)), std::string(api_version.substr(slash + 1))};
}

std::string JoinApiVersion(std::string_view group, std::string_view version) {
  return group.empty() ? std::string(version) : fmt::format("{}/{}", group, version);
}

const Json& ControllerOf(const Json& object) {
  for (const Json& owner : Dig(object, "metadata", "ownerReferences")) {
    if (BoolOf(Child(owner, "controller"))) return owner;
  }
  return kNull;
}

Json ControllerReference(const Json& owner) {
  return {{"apiVersion", StringOf(Child(owner, "apiVersion"))},
          {"kind", StringOf(Child(owner, "kind"))},
          {"name", NameOf(owner)},
          {"uid", UidOf(owner)},
          {"controller", true},
          {"blockOwnerDeletion", true}};
}

const Json& ConditionOf(const Json& object, std::string_view type) {
  for (const Json& condition : Dig(object, "status", "conditions")) {
    if (DigString(condition, "type") == type) return condition;
  }
  return kNull;
}

bool SetCondition(Json& object, const Condition& condition, int64_t now_ms) {
  Json& conditions = object["status"]["conditions"];
  if (!conditions.is_array()) conditions = Json::array();
  Json next = {{"type", condition.type}, {"status", condition.status}, {"lastTransitionTime", FormatTime(now_ms)}};
  if (!condition.reason.empty()) next["reason"] = condition.reason;
  if (!condition.message.empty()) next["message"] = condition.message;
  for (Json& existing : conditions) {
    if (DigString(existing, "type") != condition.type) continue;
    if (DigString(existing, "status") == condition.status) {
      next["lastTransitionTime"] = Child(existing, "lastTransitionTime");
      if (DigString(existing, "reason") == condition.reason && DigString(existing, "message") == condition.message) {
        return false;
      }
    }
    existing = std::move(next);
    return true;
  }
  conditions.push_back(std::move(next));
  return true;
}

std::string FormatTime(int64_t unix_ms) {
  const CivilTime t = ToCivil(unix_ms);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", t.year, t.month, t.day, t.hour, t.minute, t.second);
}

std::string FormatMicroTime(int64_t unix_ms) {
  const CivilTime t = ToCivil(unix_ms);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", t.year, t.month, t.day, t.hour, t.minute, t.second,
                     t.sub_ms * 1000);
}

std::optional<int64_t> ParseTime(std::string_view text) {
  using namespace std::chrono;
  int year, month, day_of_month, hour, minute, second;
  size_t pos = 0;
  const bool whole = ReadNumber(text, pos, 4, year) && ReadChar(text, pos, "-") && ReadNumber(text, pos, 2, month) &&
                     ReadChar(text, pos, "-") && ReadNumber(text, pos, 2, day_of_month) && ReadChar(text, pos, "Tt ") &&
                     ReadNumber(text, pos, 2, hour) && ReadChar(text, pos, ":") && ReadNumber(text, pos, 2, minute) &&
                     ReadChar(text, pos, ":") && ReadNumber(text, pos, 2, second);
  if (!whole) return std::nullopt;
  int64_t sub_ms = 0;
  if (ReadChar(text, pos, ".")) {
    int64_t unit = 100;
    for (; pos < text.size() && text[pos] >= '0' && text[pos] <= '9'; ++pos, unit /= 10) {
      sub_ms += (text[pos] - '0') * unit;
    }
  }
  int64_t offset_minutes = 0;
  if (pos < text.size() && (text[pos] == '+' || text[pos] == '-')) {
    const int sign = text[pos++] == '+' ? 1 : -1;
    int hours, minutes;
    if (!ReadNumber(text, pos, 2, hours) || !ReadChar(text, pos, ":") || !ReadNumber(text, pos, 2, minutes)) {
      return std::nullopt;
    }
    offset_minutes = sign * (hours * 60 + minutes);
  } else if (!ReadChar(text, pos, "Zz")) {
    return std::nullopt;
  }
  const year_month_day date{std::chrono::year(year), std::chrono::month(unsigned(month)),
                            std::chrono::day(unsigned(day_of_month))};
  if (pos != text.size() || !date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  const auto midnight = sys_days(date).time_since_epoch();
  const auto at = duration_cast<milliseconds>(midnight) + hours(hour) + minutes(minute) + seconds(second) -
                  minutes(offset_minutes);
  return duration_cast<milliseconds>(at).count() + sub_ms;
}

}  // namespace tutti::sim
