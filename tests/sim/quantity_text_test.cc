// SPDX-License-Identifier: Apache-2.0
#include "sim/objects/quantity_text.h"

#include "tests/sim/cluster.h"

namespace tutti::sim {
namespace {

TEST_CASE("quantities are spelled as the API server spells them") {
  const std::pair<Json, const char*> cases[] = {
      {"1", "1"},
      {2, "2"},
      {0.5, "500m"},
      {"1000m", "1"},
      {"1500m", "1500m"},
      {"1024Mi", "1Gi"},
      {"1.5Gi", "1536Mi"},
      {"1000Ki", "1000Ki"},
      {"512", "512"},
      {"0.1Ki", "102400m"},
      {"1e3", "1e3"},
      {"12e6", "12e6"},
      {"1000", "1k"},
      {"128974848", "128974848"},
      {"0", "0"},
      {"-1", "-1"},
      {"100M", "100M"},
      {"0.0000000001", "1n"},
      {"1e30", "1e30"},
      {"1Ei", "1Ei"},
      {"100000000E", "100000000E"},
  };
  for (const auto& [in, out] : cases) {
    INFO(in.dump());
    CHECK(CanonicalQuantity(in).value_or("none") == out);
  }
  for (const char* bad : {"abc", "", "1 Gi", "1gi", "--1", "1e", "1Gi2", ".", "m"}) {
    INFO(bad);
    CHECK_FALSE(CanonicalQuantity(bad).has_value());
  }
  CHECK_FALSE(CanonicalQuantity(Json::array()).has_value());
}

TEST_CASE("sums and products of quantities are exact, and stop at the largest there is") {
  CHECK(AddQuantities("8E", "1n") == "8000000000000000000000000001n");
  CHECK(AddQuantities("4Ei", "3Ei") == "7Ei");
  CHECK(AddQuantities("7Ei", "7Ei") == "9223372036854775807");
  CHECK(MultiplyQuantity("1Pi", 8'191) == "8191Pi");
  CHECK(MultiplyQuantity("1Pi", INT64_MAX) == "9223372036854775807");
}

TEST_CASE("quantities compare across suffixes") {
  CHECK(CompareQuantities("1", "1000m") == 0);
  CHECK(CompareQuantities("1Gi", "1G") == 1);
  CHECK(CompareQuantities("-1", "0") == -1);
}

}  // namespace
}  // namespace tutti::sim
