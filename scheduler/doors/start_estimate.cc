// SPDX-License-Identifier: Apache-2.0
#include "doors/start_estimate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "doors/messages.h"
#include "doors/text.h"

namespace tutti::doors {
namespace {

constexpr int kMostNamed = 3;

std::string NameOf(const v1::GangName& gang) { return gang.namespace_() + "/" + gang.name(); }

// "default/a, default/b and 3 others"; "" of none.
std::string Listed(const std::vector<std::string>& names, int others) {
  if (names.empty() && others == 0) return "";
  if (names.empty()) return fmt::format("{} that you may not see", others);
  if (others == 0) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} {}", fmt::join(names, ", "), others, others == 1 ? "other" : "others");
}

// "90 s", "25 min", "3 h"
std::string SpanText(int64_t seconds) {
  if (seconds < 120) return fmt::format("{} s", seconds);
  return seconds < 7'200 ? fmt::format("{} min", seconds / 60) : fmt::format("{} h", seconds / 3'600);
}

// How sure the instant is.
const char* Basis(const observe::StartEstimate& estimate) {
  return estimate.basis == observe::StartEstimate::Basis::kDeclared
             ? "At the latest then, if nothing else comes: by the limits that are declared."
             : "A guess, if nothing else comes: by how long gangs have run that are like those in its way.";
}

std::string SentencesOf(const observe::StartEstimate& estimate, const v1::StartEstimate& as) {
  std::vector<std::string> names;
  if (estimate.basis == observe::StartEstimate::Basis::kNone) {
    for (const v1::GangName& gang : as.endless()) names.push_back(NameOf(gang));
    const std::string list = Listed(names, as.other_endless());
    return Utf8(estimate.why) + (list.empty() ? "" : fmt::format(" These have no known end: {}.", list));
  }
  for (const v1::AwaitedEnd& end : as.awaits())
    names.push_back(NameOf(end.gang()) + (end.like_it() == 0
                                              ? ""
                                              : fmt::format(" ({} like it took {}, the median)", end.like_it(),
                                                            SpanText(end.took_seconds()))));
  const std::string list = Listed(names, as.other_awaits());
  return std::string(Basis(estimate)) + (list.empty() ? "" : fmt::format(" These have to end before: {}.", list));
}

}  // namespace

void Fill(const observe::StartEstimate& estimate, Sight& sight, v1::StartEstimate* to) {
  using Basis = observe::StartEstimate::Basis;
  const bool none = estimate.basis == Basis::kNone;
  to->set_basis(none ? "none" : estimate.basis == Basis::kDeclared ? "declared" : "seen");
  if (!none) SetTime(estimate.at_ms, to->mutable_at());
  for (const observe::StartEstimate::End& end : estimate.awaits) {
    if (to->awaits_size() == kMostNamed || !sight.MayName(end.of.ns)) {
      to->set_other_awaits(to->other_awaits() + 1);
      continue;
    }
    v1::AwaitedEnd& awaited = *to->add_awaits();
    Fill(end.of, awaited.mutable_gang());
    SetTime(end.at_ms, awaited.mutable_at());
    awaited.set_like_it(Small(end.like_it));
    awaited.set_took_seconds(end.took_ms / 1'000);
  }
  for (const model::GangKey& gang : estimate.endless)
    if (to->endless_size() < kMostNamed && sight.MayName(gang.ns))
      Fill(gang, to->add_endless());
    else
      to->set_other_endless(to->other_endless() + 1);
  to->set_message(SentencesOf(estimate, *to));
}

}  // namespace tutti::doors
