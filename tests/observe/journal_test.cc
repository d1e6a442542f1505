// SPDX-License-Identifier: Apache-2.0
#include "observe/journal.h"

#include "tests/support/catch.h"

namespace tutti::observe {
namespace {

model::GangKey Key(const std::string& name) { return {"volcano", "default", name}; }

TEST_CASE("a journal tells each gang that changed since a sequence number once, sorted") {
  Journal journal;
  CHECK(journal.last() == 0);
  CHECK(journal.After(0) == std::vector<model::GangKey>());
  for (const char* name : {"b", "a", "b"}) journal.Note(Key(name));
  CHECK(journal.last() == 3);
  CHECK(journal.After(0) == std::vector{Key("a"), Key("b")});
  CHECK(journal.After(2) == std::vector{Key("b")});
  CHECK(journal.After(3) == std::vector<model::GangKey>());
}

TEST_CASE("a journal keeps so many changes, and says so to a reader who comes too late") {
  Journal journal(2);
  for (const char* name : {"a", "b", "c"}) journal.Note(Key(name));
  CHECK(journal.last() == 3);
  CHECK(journal.After(0) == std::nullopt);
  CHECK(journal.After(1) == std::vector{Key("b"), Key("c")});
}

}  // namespace
}  // namespace tutti::observe
