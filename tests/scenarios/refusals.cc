// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/refusals.h"

#include <fmt/format.h>

#include <limits>
#include <variant>

namespace tutti::scenarios {

base::Status Refusals::Set(const sim::Json& wanted) {
  for (const auto& [word, value] : sim::MapOf(wanted).items())
    if (word != "binds-of" && word != "to" && word != "times")
      return base::Invalid(fmt::format("unknown word \"{}\" in refuse", word));
  pods_ = sim::DigString(wanted, "binds-of");
  nodes_ = sim::DigString(wanted, "to");
  if (nodes_.empty()) nodes_ = "*";
  left_ = pods_.empty() ? 0 : sim::IntOf(sim::Dig(wanted, "times"), std::numeric_limits<int64_t>::max());
  return {};
}

sim::Fate Refusals::Decide(const cluster::Command& command) {
  const auto* bind = std::get_if<cluster::Bind>(&command.body);
  if (!bind || left_ == 0 || !MatchesGlob(pods_, bind->pod.name()) || !MatchesGlob(nodes_, bind->node)) return {};
  --left_;
  return {.kind = sim::Fate::Kind::kRefuse, .http_status = 422, .message = "refused by the scenario"};
}

bool MatchesGlob(std::string_view pattern, std::string_view text) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  text.remove_prefix(star);
  for (size_t at = 0; at <= text.size(); ++at)
    if (MatchesGlob(pattern.substr(star + 1), text.substr(at))) return true;
  return false;
}

}  // namespace tutti::scenarios
