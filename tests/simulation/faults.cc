// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/faults.h"

namespace tutti::simulation {
namespace {

using sim::Fate;

constexpr const char* kNames[] = {
    "bind-drop",    "bind-lose-reply", "bind-late",        "bind-stray",   "bind-429",   "bind-500",
    "bind-503",     "bind-504",        "bind-conflict",    "bind-refused", "write-drop", "write-lose-reply",
    "write-late",   "write-stray",     "write-refused",    "reply-late",   "read-drop",  "read-late",
    "read-refused", "watch-break",     "watch-stall",      "watch-silent", "list-stale", "duplicate",
    "reorder",      "node-lost",       "node-silent",      "crash",        "pause",      "standby-crash",
    "handover",     "lease-drop",      "lease-lose-reply", "lease-late",   "clock-step", "kind-removed"};
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
    streams_[i].random = base::Random(Mix(seed, kNames[i]));
    const auto rate = scenario.faults.find(kNames[i]);
    if (rate != scenario.faults.end() && !without.contains(kNames[i])) streams_[i].one_in = rate->second;
  }
}

bool Faults::Strikes(Fault fault) {
  Stream& stream = streams_[static_cast<size_t>(fault)];
  if (!on_ || stream.one_in == 0 || !stream.random.OneIn(static_cast<uint64_t>(stream.one_in))) return false;
  ++fired_[FaultName(fault)];
  return true;
}

bool Faults::Refuses(Fault fault, int status, const char* message, Fate& fate) {
  if (!Strikes(fault)) return false;
  fate.kind = Fate::Kind::kRefuse;
  fate.http_status = status;
  fate.message = message;
  return true;
}

bool Faults::Delays(Fault fault, base::Millis least, base::Millis most, Fate& fate) {
  if (!Strikes(fault)) return false;
  fate.request_delay_ms = dice(fault).Between(least, most);
  return true;
}

Fate Faults::DecideRead() {
  constexpr int kStatus[] = {429, 500, 503, 504, 410};
  Fate fate;
  if (Strikes(Fault::kReadDrop))
    fate.kind = Fate::Kind::kDrop;
  else if (!Refuses(Fault::kReadRefused, kStatus[dice(Fault::kReadRefused).Below(5)], kUnable, fate))
    Delays(Fault::kReadLate, 1, 20'000, fate);
  return fate;
}

Fate Faults::Decide(bool bind) {
  Fate fate;
  if (bind) {
    if (Strikes(Fault::kBindDrop))
      fate.kind = Fate::Kind::kDrop;
    else if (Strikes(Fault::kBindLoseReply))
      fate.kind = Fate::Kind::kLoseReply;
    else if (Refuses(Fault::kBind429, 429, "too many requests", fate)) {
    } else if (Refuses(Fault::kBind500, 500, "internal error: etcdserver: request timed out", fate)) {
    } else if (Refuses(Fault::kBind503, 503, kUnable, fate)) {
    } else if (Refuses(Fault::kBind504, 504, "the server was unable to return a response in the time allotted", fate)) {
    } else if (Refuses(Fault::kBindConflict, 409,
                       "the object has been modified; please apply your changes to the latest version", fate)) {
    } else if (Refuses(Fault::kBindRefused, 422, "an admission webhook denied the request", fate)) {
    } else if (Delays(Fault::kBindStray, write_timeout_ms_ + 1, 12 * write_timeout_ms_, fate))
      fate.stray = true;
    else
      Delays(Fault::kBindLate, 1, write_timeout_ms_, fate);
  } else {
    constexpr int kBusy[] = {429, 500, 503, 504};
    if (Strikes(Fault::kWriteDrop))
      fate.kind = Fate::Kind::kDrop;
    else if (Strikes(Fault::kWriteLoseReply))
      fate.kind = Fate::Kind::kLoseReply;
    else if (Refuses(Fault::kWriteRefused, kBusy[dice(Fault::kWriteRefused).Below(4)], kUnable, fate)) {
    } else if (Delays(Fault::kWriteStray, write_timeout_ms_ + 1, 12 * write_timeout_ms_, fate))
      fate.stray = true;
    else
      Delays(Fault::kWriteLate, 1, write_timeout_ms_, fate);
  }
  if (Strikes(Fault::kReplyLate)) fate.reply_delay_ms = dice(Fault::kReplyLate).Between(1, 2'000);
  return fate;
}

}  // namespace tutti::simulation
