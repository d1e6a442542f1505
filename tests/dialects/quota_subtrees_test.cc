// SPDX-License-Identifier: Apache-2.0
#include "dialects/quota_subtrees.h"

#include <fmt/format.h>

#include "tests/dialects/objects.h"

namespace tutti::dialects {
namespace {

std::shared_ptr<const model::Object> Subtree(const std::string& name, const Json& labels, const Json& spec,
                                             const Json& status = Json::object()) {
  return ObjectFrom("quota.codeflare.dev/v1alpha1", "quotasubtrees",
                    Json{{"kind", "QuotaSubtree"},
                         {"metadata", {{"namespace", "ns"}, {"name", name}, {"labels", labels}}},
                         {"spec", spec},
                         {"status", status}}
                        .dump());
}

Json Node(const std::string& name, const char* cpu = "1") {
  return {{"name", name}, {"quotas", {{"requests", {{"cpu", cpu}}}}}};
}

const Json kTree = {{"tree", "t"}};

}  // namespace

TEST_CASE("a QuotaSubtree that declares what it did before touches no queue") {
  QuotaSubtrees subtrees;
  const Json spec = {{"children", {Node("a"), Node("b")}}};
  CHECK(Put(subtrees, Subtree("s", kTree, spec)).queues == std::set<std::string>{"t/a", "t/b"});
  CHECK(Put(subtrees, Subtree("s", kTree, spec, {{"total", 7}})).queues.empty());
  CHECK(Put(subtrees, Subtree("s", kTree, {{"children", {Node("a"), Node("b", "2")}}})).queues ==
        std::set<std::string>{"t/a", "t/b"});
  CHECK(subtrees.DescribeQueue("t/b")->deserved.Get("cpu") == 2000);
}

TEST_CASE("a QuotaSubtree of no tree is a problem of all that are charged, and its nodes are none") {
  QuotaSubtrees subtrees;
  Put(subtrees, Subtree("s", Json::object(), {{"children", Json::array({Node("a")})}}));
  CHECK(subtrees.problem() ==
        "QuotaSubtree ns/s: metadata.labels.tree: is missing; write the name of the tree that the nodes are of");
  CHECK_FALSE(subtrees.DescribeQueue("/a"));
  Put(subtrees, Subtree("s", kTree, {{"children", Json::array({Node("a")})}}));
  CHECK(subtrees.problem() == "");
  CHECK(subtrees.DescribeQueue("t/a"));
}

TEST_CASE("a QuotaSubtree of too many nodes to read is a problem of all that are charged") {
  QuotaSubtrees subtrees;
  Json children = Json::array();
  for (int i = 0; i <= 1'000; ++i) children.push_back(Node(fmt::format("n{}", i)));
  Put(subtrees, Subtree("s", kTree, {{"children", children}}));
  CHECK(subtrees.problem() ==
        "QuotaSubtree ns/s: spec.children: 1001 items are more than the 1000 that are looked at; write fewer");
  Touched touched;
  subtrees.Drop(QuotaSubtrees::Kind().Name(), "ns", "s", &touched);
  CHECK(subtrees.problem() == "");
}

TEST_CASE("what is wrong in a QuotaSubtree with nodes is theirs alone") {
  QuotaSubtrees subtrees;
  Put(subtrees, Subtree("s", kTree, {{"children", {Node("a", "many"), Node("b")}}}));
  CHECK(subtrees.problem() == "");
  CHECK_FALSE(subtrees.DescribeQueue("t/b")->problem.empty());
}

}  // namespace tutti::dialects
