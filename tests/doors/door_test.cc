// SPDX-License-Identifier: Apache-2.0
#include "doors/door.h"

#include <fmt/format.h>
#include <tutti/v1/decisions.pb.h>

#include <algorithm>

#include "doors/hub.h"
#include "doors/sight.h"
#include "doors/text.h"
#include "observe/wording.h"
#include "rig.h"

namespace tutti::doors {
namespace {

using server::FolderAnswer;

struct Rig {
  base::VirtualClock clock{1'000'000};
  Stage stage;
  std::shared_ptr<const server::Rights> rights = std::make_shared<const server::AllRights>();
  std::unique_ptr<Desk> desk;
  std::unique_ptr<Door> made;

  // What the stage shows first is to be there before anything is asked.
  FolderAnswer Ask(const std::string& path, const server::Query& query = {}) {
    return Put({Door::kPrefix + path, query, rights});
  }
  FolderAnswer Post(const std::string& body) {
    return Put({.path = Door::kWhatIf, .query = {}, .rights = rights, .method = "POST", .body = body});
  }
  FolderAnswer Put(const server::FolderRequest& request) {
    if (!desk) desk = std::make_unique<Desk>(stage, clock);
    if (!made) made = std::make_unique<Door>(*desk);
    return made->Show(request);
  }
};

observe::Prospect ProspectOf(const std::string& ns, const std::string& name, observe::Prospect::Verdict verdict) {
  observe::Prospect prospect;
  prospect.gang = {"plain", ns, name};
  prospect.verdict = verdict;
  prospect.places = {{"w", "n1", 2}, {"w", "n2", 1}};
  prospect.victims = {{"default", "mine-0", "n1", "mine"}, {"secret", "other-0", "n2", "other"}};
  return prospect;
}

bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("gangs that wait in a queue have positions by priority, then age") {
  Rig rig;
  rig.stage.Show(Waiting("a", "young", 0, 3'000));
  rig.stage.Show(Waiting("a", "old", 0, 1'000));
  rig.stage.Show(Waiting("b", "urgent", 5, 9'000));
  rig.stage.Show(Waiting("b", "elsewhere", 0, 1, "other"));
  observe::Decision whole = Waiting("b", "whole", 9, 1);
  whole.state = observe::GangState::kWhole;
  rig.stage.Show(whole);
  Hub hub(rig.stage);
  const auto table = hub.List();
  REQUIRE(table);
  std::vector<std::string> seen;
  for (const Row& row : table->rows)
    seen.push_back(fmt::format("{} {}/{}", row.decision->gang.name, row.position, row.line));
  CHECK(seen == std::vector<std::string>{"old 2/3", "young 3/3", "elsewhere 1/1", "urgent 1/3", "whole 0/0"});
}

TEST_CASE("positions are by the priority that a gang has risen to") {
  observe::Decision rising = Waiting("a", "rising", 0, 0);
  rising.priority_slope = 1;
  const auto first = [&](base::Millis now_ms) {
    std::vector<Row> rows;
    for (const observe::Decision& each : {Waiting("a", "high", 1, 0), rising})
      rows.push_back({std::make_shared<const observe::Decision>(each)});
    const Table table(1, std::move(rows), now_ms);
    CHECK(table.rises);
    return table.rows[0].position == 1 ? "high" : "rising";
  };
  CHECK(first(9'999'000) == std::string("high"));
  CHECK(first(10'001'000) == std::string("rising"));
}

TEST_CASE("a table finds the rows of a namespace and of a name") {
  Rig rig;
  for (const char* ns : {"a", "b", "c"})
    for (const char* name : {"x", "y"}) rig.stage.Show(Waiting(ns, name, 0, 1));
  Hub hub(rig.stage);
  const auto table = hub.List();
  REQUIRE(table);
  CHECK(table->RangeOf("b") == std::pair<size_t, size_t>(2, 4));
  CHECK(table->RangeOf("b", "y") == std::pair<size_t, size_t>(3, 4));
  CHECK(table->RangeOf("bb") == std::pair<size_t, size_t>(4, 4));
}

TEST_CASE("the hub lists once and then follows") {
  Rig rig;
  rig.stage.Show(Waiting("a", "x", 0, 1));
  Hub hub(rig.stage);
  const uint64_t first = hub.List()->sequence;
  rig.stage.Show(Waiting("a", "y", 0, 1));
  std::optional<Hub::Batches> batches = Hub::Batches();
  while (batches && batches->empty()) batches = hub.After(first, std::chrono::milliseconds(50));
  REQUIRE(batches);
  REQUIRE(batches->size() == 1);
  CHECK(batches->at(0)->sequence == first + 1);
  CHECK(batches->at(0)->changes.at(0).gang.name == "y");
  CHECK(hub.List()->rows.size() == 2);
  CHECK(rig.stage.lists == 1);
  CHECK_FALSE(hub.After(first - 1, std::chrono::milliseconds(0)));
  CHECK_FALSE(hub.After(first + 9, std::chrono::milliseconds(0)));
}

TEST_CASE("the hub lists again when changes are missing, and its readers are told") {
  Rig rig;
  Hub hub(rig.stage);
  const uint64_t first = hub.List()->sequence;
  rig.stage.forgetful = true;
  rig.stage.Show(Waiting("a", "y", 0, 1));
  std::optional<Hub::Batches> batches = Hub::Batches();
  while (batches) batches = hub.After(first, std::chrono::milliseconds(50));
  CHECK(hub.List()->rows.size() == 1);
}

TEST_CASE("a user sees the namespaces whose pods it may list, and is asked about once a minute") {
  base::VirtualClock clock{1'000'000};
  const auto rights = std::make_shared<SomeRights>(std::vector<std::string>{"mine"});
  Sight sight(rights, "", clock);
  CHECK(*sight.Sees("mine"));
  CHECK_FALSE(*sight.Sees("theirs"));
  CHECK(*sight.Sees("mine"));
  CHECK(rights->asked == 3);
  clock.Advance(60'000);
  CHECK(*sight.Sees("mine"));
  CHECK(rights->asked == 5);
  Sight theirs(rights, "theirs", clock);
  CHECK(theirs.CheckOnly().error().kind == Failure::Kind::kForbidden);
  rights->down = true;
  CHECK(Sight(rights, "", clock).Sees("mine").error().kind == Failure::Kind::kUnavailable);
}

TEST_CASE("a user that may not see all namespaces has to name one where there are very many") {
  Rig rig;
  for (size_t i = 0; i <= Sight::kMostNamespaces; ++i) rig.stage.Show(Waiting(fmt::format("n{}", i), "x", 0, 1));
  rig.rights = std::make_shared<const SomeRights>(std::vector<std::string>{"n1"});
  const FolderAnswer all = rig.Ask("gangs");
  CHECK(all.status == 403);
  CHECK(Has(all.body, "name one with namespace="));
  CHECK(rig.Ask("gangs", {{"namespace", "n1"}}).status == 200);
}

TEST_CASE("a process that does not lead shows its version alone") {
  Rig rig;
  rig.stage.not_leading = "not the leader; ask x";
  for (const char* path : {"gangs", "gangs/a/b", "gangs/a/b/history", "queues", "nodes", "watch"}) {
    const FolderAnswer answer = rig.Ask(path);
    CHECK(answer.status == 503);
    CHECK(answer.body == "not the leader; ask x\n");
  }
  const FolderAnswer version = rig.Ask("version");
  CHECK(version.status == 200);
  CHECK(Has(version.body, R"("notLeading":"not the leader; ask x")"));
}

TEST_CASE("names that are no UTF-8 do not spoil an answer") {
  Rig rig;
  rig.stage.Show(Waiting("a", "x", 0, 1, "q\xFF<img onerror>"));
  const FolderAnswer answer = rig.Ask("gangs");
  CHECK(answer.status == 200);
  CHECK(Has(answer.body, "q\xEF\xBF\xBD"));
  CHECK(Utf8("a\xC3\xA4\xED\xA0\x80\xF0\x9F\x98\x80\xC0\x80") ==
        "a\xC3\xA4\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xF0\x9F\x98\x80\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST_CASE("what JSON cannot say has no text") {
  v1::Gang gang;
  gang.mutable_since()->set_seconds(1'000'000'000'000'000);
  CHECK(JsonOf(gang).empty());
  CHECK(JsonOf(v1::Gang()) == "{}");
}

TEST_CASE("a stream begins with where it stands, tells changes, and gives signs of life") {
  Rig rig;
  rig.rights = std::make_shared<const SomeRights>(std::vector<std::string>{"mine"});
  const FolderAnswer answer = rig.Ask("watch");
  REQUIRE(answer.stream);
  const auto next = [&] { return answer.stream->Next(std::chrono::milliseconds(1)); };
  CHECK(*next() == "id: 100\nevent: current\ndata: {\"sequence\":\"100\"}\n\n");
  CHECK(next()->empty());
  rig.stage.Show(Waiting("theirs", "x", 0, 1));
  rig.stage.Show(Waiting("mine", "y", 0, 1));
  std::string piece;
  while (piece.empty()) piece = *next();
  CHECK(Has(
      piece,
      "id: 102\nevent: gang\ndata: {\"sequence\":\"102\",\"gang\":{\"dialect\":\"volcano\",\"namespace\":\"mine\""));
  CHECK_FALSE(Has(piece, "theirs"));
  CHECK(next()->empty());
  rig.clock.Advance(10'000);
  CHECK(Has(*next(), "event: current"));
  rig.clock.Advance(3'600'000);
  CHECK_FALSE(next());
}

TEST_CASE("what a gang holds on a node is told as its, and the rest as others'") {
  Rig rig;
  auto node = std::make_shared<model::Node>();
  node->meta.name = "n";
  node->allocatable.Set("cpu", 8'000);
  model::ResourceList requested;
  requested.Set("cpu", 5'000);
  rig.stage.nodes.push_back({node, requested});
  observe::Decision whole = Waiting("a", "x", 0, 1);
  auto spec = std::make_shared<model::PodSpec>();
  spec->requests.Set("cpu", 2'000);
  observe::MemberDecision member;
  member.ns = "a";
  member.node = "n";
  member.bound = true;
  member.spec = spec;
  observe::MemberDecision ended = member;
  ended.finished = true;
  whole.members = {member, ended};
  rig.stage.Show(whole);
  const std::string all = rig.Ask("nodes").body;
  CHECK(Has(all, R"("free":{"cpu":"3000"})"));
  CHECK(Has(all, R"("pods":1,"amounts":{)"));
  CHECK(Has(all, R"("others":{"cpu":"3000"})"));
  rig.rights = std::make_shared<const SomeRights>(std::vector<std::string>{"b"});
  CHECK(rig.Ask("nodes").status == 403);
}

TEST_CASE("what the hub keeps is bounded by its bytes") {
  Rig rig;
  Hub hub(rig.stage, 1'000);
  const uint64_t first = hub.List()->sequence;
  const auto follow = [&](uint64_t after, const std::string& name) {
    observe::Decision decision = Waiting("a", name, 0, 1);
    decision.message = std::string(900, 'x');
    rig.stage.Show(decision);
    std::optional<Hub::Batches> batches = Hub::Batches();
    while (batches && batches->empty()) batches = hub.After(after, std::chrono::milliseconds(50));
    return batches;
  };
  REQUIRE(follow(first, "x"));
  REQUIRE(follow(first + 1, "y"));
  CHECK_FALSE(hub.After(first, std::chrono::milliseconds(0)));
  const auto last = hub.After(first + 1, std::chrono::milliseconds(0));
  REQUIRE(last);
  CHECK(last->size() == 1);
}

TEST_CASE("the scheduler is asked what has changed a few times a second, however often something does") {
  Rig rig;
  Hub hub(rig.stage);
  uint64_t seen = hub.List()->sequence;
  const auto take = [&](int patience_ms) {
    const auto batches = hub.After(seen, std::chrono::milliseconds(patience_ms));
    REQUIRE(batches);
    if (!batches->empty()) seen = batches->back()->sequence;
  };
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 300; ++i) {
    rig.stage.Show(Waiting("a", fmt::format("x{}", i), 0, 1));
    take(1);
  }
  while (seen < rig.stage.sequence()) take(50);
  const auto took = std::chrono::steady_clock::now() - begin;
  CHECK(rig.stage.questions <= 2 + took / std::chrono::milliseconds(100));
}

TEST_CASE("a scheduler that does not answer is not one without gangs") {
  Rig rig;
  rig.stage.busy = true;
  const FolderAnswer answer = rig.Ask("gangs");
  CHECK(answer.status == 503);
  CHECK(Has(answer.body, "too busy"));
  rig.stage.busy = false;
  CHECK(rig.Ask("gangs").status == 200);
}

TEST_CASE("a caller without credentials is asked for a token") {
  Rig rig;
  const auto anonymous = std::make_shared<SomeRights>(std::vector<std::string>{}, server::kAnonymousUser);
  rig.rights = anonymous;
  for (const char* path :
       {"gangs", "gangs/a/b", "gangs/a/b/history", "queues", "nodes", "version", "watch", "nothing"}) {
    const FolderAnswer answer = rig.Ask(path);
    CHECK(answer.status == 401);
    CHECK_FALSE(answer.stream);
  }
  CHECK(anonymous->asked == 8);
  anonymous->namespaces = {""};
  CHECK(rig.Ask("gangs").status == 200);
}

TEST_CASE("rights that are gone end a stream") {
  Rig rig;
  const auto rights = std::make_shared<SomeRights>(std::vector<std::string>{"mine"});
  rig.rights = rights;
  const FolderAnswer answer = rig.Ask("watch", {{"namespace", "mine"}});
  REQUIRE(answer.stream);
  const auto next = [&] { return answer.stream->Next(std::chrono::milliseconds(1)); };
  CHECK(Has(*next(), "event: current"));
  rights->namespaces = {};
  CHECK(next()->empty());
  rig.clock.Advance(60'000);
  CHECK(Has(*next(), "event: relist\ndata: {\"relist\":\"user \\\"dev\\\" may not list the pods of namespace mine"));
  CHECK_FALSE(next());
}

TEST_CASE("a gang in Kueue's queues is found by the name of its job") {
  Rig rig;
  observe::Decision decision = Waiting("ns", "raycluster-train-b784c", 0, 1);
  decision.gang.dialect = "kueue";
  rig.stage.Show(decision);
  rig.stage.Show(Waiting("ns", "job-other-0a1b2", 0, 1));  // of another ecosystem, in which that is a name as any
  CHECK(Has(rig.Ask("gangs/ns/train").body, "raycluster-train-b784c"));
  CHECK(Has(rig.Ask("gangs", {{"namespace", "ns"}, {"name", "train"}}).body, "raycluster-train-b784c"));
  for (const char* name : {"rain", "tra", "other", "cluster-train"})
    CHECK(rig.Ask(std::string("gangs/ns/") + name).status == 404);
}

TEST_CASE("pods of other namespaces that leave for a gang are counted, and named to those who see them") {
  Rig rig;
  observe::Decision decision = Waiting("mine", "g", 0, 1);
  decision.state = observe::GangState::kBinding;
  const observe::AwaitsVictims awaits{{"mine/v", "theirs/secret", "theirs/x"}, {"n"}};
  decision.why = std::make_shared<const observe::Reason>(observe::Reason{.ns = "mine", .gang = "g", .cause = awaits});
  decision.message = observe::Say(*decision.why).Full() + " Another sentence.";
  rig.stage.Show(decision);
  observe::HistoryEvent waits, evicted;
  waits.step = "waits";
  waits.message = decision.message;
  evicted.step = "quota-evicted";
  evicted.by = model::GangKey{"volcano", "theirs", "secret"};
  rig.stage.history.gangs.push_back({decision.gang, {waits, evicted}});
  CHECK(Has(rig.Ask("gangs/mine/g").body, "theirs/secret"));
  CHECK(
      Has(rig.Ask("gangs/mine/g/history").body, R"("by":{"dialect":"volcano","namespace":"theirs","name":"secret"})"));

  const auto rights = std::make_shared<SomeRights>(std::vector<std::string>{"mine"});
  rig.rights = rights;
  const FolderAnswer watch = rig.Ask("watch");
  REQUIRE(watch.stream);
  std::string told = *watch.stream->Next(std::chrono::milliseconds(1));
  rig.stage.Show(decision);
  while (!Has(told, "event: gang")) told += watch.stream->Next(std::chrono::milliseconds(50)).value();
  for (const std::string& text : {rig.Ask("gangs").body, rig.Ask("gangs/mine/g").body, told}) {
    CHECK(Has(text, R"("victims":{"pods":["mine/v"],"nodes":["n"],"otherPods":2})"));
    CHECK(Has(text, "waits for 3 pods to leave node n: mine/v, 2 of other namespaces. Another sentence."));
    CHECK_FALSE(Has(text, "theirs"));
  }
  const std::string history = rig.Ask("gangs/mine/g/history").body;
  CHECK(Has(history, "mine/v, 2 of other namespaces. Another sentence."));
  CHECK(Has(history, R"("byAnother":true)"));
  CHECK_FALSE(Has(history, "theirs"));
}

TEST_CASE("for one node, the caller's rights are asked about in the namespaces of the gangs there alone") {
  Rig rig;
  for (const char* name : {"n", "m"}) {
    auto node = std::make_shared<model::Node>();
    node->meta.name = name;
    rig.stage.nodes.push_back({node, {}});
    observe::Decision whole = Waiting(fmt::format("of-{}", name), "x", 0, 1);
    whole.members.resize(1);
    whole.members[0].node = name;
    rig.stage.Show(whole);
  }
  const auto rights = std::make_shared<SomeRights>(std::vector<std::string>{"of-n"});
  rights->gets = true;
  rig.rights = rights;
  const std::string one = rig.Ask("nodes", {{"name", "n"}}).body;
  CHECK(Has(one, R"("holders":[{"gang":{"dialect":"volcano","namespace":"of-n","name":"x"})"));
  CHECK(rights->asked == 2);  // about all namespaces, and about one
  const std::string all = rig.Ask("nodes").body;
  CHECK(Has(all, "of-n"));
  CHECK_FALSE(Has(all, "of-m"));
}

TEST_CASE("queues of one name have lines of their own if they are of several dialects") {
  Rig rig;
  observe::Decision third = Waiting("a", "third", 7, 1, "team");
  third.queue_dialect = "kuberay";
  rig.stage.Show(third);
  rig.stage.Show(Waiting("a", "plain", 0, 1, "team"));
  observe::Decision with_quota = Waiting("a", "quota", 0, 2, "mine");
  auto quota = std::make_shared<observe::QuotaDecision>();
  quota->leaf = "team";
  with_quota.quota = quota;
  with_quota.queue_dialect = "kueue";
  rig.stage.Show(with_quota);
  using Kind = observe::QueueView::Kind;
  for (const auto& [kind, dialect] : {std::pair(Kind::kLeaf, "kueue"), std::pair(Kind::kQueue, "volcano")}) {
    observe::QueueView& queue = rig.stage.queues.emplace_back();
    queue.kind = kind;
    queue.dialect = dialect;
    queue.name = "team";
  }
  const std::string text = rig.Ask("queues").body;
  const size_t leaf = text.find(R"("dialect":"kueue")"),
               other = text.find(R"("dialect":"volcano","name":"team","kind":"queue")");
  REQUIRE(other != std::string::npos);
  CHECK(Has(text.substr(leaf, other - leaf),
            R"("line":[{"position":1,"gang":{"dialect":"volcano","namespace":"a","name":"quota"})"));
  CHECK(
      Has(text.substr(other), R"("line":[{"position":1,"gang":{"dialect":"volcano","namespace":"a","name":"plain"})"));
}

TEST_CASE("a state that there is not is refused with those that there are") {
  Rig rig;
  const FolderAnswer answer = rig.Ask("gangs", {{"state", "waiting"}});
  CHECK(answer.status == 400);
  CHECK(Has(answer.body, "unknown state \"waiting\"; known are waiting-for-members, waiting-for-queue"));
  CHECK(rig.Ask("gangs", {{"state", "finished"}}).status == 200);
}

TEST_CASE("a question of what-if is passed on, and its answer told") {
  Rig rig;
  const observe::Prospect prospect = ProspectOf("default", "g", observe::Prospect::Verdict::kNeedsVictims);
  rig.stage.outlook = observe::Outlook{{prospect}, {"a note"}};
  const FolderAnswer answer = rig.Post(R"({"manifests": "kind: Pod", "namespace": "x"})");
  REQUIRE(answer.status == 200);
  REQUIRE(rig.stage.asked.size() == 1);
  CHECK(rig.stage.asked.front().manifests == "kind: Pod");
  CHECK(rig.stage.asked.front().ns == "x");
  for (const char* part : {R"("verdict":"needs-victims")", R"("node":"n1","pods":2)", R"("pod":"other-0")", "a note"})
    CHECK(Has(answer.body, part));
  CHECK(rig.Post(R"({"drain": "n1"})").status == 200);
  CHECK(rig.stage.asked.back().node == "n1");
}

TEST_CASE("when a gang could start is told if it is asked for, and gangs are named to those who may see them") {
  Rig rig;
  rig.stage.Show(Waiting("mine", "g", 0, 1));
  observe::Prospect prospect;
  observe::StartEstimate& start = prospect.start.emplace();
  start.basis = observe::StartEstimate::Basis::kDeclared;
  start.at_ms = 3'600'000;
  start.awaits = {{{"", "theirs", "secret"}, 3'600'000}, {{"", "mine", "a"}, 60'000}};
  rig.stage.outlook = observe::Outlook{{prospect}, {}};
  CHECK_FALSE(Has(rig.Ask("gangs/mine/g").body, "start"));
  CHECK(rig.stage.asked.empty());
  const std::string all = rig.Ask("gangs/mine/g", {{"estimate", "true"}}).body;
  CHECK(rig.stage.asked.back().waits == model::GangKey{"volcano", "mine", "g"});
  CHECK(Has(all, R"("start":{"basis":"declared","at":"1970-01-01T01:00:00Z","awaits":[)"));
  CHECK(Has(all, "These have to end before: theirs/secret, mine/a."));

  rig.rights = std::make_shared<SomeRights>(std::vector<std::string>{"mine"});
  const std::string some = rig.Ask("gangs/mine/g", {{"estimate", "true"}}).body;
  CHECK(Has(some, "These have to end before: mine/a and 1 other."));
  CHECK(Has(some, R"("otherAwaits":1)"));
  CHECK_FALSE(Has(some, "theirs"));

  start = {};
  start.endless = {{"", "theirs", "secret"}, {"", "theirs", "more"}};
  start.why = "What is in its way has no limit.";
  rig.stage.outlook = observe::Outlook{{prospect}, {}};
  const std::string none = rig.Ask("gangs/mine/g", {{"estimate", "true"}}).body;
  CHECK(Has(none, R"("start":{"basis":"none","otherEndless":2,"message":"What is in its way has no limit.)"));
  CHECK(Has(none, "2 that you may not see"));
  CHECK_FALSE(Has(none, "theirs"));

  rig.stage.outlook = Fail(Failure::Kind::kUnavailable, "it is too busy");
  CHECK(Has(rig.Ask("gangs/mine/g", {{"estimate", "true"}}).body, "No estimate: it is too busy."));
}

TEST_CASE("a question of what-if that cannot be answered is refused for its reason") {
  Rig rig;
  for (const char* wrong : {"", "{", "[]", "{}", R"({"manifests": ""})", R"({"drain": ""})", R"({"who": 1})"}) {
    INFO(wrong);
    CHECK(rig.Post(wrong).status == 400);
  }
  CHECK(rig.Ask("whatif").status == 405);
  CHECK(rig.stage.asked.empty());
  const std::string question = R"({"manifests": "x"})";
  for (const auto& [kind, status] : {std::pair(Failure::Kind::kInvalid, 400), {Failure::Kind::kNotFound, 404},
                                     {Failure::Kind::kTooMany, 429}, {Failure::Kind::kUnavailable, 503}}) {
    rig.stage.outlook = Fail(kind, "for a reason");
    const FolderAnswer refused = rig.Post(question);
    CHECK(refused.status == status);
    CHECK(Has(refused.body, "for a reason"));
  }
  rig.stage.not_leading = "not the leader";
  CHECK(rig.Post(question).status == 503);
}

TEST_CASE("a user asks sixteen questions of what-if at a time") {
  Rig rig;
  rig.stage.outlook = observe::Outlook{};
  std::vector<int> inner;
  rig.stage.while_asking = [&] { inner.push_back(rig.Post(R"({"manifests": "x"})").status); };
  CHECK(rig.Post(R"({"manifests": "x"})").status == 200);
  REQUIRE(inner.size() == 16);
  CHECK(inner.front() == 429);
  CHECK(std::ranges::count(inner, 200) == 15);
}

TEST_CASE("what-if tells names of nodes and of other pods to those alone who may see them") {
  Rig rig;
  const auto some = std::make_shared<SomeRights>(std::vector<std::string>{"default"});
  rig.rights = some;
  const std::string question = R"({"manifests": "x"})";
  rig.stage.outlook = observe::Outlook{{ProspectOf("default", "g", observe::Prospect::Verdict::kNeedsVictims)}, {}};
  const FolderAnswer answer = rig.Post(question);
  REQUIRE(answer.status == 200);
  CHECK(Has(answer.body, R"("otherVictims":1)"));
  CHECK(Has(answer.body, "mine-0"));
  CHECK(Has(answer.body, R"("pods":3)"));
  for (const char* secret : {"other", "n1", "n2"}) CHECK(!Has(answer.body, fmt::format("\"{}\"", secret)));
  CHECK(rig.Post(R"({"drain": "n1"})").status == 403);
  rig.stage.outlook = observe::Outlook{{ProspectOf("secret", "g", observe::Prospect::Verdict::kFits)}, {}};
  CHECK(rig.Post(question).status == 403);
  some->gets = true;
  const FolderAnswer drained = rig.Post(R"({"drain": "n1"})");
  REQUIRE(drained.status == 200);
  CHECK(Has(drained.body, R"("otherGangs":1)"));
  CHECK(!Has(drained.body, R"("name")"));
}

}  // namespace
}  // namespace tutti::doors
