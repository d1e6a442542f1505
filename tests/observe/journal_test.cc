// SPDX-License-Identifier: Apache-2.0
#include "observe/journal.h"

#include "tests/support/catch.h"

namespace tutti::observe {
namespace {

model::GangKey Key(const std::string& name) { return {"volcano", "default", name}; }

Journal::Changes After(const Journal& journal, uint64_t sequence, size_t most = Journal::kKept) {
  auto changes = journal.After(sequence, most);
  REQUIRE(changes);
  return *std::move(changes);
}

TEST_CASE("a journal tells each gang that changed since a sequence number once, sorted") {
  Journal journal;
  CHECK(journal.last() == 0);
  CHECK(After(journal, 0).gangs.empty());
  for (const char* name : {"b", "a", "b"}) journal.Note(Key(name));
  CHECK(journal.last() == 3);
  CHECK(After(journal, 0).gangs == std::vector{Key("a"), Key("b")});
  CHECK(After(journal, 2).gangs == std::vector{Key("b")});
  CHECK(After(journal, 3).gangs.empty());
  CHECK(After(journal, 3).sequence == 3);
}

TEST_CASE("a journal keeps so many changes, and says so to a reader that comes too late") {
  Journal journal(0, 2);
  for (const char* name : {"a", "b", "c"}) journal.Note(Key(name));
  CHECK(journal.last() == 3);
  CHECK_FALSE(journal.After(0));
  CHECK(After(journal, 1).gangs == std::vector{Key("b"), Key("c")});
}

TEST_CASE("a reader that takes a few changes at a time goes on where it stopped") {
  Journal journal;
  for (const char* name : {"b", "a", "c"}) journal.Note(Key(name));
  const Journal::Changes first = After(journal, 0, 2);
  CHECK(first.gangs == std::vector{Key("a"), Key("b")});
  const Journal::Changes second = After(journal, first.sequence, 2);
  CHECK(second.gangs == std::vector{Key("c")});
  CHECK(second.sequence == journal.last());
}

TEST_CASE("a number of another process is not taken for one of this") {
  Journal journal(1'000);
  journal.Note(Key("a"));
  CHECK(journal.last() == 1'001);
  CHECK_FALSE(journal.After(0));
  CHECK_FALSE(journal.After(999));
  CHECK(After(journal, 1'000).gangs == std::vector{Key("a")});
  CHECK_FALSE(journal.After(1'002));
}

}  // namespace
}  // namespace tutti::observe
