// SPDX-License-Identifier: Apache-2.0
#include "sim/port/feed.h"

#include "tests/sim/recording_sink.h"
#include "tests/support/catch.h"

namespace tutti::sim {
namespace {

const model::ObjectKind kQueues{"tutti.test", "queues", "Queue", {"v2", "v1"}};

Json QueueDefinition() {
  const Json any = {{"openAPIV3Schema", {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}}};
  Json versions = Json::array();
  versions.push_back({{"name", "v1"}, {"served", true}, {"storage", true}, {"schema", any}});
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", "queues.tutti.test"}}},
          {"spec",
           {{"group", "tutti.test"},
            {"scope", "Cluster"},
            {"names", {{"plural", "queues"}, {"singular", "queue"}, {"kind", "Queue"}, {"listKind", "QueueList"}}},
            {"versions", versions}}}};
}

Json Pod(const char* name) {
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"name", name}, {"namespace", "default"}}},
          {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
}

struct FeedFixture {
  base::VirtualClock clock{1'700'000'000'000};
  Store store{clock};
  RecordingSink sink;
  Feed feed{store, sink};
};

TEST_CASE_METHOD(FeedFixture, "The first pump lists each kind and says that it is synced") {
  REQUIRE(store.Create(Pod("a")));
  feed.Start({kQueues});
  CHECK(sink.lines().empty());
  feed.Pump();
  CHECK(sink.Take() ==
        std::vector<std::string>{"pod default/a", "synced pods", "synced nodes", "not served queues.tutti.test"});
  CHECK_FALSE(feed.HasNews());
}

TEST_CASE_METHOD(FeedFixture, "Changes come in order, and only when pumped") {
  feed.Start({});
  feed.Pump();
  sink.Take();
  REQUIRE(store.Create(Pod("a")));
  REQUIRE(store.Create(Pod("b")));
  REQUIRE(store.Delete(kPods, "default", "a", {.grace_seconds = 0}));
  CHECK(sink.lines().empty());
  CHECK(feed.HasNews());
  feed.Pump();
  CHECK(sink.Take() == std::vector<std::string>{"pod default/a", "pod default/b", "pod gone default/a"});
}

TEST_CASE_METHOD(FeedFixture, "What was listed is not told a second time") {
  feed.Start({});
  REQUIRE(store.Create(Pod("a")));
  feed.Pump();
  CHECK(sink.Take() == std::vector<std::string>{"pod default/a", "synced pods", "synced nodes"});
}

TEST_CASE_METHOD(FeedFixture, "A kind that appears is listed and one that vanishes is taken back") {
  feed.Start({kQueues});
  feed.Pump();
  sink.Take();
  REQUIRE(store.Create(QueueDefinition()));
  REQUIRE(store.Create({{"apiVersion", "tutti.test/v1"}, {"kind", "Queue"}, {"metadata", {{"name", "q"}}}}));
  feed.Pump();
  CHECK(sink.Take() == std::vector<std::string>{"object queues.tutti.test/v1 q", "synced queues.tutti.test"});
  REQUIRE(store.Delete(kCustomResourceDefinitions, "", "queues.tutti.test"));
  feed.Pump();
  CHECK(sink.Take() == std::vector<std::string>{"object gone queues.tutti.test q", "not served queues.tutti.test"});
}

TEST_CASE_METHOD(FeedFixture,
                 "Of a kind with a label those are told that have it, besides all of them; one that loses it is gone") {
  Json labelled = Pod("b");
  labelled["metadata"]["labels"] = {{"queue", "q"}};
  REQUIRE(store.Create(Pod("a")));
  REQUIRE(store.Create(labelled));
  feed.Start({{"", "pods", "Pod", {"v1"}, "queue"}});
  feed.Pump();
  CHECK(sink.Take() == std::vector<std::string>{"pod default/a", "pod default/b", "synced pods", "synced nodes",
                                                "object pods./v1 b", "synced labelled-pods"});
  REQUIRE(store.Modify(kPods, "default", "b", [](Json& pod) { pod["metadata"].erase("labels"); }));
  feed.Pump();
  CHECK(sink.Take() == std::vector<std::string>{"pod default/b", "object gone labelled-pods b"});
  REQUIRE(store.Modify(kPods, "default", "a", [](Json& pod) { pod["metadata"]["labels"]["queue"] = "q"; }));
  feed.Pump();
  CHECK(sink.Take() == std::vector<std::string>{"pod default/a", "object pods./v1 a"});
}

TEST_CASE_METHOD(FeedFixture,
                 "A kind that is wanted later is listed and followed, and is told once however often it is wanted") {
  REQUIRE(store.Create(QueueDefinition()));
  REQUIRE(store.Create({{"apiVersion", "tutti.test/v1"}, {"kind", "Queue"}, {"metadata", {{"name", "q"}}}}));
  feed.Start({});
  feed.Pump();
  sink.Take();
  feed.Want({kQueues});
  CHECK(feed.HasNews());
  feed.Pump();
  CHECK(sink.Take() == std::vector<std::string>{"object queues.tutti.test/v1 q", "synced queues.tutti.test"});
  feed.Want({kQueues});
  CHECK_FALSE(feed.HasNews());
  REQUIRE(store.Create({{"apiVersion", "tutti.test/v1"}, {"kind", "Queue"}, {"metadata", {{"name", "r"}}}}));
  feed.Pump();
  CHECK(sink.Take() == std::vector<std::string>{"object queues.tutti.test/v1 r"});
}

TEST_CASE_METHOD(FeedFixture, "A mended watch tells only the differences") {
  REQUIRE(store.Create(Pod("stays")));
  REQUIRE(store.Create(Pod("goes")));
  REQUIRE(store.Create(Pod("replaced")));
  feed.Start({});
  feed.Pump();
  sink.Take();
  feed.BreakWatch("pods");
  REQUIRE(store.Delete(kPods, "default", "goes", {.grace_seconds = 0}));
  REQUIRE(store.Delete(kPods, "default", "replaced", {.grace_seconds = 0}));
  REQUIRE(store.Create(Pod("replaced")));
  REQUIRE(store.Create(Pod("comes")));
  feed.Pump();
  CHECK(sink.Take().empty());
  feed.MendWatch("pods");
  feed.Pump();
  CHECK(sink.Take() == std::vector<std::string>{"pod default/comes", "pod default/replaced", "pod gone default/goes"});
}

}  // namespace
}  // namespace tutti::sim
