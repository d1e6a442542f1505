// SPDX-License-Identifier: Apache-2.0
// Gangs that stay in a line: what wakes them, what they hold up, and what they say.
#include <set>

#include "tests/queue/kueue_desk.h"
#include "tests/support/catch.h"

namespace tutti::queue {

TEST_CASE("kueue: gangs that wait are told when their queue is stopped") {
  Desk desk;
  model::LeafQueueSpec leaf = Leaf("a", "", Quota(1));
  desk.Put(leaf);
  desk.Wait(1, AskFor("a", 2));
  CHECK(desk.Run().refused == std::set{model::GangId(1)});
  leaf.stop = model::StopPolicy::kHold;
  desk.Put(leaf);
  CHECK(desk.Run().refused == std::set{model::GangId(1)});
  CHECK(desk.Why(1) == "ClusterQueue a is inactive");
}

TEST_CASE("kueue: roles whose flavors run out in turns let others pass, and begin from the start once one is freer") {
  Desk desk;
  desk.PutTwoFlavors(4);
  desk.Wait(1, AskFor("a", 4));  // all of f
  desk.Wait(2, AskFor("a", 3, 0, 2));
  desk.Run();
  desk.Forget(1);
  desk.Wait(3, AskFor("a", 1));
  desk.Run();
  REQUIRE(desk.Has(2));
  REQUIRE(desk.Has(3));

  // Of f the first role leaves too little for the second one, and g has too little for either.
  model::GangAsk two = AskFor("a", 2);
  two.roles.push_back(two.roles.front());
  two.roles.back().name = "workers";
  desk.Wait(4, two);
  desk.Wait(5, AskFor("a", 1, 0, 2));
  desk.Run();
  CHECK_FALSE(desk.Has(4));
  CHECK(desk.Has(5));
  desk.Forget(3);
  desk.Forget(5);
  desk.Run();
  CHECK(desk.Has(4));
}

}  // namespace tutti::queue
