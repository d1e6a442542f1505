// SPDX-License-Identifier: Apache-2.0
// Evictions within a speculation, and what they release in queues.
#include "core/admit/speculation.h"

#include <fmt/format.h>

#include "core/admit/charges.h"
#include "core/admit/queue_admission.h"
#include "plugins/registry.h"
#include "tests/core/rig.h"
#include "tests/support/test_cluster.h"

namespace tutti::core {
namespace {

using model::PodId;

// A queue of 4 cpu, below another that has no limit; two gangs of it, of two pods of 1 cpu each, run on a node.
struct FullQueue {
  FullQueue() {
    dialects.push_back(std::make_unique<LabelDialect>(nullptr));
    cluster.AddNode({{"name", "n"}});
    model::QueueSpec parent;
    parent.dialect = "label";
    parent.name = "all";
    queues.Put(parent);
    model::QueueSpec queue = *dialects.front()->DescribeQueue("four");
    queue.parent = "all";
    queues.Put(queue);
    queues.Renew();
    for (const char* name : {"a-0", "a-1", "b-0", "b-1"}) {
      const PodId pod = cluster.AddPod({{"name", name},
                                        {"node", "n"},
                                        {"labels", {{"gang", std::string(1, name[0])}, {"queue", "four"}}},
                                        {"requests", {{"cpu", "1"}}}});
      Gang& gang = book.at(book.Join(pod, book.OwnerOf(pod)));
      charges.Move(gang);
      charges.Update(gang, book.MemberOf(pod));
      pods[name] = pod;
    }
  }
  int64_t Used(const char* queue) const { return queues.Used({"label", queue}, "cpu"); }
  bool Takes(int64_t milli) {
    model::ResourceList ask;
    ask.Set(model::kCpu, milli);
    return queues.Admit({"label", "four"}, ask).admitted();
  }

  tests::TestCluster cluster;
  base::VirtualClock clock{0};
  dialects::DialectList dialects;
  std::vector<framework::Profile> profiles{plugins::DefaultProfile("s")};
  observe::Journal journal;
  Queues queues{{}};
  GangBook book{profiles, cluster.state(), dialects, journal, clock};
  Agenda agenda{book, queues.tree(), queues.order(), clock};
  QueueWaits waits{queues, book, agenda, clock};
  Charges charges{cluster.state(), queues, waits};
  cluster::WhatIf what_if{cluster.state()};
  std::map<std::string, PodId> pods;
};

}  // namespace

TEST_CASE("what is evicted in a speculation is released in its queue and those above, until the speculation ends") {
  FullQueue full;
  CHECK_FALSE(full.Takes(1'000));
  {
    Speculation without(full.what_if, full.book, full.queues);
    without.Evict(full.pods["a-0"]);
    CHECK(full.Used("four") == 3'000);
    CHECK(full.Used("all") == 3'000);
    CHECK(full.Takes(1'000));
    CHECK_FALSE(full.Takes(2'000));
    {
      Speculation more(full.what_if, full.book, full.queues);
      more.Evict(full.pods["a-1"]);
      more.Evict(full.pods["b-0"]);
      CHECK(full.Takes(3'000));
    }
    CHECK(full.Used("four") == 3'000);
    CHECK_FALSE(full.Takes(2'000));
    CHECK(full.what_if.evicted().size() == 1);
  }
  CHECK(full.Used("four") == 4'000);
  CHECK(full.Used("all") == 4'000);
  CHECK_FALSE(full.Takes(1'000));
  CHECK(full.what_if.evicted().empty());
  full.queues.used().Audit();
  full.cluster.state().Audit();

  // The charges are as they were: each is released once, by its own id.
  for (const auto& [name, pod] : full.pods) {
    Gang& gang = full.book.at(full.book.GangOf(pod));
    full.charges.TakeBack(gang, full.book.MemberOf(pod));
  }
  CHECK(full.Used("all") == 0);
}

TEST_CASE("a pod that is charged to no queue can be evicted in a speculation") {
  FullQueue full;
  const PodId lone = full.cluster.AddPod({{"name", "lone"}, {"node", "n"}, {"requests", {{"cpu", "1"}}}});
  Speculation without(full.what_if, full.book, full.queues);
  without.Evict(lone);
  CHECK(full.Used("four") == 4'000);
}

}  // namespace tutti::core
