// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/faults.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace tutti::simulation {
namespace {

using sim::Fate;

constexpr const char* kNames[] = {
    "bind-drop",        "bind-lose-reply", "bind-late",     "bind-stray",       "bind-429",    "bind-500",
    "bind-503",         "bind-504",        "bind-conflict", "bind-refused",     "pod-refused", "write-drop",
    "write-lose-reply", "write-late",      "write-stray",   "write-refused",    "reply-late",  "read-drop",
    "read-late",        "read-refused",    "lease-drop",    "lease-lose-reply", "lease-late",  "watch-break",
    "watch-stall",      "watch-silent",    "list-stale",    "duplicate",        "reorder",     "node-lost",
    "node-silent",      "crash",           "pause",         "standby-crash",    "handover",    "lease-deleted",
    "clock-step",       "kind-removed"};
constexpr base::Millis kForGood = std::numeric_limits<base::Millis>::max();
constexpr const char* kUnable = "the server is currently unable to handle the request";
static_assert(std::size(kNames) == static_cast<size_t>(Fault::kCount));

}  // namespace

std::string FaultName(Fault fault) { return kNames[static_cast<size_t>(fault)]; }
std::vector<std::string> FaultNames() { return {std::begin(kNames), std::end(kNames)}; }

uint64_t Mix(uint64_t seed, std::string_view stream) {
  uint64_t hash = 0xCBF29CE484222325ull ^ (seed * 0x9E3779B97F4A7C15ull);
  for (const char c : stream) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  return base::Random(hash).Next();
}

Faults::Faults(const Scenario& scenario, uint64_t seed, const std::set<std::string>& without,
               base::Millis write_timeout_ms)
    : write_timeout_ms_(write_timeout_ms) {
  for (size_t i = 0; i < streams_.size(); ++i) {
    streams_[i].seed = Mix(seed, kNames[i]);
    const auto rate = scenario.faults.find(kNames[i]);
    if (rate != scenario.faults.end() && !without.contains(kNames[i])) streams_[i].one_in = rate->second;
  }
}

void Faults::OnActions(size_t over) {
  if (std::exchange(actions_over_, over) != over) throws_since_.clear();
}

bool Faults::Strikes(Fault fault, std::string_view about) {
  Stream& stream = streams_[static_cast<size_t>(fault)];
  if (!on_ || stream.one_in == 0) return false;
  const bool each_turn = fault >= Fault::kWatchBreak;
  const uint64_t its = Mix(stream.seed + (each_turn ? actions_over_ : 0), about);
  const uint64_t nth = ++(each_turn ? throws_since_ : throws_)[its];
  stream.random = base::Random(base::Random(its ^ (nth << 32)).Next());
  if (!stream.random.OneIn(static_cast<uint64_t>(stream.one_in))) return false;
  ++fired_[FaultName(fault)];
  return true;
}

bool Faults::Refuses(Fault fault, int status, const char* message, std::string_view about, Fate& fate) {
  if (!Strikes(fault, about)) return false;
  fate.kind = Fate::Kind::kRefuse;
  fate.http_status = status;
  fate.message = message;
  return true;
}

bool Faults::RefusesPod(const std::string& pod, base::Millis now, Fate& fate) {
  const Stream& stream = streams_[static_cast<size_t>(Fault::kPodRefused)];
  if (!on_ || stream.one_in == 0) return false;
  const auto [until, first] = refused_until_ms_.try_emplace(pod, 0);
  if (first) {
    base::Random random(Mix(stream.seed, pod));
    if (random.OneIn(static_cast<uint64_t>(stream.one_in)))
      until->second = random.OneIn(3) ? kForGood : now + random.Between(10'000, 300'000);
  }
  if (until->second <= now) return false;
  ++fired_[FaultName(Fault::kPodRefused)];
  fate.kind = Fate::Kind::kRefuse;
  fate.http_status = 422;
  fate.message = "an admission webhook denies the pod";
  return true;
}

bool Faults::Delays(Fault fault, base::Millis least, base::Millis most, std::string_view about, Fate& fate) {
  if (!Strikes(fault, about)) return false;
  fate.request_delay_ms = dice(fault).Between(least, most);
  return true;
}

void Faults::DelayReply(std::string_view about, Fate& fate) {
  if (Strikes(Fault::kReplyLate, about)) fate.reply_delay_ms = dice(Fault::kReplyLate).Between(1, 2'000);
}

Fate Faults::DecideRead(std::string_view about) {
  constexpr int kStatus[] = {429, 500, 503, 504, 410};
  Fate fate;
  if (Strikes(Fault::kReadDrop, about))
    fate.kind = Fate::Kind::kDrop;
  else if (Refuses(Fault::kReadRefused, 0, kUnable, about, fate))
    fate.http_status = kStatus[dice(Fault::kReadRefused).Below(std::size(kStatus))];
  else
    Delays(Fault::kReadLate, 1, 20'000, about, fate);
  return fate;
}

Fate Faults::DecideBind(const std::string& pod, std::string_view about, base::Millis now) {
  struct Refusal {
    Fault fault;
    int status;
    const char* message;
  };
  constexpr Refusal kRefusals[] = {
      {Fault::kBind429, 429, "too many requests"},
      {Fault::kBind500, 500, "internal error: etcdserver: request timed out"},
      {Fault::kBind503, 503, kUnable},
      {Fault::kBind504, 504, "the server was unable to return a response in the time allotted"},
      {Fault::kBindConflict, 409, "the object has been modified; please apply your changes to the latest version"},
      {Fault::kBindRefused, 422, "an admission webhook denied the request"}};
  Fate fate;
  const auto refused = [&](const Refusal& it) { return Refuses(it.fault, it.status, it.message, about, fate); };
  if (Strikes(Fault::kBindDrop, about))
    fate.kind = Fate::Kind::kDrop;
  else if (Strikes(Fault::kBindLoseReply, about))
    fate.kind = Fate::Kind::kLoseReply;
  else if (!RefusesPod(pod, now, fate) && std::ranges::none_of(kRefusals, refused)) {
    fate.stray = Delays(Fault::kBindStray, write_timeout_ms_ + 1, 12 * write_timeout_ms_, about, fate);
    if (!fate.stray) Delays(Fault::kBindLate, 1, write_timeout_ms_, about, fate);
  }
  DelayReply(about, fate);
  return fate;
}

Fate Faults::DecideWrite(std::string_view about) {
  constexpr int kBusy[] = {429, 500, 503, 504};
  Fate fate;
  if (Strikes(Fault::kWriteDrop, about))
    fate.kind = Fate::Kind::kDrop;
  else if (Strikes(Fault::kWriteLoseReply, about))
    fate.kind = Fate::Kind::kLoseReply;
  else if (Refuses(Fault::kWriteRefused, 0, kUnable, about, fate))
    fate.http_status = kBusy[dice(Fault::kWriteRefused).Below(std::size(kBusy))];
  else {
    fate.stray = Delays(Fault::kWriteStray, write_timeout_ms_ + 1, 12 * write_timeout_ms_, about, fate);
    if (!fate.stray) Delays(Fault::kWriteLate, 1, write_timeout_ms_, about, fate);
  }
  DelayReply(about, fate);
  return fate;
}

}  // namespace tutti::simulation
