// SPDX-License-Identifier: Apache-2.0
#include "dialects/appwrapper_periods.h"

#include <string>

#include "dialects/declaration.h"
#include "tests/support/catch.h"

namespace tutti::dialects {

TEST_CASE("the pause before it is put back grows as it says") {
  Requeuing requeuing;
  requeuing.first_ms = 1'000;
  CHECK(PauseAfter(requeuing, 3) == 8'000);
  CHECK(PauseAfter(requeuing, 1'000'000) == kLargestCount * 1'000);
  requeuing.longest_ms = 5'000;
  CHECK(PauseAfter(requeuing, 3) == 5'000);
  requeuing.growth = Requeuing::Growth::kLinear;
  CHECK(PauseAfter(requeuing, 3) == 4'000);
  requeuing.growth = Requeuing::Growth::kNone;
  CHECK(PauseAfter(requeuing, 3) == 1'000);
}

TEST_CASE("periods are read as Go writes them, and what is none has its default") {
  const auto read = [](const std::string& text) {
    return ReadPeriods({{"workload.codeflare.dev.appwrapper/warmupGracePeriodDuration", text}}).warmup_ms;
  };
  CHECK(read("90s") == 90'000);
  CHECK(read("1h2m3s") == 3'723'000);
  CHECK(read("250ms") == 250);
  CHECK(read("0") == 0);
  CHECK(read("48h") == 86'400'000);
  for (const char* text : {"", "soon", "-5s", "5", "5 s", "99999999999999999999s"}) CHECK(read(text) == 300'000);
}

}  // namespace tutti::dialects
