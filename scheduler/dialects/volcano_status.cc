// SPDX-License-Identifier: Apache-2.0
#include "dialects/volcano_status.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/planted.h"
#include "dialects/declaration.h"
#include "dialects/fields.h"
#include "dialects/wording.h"

namespace tutti::dialects {
namespace {

using Json = base::Json;

// Of Tutti and of Volcano, which has no more.
constexpr std::string_view kConditionTypes[] = {"Scheduled", "Unschedulable"};
constexpr size_t kMostConditions = 64;  // of others

bool Waits(GangState state) {
  return state == GangState::kWaitingForMembers || state == GangState::kWaitingForQueue ||
         state == GangState::kWaitingForNodes || state == GangState::kInvalid;
}

int64_t Scheduled(const GangReport& report) { return report.bound + report.running + report.succeeded + report.failed; }

// "1 Bound, 3 Pending", sorted as Volcano sorts: by bytes.
std::string Histogram(const std::vector<std::pair<int64_t, std::string_view>>& counts) {
  std::vector<std::string> words;
  for (const auto& [count, word] : counts)
    if (count > 0) words.push_back(fmt::format("{} {}", count, word));
  std::sort(words.begin(), words.end());
  return fmt::format("{}", fmt::join(words, ", "));
}

uint64_t Mix(uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  return (hash ^ text.size()) * 0x100000001B3ull;
}

// Volcano puts its session's random UUID here. Ours follows from the input (RFC 9562, version 8), so that a replay
// writes the same bytes.
std::string TransitionId(const GangReport& report, std::string_view type, std::string_view message) {
  uint64_t high = Mix(Mix(0xCBF29CE484222325ull, report.spec->uid), type),
           low = Mix(Mix(~high, message), base::FormatTime(report.now_wall_ms));
  high = Mix(high, fmt::format("{}", low));
  return fmt::format("{:08x}-{:04x}-8{:03x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xFFFF, high & 0xFFF,
                     0x8000 | ((low >> 48) & 0x3FFF), low & 0xFFFFFFFFFFFFull);
}

std::string TimeOf(const Json& condition) { return TextIn(condition, "lastTransitionTime"); }

// The first of `type`; null when there is none.
auto* Find(auto& conditions, std::string_view type) {
  const auto at = std::find_if(conditions.begin(), conditions.end(), [&](const Json& c) {
    const auto of = c.is_object() ? c.find("type") : c.end();
    return of != c.end() && of->is_string() && of->template get_ref<const std::string&>() == type;
  });
  return at == conditions.end() ? nullptr : &*at;
}

// Which of the two conditions is the newer; of equally old ones the later in the list. Empty: there is none.
std::string_view Newest(const Json& conditions) {
  const Json* scheduled = Find(conditions, kConditionTypes[0]);
  const Json* unschedulable = Find(conditions, kConditionTypes[1]);
  if (!scheduled || !unschedulable) return scheduled ? kConditionTypes[0] : unschedulable ? kConditionTypes[1] : "";
  const std::string a = TimeOf(*scheduled), b = TimeOf(*unschedulable);
  return (a == b ? scheduled > unschedulable : a > b) ? kConditionTypes[0] : kConditionTypes[1];
}

// Now; or a second after the other condition, if that is not older, for times are in seconds. Another
// leader's clock may have been ahead; but not by a year.
std::string TimeAfter(const Json* other, base::Millis now_ms) {
  constexpr base::Millis kSecond = 1'000, kYear = 366LL * 86'400'000;
  if (other)
    if (const auto of = base::ParseTime(TimeOf(*other)); of && *of > now_ms - kSecond && *of < now_ms + kYear)
      return base::FormatTime(std::max(now_ms, *of + kSecond));
  return base::FormatTime(now_ms);
}

// Replaces the condition of its type or adds it, unless it says the same already and is the newest. Volcano removes
// none, and renews the time of the one that holds.
void Upsert(const GangReport& report, std::string_view type, std::string_view reason, const std::string& message,
            Json* conditions) {
  Json condition = {{"type", type}, {"status", "True"}, {"reason", reason}};
  if (!message.empty()) condition["message"] = message;
  Json* same_type = Find(*conditions, type);
  if (same_type) {
    Json present = *same_type;
    present.erase("lastTransitionTime");
    present.erase("transitionID");
    if (present == condition && (Newest(*conditions) == type || base::Planted(base::Bug::kOldCondition))) return;
  }
  const Json* other = Find(*conditions, type == kConditionTypes[0] ? kConditionTypes[1] : kConditionTypes[0]);
  condition["lastTransitionTime"] = TimeAfter(other, report.now_wall_ms);
  condition["transitionID"] = TransitionId(report, type, message);
  if (same_type)
    *same_type = std::move(condition);
  else
    conditions->push_back(std::move(condition));
}

// What is written holds the whole list, that of others too: theirs stay. A longer list is an attacker's,
// or of a controller that leaks.
bool MayBeCarried(const Json& conditions) {
  if (conditions.size() > kMostConditions + std::size(kConditionTypes)) return false;
  const Json* scheduled = Find(conditions, kConditionTypes[0]);
  const Json* unschedulable = Find(conditions, kConditionTypes[1]);
  size_t others = 0, left = kMostStatusBytes;
  return std::ranges::all_of(conditions, [&](const Json& condition) {
    if (&condition == scheduled || &condition == unschedulable) return IsShort(condition);
    return ++others <= kMostConditions && TakeBytes(condition, &left);
  });
}

// Null when there are more than may be carried along.
const Json* ConditionsIn(const Json& status) {
  static const Json none = Json::array();
  const auto at = status.is_object() ? status.find("conditions") : status.end();
  if (at == status.end() || !at->is_array()) return &none;
  return MayBeCarried(*at) ? &*at : nullptr;
}

bool HasSameConditions(const Json& a, const Json& b) {
  const auto of = [](const Json& status) { return status.is_object() ? status.find("conditions") : status.end(); };
  const auto x = of(a), y = of(b);
  return x != a.end() && y != b.end() && *x == *y;
}

// The field of a status as far as it counts; null: it is absent, or as good as absent.
const Json& Counted(const Json& status, const char* field) {
  static const Json null;
  const auto at = status.find(field);
  return at != status.end() && !at->is_null() && *at != 0 && IsShort(*at) ? *at : null;
}

// Whether two conditions are the same but for their times and ids. REQUIRES: both are objects, or null pointers.
bool SameButTimes(const Json* a, const Json* b) {
  if (!a || !b) return a == b;
  const auto next = [](auto at, auto end) {
    return std::find_if(
        at, end, [](const auto& item) { return item.first != "lastTransitionTime" && item.first != "transitionID"; });
  };
  const auto &x = a->get_ref<const Json::object_t&>(), &y = b->get_ref<const Json::object_t&>();
  auto i = next(x.begin(), x.end()), j = next(y.begin(), y.end());
  for (; i != x.end() && j != y.end(); i = next(i + 1, x.end()), j = next(j + 1, y.end()))
    if (*i != *j) return false;
  return i == x.end() && j == y.end();
}

// Pending, Inqueue, Running, Unknown or Completed. `before` is the phase until now. Unknown: some members run, and the
// gang is below its minimum.
std::string VolcanoPhase(const GangReport& report, std::string_view before) {
  const int64_t done = report.succeeded + report.failed;
  if (report.state == GangState::kFinished) return "Completed";
  if (report.state == GangState::kWhole) {
    // Volcano says Completed of a group that asks for nothing and has nothing; that would hide pods that still wait.
    if (Scheduled(report) == 0) return "Pending";
    return done == report.total ? "Completed" : "Running";
  }
  if (report.state == GangState::kTerminating) return "Running";
  if (report.running > 0 && (Waits(report.state) || before == "Running" || before == "Unknown")) return "Unknown";
  // Inqueue: the queue has room for it. Volcano's Job controller waits for that before it makes the pods.
  return report.state == GangState::kWaitingForQueue || report.state == GangState::kInvalid ? "Pending" : "Inqueue";
}

// "3/3 tasks in gang unschedulable: pod group is not ready, 3 Pending, 3 minAvailable; Pending: 3 Unschedulable", then
// " Origin reason is ..." with our own sentence, which Volcano has for a job's fit error.
std::string VolcanoUnschedulable(const GangReport& report) {
  const std::string origin =
      OneLine(Join(report.sentence.empty() ? report.spec->problem : report.sentence, report.nodes_sentence));
  const int64_t ready = report.bound + report.running + report.succeeded;
  const int64_t short_of =
      report.spec->min_member > ready ? std::min(report.spec->min_member - ready, report.total) : report.pending;
  std::string said = fmt::format("{}/{} tasks in gang unschedulable: ", short_of, report.total);
  if (report.state == GangState::kInvalid) return said + origin;

  said += "pod group is not ready, " + Histogram({{report.pending, "Pending"},
                                                  {report.bound, "Bound"},
                                                  {report.running, "Running"},
                                                  {report.succeeded, "Succeeded"},
                                                  {report.failed, "Failed"},
                                                  {report.deleting, "Releasing"},
                                                  {report.spec->min_member, "minAvailable"}});
  std::vector<std::pair<int64_t, std::string_view>> reasons;
  for (const auto& [reason, count] : report.pending_reasons) reasons.emplace_back(count, reason);
  if (const std::string pending = Histogram(reasons); !pending.empty()) said += "; Pending: " + pending;
  if (!origin.empty()) said += ". Origin reason is " + origin;
  return said;
}

}  // namespace

Json VolcanoStatus(const GangReport& report, const Json& before, const Json& observed) {
  std::string phase;
  if (const auto at = before.is_object() ? before.find("phase") : before.end();
      at != before.end() && at->is_string() && IsShort(*at))
    phase = *at;
  Json status = {{"phase", VolcanoPhase(report, phase)}};
  if (report.running > 0) status["running"] = report.running;
  if (report.succeeded > 0) status["succeeded"] = report.succeeded;
  if (report.failed > 0) status["failed"] = report.failed;

  const Json* known = ConditionsIn(observed);
  if (known && before.is_object() && before.contains("conditions")) known = ConditionsIn(before);
  if (!known) return status;
  Json conditions = *known;
  // Of a gang without members that could be placed nothing new is said; but what was said before is brought up to date.
  if (Waits(report.state) && (report.total > report.deleting || Newest(conditions) == kConditionTypes[1]))
    Upsert(report, "Unschedulable", "NotEnoughResources", VolcanoUnschedulable(report), &conditions);
  if (report.state == GangState::kWhole && Scheduled(report) > 0)
    Upsert(report, "Scheduled", "tasks in gang are ready to be scheduled", "", &conditions);
  if (!conditions.empty()) status["conditions"] = std::move(conditions);
  return status;
}

bool VolcanoNamesConditions(const Json& observed) { return ConditionsIn(observed) != nullptr; }

bool VolcanoAgrees(const Json& fields, const Json& object) {
  const Json &wanted = StatusIn(fields), &there = StatusIn(object);
  for (const char* field : {"phase", "running", "succeeded", "failed"})
    if (Counted(wanted, field) != Counted(there, field)) return false;
  if (HasSameConditions(wanted, there)) return true;  // as when what was written is seen
  const Json *ours = ConditionsIn(wanted), *theirs = ConditionsIn(there);
  for (const std::string_view type : kConditionTypes)
    if (!SameButTimes(ours ? Find(*ours, type) : nullptr, theirs ? Find(*theirs, type) : nullptr)) return false;
  return (ours ? Newest(*ours) : "") == (theirs ? Newest(*theirs) : "");
}

}  // namespace tutti::dialects
