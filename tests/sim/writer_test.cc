// SPDX-License-Identifier: Apache-2.0
#include "sim/port/writer.h"

#include "tests/sim/recording_sink.h"
#include "tests/support/catch.h"

namespace tutti::sim {
namespace {

using cluster::Command;
using cluster::Outcome;

class Scripted final : public Interceptor {
 public:
  Fate Decide(const Command&) override { return std::exchange(next, Fate{}); }
  Fate next;
};

struct WriterFixture {
  WriterFixture() {
    for (const char* name : {"a", "b"}) {
      REQUIRE(store.Create({{"apiVersion", "v1"},
                            {"kind", "Pod"},
                            {"metadata", {{"name", name}, {"namespace", "default"}}},
                            {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}}));
    }
  }

  Object Pod(const char* name) { return store.Find(kPods, "default", name); }
  cluster::ObjectRef Ref(const char* name) {
    const Object pod = Pod(name);
    return cluster::NewRef("", "", "pods", "Pod", "default", name, pod ? UidOf(*pod) : "");
  }
  cluster::CommandId Submit(cluster::CommandBody body, cluster::Lane lane = cluster::Lane::kBind) {
    Command command;
    command.id = ++last_id;
    command.lane = lane;
    command.deadline_ms = clock.MonotonicMs() + 3000;
    command.body = std::move(body);
    writer.Submit({command});
    return command.id;
  }
  cluster::CommandReply Only() {
    auto answers = sink.TakeAnswers();
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].id == last_id);
    return answers[0];
  }

  base::VirtualClock clock{1'700'000'000'000};
  Store store{clock};
  RecordingSink sink;
  Scripted interceptor;
  Writer writer{store, sink, clock, &interceptor};
  cluster::CommandId last_id = 0;
};

TEST_CASE_METHOD(WriterFixture, "A bind waits for the pump, merges its annotations and is answered once") {
  Submit(cluster::Bind{Ref("a"), "n1", {{"tutti.dev/plan", "7"}}});
  CHECK(DigString(*Pod("a"), "spec", "nodeName").empty());
  writer.Pump();
  CHECK(DigString(*Pod("a"), "spec", "nodeName") == "n1");
  CHECK(AnnotationOf(*Pod("a"), "tutti.dev/plan") == "7");
  const auto answer = Only();
  CHECK(answer.outcome == Outcome::kDone);
  CHECK(answer.http_status == 201);
  CHECK(writer.Idle());
}

TEST_CASE_METHOD(WriterFixture, "A refused bind says where the pod is by now, or that it is gone") {
  Submit(cluster::Bind{Ref("a"), "n1", {}});
  writer.Pump();
  sink.TakeAnswers();
  Submit(cluster::Bind{Ref("a"), "n2", {}});
  writer.Pump();
  auto answer = Only();
  CHECK(answer.outcome == Outcome::kRefused);
  CHECK(answer.http_status == 409);
  CHECK(answer.current_node == "n1");
  CHECK_FALSE(answer.gone);

  const auto old = Ref("b");
  REQUIRE(store.Delete(kPods, "default", "b", {.grace_seconds = 0}));
  Submit(cluster::Bind{old, "n1", {}});
  writer.Pump();
  answer = Only();
  CHECK(answer.http_status == 404);
  CHECK(answer.gone);
}

TEST_CASE_METHOD(WriterFixture, "Uid and resourceVersion are preconditions") {
  auto ref = cluster::NewRef("", "", "pods", "Pod", "default", "a", "00000000-0000-4000-8000-000000000000");
  Submit(cluster::Bind{ref, "n1", {}});
  writer.Pump();
  CHECK(Only().gone);
  Submit(cluster::Delete{ref}, cluster::Lane::kEvict);
  writer.Pump();
  CHECK(Only().http_status == 409);
  Submit(cluster::Patch{ref, false, cluster::Patch::Type::kMerge, R"({"metadata":{"labels":{"x":"y"}}})"});
  writer.Pump();
  CHECK(Only().http_status == 409);
  CHECK(LabelOf(*Pod("a"), "x").empty());

  ref = Ref("a");
  ref.resource_version = "1";
  Submit(cluster::Bind{ref, "n1", {}});
  writer.Pump();
  const auto answer = Only();
  CHECK(answer.http_status == 409);
  CHECK_FALSE(answer.gone);
}

TEST_CASE_METHOD(WriterFixture, "Lower lanes go first") {
  Submit(
      cluster::Patch{
          Ref("a"), true, cluster::Patch::Type::kStrategic,
          R"({"status":{"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable"}]}})"},
      cluster::Lane::kStatus);
  Submit(cluster::Bind{Ref("b"), "n1", {}}, cluster::Lane::kBind);
  CHECK(writer.PumpCommands(1) == 1);
  CHECK(DigString(*Pod("b"), "spec", "nodeName") == "n1");
  CHECK(ConditionOf(*Pod("a"), "PodScheduled").is_null());
  writer.Pump();
  CHECK(DigString(ConditionOf(*Pod("a"), "PodScheduled"), "reason") == "Unschedulable");
}

TEST_CASE_METHOD(WriterFixture,
                 "A lost request has no effect and a lost reply has one; both are unknown at the deadline") {
  interceptor.next.kind = Fate::Kind::kDrop;
  Submit(cluster::Bind{Ref("a"), "n1", {}});
  writer.Pump();
  CHECK(sink.TakeAnswers().empty());
  clock.Advance(2999);
  CHECK(writer.Pump() == 0);
  clock.Advance(1);
  writer.Pump();
  CHECK(Only().outcome == Outcome::kUnknown);
  CHECK(DigString(*Pod("a"), "spec", "nodeName").empty());

  interceptor.next.kind = Fate::Kind::kLoseReply;
  Submit(cluster::Bind{Ref("a"), "n1", {}});
  writer.Pump();
  CHECK(DigString(*Pod("a"), "spec", "nodeName") == "n1");
  clock.Advance(3000);
  writer.Pump();
  CHECK(Only().outcome == Outcome::kUnknown);
}

TEST_CASE_METHOD(WriterFixture, "A delayed request takes effect late, but never after its deadline") {
  interceptor.next.request_delay_ms = 2000;
  Submit(cluster::Bind{Ref("a"), "n1", {}});
  CHECK(writer.NextDeadline() == clock.MonotonicMs() + 2000);
  CHECK(writer.Pump() == 0);
  clock.Advance(2000);
  writer.Pump();
  CHECK(DigString(*Pod("a"), "spec", "nodeName") == "n1");
  CHECK(Only().outcome == Outcome::kDone);

  interceptor.next.request_delay_ms = 5000;
  Submit(cluster::Bind{Ref("b"), "n1", {}});
  clock.Advance(5000);
  writer.Pump();
  CHECK(DigString(*Pod("b"), "spec", "nodeName").empty());
  CHECK(Only().outcome == Outcome::kUnknown);
}

TEST_CASE_METHOD(WriterFixture, "A refusal is passed on, and what waited too long is never sent") {
  interceptor.next = {.kind = Fate::Kind::kRefuse, .http_status = 429, .message = "too many requests"};
  Submit(cluster::Bind{Ref("a"), "n1", {}});
  writer.Pump();
  auto answer = Only();
  CHECK(answer.outcome == Outcome::kRefused);
  CHECK(answer.http_status == 429);

  Submit(cluster::Bind{Ref("a"), "n1", {}});
  clock.Advance(4000);
  writer.Pump();
  answer = Only();
  CHECK(answer.outcome == Outcome::kRefused);
  CHECK(answer.http_status == 0);
  CHECK(DigString(*Pod("a"), "spec", "nodeName").empty());
}

TEST_CASE_METHOD(WriterFixture, "What a dead scheduler had on its way still arrives, and no answer is heard") {
  interceptor.next.request_delay_ms = 1000;
  Submit(cluster::Bind{Ref("a"), "n1", {}});
  Submit(cluster::Bind{Ref("b"), "n1", {}});
  writer.OrphanInFlight();
  clock.Advance(1000);
  writer.Pump();
  CHECK(DigString(*Pod("a"), "spec", "nodeName") == "n1");
  CHECK(DigString(*Pod("b"), "spec", "nodeName").empty());
  CHECK(sink.TakeAnswers().empty());
}

TEST_CASE_METHOD(WriterFixture, "Repeated notes are one Event with a count") {
  const auto say = [&](const char* note) {
    cluster::EmitEvent event;
    event.regarding = Ref("a");
    event.warning = true;
    event.reason = "FailedScheduling";
    event.action = "Scheduling";
    event.note = note;
    event.reporting_controller = "tutti";
    Submit(event, cluster::Lane::kEvent);
    writer.Pump();
  };
  say("0/3 nodes are available");
  clock.Advance(10'000);
  say("0/3 nodes are available");
  say("0/4 nodes are available");
  auto events = store.All(kEvents);
  REQUIRE(events.size() == 2);
  const Json& first = *events[0];
  CHECK(DigString(first, "involvedObject", "uid") == UidOf(*Pod("a")));
  CHECK(DigString(first, "reportingComponent") == "tutti");
  CHECK(DigString(first, "type") == "Warning");
  CHECK(IntOf(Dig(first, "series", "count")) == 2);
  CHECK(Dig(*events[1], "series").is_null());
  clock.Advance(7 * 60'000);
  say("0/3 nodes are available");
  CHECK(store.All(kEvents).size() == 3);
}

TEST_CASE_METHOD(WriterFixture, "Objects are created and deleted, and a refusal carries the API server's words") {
  const cluster::ObjectRef ref = cluster::NewRef("", "", "configmaps", "ConfigMap", "default", "c");
  const char* body = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"default"}})";
  Submit(cluster::Create{ref, body});
  writer.Pump();
  CHECK(Only().http_status == 201);
  Submit(cluster::Create{ref, body});
  writer.Pump();
  const auto answer = Only();
  CHECK(answer.http_status == 409);
  CHECK(answer.message == "configmaps \"c\" already exists");
  Submit(cluster::Delete{ref});
  writer.Pump();
  CHECK(Only().outcome == Outcome::kDone);
  CHECK_FALSE(store.Find({"", "configmaps"}, "default", "c"));
}

TEST_CASE_METHOD(WriterFixture, "What is to be deleted for its controller stays where it has another, or none") {
  const GroupResource maps{"", "configmaps"};
  const auto make = [&](const char* name, const Json& owners) {
    REQUIRE(store.Create(
        {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}, {"ownerReferences", owners}}}}));
  };
  const auto owner = [](const char* uid, bool controls) {
    return Json::array(
        {{{"apiVersion", "v1"}, {"kind", "Thing"}, {"name", "t"}, {"uid", uid}, {"controller", controls}}});
  };
  make("own", owner("u-t", true));
  make("others", owner("u-s", true));
  make("owned", owner("u-t", false));
  make("free", Json::array());
  for (const char* name : {"own", "others", "owned", "free", "none"}) {
    CAPTURE(name);
    Submit(cluster::Delete{.object = cluster::NewRef("", "", "configmaps", "ConfigMap", "default", name),
                           .controller = "u-t"});
    writer.Pump();
    CHECK(Only().outcome == Outcome::kDone);
    const std::string_view is = name;
    CHECK((store.Find(maps, "default", name) != nullptr) == (is != "own" && is != "none"));
  }
}

TEST_CASE_METHOD(WriterFixture, "The answer to a create has the object as the API server made it") {
  const cluster::ObjectRef ref = cluster::NewRef("", "", "configmaps", "ConfigMap", "default", "");
  Submit(cluster::Create{ref, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"c-"}})"});
  writer.Pump();
  const auto answer = Only();
  REQUIRE(answer.object != nullptr);
  const Object made = store.Find({"", "configmaps"}, "default", answer.object->meta.name);
  REQUIRE(made);
  CHECK(answer.object->meta.name.starts_with("c-"));
  CHECK(answer.object->meta.uid == UidOf(*made));
  CHECK(answer.object->resource == "configmaps");
}

TEST_CASE_METHOD(WriterFixture, "A patch of operations changes an item of a list, under its preconditions") {
  const char* body = R"([{"op":"replace","path":"/spec/containers/0/image","value":"j"}])";
  const auto image = [&] { return DigString(Dig(*Pod("a"), "spec", "containers")[0], "image"); };
  cluster::ObjectRef ref = cluster::NewRef("", "", "pods", "Pod", "default", "a", "another");
  Submit(cluster::Patch{ref, false, cluster::Patch::Type::kJson, body});
  writer.Pump();
  CHECK(Only().http_status == 409);
  ref = Ref("a");
  ref.resource_version = "1";
  Submit(cluster::Patch{ref, false, cluster::Patch::Type::kJson, body});
  writer.Pump();
  CHECK(Only().http_status == 409);
  CHECK(image() == "i");
  Submit(cluster::Patch{Ref("a"), false, cluster::Patch::Type::kJson, body});
  writer.Pump();
  CHECK(Only().outcome == Outcome::kDone);
  CHECK(image() == "j");
  Submit(cluster::Patch{Ref("a"), false, cluster::Patch::Type::kJson, "{}"});
  writer.Pump();
  CHECK(Only().outcome == Outcome::kRefused);
}

TEST_CASE_METHOD(WriterFixture, "What is only tried is judged, and leaves nothing behind") {
  const int64_t before = store.resource_version();
  const cluster::ObjectRef ref = cluster::NewRef("", "", "configmaps", "ConfigMap", "default", "c");
  Submit(cluster::Create{ref, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}})", true});
  writer.Pump();
  CHECK(Only().object != nullptr);
  Submit(cluster::Patch{Ref("a"), false, cluster::Patch::Type::kMerge, R"({"metadata":{"labels":{"x":"y"}}})", true});
  writer.Pump();
  CHECK(Only().outcome == Outcome::kDone);
  Submit(cluster::Delete{Ref("a"), cluster::Propagation::kOfKind, true});
  writer.Pump();
  CHECK(Only().outcome == Outcome::kDone);
  Submit(cluster::Create{ref, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"A B"}})", true});
  writer.Pump();
  CHECK(Only().outcome == Outcome::kRefused);
  CHECK(store.resource_version() == before);
}

TEST_CASE_METHOD(WriterFixture, "A delete does with what the object owns as it is told") {
  const GroupResource maps{"", "configmaps"};
  const auto make = [&](const char* name, Json meta) {
    meta["name"] = name;
    return UidOf(**store.Create({{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", meta}}));
  };
  // What is owned cannot go at once.
  const auto make_both = [&] {
    const Json owner = {{"apiVersion", "v1"},
                        {"kind", "ConfigMap"},
                        {"name", "owner"},
                        {"uid", make("owner", Json::object())},
                        {"blockOwnerDeletion", true}};
    make("owned", {{"finalizers", {"tutti.test/held"}}, {"ownerReferences", {owner}}});
  };
  const auto remove_owner = [&](cluster::Propagation propagation) {
    Submit(cluster::Delete{cluster::NewRef("", "", "configmaps", "ConfigMap", "default", "owner"), propagation});
    writer.Pump();
    CHECK(Only().outcome == Outcome::kDone);
  };
  const auto there = [&](const char* name) { return store.Find(maps, "default", name) != nullptr; };
  const auto owned_goes = [&] { return IsTerminating(*store.Find(maps, "default", "owned")); };

  make_both();
  SECTION("in the background") {
    remove_owner(GENERATE(cluster::Propagation::kOfKind, cluster::Propagation::kBackground));
    CHECK_FALSE(there("owner"));
    CHECK(owned_goes());
  }
  SECTION("in the foreground") {
    remove_owner(cluster::Propagation::kForeground);
    CHECK(there("owner"));
    CHECK(owned_goes());
  }
  SECTION("not at all") {
    remove_owner(cluster::Propagation::kOrphan);
    CHECK_FALSE(there("owner"));
    CHECK_FALSE(owned_goes());
  }
}

TEST_CASE_METHOD(WriterFixture, "a stray takes effect long after its sender was told that nothing is known") {
  interceptor.next = {.request_delay_ms = 10'000, .stray = true};
  Submit(cluster::Bind{Ref("a"), "n1", {}});
  clock.Advance(3'000);
  writer.Pump();
  CHECK(Only().outcome == Outcome::kUnknown);
  CHECK(DigString(*Pod("a"), "spec", "nodeName").empty());
  clock.Advance(7'000);
  writer.Pump();
  CHECK(DigString(*Pod("a"), "spec", "nodeName") == "n1");
  CHECK(sink.TakeAnswers().empty());
}

}  // namespace
}  // namespace tutti::sim
