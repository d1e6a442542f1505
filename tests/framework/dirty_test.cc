// SPDX-License-Identifier: Apache-2.0
#include "framework/dirty.h"

#include <fmt/format.h>

#include <map>

#include "tests/support/catch.h"
#include "tests/support/test_cluster.h"

namespace tutti::framework {
namespace {

TEST_CASE("A domain that is named for each of a thousand pods is gone through once") {
  tests::TestCluster cluster;
  for (int i = 0; i < 200; ++i)
    cluster.AddNode({{"name", fmt::format("n{}", i)}, {"labels", {{"zone", fmt::format("z{}", i % 100)}}}});
  cluster::SymbolTable& symbols = cluster.snapshot().symbols();
  const model::Symbol zone = symbols.Intern("zone");
  const auto times_named = [&](Dirty& dirty) {
    std::map<model::NodeId, int> times;
    dirty.ForEach(cluster.snapshot(), [&](model::NodeId n) { ++times[n]; });
    return times;
  };
  Dirty dirty;
  CHECK(dirty.empty());
  for (const int domains : {3, 100}) {
    for (int i = 0; i < 1000; ++i) dirty.Domain(zone, symbols.Intern(fmt::format("z{}", i % domains)));
    const auto times = times_named(dirty);
    CHECK(times.size() == static_cast<size_t>(2 * domains));
    for (const auto& [n, count] : times) CHECK(count == 1);
  }

  dirty.Clear();
  CHECK(dirty.empty());
  for (int i = 0; i < 1000; ++i) dirty.Node(cluster.Node(fmt::format("n{}", i % 3)));
  const auto times = times_named(dirty);
  CHECK(times.size() == 3);
  for (const auto& [n, count] : times) CHECK(count < 70);
  CHECK_FALSE(dirty.empty());
}

}  // namespace
}  // namespace tutti::framework
