// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/faults.h"

namespace tutti::simulation {
namespace {

using sim::Fate;

constexpr const char* kNames[] = {"bind-drop",    "bind-lose-reply",  "bind-late",  "bind-busy",     "bind-conflict", "bind-refused",
                                  "write-drop",   "write-lose-reply", "write-late", "write-refused", "reply-late",    "watch-break",
                                  "watch-stall",  "duplicate",        "node-lost",  "node-silent",   "crash",         "pause",
                                  "standby-crash", "handover",        "clock-step", "kind-removed"};
static_assert(std::size(kNames) == static_cast<size_t>(Fault::kCount));

constexpr int kBusy[] = {429, 500, 503, 504};

}  // namespace

std::string FaultName(Fault fault) { return kNames[static_cast<size_t>(fault)]; }
std::vector<std::string> FaultNames() { return {std::begin(kNames), std::end(kNames)}; }

uint64_t Mix(uint64_t seed, std::string_view stream) {
  uint64_t hash = 0xCBF29CE484222325ull ^ (seed * 0x9E3779B97F4A7C15ull);
  for (const char c : stream) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  return base::Random(hash).Next();
}

Faults::Faults(const Scenario& scenario, uint64_t seed, const std::set<std::string>& without, base::Millis bind_timeout_ms)
    : bind_timeout_ms_(bind_timeout_ms) {
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

Fate Faults::Decide(const cluster::Command& command) {
  Fate fate;
  const bool bind = std::holds_alternative<cluster::Bind>(command.body);
  const auto refuse = [&fate](int status, const char* message) {
    fate.kind = Fate::Kind::kRefuse;
    fate.http_status = status;
    fate.message = message;
  };
  if (bind) {
    if (Strikes(Fault::kBindDrop)) fate.kind = Fate::Kind::kDrop;
    else if (Strikes(Fault::kBindLoseReply)) fate.kind = Fate::Kind::kLoseReply;
    else if (Strikes(Fault::kBindBusy)) refuse(kBusy[dice(Fault::kBindBusy).Below(4)], "the server is currently unable to handle the request");
    else if (Strikes(Fault::kBindConflict)) refuse(409, "the object has been modified; please apply your changes to the latest version");
    else if (Strikes(Fault::kBindRefused)) refuse(422, "an admission webhook denied the request");
    if (Strikes(Fault::kBindLate)) fate.request_delay_ms = dice(Fault::kBindLate).Between(1, bind_timeout_ms_ * 5 / 4);
  } else {
    if (Strikes(Fault::kWriteDrop)) fate.kind = Fate::Kind::kDrop;
    else if (Strikes(Fault::kWriteLoseReply)) fate.kind = Fate::Kind::kLoseReply;
    else if (Strikes(Fault::kWriteRefused)) refuse(kBusy[dice(Fault::kWriteRefused).Below(4)], "the server is currently unable to handle the request");
    if (Strikes(Fault::kWriteLate)) fate.request_delay_ms = dice(Fault::kWriteLate).Between(1, 10'000);
  }
  if (Strikes(Fault::kReplyLate)) fate.reply_delay_ms = dice(Fault::kReplyLate).Between(1, 2'000);
  return fate;
}

}  // namespace tutti::simulation
