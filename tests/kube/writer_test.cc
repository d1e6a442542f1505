// SPDX-License-Identifier: Apache-2.0
#include "kube/writer.h"

#include <array>
#include <map>

#include "base/json_fwd.h"
#include "writer_rig.h"

namespace tutti::kube {
namespace {

using cluster::CommandReply;
using cluster::Outcome;
using json = base::Json;

TEST_CASE("any number of commands may be over before the first can leave") {
  WriterRig rig;
  rig.writer.SetWritable(0, 0);
  constexpr uint64_t kMany = 100'000;
  std::vector<cluster::Command> commands;
  for (uint64_t id = 1; id <= kMany; ++id) commands.push_back(rig.Bind(id, 1'000));
  rig.Submit(std::move(commands));
  rig.loop.virtual_clock().AdvanceTo(rig.In(1'000));  // and no timer has run yet
  rig.writer.SetWritable(kForever, kForever);
  CHECK(rig.sink.Take<CommandReply>().size() == kMany);
  CHECK(rig.server.sent == 0);
}

TEST_CASE("429 is retried when the server says, if that is before the deadline") {
  Response busy;
  busy.status = 429;
  busy.retry_after_ms = 3'000;
  {
    WriterRig rig;
    rig.Submit({rig.Bind(1)});
    rig.server.Answer(rig.server.open.front(), busy);
    rig.loop.Advance(2'999);
    CHECK(rig.server.open.empty());
    rig.loop.Advance(1);
    rig.server.AnswerJson(rig.server.open.front(), 201, "");
    CHECK(rig.Only().outcome == Outcome::kDone);
  }
  WriterRig rig;
  rig.Submit({rig.Bind(1, 2'000)});
  rig.server.Answer(rig.server.open.front(), busy);
  CHECK(rig.Only().outcome == Outcome::kRefused);
}

TEST_CASE("a refusal says how much more quiet the server asked for, of which no answer makes more than a minute") {
  WriterRig rig;
  Response busy;
  busy.status = 429;
  busy.retry_after_ms = 32'000;
  rig.Submit({rig.Bind(1, 10'000)});
  rig.server.Answer(rig.server.open.front(), busy);
  CHECK(rig.Only().retry_after_ms == 32'000);
  busy.retry_after_ms = 86'400'000;
  rig.Submit({rig.Bind(2, 10'000)});
  rig.server.Answer(rig.server.open.front(), busy);
  CHECK(rig.Only().retry_after_ms == CommandReply::kMostQuietMs);

  // One that may have taken effect is settled first, and part of the quiet is over by then.
  rig.Submit({rig.Bind(3, 10'000)});
  rig.server.Fail(rig.server.open.front(), Response::Failure::kLost);
  busy.retry_after_ms = 30'000;
  rig.server.Answer(rig.server.open.front(), busy);  // to the read
  rig.loop.Advance(10'000);
  const CommandReply late = rig.Only();
  CHECK(late.outcome == Outcome::kUnknown);
  CHECK(late.retry_after_ms == 20'000);
  rig.Submit({rig.Bind(4, 10'000)});
  rig.server.AnswerJson(rig.server.open.front(), 201, "");
  CHECK(rig.Only().retry_after_ms == 0);
}

TEST_CASE("nothing leaves after the writable deadline, and what waits is refused at its own") {
  WriterRig rig;
  rig.writer.SetWritable(rig.In(10'000), rig.In(15'000));
  rig.Submit({rig.Bind(1, 60'000)});
  REQUIRE(rig.server.open.size() == 1);
  CHECK(rig.server.open.front()->request.not_after_ms == rig.In(KubeWriter::kGraceMs));
  rig.server.AnswerJson(rig.server.open.front(), 201, "");
  rig.loop.Advance(10'000);
  rig.Submit({rig.Bind(2, 5'000)});
  CHECK(rig.server.open.empty());
  rig.sink.Take<CommandReply>();
  rig.loop.Advance(5'000);
  CHECK(rig.Only().outcome == Outcome::kRefused);
  rig.Submit({rig.Bind(3, 5'000)});
  rig.writer.SetWritable(rig.In(10'000), rig.In(15'000));
  CHECK(rig.server.open.size() == 1);
}

TEST_CASE("what is made just before the writable deadline does not leave after it") {
  WriterRig rig;
  const base::Millis until = rig.In(10'000);
  rig.writer.SetWritable(until, rig.In(15'000));
  rig.loop.Advance(9'999);
  rig.Submit({rig.Bind(1, 60'000)});
  REQUIRE(rig.server.open.size() == 1);
  CHECK(rig.server.open.front()->request.not_after_ms == until - 1);
}

TEST_CASE("no write outlives the instant at which all are to be over") {
  WriterRig rig;
  rig.writer.SetWritable(rig.In(10'000), rig.In(15'000));
  rig.loop.Advance(9'999);
  rig.Submit({rig.Bind(1, 60'000)});
  REQUIRE(rig.server.open.size() == 1);
  // In 5,001 ms all is over, and half a second may pass on the way.
  CHECK_THAT(rig.server.open.front()->request.target, Catch::EndsWith("?timeout=4501ms"));
  rig.writer.SetWritable(rig.In(10'000), rig.In(400));
  rig.Submit({rig.Bind(2, 60'000)});
  CHECK(rig.server.open.size() == 1);
}

TEST_CASE("writes in flight are bounded, binds leave first, and aged work gets its share") {
  KubeWriter::Options options;
  options.in_flight = 4;
  WriterRig rig(options);
  std::vector<cluster::Command> commands;
  for (uint64_t i = 1; i <= 8; ++i)
    commands.push_back({i, cluster::Lane::kStatus, rig.In(60'000),
                        cluster::Patch{cluster::NewRef("", "v1", "pods", "Pod", "ns", "s" + std::to_string(i), "", ""),
                                       true, cluster::Patch::Type::kMerge, "{}"}});
  for (uint64_t i = 101; i <= 300; ++i) commands.push_back(rig.Bind(i, 60'000, "b" + std::to_string(i)));
  rig.Submit(std::move(commands));
  CHECK(rig.server.open.size() == 4);
  for (const auto& call : rig.server.open) CHECK(call->request.target.find("/binding") != std::string::npos);
  rig.loop.Advance(Lanes::kAgedAfterMs);
  int binds = 0, statuses = 0;
  for (int i = 0; i < 64; ++i) {
    const auto call = rig.server.open.front();
    ++(call->request.target.find("/binding") != std::string::npos ? binds : statuses);
    rig.server.AnswerJson(call, 200, "{}");
    CHECK(rig.server.open.size() == 4);
  }
  CHECK(statuses >= 1);
  CHECK(binds >= 56);
}

TEST_CASE("of what waits while binds flood, what says why leaves sooner than what says that all is well") {
  KubeWriter::Options options;
  options.in_flight = 1;
  WriterRig rig(options);
  const std::array<std::pair<const char*, cluster::Lane>, 4> kinds = {{{"binds", cluster::Lane::kBind},
                                                                       {"statuses", cluster::Lane::kStatus},
                                                                       {"reports", cluster::Lane::kReport},
                                                                       {"events", cluster::Lane::kEvent}}};
  std::vector<cluster::Command> commands;
  for (uint64_t i = 1; i <= 600; ++i)
    for (const auto& [resource, lane] : kinds) commands.push_back(rig.Other(lane, resource, std::to_string(i)));
  rig.Submit(std::move(commands));
  rig.loop.Advance(Lanes::kAgedAfterMs);
  std::map<std::string, int> left;
  for (int i = 0; i < 520; ++i) {  // 512, and those that wait while another's turn comes at the same time
    const auto call = rig.server.open.front();
    for (const auto& [resource, lane] : kinds)
      left[resource] += call->request.target.find(resource) != std::string::npos;
    rig.server.AnswerJson(call, 200, "{}");
  }
  CHECK(left["statuses"] == 512 / 32);
  CHECK(left["events"] == 512 / 64);
  CHECK(left["reports"] == 512 / 128);
}

TEST_CASE("when binds are done, the Events of pods leave before the reports of their gangs") {
  KubeWriter::Options options;
  options.in_flight = 1;
  WriterRig rig(options);
  std::vector<cluster::Command> commands;
  for (int i = 0; i < 40; ++i)
    for (const auto& [resource, lane] :
         {std::pair{"reports", cluster::Lane::kReport}, std::pair{"events", cluster::Lane::kEvent}})
      commands.push_back(rig.Other(lane, resource, std::to_string(i)));
  rig.Submit(std::move(commands));
  for (int i = 0; i < 80; ++i) {
    const auto call = rig.server.open.front();
    CHECK((call->request.target.find("events") != std::string::npos) == (i < 40));
    rig.server.AnswerJson(call, 200, "{}");
  }
}

TEST_CASE("while a bind is on its way, few others are, and those that have waited") {
  KubeWriter::Options options;
  options.in_flight = 16;
  WriterRig rig(options);
  std::vector<cluster::Command> commands = {rig.Bind(1, 60'000)};
  for (int i = 0; i < 20; ++i)
    commands.push_back({0, cluster::Lane::kStatus, rig.In(60'000),
                        cluster::Patch{cluster::NewRef("", "v1", "pods", "Pod", "ns", std::to_string(i), "", ""), true,
                                       cluster::Patch::Type::kMerge, "{}"}});
  rig.Submit(std::move(commands));
  CHECK(rig.server.open.size() == 1);
  rig.loop.Advance(999);
  CHECK(rig.server.open.size() == 1);
  rig.loop.Advance(1);
  CHECK(rig.server.open.size() == 1 + 4);
  rig.server.AnswerJson(rig.server.open[1], 200, "{}");
  CHECK(rig.server.open.size() == 1 + 4);
  rig.server.AnswerJson(rig.server.open.front(), 201, "");
  CHECK(rig.server.open.size() == 4);
  rig.Submit({rig.Bind(2, 60'000, "last")});  // which was decided by that answer
  CHECK(rig.server.open.size() == 4 + 1);
  rig.server.AnswerJson(rig.server.open.back(), 201, "");
  rig.loop.Advance(KubeWriter::kHeldAfterStartsMs);
  CHECK(rig.server.open.size() == 16);
}

TEST_CASE("the bind that makes a gang whole goes before those that begin others, and starves none") {
  KubeWriter::Options options;
  options.in_flight = 1;
  WriterRig rig(options);
  std::vector<cluster::Command> commands;
  for (uint64_t i = 1; i <= 9; ++i) commands.push_back(rig.Bind(i, 60'000, "other" + std::to_string(i)));
  for (uint64_t i = 11; i <= 19; ++i) {
    commands.push_back(rig.Bind(i, 60'000, "last" + std::to_string(i)));
    commands.back().lane = cluster::Lane::kCommit;
  }
  rig.Submit(std::move(commands));
  const auto lasts_of_next = [&](int count) {
    int lasts = 0;
    for (; count > 0; --count) {
      const auto call = rig.server.open.front();
      lasts += call->request.target.find("/last") != std::string::npos ? 1 : 0;
      rig.server.AnswerJson(call, 200, "{}");
    }
    return lasts;
  };
  CHECK(lasts_of_next(4) == 4);
  rig.loop.Advance(Lanes::kAgedAfterMs);
  CHECK(lasts_of_next(5) == 3);  // one was on its way; then the others have every second place
}

TEST_CASE("a gang is made whole, and what was begun is finished, before a thousand evictions that are to begin") {
  KubeWriter::Options options;
  options.in_flight = 1;
  WriterRig rig(options);
  constexpr uint64_t kEvictions = 1'000;
  std::vector<cluster::Command> commands;
  for (uint64_t i = 0; i < kEvictions; ++i)
    commands.push_back({0, cluster::Lane::kFinish, rig.In(60'000),
                        cluster::Delete{cluster::NewRef("", "v1", "pods", "Pod", "ns", "told", "u1", "")}});
  for (uint64_t i = 0; i < kEvictions; ++i) commands.push_back(rig.Other(cluster::Lane::kEvict, "pods", "to-tell"));
  commands.push_back(rig.Bind(1, 60'000, "lone"));
  commands.back().lane = cluster::Lane::kFinish;
  commands.push_back(rig.Bind(2, 60'000, "last"));
  commands.back().lane = cluster::Lane::kCommit;
  rig.Submit(std::move(commands));
  std::vector<std::string> left;
  while (!rig.server.open.empty()) {
    const auto call = rig.server.open.front();
    const std::string& target = call->request.target;
    for (const char* name : {"/told", "/to-tell", "/lone", "/last"})
      if (target.find(name) != std::string::npos && (left.empty() || left.back() != name)) left.emplace_back(name);
    rig.server.AnswerJson(call, 200, "{}");
  }
  CHECK(left == std::vector<std::string>{"/last", "/told", "/lone", "/to-tell"});
}

TEST_CASE("a patch carries its preconditions, and goes to the status subresource where there is one") {
  WriterRig rig;
  const auto patch = [&](const char* resource, const char* group) {
    rig.Submit({{1, cluster::Lane::kStatus, rig.In(9'000),
                 cluster::Patch{cluster::NewRef(group, "", resource, "K", "ns", "x", "u1", "5"), true,
                                cluster::Patch::Type::kMerge, R"({"status":{"phase":"Running"}})"}}});
    const auto call = rig.server.open.front();
    rig.server.AnswerJson(call, 200, "{}");
    CHECK(rig.Only().outcome == Outcome::kDone);
    return call->request;
  };
  const Request status = patch("queues", "g");
  CHECK(status.target.starts_with("/apis/g/v1beta1/namespaces/ns/queues/x/status?"));
  CHECK(status.content_type == std::string("application/merge-patch+json"));
  CHECK(json::parse(status.body) ==
        json::parse(R"({"status":{"phase":"Running"},"metadata":{"uid":"u1","resourceVersion":"5"}})"));
  CHECK(patch("plain", "g").target.starts_with("/apis/g/v1beta1/namespaces/ns/plain/x?"));
  rig.Submit({{2, cluster::Lane::kStatus, rig.In(9'000),
               cluster::Patch{cluster::NewRef("unknown", "", "things", "K", "ns", "x", "", ""), false,
                              cluster::Patch::Type::kMerge, "{}"}}});
  CHECK(rig.Only().message == "things is not served");
}

TEST_CASE("writes that may be repeated are, after a lost connection") {
  WriterRig rig;
  rig.Submit({{1, cluster::Lane::kEvict, rig.In(9'000),
               cluster::Delete{cluster::NewRef("", "v1", "pods", "Pod", "ns", "p", "u1", "")}}});
  rig.server.Fail(rig.server.open.front(), Response::Failure::kLost);
  rig.loop.Advance(1'000);
  rig.server.AnswerJson(rig.server.open.front(), 404, StatusJson(404, "NotFound"));
  CHECK(rig.Only().outcome == Outcome::kDone);
}

TEST_CASE("a create whose repeat meets its own first try is unknown, and what is there is read") {
  WriterRig rig;
  rig.Submit({{1, cluster::Lane::kStatus, rig.In(9'000),
               cluster::Create{cluster::NewRef("g", "", "queues", "Queue", "", "q", "", ""), "{}"}}});
  rig.server.Fail(rig.server.open.front(), Response::Failure::kTimeout);
  rig.loop.Advance(1'000);
  rig.server.AnswerJson(rig.server.open.front(), 409, StatusJson(409, "AlreadyExists"));
  CHECK(rig.server.open.front()->request.method == Method::kGet);
  rig.server.AnswerJson(rig.server.open.front(), 200, R"({"metadata":{"name":"q","uid":"u"}})");
  const CommandReply answer = rig.Only();
  CHECK(answer.outcome == Outcome::kUnknown);
  REQUIRE(answer.object);
  CHECK(answer.object->meta.uid == "u");
}

TEST_CASE("a create whose name is taken is refused, with what has the name if that may be read") {
  for (const int read : {200, 403}) {
    WriterRig rig;
    rig.Submit({{1, cluster::Lane::kStatus, rig.In(9'000),
                 cluster::Create{cluster::NewRef("g", "", "queues", "Queue", "", "q", "", ""), "{}"}}});
    rig.server.AnswerJson(rig.server.open.front(), 409, StatusJson(409, "AlreadyExists"));
    rig.server.AnswerJson(rig.server.open.front(), read, R"({"metadata":{"name":"q","uid":"other"}})");
    const CommandReply answer = rig.Only();
    CHECK(answer.outcome == Outcome::kRefused);
    CHECK(answer.http_status == 409);
    CHECK((answer.object != nullptr) == (read == 200));
  }
}

TEST_CASE("a create whose name the API server makes is not repeated") {
  WriterRig rig;
  rig.Submit({{1, cluster::Lane::kStatus, rig.In(9'000),
               cluster::Create{cluster::NewRef("g", "", "queues", "Queue", "", ""),
                               R"({"metadata":{"generateName":"q-"}})"}}});
  rig.server.Fail(rig.server.open.front(), Response::Failure::kLost);
  rig.loop.Advance(10'000);
  CHECK(rig.server.open.empty());
  CHECK(rig.server.sent == 1);
  CHECK(rig.Only().outcome == Outcome::kUnknown);
}

TEST_CASE("the answer to a create has the object as the API server made it") {
  WriterRig rig;
  const auto create = [&](int status, const char* body) {
    rig.Submit({{1, cluster::Lane::kStatus, rig.In(9'000),
                 cluster::Create{cluster::NewRef("g", "", "queues", "Queue", "ns", ""), "{}"}}});
    rig.server.AnswerJson(rig.server.open.front(), status, body);
    return rig.Only();
  };
  const CommandReply made = create(201, R"({"apiVersion":"g/v1beta1","kind":"Queue",
      "metadata":{"name":"q-x7","namespace":"ns","uid":"u9","resourceVersion":"12"},"spec":{"weight":1}})");
  CHECK(made.outcome == Outcome::kDone);
  REQUIRE(made.object != nullptr);
  CHECK(made.object->meta.name == "q-x7");
  CHECK(made.object->meta.uid == "u9");
  CHECK(made.object->meta.resource_version == "12");
  CHECK(made.object->resource == "queues");
  CHECK(made.object->version == "v1beta1");
  CHECK(made.object->body->at("spec").at("weight") == 1);
  CHECK(create(201, "not JSON").object == nullptr);
  CHECK(create(403, StatusJson(403, "Forbidden").c_str()).object == nullptr);
}

TEST_CASE("an Event is created once, and its repeats become a series") {
  WriterRig rig;
  rig.Submit({rig.Event(1, "no room")});
  const auto create = rig.server.open.front();
  CHECK(create->request.target.starts_with("/apis/events.k8s.io/v1/namespaces/ns/events?"));
  const auto envelope = OpenEnvelope(create->request.body);
  REQUIRE(envelope);
  const std::string name(DecodeMetaView(envelope->raw).name);
  CHECK(name.starts_with("p."));
  CHECK(FindBytes(envelope->raw, 4) == "volcano");
  CHECK(FindBytes(envelope->raw, 5) == "tutti-host");
  CHECK(FindBytes(envelope->raw, 7) == "FailedScheduling");
  CHECK(FindBytes(envelope->raw, 10) == "no room");
  CHECK(FindBytes(envelope->raw, 11) == "Warning");

  // While it is on its way a repeat is merged, and written behind it.
  rig.Submit({rig.Event(2, "no room")});
  CHECK(rig.server.open.size() == 1);
  rig.server.AnswerJson(create, 201, "{}");
  const auto series = rig.server.open.front();
  CHECK(series->request.method == Method::kPatch);
  CHECK(series->request.target.find("/events/" + name + "?") != std::string::npos);
  CHECK(json::parse(series->request.body).at("series").at("count") == 2);
  rig.server.AnswerJson(series, 200, "{}");
  CHECK(rig.sink.Take<CommandReply>().size() == 2);

  // Later repeats are counted, and written twice a minute at most.
  for (uint64_t i = 3; i < 13; ++i) rig.Submit({rig.Event(i, "no room")});
  CHECK(rig.server.open.empty());
  CHECK(rig.sink.Take<CommandReply>().size() == 10);
  rig.loop.Advance(EventBook::kQuietMs);
  REQUIRE(rig.server.open.size() == 1);
  CHECK(json::parse(rig.server.open.front()->request.body).at("series").at("count") == 12);

  // Another note is another Event.
  rig.Submit({rig.Event(20, "room, but no quota")});
  CHECK(rig.server.open.back()->request.method == Method::kPost);
}

TEST_CASE("an Event that is there already was written: its name is ours alone") {
  WriterRig rig;
  rig.Submit({rig.Event(1, "x")});
  rig.server.AnswerJson(rig.server.open.front(), 409, StatusJson(409, "AlreadyExists"));
  CHECK(rig.Only().outcome == Outcome::kDone);
  rig.Submit({rig.Event(2, "x")});
  CHECK(rig.server.open.front()->request.method == Method::kPatch);
}

TEST_CASE("an Event that has expired is created again") {
  WriterRig rig;
  rig.Submit({rig.Event(0, "x")});
  rig.server.AnswerJson(rig.server.open.front(), 201, "{}");
  rig.loop.Advance(60'000);
  rig.Submit({rig.Event(0, "x")});
  rig.server.AnswerJson(rig.server.open.front(), 404, StatusJson(404, "NotFound"));
  CHECK(rig.server.open.front()->request.method == Method::kPost);
}

TEST_CASE("a long note is cut at 1024 bytes, between characters") {
  CHECK(CutNote(std::string(1024, 'x'), 1024).size() == 1024);
  const std::string cut = CutNote(std::string(1019, 'x') + "ä" + std::string(100, 'y'), 1024);
  CHECK(cut == std::string(1019, 'x') + " ...");
}

TEST_CASE("a server that knows no protobuf is written to in JSON from then on") {
  WriterRig rig;
  rig.Submit({rig.Bind(1), rig.Bind(2, 30'000, "q")});
  const auto first = rig.server.open[0], second = rig.server.open[1];
  rig.server.AnswerJson(first, 415, "");
  rig.server.AnswerJson(second, 415, "");
  REQUIRE(rig.server.open.size() == 2);
  for (const auto& call : std::vector(rig.server.open)) {
    CHECK(json::parse(call->request.body).at("target").at("name") == "n1");
    rig.server.AnswerJson(call, 201, "");
  }
  CHECK(rig.sink.Take<CommandReply>().size() == 2);
}

TEST_CASE("draining refuses what has not left and waits for the rest") {
  KubeWriter::Options options;
  options.in_flight = 1;
  WriterRig rig(options);
  rig.Submit({rig.Bind(1), rig.Bind(2, 30'000, "q")});
  bool drained = false;
  rig.writer.Drain([&] { drained = true; });
  CHECK(rig.Only().id == 2);
  CHECK_FALSE(drained);
  rig.server.AnswerJson(rig.server.open.front(), 201, "");
  CHECK(rig.Only().outcome == Outcome::kDone);
  CHECK(drained);
  rig.Submit({rig.Bind(3)});
  CHECK(rig.Only().outcome == Outcome::kRefused);
}

TEST_CASE("draining is not over while what has no answer can still happen") {
  WriterRig rig;
  base::Millis left_ms = 0;
  SECTION("a delete that was cut, and would have been sent again") {
    rig.Submit({{1, cluster::Lane::kEvict, rig.In(60'000),
                 cluster::Delete{cluster::NewRef("", "v1", "pods", "Pod", "ns", "p", "u1", "")}}});
    rig.server.Fail(rig.server.open.front(), Response::Failure::kLost);
    left_ms = 5'000 + KubeWriter::kGraceMs;
  }
  SECTION("a bind that was still on its way at its deadline, and may wait in a socket") {
    rig.Submit({rig.Bind(1, 1'000)});
    rig.loop.Advance(1'000);
    left_ms = kSocketPatienceMs;
  }
  bool drained = false;
  rig.writer.Drain([&] { drained = true; });
  CHECK(rig.Only().outcome == Outcome::kUnknown);
  rig.loop.Advance(left_ms - 1);
  CHECK_FALSE(drained);
  rig.loop.Advance(1);
  CHECK(drained);
}

TEST_CASE("while draining nothing is tried again") {
  WriterRig rig;
  bool drained = false;
  const auto drain = [&](cluster::Command command) {
    rig.Submit({std::move(command)});
    rig.writer.Drain([&] { drained = true; });
    return rig.server.open.front();
  };
  Outcome outcome = Outcome::kRefused;
  base::Millis left_ms = 0;
  SECTION("that was put off") {
    auto patch = rig.Other(cluster::Lane::kStatus, "pods", "p");
    patch.id = 1;
    rig.server.AnswerJson(drain(patch), 429, "");
  }
  SECTION("that was put off, were it a bind") { rig.server.AnswerJson(drain(rig.Bind(1)), 429, ""); }
  SECTION("that may have taken effect, but for a bind") {
    outcome = Outcome::kUnknown;
    left_ms = 5'000 + KubeWriter::kGraceMs;
    rig.server.AnswerJson(drain({1, cluster::Lane::kEvict, rig.In(60'000),
                                 cluster::Delete{cluster::NewRef("", "v1", "pods", "Pod", "ns", "p", "u1", "")}}),
                          500, "");
  }
  SECTION("that decides nothing") {
    outcome = Outcome::kUnknown;
    rig.server.Fail(drain(rig.Event(1, "no room")), Response::Failure::kLost);
  }
  SECTION("that reads back what a refusal is about") {
    rig.server.AnswerJson(drain(rig.Bind(1)), 409, StatusJson(409, "Conflict"));
    rig.server.AnswerJson(rig.server.Find("/pods/p"), 500, "");
  }
  CHECK(rig.Only().outcome == outcome);
  CHECK(rig.server.open.empty());
  CHECK(drained == (left_ms == 0));
  rig.loop.Advance(left_ms);
  CHECK(drained);
}

TEST_CASE("a bind that may have taken effect is settled while draining") {
  WriterRig rig;
  bool drained = false;
  rig.Submit({rig.Bind(1)});
  rig.writer.Drain([&] { drained = true; });
  rig.server.Fail(rig.server.open.front(), Response::Failure::kLost);
  rig.server.AnswerJson(rig.server.Find("/pods/p"), 500, "");
  CHECK(rig.Silent());
  rig.loop.Advance(1'000);
  rig.AnswerPod("uid-p", "n1");
  CHECK(rig.Only().outcome == Outcome::kDone);
  CHECK(drained);
}

TEST_CASE("whatever the server does, every command gets exactly one answer by its deadline") {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    WriterRig rig;
    base::Random dice(seed);
    std::vector<cluster::Command> commands;
    for (uint64_t id = 1; id <= 20; ++id) {
      if (dice.OneIn(4))
        commands.push_back(rig.Event(id, "note " + std::to_string(dice.Below(3))));
      else
        commands.push_back(rig.Bind(id, dice.Between(500, 12'000), "b" + std::to_string(id)));
    }
    rig.Submit(std::move(commands));
    for (int step = 0; step < 400; ++step) {
      for (const auto& call : std::vector(rig.server.open)) {
        constexpr int kStatuses[] = {200, 201, 404, 409, 415, 429, 500, 503, 504};
        if (std::ranges::find(rig.server.open, call) == rig.server.open.end() || !dice.OneIn(3)) continue;
        if (dice.OneIn(3))
          rig.server.Fail(call, static_cast<Response::Failure>(1 + dice.Below(3)));
        else
          rig.server.AnswerJson(call, kStatuses[dice.Below(std::size(kStatuses))], "{}");
      }
      rig.loop.Advance(100);
    }
    std::map<uint64_t, int> count;
    for (const CommandReply& answer : rig.sink.Take<CommandReply>()) ++count[answer.id];
    INFO("seed " << seed);
    CHECK(count.size() == 20);
    CHECK(std::ranges::all_of(count, [](const auto& item) { return item.second == 1; }));
    CHECK(rig.writer.in_flight() == 0);
  }
}

}  // namespace
}  // namespace tutti::kube
