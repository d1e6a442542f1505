// SPDX-License-Identifier: Apache-2.0
#include "queue/policies/water_fill.h"

#include <algorithm>

#include "base/check.h"

namespace tutti::queue {
namespace {

__extension__ using Wide = __int128;

// The level at which a claim leaves its floor, or reaches its most.
struct Turn {
  int64_t amount = 0;
  int64_t weight = 1;
  size_t claim = 0;
  bool leaves_floor = false;
  // Sorts by amount / weight; at equal levels a claim that leaves its floor is before one that is full.
  friend bool operator<(const Turn& a, const Turn& b) {
    const Wide left = Wide{a.amount} * b.weight, right = Wide{b.amount} * a.weight;
    if (left != right) return left < right;
    return a.leaves_floor != b.leaves_floor ? a.leaves_floor : a.claim < b.claim;
  }
};

// Gives the claims of `rising` the level rest / weight, and the units that rounding leaves to the largest remainders.
void Level(Wide rest, Wide weight, std::span<const Claim> claims, const std::vector<bool>& rising,
           std::vector<int64_t>* out) {
  struct Remainder {
    Wide value;
    size_t claim;
  };
  std::vector<Remainder> remainders;
  Wide left = rest;
  for (size_t i = 0; i < claims.size(); ++i) {
    if (!rising[i]) continue;
    const Wide share = rest * claims[i].weight;
    (*out)[i] = static_cast<int64_t>(share / weight);
    left -= (*out)[i];
    remainders.push_back({share % weight, i});
  }
  std::ranges::stable_sort(remainders, [](const auto& a, const auto& b) { return a.value > b.value; });
  for (const auto& [value, claim] : remainders) {
    if (left <= 0) break;
    if (value == 0 || (*out)[claim] >= claims[claim].most) continue;
    ++(*out)[claim];
    --left;
  }
}

}  // namespace

std::vector<int64_t> WaterFill(int64_t total, std::span<const Claim> claims) {
  std::vector<int64_t> out(claims.size());
  std::vector<Turn> turns;
  Wide rest = total;  // for the claims that rise with the level
  for (size_t i = 0; i < claims.size(); ++i) {
    const auto& [weight, floor, most] = claims[i];
    TUTTI_CHECK(weight > 0 && floor >= 0 && most >= 0, "claims are in range");
    rest -= floor;
    out[i] = floor;
    if (most <= floor) continue;
    turns.push_back({floor, weight, i, true});
    turns.push_back({most, weight, i, false});
  }
  if (rest <= 0) return out;
  std::sort(turns.begin(), turns.end());
  Wide weight = 0;
  std::vector<bool> rising(claims.size(), false);
  for (const Turn& turn : turns) {
    // The level ends below this turn.
    if (weight * turn.amount > rest * turn.weight) break;
    const Claim& claim = claims[turn.claim];
    rising[turn.claim] = turn.leaves_floor;
    rest += turn.leaves_floor ? Wide{claim.floor} : -Wide{claim.most};
    weight += turn.leaves_floor ? claim.weight : -claim.weight;
    if (!turn.leaves_floor) out[turn.claim] = claim.most;
  }
  if (weight > 0) Level(rest, weight, claims, rising, &out);
  return out;
}

}  // namespace tutti::queue
