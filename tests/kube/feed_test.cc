// SPDX-License-Identifier: Apache-2.0
#include "kube/feed.h"

#include "kube/feed_resolver.h"
#include "queue_texts.h"
#include "tests/support/catch.h"

namespace tutti::kube {
namespace {

using json = base::Json;

struct FeedRig {
  FakeLoop loop;
  FakeTransport server;
  base::Random random{1};
  FakeSink sink;
  KubeFeed feed{loop, server, random, sink};

  static std::string Served(const std::vector<std::string>& versions) {
    json group = {{"metadata", {{"name", "g"}}}, {"versions", json::array()}};
    for (const std::string& version : versions)
      group["versions"].push_back({{"version", version},
                                   {"resources",
                                    {{{"resource", "queues"},
                                      {"responseKind", {{"kind", "Queue"}}},
                                      {"scope", "Cluster"},
                                      {"subresources", {{{"subresource", "status"}}}}}}}});
    return json{{"kind", "APIGroupDiscoveryList"}, {"items", versions.empty() ? json::array() : json::array({group})}}
        .dump();
  }
  void Start(std::vector<model::ObjectKind> kinds) {
    feed.Start(std::move(kinds));
    loop.RunPosted();
    server.AnswerJson(At("/api/v1"), 200,
                      R"({"resources":[{"name":"pods","namespaced":true},{"name":"pods/status"}]})");
  }
  std::shared_ptr<FakeTransport::Call> At(const std::string& target) {
    for (const auto& call : server.open)
      if (call->request.target == target) return call;
    throw std::runtime_error("not asked: " + target);
  }
  std::shared_ptr<FakeTransport::Call> Groups() { return At("/apis"); }
  std::vector<std::pair<std::string, bool>> Synced() {
    std::vector<std::pair<std::string, bool>> result;
    for (const auto& event : sink.Take<cluster::KindSynced>()) result.emplace_back(event.kind_name, event.served);
    return result;
  }
};

using Words = std::vector<std::pair<std::string, bool>>;

TEST_CASE("a kind that is not served says so, and is watched once its definition comes") {
  FeedRig rig;
  rig.Start({{"g", "queues", "Queue", {"v2", "v1"}}});
  rig.server.AnswerJson(rig.Groups(), 200, FeedRig::Served({}));
  CHECK(rig.Synced() == Words{{"queues.g", false}});
  CHECK(rig.feed.discovery().Find("", "v1", "pods")->has_status);

  // The definition is made: its watch says so, and discovery is asked well before the next poll.
  FakeTransport::Stream(rig.server.Find("customresourcedefinitions"), Line("ADDED", Queue("queues.g", "5")));
  rig.loop.Advance(50);
  rig.server.AnswerJson(rig.Groups(), 200, FeedRig::Served({"v1"}));
  const auto list = rig.server.Find("/apis/g/v1/queues");
  FakeTransport::Stream(list, Line("ADDED", Queue("a", "6")) + Bookmark("7", true));
  CHECK(rig.Synced() == Words{{"queues.g", true}});
  CHECK(rig.sink.Take<cluster::ObjectChanged>().size() == 1);
  CHECK(rig.feed.WatchedVersion("g", "queues") == "v1");

  // A better version comes: the kind is listed again in it, and every object is posted again.
  rig.loop.Advance(10'000);
  rig.server.AnswerJson(rig.Groups(), 200, FeedRig::Served({"v1", "v2"}));
  const auto better = rig.server.Find("/apis/g/v2/queues");
  FakeTransport::Stream(better, Line("ADDED", Queue("a", "6")) + Bookmark("8", true));
  CHECK(rig.sink.Take<cluster::ObjectChanged>().size() == 1);
  CHECK(rig.Synced().empty());

  // The definition goes: discovery says so, and so does the collection.
  rig.loop.Advance(10'000);
  rig.server.AnswerJson(rig.Groups(), 200, FeedRig::Served({}));
  CHECK(rig.sink.Take<cluster::ObjectGone>().empty());
  rig.server.AnswerJson(rig.server.Find("/apis/g/v2/queues"), 404, "{}");
  CHECK(rig.sink.Take<cluster::ObjectGone>().size() == 1);
  CHECK(rig.Synced() == Words{{"queues.g", false}});
  CHECK_FALSE(rig.server.Has("/apis/g/"));
}

TEST_CASE("a kind that discovery leaves out, but is served, stays as it is") {
  FeedRig rig;
  rig.Start({{"g", "queues", "Queue", {"v1"}}});
  rig.server.AnswerJson(rig.Groups(), 200, FeedRig::Served({"v1"}));
  FakeTransport::Stream(rig.server.Find("/apis/g/v1/queues"), Line("ADDED", Queue("a", "6")) + Bookmark("7", true));
  rig.sink.events.clear();
  rig.loop.Advance(10'000);
  rig.server.AnswerJson(rig.Groups(), 200, FeedRig::Served({}));
  SECTION("at once") {
    FakeTransport::Stream(rig.server.Find("/apis/g/v1/queues"), Line("ADDED", Queue("a", "6")) + Bookmark("7", true));
  }
  SECTION("once the server has started") {
    rig.server.AnswerJson(rig.server.Find("/apis/g/v1/queues"), 503, "{}");
    rig.loop.Advance(5'000);
    FakeTransport::Stream(rig.server.Find("/apis/g/v1/queues"), Line("ADDED", Queue("a", "6")) + Bookmark("7", true));
  }
  CHECK(rig.sink.events.empty());
  CHECK(rig.feed.WatchedVersion("g", "queues") == "v1");
  CHECK(FeedResolver(rig.feed).HasStatus("g", "v1", "queues"));
}

TEST_CASE("an unchanged answer of discovery is asked for by its tag, and changes nothing") {
  FeedRig rig;
  rig.Start({{"g", "queues", "Queue", {"v1"}}});
  Response first;
  first.status = 200;
  first.etag = "\"x\"";
  first.body = FeedRig::Served({"v1"});
  rig.server.Answer(rig.Groups(), first);
  rig.loop.Advance(10'000);
  CHECK(rig.Groups()->request.if_none_match == "\"x\"");
  Response same;
  same.status = 304;
  rig.server.Answer(rig.Groups(), same);
  CHECK(rig.server.Has("/apis/g/v1/queues"));
  CHECK(rig.Synced().empty());
}

TEST_CASE("a server without aggregated discovery is asked group by group") {
  FeedRig rig;
  rig.Start({{"g", "queues", "Queue", {"v1"}}});
  rig.server.AnswerJson(
      rig.Groups(), 200,
      R"({"kind":"APIGroupList","groups":[{"name":"other","versions":[{"version":"v1"}]},{"name":"g","versions":[{"version":"v1"}]}]})");
  CHECK_FALSE(rig.server.Has("/apis/other/v1"));
  rig.server.AnswerJson(rig.At("/apis/g/v1"), 200,
                        R"({"resources":[{"name":"queues","namespaced":false},{"name":"queues/status"}]})");
  CHECK(rig.server.Has("/apis/g/v1/queues"));
  CHECK(rig.feed.discovery().Find("g", "v1", "queues")->has_status);
}

TEST_CASE("a kind that is wanted while the feed runs is discovered and watched") {
  FeedRig rig;
  rig.Start({});
  const model::ObjectKind queues{"g", "queues", "Queue", {"v1"}};
  const auto want = [&] {
    rig.feed.Want({queues});
    rig.loop.Advance(50);
  };
  SECTION("of a group that was known already") {
    rig.server.AnswerJson(rig.Groups(), 200, FeedRig::Served({"v1"}));
    want();
    rig.server.AnswerJson(rig.Groups(), 200, FeedRig::Served({"v1"}));
    FakeTransport::Stream(rig.server.Find("/apis/g/v1/queues"), Line("ADDED", Queue("a", "6")) + Bookmark("7", true));
    CHECK(rig.sink.Take<cluster::ObjectChanged>().size() == 1);
    CHECK(rig.Synced() == Words{{"queues.g", true}});
    const auto sent = rig.server.sent;
    want();
    CHECK(rig.server.sent == sent);  // it is had already
  }
  SECTION("of a group that is not served") {
    rig.server.AnswerJson(rig.Groups(), 200, FeedRig::Served({}));
    want();
    rig.server.AnswerJson(rig.Groups(), 200, FeedRig::Served({}));
    CHECK(rig.Synced() == Words{{"queues.g", false}});
  }
  SECTION("while discovery is under way") {
    rig.feed.Want({queues});
    rig.loop.RunPosted();
    rig.server.AnswerJson(rig.Groups(), 200, FeedRig::Served({}));
    rig.loop.Advance(2'000);
    rig.server.AnswerJson(rig.Groups(), 200, FeedRig::Served({"v1"}));
    CHECK(rig.server.Has("/apis/g/v1/queues"));
  }
  SECTION("of a server that is asked group by group") {
    const char* groups = R"({"kind":"APIGroupList","groups":[{"name":"g","versions":[{"version":"v1"}]}]})";
    rig.server.AnswerJson(rig.Groups(), 200, groups);
    CHECK_FALSE(rig.server.Has("/apis/g/v1"));
    want();
    rig.server.AnswerJson(rig.Groups(), 200, groups);
    rig.server.AnswerJson(rig.At("/apis/g/v1"), 200, R"({"resources":[{"name":"queues","kind":"Queue"}]})");
    CHECK(rig.server.Has("/apis/g/v1/queues"));
    CHECK(rig.feed.discovery().ResourceOf("g", "Queue")->resource == "queues");
  }
}

TEST_CASE("discovery knows under which resource a kind is served, and in which versions") {
  FeedRig rig;
  rig.Start({});
  rig.server.AnswerJson(rig.Groups(), 200, FeedRig::Served({"v2", "v1"}));  // no group is wanted
  const auto queues = rig.feed.discovery().ResourceOf("g", "Queue");
  REQUIRE(queues);
  CHECK(*queues == model::ObjectKind{"g", "queues", "Queue", {"v2", "v1"}});
  CHECK_FALSE(rig.feed.discovery().ResourceOf("g", "Thing"));
  CHECK_FALSE(rig.feed.discovery().ResourceOf("h", "Queue"));
}

// Answers every list of the kind with 500, for that long.
void FailLists(FeedRig& rig, const std::string& path, base::Millis for_ms) {
  for (const base::Millis end = rig.loop.Now() + for_ms; rig.loop.Now() < end; rig.loop.Advance(100))
    while (rig.server.Has(path))
      rig.server.AnswerJson(rig.server.Find(path), 500, StatusJson(500, "InternalError", "conversion webhook failed"));
}

void ListAtLast(FeedRig& rig, const std::string& path) {
  while (!rig.server.Has(path)) rig.loop.Advance(100);
  FakeTransport::Stream(rig.server.Find(path), Bookmark("7", true));
}

TEST_CASE("a kind whose lists fail for long is said to be unreadable, once, until one succeeds") {
  FeedRig rig;
  rig.Start({{"g", "queues", "Queue", {"v1"}}});
  rig.server.AnswerJson(rig.Groups(), 200, FeedRig::Served({"v1"}));
  FailLists(rig, "/apis/g/v1/queues", 29'000);
  CHECK(rig.sink.events.empty());
  FailLists(rig, "/apis/g/v1/queues", 60'000);
  const auto unreadable = rig.sink.Take<cluster::KindUnreadable>();
  REQUIRE(unreadable.size() == 1);
  CHECK(unreadable.front().kind_name == "queues.g");
  CHECK(unreadable.front().why == "conversion webhook failed");
  ListAtLast(rig, "/apis/g/v1/queues");
  CHECK(rig.Synced() == Words{{"queues.g", true}});

  // It is known from now on, if not to the last.
  FakeTransport::Stream(rig.server.Find("/apis/g/v1/queues"), Line("ERROR", json::parse(StatusJson(410, "Expired"))));
  FailLists(rig, "/apis/g/v1/queues", 90'000);
  ListAtLast(rig, "/apis/g/v1/queues");
  CHECK(rig.sink.events.empty());
}

TEST_CASE("what leaders record is as fresh as pods are when it is asked for, if it can be read") {
  const bool is_record = GENERATE(true, false);
  FeedRig rig;
  rig.Start({{"g", "queues", "Queue", {"v1"}, "", is_record}});
  rig.server.AnswerJson(rig.Groups(), 200, FeedRig::Served({"v1"}));
  FakeTransport::Stream(rig.server.Find("/api/v1/pods"), Bookmark("3", true));
  FakeTransport::Stream(rig.server.Find("/apis/g/v1/queues"), Bookmark("3", true));
  rig.sink.events.clear();
  int fresh = 0;
  rig.feed.Refresh([&] { ++fresh; });
  FakeTransport::Stream(rig.server.Find("/api/v1/pods"), Bookmark("4", true));
  CHECK(fresh == (is_record ? 0 : 1));
  if (!is_record) return;
  SECTION("listed") {
    FakeTransport::Stream(rig.server.Find("/apis/g/v1/queues"), Bookmark("4", true));
    CHECK(rig.sink.events.empty());
  }
  SECTION("not served any more") {
    rig.loop.Advance(10'000);
    rig.server.AnswerJson(rig.Groups(), 200, FeedRig::Served({}));
    rig.server.AnswerJson(rig.server.Find("/apis/g/v1/queues"), 404, "{}");
    CHECK(rig.Synced() == Words{{"queues.g", false}});
  }
  SECTION("unreadable") {
    FailLists(rig, "/apis/g/v1/queues", 90'000);
    CHECK(rig.sink.Take<cluster::KindUnreadable>().size() == 1);
    CHECK(fresh == 1);
    rig.feed.Refresh([&] { ++fresh; });  // it is not waited for any more
    FakeTransport::Stream(rig.server.Find("/api/v1/pods"), Bookmark("5", true));
    CHECK(fresh == 2);
    ListAtLast(rig, "/apis/g/v1/queues");
    CHECK(rig.Synced() == Words{{"queues.g", true}});
    return;
  }
  CHECK(fresh == 1);
}

TEST_CASE("pods are waited for, however long they cannot be listed") {
  FeedRig rig;
  rig.Start({{"g", "queues", "Queue", {"v1"}, "", /*is_record=*/true}});
  rig.server.AnswerJson(rig.Groups(), 200, FeedRig::Served({"v1"}));
  FakeTransport::Stream(rig.server.Find("/api/v1/pods"), Bookmark("3", true));
  FakeTransport::Stream(rig.server.Find("/apis/g/v1/queues"), Bookmark("3", true));
  int fresh = 0;
  rig.feed.Refresh([&] { ++fresh; });
  FakeTransport::Stream(rig.server.Find("/apis/g/v1/queues"), Bookmark("4", true));
  FailLists(rig, "/api/v1/pods", 90'000);
  CHECK(rig.sink.Take<cluster::KindUnreadable>().size() == 1);
  rig.feed.Refresh([&] { ++fresh; });
  FakeTransport::Stream(rig.server.Find("/apis/g/v1/queues"), Bookmark("5", true));
  CHECK(fresh == 0);
  ListAtLast(rig, "/api/v1/pods");
  CHECK(fresh == 2);
}

TEST_CASE("fresh pods are pods of a list that was asked for afterwards") {
  FeedRig rig;
  rig.Start({});
  int fresh = 0;
  const auto pods = rig.server.Find("/api/v1/pods");
  FakeTransport::Stream(pods, Bookmark("3", true));
  CHECK(rig.feed.pods_synced());
  rig.feed.Refresh([&] { ++fresh; });
  CHECK(rig.server.cancelled == 1);
  CHECK(fresh == 0);
  FakeTransport::Stream(rig.server.Find("/api/v1/pods"), Bookmark("4", true));
  CHECK(fresh == 1);
  CHECK(rig.Synced() == Words{{"pods", true}});
}

TEST_CASE("discovery that fails takes nothing away") {
  FeedRig rig;
  rig.Start({{"g", "queues", "Queue", {"v1"}}});
  rig.server.AnswerJson(rig.Groups(), 200, FeedRig::Served({"v1"}));
  rig.loop.Advance(10'000);
  rig.server.Fail(rig.Groups(), Response::Failure::kLost);
  CHECK(rig.server.Has("/apis/g/v1/queues"));
  CHECK(rig.Synced().empty());
  rig.loop.Advance(1'000);
  CHECK(rig.Groups() != nullptr);
}

}  // namespace
}  // namespace tutti::kube
