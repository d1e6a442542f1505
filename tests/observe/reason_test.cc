// SPDX-License-Identifier: Apache-2.0
#include "observe/reason.h"

#include "base/json.h"
#include "observe/reason_json.h"
#include "observe/wording.h"
#include "tests/support/catch.h"

namespace tutti::observe {
namespace {

Reason About(Cause cause) {
  Reason reason{.ns = "default", .gang = "g", .cause = std::move(cause)};
  reason.minimum.members = 2;
  return reason;
}

Reason Full(const std::string& queue, const std::string& resource, int64_t used) {
  QueueRefuses cause;
  cause.cells = {{queue, resource, 8, used, 4}};
  return About(std::move(cause));
}

Figures ShortOf(const std::string& resource, int64_t missing) {
  Figures figures;
  figures.count = Figures::Count::kExact;
  figures.needed = 2;
  figures.shorts = {{.resource = resource, .missing = missing, .asked = 2, .one = 1, .cluster = 4, .largest_node = 4}};
  return figures;
}

Reason NoNodes(const Figures& figures, const std::string& why = "Insufficient cpu", size_t nodes = 3) {
  LacksNodes cause;
  cause.figures = std::make_shared<const Figures>(figures);
  cause.refusals = {nodes, {{why, nodes}}, {}};
  return About(std::move(cause));
}

}  // namespace

TEST_CASE("a new figure is no other reason, and a new name is, though it differs in digits alone") {
  CHECK(SameButFigures(Full("team-1", "cpu", 5), Full("team-1", "cpu", 8)));
  CHECK_FALSE(SameButFigures(Full("team-1", "cpu", 5), Full("team-2", "cpu", 5)));
  CHECK_FALSE(SameButFigures(Full("q", "nvidia.com/mig-1g.5gb", 5), Full("q", "nvidia.com/mig-2g.10gb", 5)));

  CHECK(SameButFigures(NoNodes(ShortOf("cpu", 1)), NoNodes(ShortOf("cpu", 2))));
  CHECK(SameButFigures(NoNodes(ShortOf("cpu", 1), "a", 1), NoNodes(ShortOf("cpu", 1), "a", 2)));
  CHECK_FALSE(SameButFigures(NoNodes(ShortOf("r1", 1)), NoNodes(ShortOf("r2", 1))));
  CHECK_FALSE(SameButFigures(NoNodes(ShortOf("cpu", 1), "taint-1"), NoNodes(ShortOf("cpu", 1), "taint-2")));
  const auto nearest = [](const std::string& domain, int64_t room) {
    LacksNodes cause;
    cause.nearest.emplace().value = domain;
    cause.nearest->room = room;
    return About(std::move(cause));
  };
  CHECK(SameButFigures(nearest("r1", 2), nearest("r1", 3)));
  CHECK_FALSE(SameButFigures(nearest("r1", 2), nearest("r2", 2)));
  CHECK_FALSE(SameButFigures(Full("q", "cpu", 5), NoNodes(ShortOf("cpu", 1))));
}

TEST_CASE("a gang says which victims it waits for; that one of them has left is a figure") {
  const Reason two = About(AwaitsVictims{{"default/a", "default/b"}, {"n1", "n2"}}),
               one = About(AwaitsVictims{{"default/b"}, {"n2"}});
  CHECK(Say(two).sentence ==
        "gang default/g has places for its members, and waits for 2 pods to leave nodes n1, n2: default/a, default/b.");
  CHECK(Word(two) == "WaitingForVictims");
  CHECK(ToJson(two)["kind"] == "victims");
  CHECK(ToJson(two)["pods"] == base::Json{"default/a", "default/b"});
  CHECK(ToJson(two)["nodes"] == base::Json{"n1", "n2"});
  CHECK(StateOf(two) == GangState::kBinding);
  CHECK(SameButFigures(two, one));
  Reason lone = one;
  lone.lone = true;
  CHECK(Say(lone).sentence == "waits for 1 pod to leave node n2: default/b.");
  AwaitsVictims many;
  for (int i = 0; i < 1'000; ++i) many.pods.push_back("default/a-pod-with-a-name-" + std::to_string(i));
  many.nodes = {"n1"};
  CHECK(Say(About(many)).sentence.size() < 1'000);
}

TEST_CASE("that a larger node is needed is news, as it is a new sentence") {
  Figures larger = ShortOf("cpu", 1);
  larger.shorts[0].largest_node = 0;
  CHECK_FALSE(SameButFigures(NoNodes(ShortOf("cpu", 1)), NoNodes(larger)));
  CHECK(Say(NoNodes(larger)).sentence != Say(NoNodes(ShortOf("cpu", 1))).sentence);
}

TEST_CASE("what a member is told is the same while its own part is, whatever others are told") {
  Figures figures = ShortOf("cpu", 1);
  const model::ClassId fits(1), lacks(2);
  figures.refused = {{3, {{"Insufficient cpu", 3}}, {}}};
  figures.lines = {{.pod_class = fits, .role = "a", .fits = true}, {.pod_class = lacks, .role = "b", .refused = 0}};
  figures.waits_for = {"b"};
  const Reason before = NoNodes(figures);
  figures.refused[0].reasons[0].first = "Insufficient memory";
  const Reason after = NoNodes(figures);
  CHECK_FALSE(SameButFigures(before, after));
  CHECK(SameButFigures(before, {fits, "a"}, after, {fits, "a"}));
  CHECK_FALSE(SameButFigures(before, {lacks, "b"}, after, {lacks, "b"}));
  CHECK(SayTo({fits, "a"}, after, Say(after)).ends_with("This pod fits; it waits for role b."));
  CHECK(SayTo({lacks, "b"}, after, Say(after)).ends_with("0/3 nodes are available: 3 Insufficient memory."));
}

}  // namespace tutti::observe
