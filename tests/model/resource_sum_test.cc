// SPDX-License-Identifier: Apache-2.0
#include "model/resource_sum.h"

#include <limits>

#include "tests/support/catch.h"

namespace tutti::model {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

ResourceList Of(std::string_view name, int64_t amount) {
  ResourceList list;
  list.Set(name, amount);
  return list;
}

TEST_CASE("A sum beyond what can be counted is seen as the largest int64, and is exact when it shrinks") {
  ResourceSum sum;
  for (int i = 0; i < 10'000; ++i) sum.Add(Of("memory", kMax));
  sum.Add(Of("memory", 7));
  CHECK(sum.Get("memory") == kMax);
  CHECK(sum.Seen() == Of("memory", kMax));
  ResourceSum twice;
  for (int i = 0; i < 2; ++i) twice.Add(sum);
  for (int i = 0; i < 20'000; ++i) twice.Subtract(Of("memory", kMax));
  CHECK(twice.Get("memory") == 14);
}

TEST_CASE("A sum that comes to nothing is let go") {
  ResourceSum sum;
  sum.Add(Of("example.com/x", 1));
  sum.Add(Of("cpu", 0));
  CHECK_FALSE(sum.empty());
  CHECK(sum.Get("cpu") == 0);
  sum.Subtract(Of("example.com/x", 1));
  CHECK(sum.empty());
  CHECK(sum.Seen().empty());
}

}  // namespace
}  // namespace tutti::model
