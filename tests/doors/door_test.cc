// SPDX-License-Identifier: Apache-2.0
#include "doors/door.h"

#include <fmt/format.h>

#include <algorithm>

#include "doors/hub.h"
#include "doors/sight.h"
#include "doors/text.h"
#include "rig.h"

namespace tutti::doors {
namespace {

using server::FolderAnswer;

struct Rig {
  base::VirtualClock clock{1'000'000};
  Stage stage;
  std::shared_ptr<const server::Rights> rights = std::make_shared<const server::AllRights>();
  std::unique_ptr<Door> made;

  // What the stage shows first is to be there before anything is asked.
  FolderAnswer Ask(const std::string& path, const server::Query& query = {}) {
    if (!made) made = std::make_unique<Door>(stage, clock);
    return made->Show({Door::kPrefix + path, query, rights});
  }
};

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
  CHECK(batches->at(0)->changes.at(0).gang().name == "y");
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
  CHECK(Has(piece, "id: 102\nevent: gang\ndata: {\"gang\":{\"dialect\":\"volcano\",\"namespace\":\"mine\""));
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

}  // namespace
}  // namespace tutti::doors
