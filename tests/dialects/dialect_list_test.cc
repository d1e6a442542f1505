// SPDX-License-Identifier: Apache-2.0
#include "dialects/wording.h"
#include "tests/dialects/objects.h"

namespace tutti::dialects {
namespace {

std::string OwnerOf(const DialectList& dialects, const model::Pod& pod) {
  for (const auto& dialect : dialects)
    if (dialect->MembershipOf(pod)) return std::string(dialect->name());
  return {};
}

constexpr const char* kRay = R"("ray.io/cluster":"c","ray.io/group":"headgroup","ray.io/node-type":"head")";

}  // namespace

TEST_CASE("each pod has one owner: what an integration wrote comes before the labels that KubeRay always writes") {
  const DialectList dialects = MakeDialects();
  const std::string labels = std::string("\"labels\":{") + kRay;
  CHECK(OwnerOf(dialects, PodFrom("{}")) == "plain");
  CHECK(OwnerOf(dialects, PodFrom("{" + labels + "}}")) == "kuberay");
  CHECK(OwnerOf(dialects, PodFrom("{" + labels + R"(,"kai.scheduler/queue":"q"}})")) == "kuberay");
  CHECK(OwnerOf(dialects, PodFrom("{" + labels + R"(},"annotations":{"scheduling.k8s.io/group-name":"ray-c-pg"}})")) ==
        "volcano");
  CHECK(OwnerOf(dialects, PodFrom("{" + labels + R"(,"scheduling.x-k8s.io/pod-group":"c"}})")) == "scheduler-plugins");
  CHECK(OwnerOf(dialects, PodFrom("{" + labels + "}}", R"({"schedulingGroup":{"podGroupName":"c-cluster"}})")) ==
        "upstream");
  CHECK(
      OwnerOf(dialects, PodFrom("{" + labels +
                                R"(,"applicationId":"a"},"annotations":{"yunikorn.apache.org/task-groups":"[]"}})")) ==
      "yunikorn");
  CHECK(
      OwnerOf(dialects, PodFrom("{" + labels +
                                R"(,"kueue.x-k8s.io/podset":"head","scheduling.x-k8s.io/pod-group":"c"},"annotations":{
                                  "kueue.x-k8s.io/workload":"w"}})")) == "kueue");
}

TEST_CASE("a Ray head is a head in every dialect") {
  const std::string labels =
      std::string("{\"labels\":{\"applicationId\":\"a\",\"scheduling.x-k8s.io/pod-group\":\"g\",") + kRay +
      R"(,"kueue.x-k8s.io/podset":"head"},"annotations":{"scheduling.k8s.io/group-name":"g","kueue.x-k8s.io/workload":"w",
      "yunikorn.apache.org/task-groups":"[]"}})";
  const model::Pod pod = PodFrom(labels, R"({"schedulingGroup":{"podGroupName":"g"}})");
  for (const auto& dialect : MakeDialects()) {
    CAPTURE(std::string(dialect->name()));
    if (dialect->name() == "quotasubtree") continue;                             // it has no pods
    if (dialect->name() == "mcad" || dialect->name() == "appwrapper") continue;  // their objects say which is the head
    const auto member = dialect->MembershipOf(pod);
    REQUIRE(member);
    CHECK(member->head);
    CHECK(member->role == (dialect->name() == "kueue" ? "head" : "headgroup"));
    CHECK_FALSE(member->needs_head);
    CHECK(member->gang.dialect == dialect->name());
  }
}

TEST_CASE("a lone pod is a gang of one that waits for no other pod") {
  const DialectList dialects = MakeDialects();
  const auto member = dialects.back()->MembershipOf(
      PodFrom(R"({"labels":{"ray.io/cluster":"c","ray.io/group":"w","ray.io/node-type":"worker"}})"));
  CHECK(member->gang == model::GangKey{"plain", "ns", "p"});
  CHECK_FALSE(member->needs_head);
  const model::GangSpec spec = dialects.back()->Describe(member->gang);
  CHECK(spec.min_member == 1);
  CHECK(spec.problem == "");
}

TEST_CASE("text from the cluster is one line of valid UTF-8") {
  CHECK(Named("plain-name_1.x/y") == "plain-name_1.x/y");
  CHECK(Named("") == "\"\"");
  CHECK(Named("a b") == "\"a b\"");
  CHECK(Named("a\r\n\tb") == "\"a   b\"");
  CHECK(Named("ä€😀") == "\"ä€😀\"");
  CHECK(Named("\xc0\x80|\xed\xa0\x80|\xf5\x80\x80\x80|\xe2\x82") == "\"??|???|????|??\"");
  CHECK(OneLine(std::string(5000, 'x')).size() == 512 + 3);
  CHECK(OneLine(std::string(511, 'x') + "€€").size() == 511 + 3 + 3);
  CHECK(Join("a", "b") == "a. b");
  CHECK(Join("a.", "b") == "a. b");
  CHECK(Join("", "b") == "b");
  CHECK(Join("a", "") == "a");
}

}  // namespace tutti::dialects
