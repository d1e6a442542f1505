// SPDX-License-Identifier: Apache-2.0
#include "tests/queue/kueue_cases.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>

#include "tests/support/catch.h"

namespace tutti::queue {

TEST_CASE("kueue: which gangs get quota, of which flavors, and which have to leave, is what Kueue decides") {
  std::string table;
  for (const std::string test :
       {"TestSchedule", "TestPreemption", "TestHierarchicalPreemptions", "TestFairPreemptions"}) {
    std::ifstream file(fmt::format("{}/{}.txt", KUEUE_CASES, test));
    const std::vector<KueueCase> cases = ReadKueueCases(file);
    CHECK_FALSE(cases.empty());
    size_t agree = 0;
    for (const KueueCase& c : cases) {
      const std::vector<std::string> wrong = RunKueueCase(c);
      agree += wrong.empty();
      INFO(test << ": " << c.name << "\n  " << fmt::format("{}", fmt::join(wrong, "\n  ")));
      CHECK(wrong.empty());
    }
    table += fmt::format("  {:<28} {:>7} {:>7}\n", test, agree, cases.size() - agree);
  }
  fmt::print("  {:<28} {:>7} {:>7}\n{}", "cases of Kueue", "agrees", "differs", table);
}

}  // namespace tutti::queue
