// SPDX-License-Identifier: Apache-2.0
#include "model/resource_list.h"

#include <rapidcheck.h>
#include <rapidcheck/catch.h>

#include <algorithm>
#include <limits>
#include <map>

#include "tests/support/catch.h"

namespace tutti::model {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

ResourceList FromMap(const std::map<std::string, int64_t>& amounts) {
  ResourceList list;
  for (const auto& [name, amount] : amounts) list.Set(name, amount);
  return list;
}

TEST_CASE("A list keeps its names sorted and each once, whatever the order they came in") {
  rc::prop("as a map", [](const std::vector<std::pair<std::string, int64_t>>& writes) {
    ResourceList list;
    std::map<std::string, int64_t> map;
    for (const auto& [name, amount] : writes) {
      list.Set(name, amount);
      map[name] = amount;
    }
    RC_ASSERT(std::ranges::equal(
        list, map, [](const auto& a, const auto& b) { return a.first == b.first && a.second == b.second; }));
    for (const auto& [name, amount] : map) RC_ASSERT(list.Has(name) && list.Get(name) == amount);
    RC_ASSERT(list == FromMap(map));
  });
  CHECK(ResourceList().Get("cpu") == 0);
  CHECK_FALSE(ResourceList().Has("cpu"));
}

TEST_CASE("Lists are added, and the larger of two taken, name by name") {
  const auto amounts =
      rc::gen::map(rc::gen::container<std::vector<int64_t>>(4, rc::gen::inRange<int64_t>(0, int64_t{1} << 60)),
                   [](const std::vector<int64_t>& drawn) {
                     constexpr const char* kNames[] = {"cpu", "memory", "pods", "x/y"};
                     ResourceList list;
                     for (size_t i = 0; i < drawn.size(); ++i)
                       if (drawn[i] % 3 != 0) list.Set(kNames[i], drawn[i]);
                     return list;
                   });
  rc::prop("sum and most", [&] {
    const ResourceList a = *amounts, b = *amounts;
    ResourceList sum = a;
    sum.AddAll(b);
    for (const auto& [name, amount] : b) RC_ASSERT(sum.Get(name) == a.Get(name) + amount);
    ResourceList most = a;
    most.MaxAll(b);
    for (const auto& [name, amount] : most) RC_ASSERT(amount == std::max(a.Get(name), b.Get(name)));
  });
}

TEST_CASE("Sums of hostile amounts stop at the largest int64") {
  ResourceList list = FromMap({{"cpu", kMax - 1}});
  for (int i = 0; i < 10'000; ++i) list.Add("cpu", kMax / 2);
  CHECK(list.Get("cpu") == kMax);
}

TEST_CASE("Text is read in the unit of its resource; an error names it") {
  ResourceList list;
  REQUIRE(list.SetText("cpu", "1500m"));
  REQUIRE(list.SetText("memory", "1Gi"));
  CHECK(list.Get("cpu") == 1'500);
  CHECK(list.Get("memory") == int64_t{1} << 30);
  const auto bad = list.SetText("nvidia.com/gpu", "one");
  REQUIRE_FALSE(bad);
  CHECK_THAT(bad.error().message, Catch::StartsWith("nvidia.com/gpu: \"one\" is not a quantity"));
  CHECK_FALSE(list.Has("nvidia.com/gpu"));
}

TEST_CASE("Amounts are printed as Kubernetes prints them") {
  CHECK(FormatAmount("cpu", 2'500) == "2500m");
  CHECK(FormatAmount("memory", int64_t{4} << 30) == "4Gi");
  CHECK(FormatAmount("hugepages-2Mi", int64_t{4} << 20) == "4Mi");
  CHECK(FormatAmount("nvidia.com/gpu", 1'024) == "1024");
}

}  // namespace
}  // namespace tutti::model
