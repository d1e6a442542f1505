// SPDX-License-Identifier: Apache-2.0
#include "model/shared_pool.h"

#include <fmt/format.h>

#include "tests/support/catch.h"

namespace tutti::model {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

StringMap Labels(int of, int many) {
  StringMap labels;
  for (int i = 0; i < many; ++i) labels.emplace_back(fmt::format("k{:06}", i), fmt::format("v{}", of));
  return labels;
}

TEST_CASE("a pool lets go of what is not used, whatever its size") {
  SharedPool<StringMap> pool;
  const auto kept = pool.One(Labels(-1, 10));
  for (int i = 0; i < 100; ++i) pool.One(Labels(i, 10'000));
  CHECK(pool.bytes() < 3 * kMiB);
  for (int i = 0; i < 20'000; ++i) pool.One(Labels(i, 1));
  CHECK(pool.bytes() < 3 * kMiB);
  CHECK(&*pool.One(Labels(-1, 10)) == &*kept);
}

TEST_CASE("a pool keeps what is used") {
  SharedPool<StringMap> pool;
  std::vector<Shared<StringMap>> kept;
  for (int i = 0; i < 5'000; ++i) kept.push_back(pool.One(Labels(i, 10)));
  CHECK(pool.size() == kept.size());
  for (int i = 0; i < 5'000; ++i) REQUIRE(&*pool.One(Labels(i, 10)) == &*kept[static_cast<size_t>(i)]);
}

}  // namespace
}  // namespace tutti::model
