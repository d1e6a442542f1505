// SPDX-License-Identifier: Apache-2.0
#include "kube/reflector.h"

#include "queue_texts.h"
#include "tests/support/catch.h"

namespace tutti::kube {
namespace {

using json = base::Json;

std::string Page(const std::vector<json>& items, const std::string& version, const std::string& more = "") {
  return json{{"kind", "QueueList"},
              {"apiVersion", "v1beta1"},
              {"metadata", {{"resourceVersion", version}, {"continue", more}}},
              {"items", items}}
      .dump();
}

struct ReflectorRig {
  FakeLoop loop;
  FakeTransport server;
  base::Random random{1};
  FakeSink sink;
  ObjectStore store{sink, {"g", "queues", "Queue", {"v1beta1"}}};
  int synced = 0, not_found = 0;
  Reflector reflector{{"queues", "/apis/g/v1beta1/queues"},
                      {[this] { ++synced; }, [this] { ++not_found; }},
                      store,
                      loop,
                      server,
                      random};

  std::vector<std::string> Changed() {
    std::vector<std::string> names;
    for (const auto& event : sink.Take<cluster::ObjectChanged>()) names.push_back(event.object->meta.name);
    return names;
  }
  std::vector<std::string> Gone() {
    std::vector<std::string> names;
    for (const auto& event : sink.Take<cluster::ObjectGone>()) names.push_back(event.name);
    return names;
  }
  // Streams a first list of a and b at version 10.
  std::shared_ptr<FakeTransport::Call> Listed() {
    reflector.Start();
    auto call = server.Find("sendInitialEvents=true");
    FakeTransport::Stream(call, Line("ADDED", Queue("a", "1")) + Line("ADDED", Queue("b", "2")) + Bookmark("10", true));
    CHECK(Changed() == std::vector<std::string>{"a", "b"});
    CHECK(synced == 1);
    return call;
  }
};

TEST_CASE("a streamed list goes over into the watch without another request") {
  ReflectorRig rig;
  const auto call = rig.Listed();
  CHECK(call->request.target.find("resourceVersionMatch=NotOlderThan") != std::string::npos);
  FakeTransport::Stream(call, Line("MODIFIED", Queue("a", "11")) + Line("DELETED", Queue("b", "12")));
  CHECK(rig.Changed() == std::vector<std::string>{"a"});
  CHECK(rig.Gone() == std::vector<std::string>{"b"});
  CHECK(rig.server.sent == 1);
}

TEST_CASE("only objects with the label are asked for, in lists and watches") {
  ReflectorRig rig;
  Reflector some({"queues", "/apis/g/v1beta1/queues", kJson, kJson, false, "a.io/queue"}, {}, rig.store, rig.loop,
                 rig.server, rig.random);
  some.Start();
  auto list = rig.server.Find("limit=");
  CHECK(list->request.target.find("&labelSelector=a.io%2Fqueue") != std::string::npos);
  rig.server.AnswerJson(list, 200, Page({Queue("a", "1")}, "10"));
  CHECK(rig.server.Find("watch=1")->request.target.find("&labelSelector=a.io%2Fqueue") != std::string::npos);
}

TEST_CASE("a watch that ends is resumed from the last version seen, bookmarks included") {
  ReflectorRig rig;
  const auto call = rig.Listed();
  FakeTransport::Stream(call, Bookmark("20"));
  rig.loop.Advance(5'000);
  rig.server.EndStream(call);
  rig.loop.Advance(0);
  CHECK(rig.server.Find("watch=1")->request.target.find("&resourceVersion=20") != std::string::npos);
}

TEST_CASE("a server that does not stream lists is asked for pages") {
  for (const int refusal : {400, 422}) {
    ReflectorRig rig;
    rig.reflector.Start();
    rig.server.AnswerJson(rig.server.Find("sendInitialEvents"), refusal, StatusJson(refusal, "Invalid"));
    rig.loop.Advance(0);
    rig.server.AnswerJson(rig.server.Find("limit=500"), 200, Page({Queue("a", "1")}, "7", "tok"));
    CHECK(rig.synced == 0);
    rig.server.AnswerJson(rig.server.Find("continue=tok"), 200, Page({Queue("b", "2")}, "7"));
    CHECK(rig.synced == 1);
    CHECK(rig.Changed() == std::vector<std::string>{"a", "b"});
    CHECK(rig.server.Find("watch=1")->request.target.find("&resourceVersion=7") != std::string::npos);
  }
}

TEST_CASE("a server that ignores the wish for a streamed list is found out by its silence") {
  ReflectorRig rig;
  rig.reflector.Start();
  FakeTransport::Stream(rig.server.Find("sendInitialEvents"), Line("ADDED", Queue("a", "1")));
  rig.loop.Advance(10'000);
  CHECK(rig.server.cancelled == 1);
  CHECK(rig.server.Has("limit=500"));
}

TEST_CASE("one that ignores it and has much to say is found out by its first bookmark") {
  ReflectorRig rig;
  rig.reflector.Start();
  const auto call = rig.server.Find("sendInitialEvents");
  FakeTransport::Stream(call, Line("ADDED", Queue("a", "1")));
  for (int version = 2; version < 14; ++version) {  // a change every five seconds, for a minute
    rig.loop.Advance(5'000);
    FakeTransport::Stream(call, Line("MODIFIED", Queue("a", std::to_string(version))));
  }
  FakeTransport::Stream(call, Bookmark("14") + Line("MODIFIED", Queue("a", "15")));
  rig.loop.Advance(0);
  REQUIRE(rig.server.Has("limit=500"));
  rig.server.AnswerJson(rig.server.Find("limit=500"), 200, Page({Queue("a", "15")}, "16"));
  CHECK(rig.synced == 1);
  CHECK(rig.server.Find("watch=1")->request.target.find("&resourceVersion=16") != std::string::npos);
}

TEST_CASE("after 410 a new list posts only what differs") {
  ReflectorRig rig;
  const auto call = rig.Listed();
  FakeTransport::Stream(call, Line("ERROR", json::parse(StatusJson(410, "Expired"))));
  rig.loop.Advance(2'000);
  const auto again = rig.server.Find("sendInitialEvents");
  // a is as it was, b is gone, c is new; d came back under its name with another UID.
  FakeTransport::Stream(again, Line("ADDED", Queue("a", "1")) + Line("ADDED", Queue("c", "30")));
  CHECK(rig.Gone().empty());
  FakeTransport::Stream(again, Bookmark("31", true));
  CHECK(rig.Changed() == std::vector<std::string>{"c"});
  CHECK(rig.Gone() == std::vector<std::string>{"b"});
  CHECK(rig.synced == 2);
}

TEST_CASE("HTTP 410 on resuming lists again") {
  ReflectorRig rig;
  rig.server.EndStream(rig.Listed());
  rig.loop.Advance(2'000);
  rig.server.AnswerJson(rig.server.Find("&resourceVersion=10"), 410, StatusJson(410, "Expired"));
  rig.loop.Advance(2'000);
  CHECK(rig.server.Has("sendInitialEvents"));
}

TEST_CASE("a list that breaks off in the middle posts nothing as gone") {
  ReflectorRig rig;
  const auto call = rig.Listed();
  FakeTransport::Stream(call, Line("ERROR", json::parse(StatusJson(410, "Expired"))));
  rig.loop.Advance(2'000);
  const auto again = rig.server.Find("sendInitialEvents");
  FakeTransport::Stream(again, Line("ADDED", Queue("a", "1")));
  rig.server.Fail(again, Response::Failure::kLost);
  CHECK(rig.Gone().empty());
  while (rig.server.open.empty()) rig.loop.Advance(100);
  const auto third = rig.server.Find("sendInitialEvents");
  FakeTransport::Stream(third, Line("ADDED", Queue("a", "1")) + Bookmark("40", true));
  CHECK(rig.Gone() == std::vector<std::string>{"b"});
}

TEST_CASE("429 is obeyed to the second") {
  ReflectorRig rig;
  rig.reflector.Start();
  Response busy;
  busy.status = 429;
  busy.retry_after_ms = 20'000;
  rig.server.Answer(rig.server.Find("watch=1"), busy);
  rig.loop.Advance(19'999);
  CHECK(rig.server.open.empty());
  rig.loop.Advance(1);
  CHECK(rig.server.open.size() == 1);
}

TEST_CASE("trouble backs off to half a minute at most") {
  ReflectorRig rig;
  rig.reflector.Start();
  base::Millis longest = 0;
  for (int i = 0; i < 12; ++i) {
    rig.server.Fail(rig.server.open.front(), Response::Failure::kNotSent);
    const base::Millis before = rig.loop.Now();
    while (rig.server.open.empty()) rig.loop.Advance(100);
    longest = rig.loop.Now() - before;
  }
  CHECK(longest <= 30'100);
  CHECK(longest >= 15'000);
}

TEST_CASE("a watch that goes silent is taken for dead") {
  ReflectorRig rig;
  const auto call = rig.Listed();
  FakeTransport::Stream(call, Bookmark("20"));
  rig.loop.Advance(149'000);
  CHECK(rig.server.cancelled == 0);
  rig.loop.Advance(2'000);
  CHECK(rig.server.cancelled == 1);
  CHECK(rig.server.Has("&resourceVersion=20"));
}

TEST_CASE("so is one that never says anything") {
  ReflectorRig rig;
  rig.reflector.Start();
  rig.loop.Advance(10'000);  // no streamed list
  rig.server.AnswerJson(rig.server.Find("limit=500"), 200, Page({}, "10"));
  REQUIRE(rig.server.Has("&resourceVersion=10"));
  CHECK(rig.server.cancelled == 1);
  rig.loop.Advance(149'000);
  CHECK(rig.server.cancelled == 1);
  rig.loop.Advance(2'000);
  CHECK(rig.server.cancelled == 2);
  CHECK(rig.server.Has("&resourceVersion=10"));
}

TEST_CASE("nonsense in a watch leads to a new list") {
  ReflectorRig rig;
  const auto call = rig.Listed();
  FakeTransport::Stream(call, "<html>\n");
  CHECK(rig.server.open.empty());  // it waits for no end
  rig.loop.Advance(100);
  CHECK(rig.server.open.empty());
  rig.loop.Advance(700);
  CHECK(rig.server.Has("sendInitialEvents"));
}

TEST_CASE("what follows an error in a watch is not looked at") {
  ReflectorRig rig;
  FakeTransport::Stream(rig.Listed(),
                        Line("ERROR", json::parse(StatusJson(500, "Internal"))) + Line("ADDED", Queue("c", "20")));
  CHECK(rig.Changed().empty());
  CHECK(rig.server.open.empty());
  rig.loop.Advance(800);
  CHECK(rig.server.Has("&resourceVersion=10"));
}

TEST_CASE("however often a watch that has lived is cut, it is resumed soon") {
  ReflectorRig rig;
  auto call = rig.Listed();
  const int status = GENERATE(200, 0);
  for (int i = 0; i < 6; ++i) {
    rig.loop.Advance(121'000);
    Response cut;
    cut.status = status;
    cut.failure = Response::Failure::kLost;
    rig.server.Answer(call, cut);
    rig.loop.Advance(800);
    REQUIRE(rig.server.open.size() == 1);
    call = rig.server.Find("&resourceVersion=10");
  }
}

TEST_CASE("a streamed list that is cut again and again is asked for with growing pauses") {
  ReflectorRig rig;
  rig.reflector.Start();
  for (int i = 0; i < 8; ++i) {
    rig.loop.Advance(2'000);
    const auto call = rig.server.Find("sendInitialEvents");
    FakeTransport::Stream(call, Line("ADDED", Queue("a", "1")));
    Response cut;
    cut.status = 200;
    cut.failure = Response::Failure::kLost;
    rig.server.Answer(call, cut);
    if (i < 7)
      while (rig.server.open.empty()) rig.loop.Advance(100);
  }
  rig.loop.Advance(14'000);
  CHECK(rig.server.open.empty());
}

TEST_CASE("a collection that is not there is reported") {
  ReflectorRig rig;
  rig.reflector.Start();
  rig.server.AnswerJson(rig.server.Find("watch=1"), 404, StatusJson(404, "NotFound"));
  CHECK(rig.not_found == 1);
}

TEST_CASE("a bound pod's change of nothing but its version is not posted, an unbound one's is") {
  FakeSink sink;
  SpecCache specs;
  PodStore store(sink, specs);
  const auto pod = [](const std::string& version, const std::string& node) {
    return WireObject::Json(
        {{"metadata", {{"name", "p"}, {"namespace", "n"}, {"uid", "u"}, {"resourceVersion", version}}},
         {"spec", {{"nodeName", node}, {"containers", json::array()}}},
         {"status", {{"phase", "Pending"}}}});
  };
  store.Put(pod("1", ""));
  store.Put(pod("2", ""));
  CHECK(sink.Take<cluster::PodChanged>().size() == 2);
  store.Put(pod("3", "n1"));
  store.Put(pod("4", "n1"));
  CHECK(sink.Take<cluster::PodChanged>().size() == 1);
}

}  // namespace
}  // namespace tutti::kube
