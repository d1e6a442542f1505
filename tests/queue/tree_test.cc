// SPDX-License-Identifier: Apache-2.0
#include "queue/tree.h"

#include "tests/queue/build.h"
#include "tests/support/catch.h"

namespace tutti::queue {

TEST_CASE("a queue knows its parent whatever the order of their declarations") {
  QueueTree tree;
  const QueueId leaf = tree.Put(Spec("leaf", "mid"));
  CHECK(tree.Problem(leaf) == "queue \"leaf\": its parent \"mid\" does not exist; create it or name another");
  const QueueId mid = tree.Put(Spec("mid", "root"));
  const QueueId root = tree.Put(Spec("root"));
  CHECK(tree.parent(leaf) == mid);
  CHECK(tree.parent(mid) == root);
  CHECK_FALSE(tree.parent(root).valid());
  CHECK(tree.Problem(leaf).empty());
  CHECK(tree.Children(root) == std::vector{mid});
  CHECK(tree.Roots() == std::vector{root});

  tree.Drop(Key("mid"));
  CHECK(tree.parent(leaf) == mid);  // the name keeps its id while a queue has it for parent
  CHECK_FALSE(tree.parent(mid).valid());
  CHECK_FALSE(tree.Problem(leaf).empty());
  CHECK(tree.Problem(root).empty());
}

TEST_CASE("a circle of parents is a problem of its queues and of those below, and ends when one of them moves") {
  QueueTree tree;
  const QueueId a = tree.Put(Spec("a", "b")), b = tree.Put(Spec("b", "c")), c = tree.Put(Spec("c", "a"));
  const QueueId below = tree.Put(Spec("below", "b")), other = tree.Put(Spec("other"));
  const std::string said = "its parents lead round in a circle; name another parent in one of them";
  for (const auto& [id, name] : {std::pair{a, "a"}, {b, "b"}, {c, "c"}, {below, "b"}})
    CHECK(tree.Problem(id) == "queue \"" + std::string(name) + "\": " + said);
  CHECK(tree.Problem(other).empty());
  CHECK(tree.parent(below) == b);
  for (const QueueId id : {a, b, c}) CHECK_FALSE(tree.parent(id).valid());

  tree.Put(Spec("c", "other"));
  for (const QueueId id : {a, b, c, below}) CHECK(tree.Problem(id).empty());
  CHECK(tree.parent(a) == b);
  CHECK(tree.parent(c) == other);
  tree.Put(Spec("other", "other"));
  CHECK(tree.Problem(other).find(said) != std::string::npos);
  CHECK(tree.Problem(below).find(said) != std::string::npos);
  tree.Put(Spec("other"));
  CHECK(tree.Problem(below).empty());
}

TEST_CASE("an id lasts while a declaration, a child or a holder needs it") {
  QueueTree tree;
  const QueueId held = tree.Hold(Key("q"));
  CHECK_FALSE(tree.declared(held));
  CHECK(tree.Put(Spec("q")) == held);
  tree.Drop(Key("q"));
  CHECK(tree.Find(Key("q")) == held);
  tree.Release(held);
  CHECK_FALSE(tree.Find(Key("q")).valid());
  tree.Put(Spec("child", "parent"));
  CHECK(tree.Find(Key("parent")).valid());
  tree.Drop(Key("child"));
  CHECK_FALSE(tree.Find(Key("parent")).valid());
  CHECK(tree.cells().size() == 0);
}

TEST_CASE("a queue with wrong amounts says the field, and others are not concerned") {
  struct Case {
    int64_t weight;
    model::ResourceList capability, deserved, guarantee;
    std::string problem;
  };
  const Case cases[] = {
      {0, {}, {}, {}, "queue \"q\": weight is 0; write a whole number from 1 to 65535"},
      {-3, {}, {}, {}, "queue \"q\": weight is -3; write a whole number from 1 to 65535"},
      {65'536, {}, {}, {}, "queue \"q\": weight is 65536; write a whole number from 1 to 65535"},
      {1,
       Gpu(2),
       Gpu(3),
       {},
       "queue \"q\": deserved of gpu is 3, above its capability 2; lower one or raise the other"},
      {1, {}, Gpu(3), Gpu(4), "queue \"q\": guarantee of gpu is 4, above its deserved 3; lower one or raise the other"},
      {1,
       Gpu(2),
       {},
       Gpu(4),
       "queue \"q\": guarantee of gpu is 4, above its capability 2; lower one or raise the other"},
      {1, Gpu(2), Gpu(2), Gpu(2), ""},
      {65'535, {}, {}, Gpu(4), ""},
  };
  for (const Case& c : cases) {
    QueueTree tree;
    model::QueueSpec spec = Spec("q", "root");
    spec.weight = c.weight;
    spec.capability = c.capability;
    spec.deserved = c.deserved;
    spec.guarantee = c.guarantee;
    const QueueId root = tree.Put(Spec("root")), q = tree.Put(spec), sibling = tree.Put(Spec("sibling", "root"));
    CHECK(tree.Problem(q) == c.problem);
    CHECK(tree.Problem(root).empty());
    CHECK(tree.Problem(sibling).empty());
  }
}

TEST_CASE("a resource's cell lasts while something names it, and the lowest free id is used first") {
  QueueTree tree;
  Cells& cells = tree.cells();
  model::QueueSpec spec = Spec("q");
  spec.capability.Set("gpu", 0);
  tree.Put(spec);
  const CellId gpu = cells.Find("", "gpu");
  CHECK(gpu.valid());
  {
    const Ask made_up(cells, Of({{"example.com/a", 1}, {"example.com/b", 2}, {"nothing", 0}, {"less", -5}}));
    CHECK(cells.size() == 3);
    const Ask copy = made_up;
    CHECK(copy.Get(cells.Find("", "example.com/b")) == 2);
    CHECK(cells.Find("spot", "gpu") == CellId());
  }
  CHECK(cells.size() == 1);
  CHECK(cells.end() == 1);
  spec.capability = {};
  tree.Put(spec);
  CHECK(cells.size() == 0);
}

}  // namespace tutti::queue
