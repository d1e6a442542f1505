// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/cluster.h"

namespace tutti::sim {
namespace {

using namespace testing;

TEST_CASE("a watch resumes from any version in the log, and is told when that is too old") {
  base::VirtualClock clock{kStart};
  Store store(clock, 1, 20);
  const int64_t before = store.resource_version();
  Make(store, ConfigMap("a"));
  Make(store, Pod("p"));
  REQUIRE(store.Modify(kConfigMaps, "default", "a", [](Json& o) { o["data"]["k"] = "w"; }));
  REQUIRE(store.Delete(kConfigMaps, "default", "a"));

  const std::vector<WatchEvent> events = *store.EventsAfter(kConfigMaps, before);
  REQUIRE(events.size() == 3);
  CHECK(events[0].type == EventType::kAdded);
  CHECK(events[1].type == EventType::kModified);
  CHECK(events[1].previous == events[0].object);
  CHECK(events[2].type == EventType::kDeleted);
  CHECK(ResourceVersionOf(*events[2].object) == store.resource_version());
  CHECK(store.EventsAfter(kConfigMaps, events[1].resource_version)->size() == 1);

  for (int i = 0; i < 30; ++i) Make(store, ConfigMap("c" + std::to_string(i)));
  const ApiError error = store.EventsAfter(kConfigMaps, before).error();
  CHECK(error.code == 410);
  CHECK(error.reason == "Expired");
}

TEST_CASE("an observer may write: every observer still sees all events in order") {
  Cluster c;
  std::vector<int64_t> first, second;
  c.store.Subscribe([&](const WatchEvent& event) {
    first.push_back(event.resource_version);
    if (event.type == EventType::kAdded && NameOf(*event.object) == "a") Make(c.store, ConfigMap("b"));
  });
  c.store.Subscribe([&](const WatchEvent& event) { second.push_back(event.resource_version); });
  Make(c.store, ConfigMap("a"));
  CHECK(first.size() == 2);
  CHECK(first == second);
  CHECK(first[0] + 1 == first[1]);
}

TEST_CASE("an observer that unsubscribes hears no more") {
  Cluster c;
  int heard = 0;
  int64_t handle = 0;
  handle = c.store.Subscribe([&](const WatchEvent&) {
    ++heard;
    c.store.Unsubscribe(handle);
  });
  Make(c.store, ConfigMap("a"));
  Make(c.store, ConfigMap("b"));
  CHECK(heard == 1);
}

}  // namespace
}  // namespace tutti::sim
