// SPDX-License-Identifier: Apache-2.0
// Binds, and how the unknown outcome of one becomes known.
#include <algorithm>
#include <string>
#include <vector>

#include "writer_rig.h"

namespace tutti::kube {
namespace {

using cluster::CommandReply;
using cluster::Outcome;

TEST_CASE("a bind is a protobuf POST with preconditions and a server-side timeout") {
  WriterRig rig;
  rig.Submit({rig.Bind(1)});
  const auto call = rig.server.open.front();
  CHECK(call->request.method == Method::kPost);
  CHECK(call->request.target == "/api/v1/namespaces/ns/pods/p/binding?timeout=5000ms");
  CHECK(call->request.content_type == std::string(kProtobuf));
  const auto envelope = OpenEnvelope(call->request.body);
  REQUIRE(envelope);
  CHECK(envelope->kind == "Binding");
  const MetaView meta = DecodeMetaView(envelope->raw);
  CHECK(meta.uid == "uid-p");
  CHECK(meta.resource_version == "7");
  CHECK(FindBytes(FindBytes(envelope->raw, 2), 3) == "n1");
  rig.server.AnswerJson(call, 201, "");
  CHECK(rig.Only().outcome == Outcome::kDone);
  rig.loop.Advance(60'000);
  CHECK(rig.Silent());
}

TEST_CASE("a bind's server-side timeout leaves time to read back before the deadline") {
  WriterRig rig;
  rig.Submit({rig.Bind(1, 4'000)});
  CHECK(rig.server.open.front()->request.target.ends_with("?timeout=2000ms"));
}

TEST_CASE("a conflict is settled by reading the pod back") {
  const auto conflict = [](WriterRig& rig) {
    rig.Submit({rig.Bind(1)});
    rig.server.AnswerJson(rig.server.open.front(), 409, StatusJson(409, "Conflict", "already assigned"));
  };
  SECTION("bound as asked: done") {
    WriterRig rig;
    conflict(rig);
    rig.AnswerPod("uid-p", "n1");
    CHECK(rig.Only().outcome == Outcome::kDone);
  }
  SECTION("bound elsewhere: refused, and where") {
    WriterRig rig;
    conflict(rig);
    rig.AnswerPod("uid-p", "n2");
    const CommandReply answer = rig.Only();
    CHECK(answer.outcome == Outcome::kRefused);
    CHECK(answer.current_node == "n2");
    CHECK(answer.http_status == 409);
  }
  SECTION("bound there, but by another plan") {
    WriterRig rig;
    conflict(rig);
    rig.AnswerPod("uid-p", "n1", "other");
    const CommandReply answer = rig.Only();
    CHECK(answer.outcome == Outcome::kRefused);
    CHECK(answer.current_node == "n1");
  }
  SECTION("unbound: refused for the reason given") {
    WriterRig rig;
    conflict(rig);
    rig.AnswerPod("uid-p", "");
    const CommandReply answer = rig.Only();
    CHECK(answer.outcome == Outcome::kRefused);
    CHECK(answer.message == "already assigned");
    CHECK_FALSE(answer.gone);
  }
  SECTION("another pod of that name: gone") {
    WriterRig rig;
    conflict(rig);
    rig.AnswerPod("uid-new", "");
    const CommandReply answer = rig.Only();
    CHECK(answer.outcome == Outcome::kRefused);
    CHECK(answer.gone);
  }
  SECTION("no pod: gone") {
    WriterRig rig;
    conflict(rig);
    rig.server.AnswerJson(rig.server.open.front(), 404, StatusJson(404, "NotFound"));
    CHECK(rig.Only().gone);
  }
}

TEST_CASE("an unanswered bind is read back, and sent again while the pod is unbound") {
  WriterRig rig;
  rig.Submit({rig.Bind(1)});
  rig.server.Fail(rig.server.open.front(), Response::Failure::kLost);
  rig.AnswerPod("uid-p", "");
  CHECK(rig.Silent());
  rig.loop.Advance(200);
  CHECK(rig.server.open.front()->request.method == Method::kPost);
  // The first try came through after all.
  rig.server.AnswerJson(rig.server.open.front(), 409, StatusJson(409, "Conflict"));
  rig.AnswerPod("uid-p", "n1");
  CHECK(rig.Only().outcome == Outcome::kDone);
}

TEST_CASE("an unanswered bind is known to have failed only when it can no longer happen") {
  WriterRig rig;
  rig.Submit({rig.Bind(1, 20'000)});
  rig.loop.Advance(1'000);
  rig.server.Fail(rig.server.open.front(), Response::Failure::kLost);
  rig.AnswerPod("uid-p", "");
  rig.loop.Advance(200);
  const base::Millis sent_again = rig.loop.Now();
  rig.server.AnswerJson(rig.server.open.front(), 403, StatusJson(403, "Forbidden"));
  rig.AnswerPod("uid-p", "");  // proves nothing yet: the first try may be on its way
  CHECK(rig.Silent());
  while (rig.server.open.empty()) rig.loop.Advance(10);
  CHECK(rig.loop.Now() - sent_again >= 5'000);  // the server-side timeout
  rig.AnswerPod("uid-p", "");
  CHECK(rig.Only().outcome == Outcome::kRefused);
}

TEST_CASE("an unanswered bind has failed for sure once the pod has another version than it asks for") {
  WriterRig rig;
  rig.Submit({rig.Bind(1)});
  rig.server.Fail(rig.server.open.front(), Response::Failure::kTimeout);
  rig.AnswerPod("uid-p", "", "x", "8");
  const CommandReply answer = rig.Only();
  CHECK(answer.outcome == Outcome::kRefused);
  CHECK(answer.http_status == 409);
}

TEST_CASE("an unanswered bind that took effect is done as soon as that is read") {
  WriterRig rig;
  rig.Submit({rig.Bind(1)});
  rig.server.AnswerJson(rig.server.open.front(), 504, StatusJson(504, "Timeout"));
  rig.AnswerPod("uid-p", "n1");
  CHECK(rig.Only().outcome == Outcome::kDone);
}

TEST_CASE("an unanswered bind that cannot be read back either is unknown at its deadline") {
  WriterRig rig;
  rig.Submit({rig.Bind(1, 8'000)});
  for (int i = 0; i < 100; ++i) {
    while (!rig.server.open.empty()) rig.server.Fail(rig.server.open.front(), Response::Failure::kLost);
    rig.loop.Advance(100);
  }
  CHECK(rig.Only().outcome == Outcome::kUnknown);
  rig.loop.Advance(60'000);
  CHECK(rig.Silent());
  CHECK(rig.server.open.empty());
}

TEST_CASE("a read back that fails is repeated with growing pauses, and not before the server says") {
  WriterRig rig;
  rig.Submit({rig.Bind(1, 100'000)});
  rig.server.Fail(rig.server.open.front(), Response::Failure::kLost);
  const auto pause_after = [&](const Response& trouble) {
    REQUIRE(rig.server.open.size() == 1);
    REQUIRE(rig.server.open.front()->request.method == Method::kGet);
    rig.server.Answer(rig.server.open.front(), trouble);
    const base::Millis from = rig.loop.Now();
    while (rig.server.open.empty()) rig.loop.Advance(1);
    return rig.loop.Now() - from;
  };
  Response busy, broken;
  busy.status = 429;
  busy.retry_after_ms = 3'000;
  broken.status = 500;
  CHECK(pause_after(busy) == 3'000);
  base::Millis pause_ms = 0;
  for (int i = 0; i < 6; ++i) pause_ms = pause_after(broken);
  CHECK(pause_ms >= 2'500);
  CHECK(pause_ms <= 5'000);
  rig.AnswerPod("uid-p", "n1");
  CHECK(rig.Only().outcome == Outcome::kDone);
}

TEST_CASE("reads back are bounded, and neither they nor the binds wait for each other") {
  KubeWriter::Options options;
  options.in_flight = 16;
  WriterRig rig(options);
  std::vector<cluster::Command> commands;
  for (uint64_t id = 1; id <= 52; ++id) commands.push_back(rig.Bind(id, 60'000, "b" + std::to_string(id)));
  rig.Submit(std::move(commands));
  const auto open = [&](Method method) {
    return std::ranges::count_if(rig.server.open, [=](const auto& call) { return call->request.method == method; });
  };
  const auto first = [&](Method method) {
    return *std::ranges::find_if(rig.server.open, [=](const auto& call) { return call->request.method == method; });
  };
  for (int i = 0; i < 36; ++i) {  // no read is answered
    rig.server.Fail(first(Method::kPost), Response::Failure::kLost);
    CHECK(open(Method::kPost) == 16);
    CHECK(open(Method::kGet) == std::min(i + 1, 4));
  }
  for (int i = 0; i < 36; ++i) {  // no bind is
    rig.server.AnswerJson(first(Method::kGet), 404, StatusJson(404, "NotFound"));
    CHECK(open(Method::kGet) == std::min(35 - i, 4));
  }
  CHECK(rig.sink.Take<CommandReply>().size() == 36);
  SECTION("one that is given up makes room") {
    for (int i = 0; i < 16; ++i) rig.server.Fail(first(Method::kPost), Response::Failure::kLost);
    rig.Submit({rig.Bind(53, 90'000, "b53")});
    rig.server.Fail(first(Method::kPost), Response::Failure::kLost);
    rig.loop.Advance(60'000);
    CHECK(rig.sink.Take<CommandReply>().size() == 16);
    CHECK(rig.server.Has("/b53"));
  }
}

TEST_CASE("a bind of which a try has failed is told of once, before its answer; no other write is") {
  WriterRig rig;
  rig.Submit({rig.Bind(1)});
  CHECK(rig.sink.events.empty());
  for (int i = 0; i < 2; ++i) {
    rig.server.AnswerJson(rig.server.open.front(), 500, StatusJson(500, "InternalError"));
    rig.AnswerPod("uid-p", "");
    rig.loop.Advance(1'000);
  }
  const auto delayed = rig.sink.Take<cluster::CommandDelayed>();
  REQUIRE(delayed.size() == 1);
  CHECK(delayed.front().id == 1);
  rig.server.AnswerJson(rig.server.open.front(), 201, "");
  CHECK(rig.Only().outcome == Outcome::kDone);

  cluster::Command patch = rig.Other(cluster::Lane::kStatus, "pods", "q");
  patch.id = 2;
  rig.Submit({patch});
  rig.loop.Advance(1'000);
  rig.server.AnswerJson(rig.server.open.front(), 500, StatusJson(500, "InternalError"));
  CHECK(rig.sink.events.empty());
}

TEST_CASE("a bind that never left is refused, and tried again while there is time") {
  WriterRig rig;
  rig.Submit({rig.Bind(1, 3'000)});
  int tries = 0;
  for (int i = 0; i < 40; ++i) {
    while (!rig.server.open.empty()) {
      CHECK(rig.server.open.front()->request.method == Method::kPost);
      rig.server.Fail(rig.server.open.front(), Response::Failure::kNotSent);
      ++tries;
    }
    rig.loop.Advance(100);
  }
  CHECK(tries > 1);
  CHECK(rig.Only().outcome == Outcome::kRefused);
}

}  // namespace
}  // namespace tutti::kube
