// SPDX-License-Identifier: Apache-2.0
#include "sim/objects/selectors.h"

#include "tests/sim/cluster.h"

namespace tutti::sim {
namespace {

using namespace testing;

bool Selects(const char* selector, const Json& labels) {
  const auto parsed = LabelSelector::Parse(selector);
  INFO(selector);
  REQUIRE(parsed);
  return parsed->MatchesLabels(labels);
}

TEST_CASE("label selectors read as kubectl writes them") {
  const Json labels = {{"app", "ray"}, {"tier", "head"}, {"n", "5"}};
  CHECK(Selects("", labels));
  CHECK(Selects("app=ray", labels));
  CHECK(Selects("app==ray, tier = head", labels));
  CHECK_FALSE(Selects("app!=ray", labels));
  CHECK(Selects("missing!=x", labels));
  CHECK(Selects("app in (ray, dask),!gone", labels));
  CHECK_FALSE(Selects("tier notin (head)", labels));
  CHECK(Selects("tier", labels));
  CHECK(Selects("n>4,n<6", labels));
  CHECK(Selects("empty notin ()", labels));
  CHECK(Selects("ray.io/node-type notin (head)", labels));
  for (const char* bad : {"=x", "a in b", "a in (b", "a,,b", "a=b,", "a>x", "a ! b"}) {
    INFO(bad);
    CHECK(LabelSelector::Parse(bad).error().code == 400);
  }
}

TEST_CASE("an absent object selector selects nothing, an empty one everything") {
  CHECK_FALSE(LabelSelector::FromJson(nullptr)->Matches(Pod("p")));
  CHECK(LabelSelector::FromJson(Json::object())->Matches(Pod("p")));
  const Json selector = ParseJson(R"({"matchLabels":{"a":"b"},"matchExpressions":[{"key":"c","operator":"Exists"}]})");
  CHECK(LabelSelector::FromJson(selector)->MatchesLabels({{"a", "b"}, {"c", ""}}));
  CHECK_FALSE(LabelSelector::FromJson(selector)->MatchesLabels({{"a", "b"}}));
}

TEST_CASE("field selectors know their kind's fields and no others") {
  const ResourceTable table;
  Json pod = Pod("p");
  pod["spec"]["nodeName"] = "n1";
  pod["status"]["phase"] = "Running";
  const auto matches = [&](const char* text) {
    const auto selector = FieldSelector::Parse(text, *table.Find(kPods));
    REQUIRE(selector);
    return selector->Matches(pod);
  };
  CHECK(matches("spec.nodeName=n1"));
  CHECK(matches("status.phase!=Succeeded,status.phase!=Failed"));
  CHECK_FALSE(matches("metadata.name==q"));
  CHECK(FieldSelector::Parse("spec.priority=1", *table.Find(kPods)).error().message ==
        "field label not supported: spec.priority");
  CHECK(FieldSelector::Parse("metadata.name=p", *table.Find(kPods))->name() == "p");
  const auto unset = FieldSelector::Parse("spec.nodeName=", *table.Find(kPods));
  CHECK(unset->Matches(Pod("q")));
}

}  // namespace
}  // namespace tutti::sim
