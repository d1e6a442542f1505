// SPDX-License-Identifier: Apache-2.0
#include "queue/quota.h"

#include "tests/support/catch.h"

namespace tutti::queue {
namespace {

model::ResourceList Cpu(int64_t milli) {
  model::ResourceList list;
  list.Set(model::kCpu, milli);
  return list;
}

QueueKey Key(const std::string& name) { return {"d", name}; }

void Put(Quota& quota, const std::string& name, const std::string& parent, int64_t capability = 0) {
  model::QueueSpec spec;
  spec.dialect = "d";
  spec.name = name;
  spec.parent = parent;
  if (capability > 0) spec.capability = Cpu(capability);
  quota.Put(std::move(spec));
}

int64_t Used(const Quota& quota, const std::string& name) { return quota.Used(Key(name)).Get(model::kCpu); }

}  // namespace

TEST_CASE("a queue has used what is charged to it and to all below it, wherever it is moved") {
  Quota quota;
  quota.Charge(Key("leaf"), Cpu(3), +1);  // before anything is declared
  Put(quota, "root", "");
  Put(quota, "mid", "root");
  Put(quota, "leaf", "mid");
  CHECK(Used(quota, "root") == 3);
  quota.Charge(Key("leaf"), Cpu(2), +1);
  quota.Charge(Key("mid"), Cpu(10), +1);
  CHECK(Used(quota, "leaf") == 5);
  CHECK(Used(quota, "mid") == 15);
  CHECK(Used(quota, "root") == 15);

  Put(quota, "leaf", "other");
  CHECK(Used(quota, "mid") == 10);
  CHECK(Used(quota, "other") == 5);  // though nobody declares it
  quota.Charge(Key("leaf"), Cpu(5), -1);
  CHECK(Used(quota, "other") == 0);
  quota.Drop(Key("mid"));
  CHECK(Used(quota, "root") == 0);
  CHECK(Used(quota, "mid") == 10);
}

TEST_CASE("what is capped is what some queue of the path caps") {
  Quota quota;
  Put(quota, "root", "", 10);
  Put(quota, "mid", "root");
  model::QueueSpec leaf;
  leaf.dialect = "d";
  leaf.name = "leaf";
  leaf.parent = "mid";
  leaf.capability.Set("nvidia.com/gpu", 4);
  quota.Put(std::move(leaf));
  CHECK(quota.Capped(Key("leaf")) == std::set<std::string_view>{"cpu", "nvidia.com/gpu"});
  CHECK(quota.Capped(Key("mid")) == std::set<std::string_view>{"cpu"});
  CHECK(quota.Capped(Key("nobody")).empty());
}

TEST_CASE("a cycle of parents counts each charge once") {
  Quota quota;
  Put(quota, "a", "b");
  Put(quota, "b", "a");
  quota.Charge(Key("a"), Cpu(1), +1);
  quota.Charge(Key("b"), Cpu(2), +1);
  CHECK(Used(quota, "a") == 3);
  CHECK(Used(quota, "b") == 3);
  quota.Charge(Key("a"), Cpu(1), -1);
  CHECK(Used(quota, "b") == 2);
}

TEST_CASE("a sum beyond what can be counted stops there, and is right again when it shrinks") {
  constexpr int64_t kHuge = int64_t{1} << 62;
  Quota quota;
  Put(quota, "root", "");
  for (const char* leaf : {"a", "b", "c"}) {
    Put(quota, leaf, "root", 10);
    quota.Charge(Key(leaf), Cpu(kHuge), +1);
  }
  CHECK(Used(quota, "root") == std::numeric_limits<int64_t>::max());
  CHECK_FALSE(quota.Admit(Key("a"), Cpu(1)).admitted);
  for (const char* leaf : {"a", "b"}) quota.Charge(Key(leaf), Cpu(kHuge), -1);
  CHECK(Used(quota, "root") == kHuge);
  quota.Charge(Key("c"), Cpu(kHuge), -1);
  CHECK(Used(quota, "root") == 0);
  CHECK(quota.Admit(Key("a"), Cpu(10)).admitted);
}

TEST_CASE("a resource that nothing is charged for any more is not known any more") {
  Quota quota;
  Put(quota, "root", "");
  Put(quota, "q", "root", 10);
  model::ResourceList made_up = Cpu(1);
  made_up.Set("example.com/made-up", 1);
  quota.Charge(Key("q"), made_up, +1);
  CHECK(quota.Used(Key("root")) == made_up);
  quota.Charge(Key("q"), made_up, -1);
  CHECK(quota.Used(Key("q")).empty());
  CHECK(quota.Used(Key("root")).empty());
}

TEST_CASE("a queue's own sum may go beyond what can be counted, and come back") {
  constexpr int64_t kPebi = int64_t{1} << 50;
  Quota quota;
  Put(quota, "q", "", 10);
  for (int i = 0; i < 8'200; ++i) quota.Charge(Key("q"), Cpu(kPebi), +1);
  CHECK(Used(quota, "q") == std::numeric_limits<int64_t>::max());
  for (int i = 0; i < 8'199; ++i) quota.Charge(Key("q"), Cpu(kPebi), -1);
  CHECK(Used(quota, "q") == kPebi);
}

}  // namespace tutti::queue
