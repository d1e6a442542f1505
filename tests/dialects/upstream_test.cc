// SPDX-License-Identifier: Apache-2.0
#include "dialects/upstream.h"

#include "tests/dialects/objects.h"

namespace tutti::dialects {
namespace {

std::shared_ptr<const model::Object> UpstreamGroup(const std::string& spec, const std::string& status = "{}",
                                                   const std::string& version = "v1alpha2") {
  return ObjectFrom(
      "scheduling.k8s.io/" + version, "podgroups",
      R"({"kind":"PodGroup","metadata":{"namespace":"ns","name":"g","uid":"u","generation":4,"resourceVersion":"1"},"spec":)" +
          spec + R"(,"status":)" + status + "}");
}

const model::GangKey kUpstreamGang{"upstream", "ns", "g"};
const std::string kGang = R"({"schedulingPolicy":{"gang":{"minCount":3}}})";

struct UpstreamFixture {
  Upstream dialect;
  Teller teller{dialect};
  model::GangSpec spec;
  GangReport report;

  explicit UpstreamFixture(const std::string& status = "{}", const std::string& version = "v1alpha2") {
    Put(dialect, UpstreamGroup(kGang, status, version));
    spec = dialect.Describe(kUpstreamGang);
    report.spec = &spec;
    report.state = GangState::kWaitingForNodes;
    report.total = report.pending = 3;
    report.sentence = "gang ns/g waits: 2 of the 3 pods it needs fit now.";
    report.nodes_sentence = "0/4 nodes are available: 4 Insufficient cpu.";
    report.now_wall_ms = kNow;
  }
};

}  // namespace

TEST_CASE("an upstream PodGroup is read") {
  Upstream dialect;
  Put(dialect, UpstreamGroup(R"({"schedulingPolicy":{"gang":{"minCount":3}},"priority":-7})"));
  CHECK(dialect.Describe(kUpstreamGang).min_member == 3);
  CHECK(dialect.Describe(kUpstreamGang).priority == -7);
  CHECK(dialect.Describe(kUpstreamGang).problem == "");
  Put(dialect, UpstreamGroup(R"({"schedulingPolicy":{"basic":{}}})"));
  CHECK(dialect.Describe(kUpstreamGang).min_member == 1);
  CHECK_FALSE(dialect.Describe(kUpstreamGang).priority);
}

TEST_CASE("what is wrong in an upstream PodGroup, or not supported, is said") {
  const std::pair<const char*, const char*> hostile[] = {
      {R"({"schedulingPolicy":{"gang":{}}})",
       "PodGroup ns/g: spec.schedulingPolicy.gang.minCount: is missing; write a whole number from 1"},
      {R"({"schedulingPolicy":{"gang":{"minCount":0}}})",
       "PodGroup ns/g: spec.schedulingPolicy.gang.minCount: 0 cannot be; write a whole number from 1 to 2147483647"},
      {R"({"priority":3000000000})",
       "PodGroup ns/g: spec.priority: 3000000000 is no priority; write one from -2147483648 to 2147483647"},
      {R"({"schedulingConstraints":{"topology":[{"key":""}]}})",
       "PodGroup ns/g: spec.schedulingConstraints.topology[0].key: is missing; write a label key of nodes"},
      {R"({"schedulingConstraints":{"topology":[{"key":"rack"},{"key":"zone"}]}})",
       "PodGroup ns/g: spec.schedulingConstraints.topology[1]: is one too many; upstream has one"},
      {R"({"resourceClaims":[{"name":"x"}]})",
       "PodGroup ns/g: spec.resourceClaims: claims that a group shares are not supported; take them out"},
      {R"({"parentCompositePodGroupName":"top"})",
       "PodGroup ns/g: spec.parentCompositePodGroupName: composite groups are not supported; take it out"},
  };
  for (const auto& [spec, problem] : hostile) {
    Upstream dialect;
    Put(dialect, UpstreamGroup(spec));
    CHECK(dialect.Describe(kUpstreamGang).problem == problem);
  }
  Upstream dialect;
  Put(dialect, UpstreamGroup(R"({"schedulingConstraints":{"topology":[]},"resourceClaims":[]})"));
  CHECK(dialect.Describe(kUpstreamGang).problem == "");
}

TEST_CASE("a pod of an upstream gang") {
  Upstream dialect;
  CHECK_FALSE(dialect.MembershipOf(PodFrom("{}")));
  const auto member = dialect.MembershipOf(PodFrom("{}", R"({"schedulingGroup":{"podGroupName":"g"}})"));
  REQUIRE(member);
  CHECK(member->gang == kUpstreamGang);
  const auto worker = [&](const std::string& group) {
    return dialect.MembershipOf(
        PodFrom(R"({"labels":{"ray.io/cluster":"c","ray.io/group":"w","ray.io/node-type":"worker"}})",
                R"({"schedulingGroup":{"podGroupName":")" + group + R"("}})"));
  };
  CHECK(worker("c-cluster")->needs_head);
  CHECK_FALSE(worker("workers")->needs_head);
}

TEST_CASE("the condition has the name of the API version that is served") {
  for (const auto& [version, type] :
       {std::pair("v1alpha2", "PodGroupScheduled"), std::pair("v1alpha3", "PodGroupInitiallyScheduled"),
        std::pair("v1beta1", "PodGroupInitiallyScheduled")}) {
    UpstreamFixture f("{}", version);
    const auto patch = f.teller.Write(f.report);
    REQUIRE(patch);
    CHECK(patch->type == cluster::Patch::Type::kStrategic);
    CHECK(patch->status);
    CHECK(patch->object.version == version);
    CHECK(StatusIn(patch) ==
          Json{{"conditions", Json::array({{{"type", type},
                                            {"status", "False"},
                                            {"reason", "Unschedulable"},
                                            {"message", f.report.sentence + " " + f.report.nodes_sentence},
                                            {"observedGeneration", 4},
                                            {"lastTransitionTime", "2026-08-20T10:00:00Z"}}})}});
    CHECK_FALSE(f.teller.Write(f.report));
  }
}

TEST_CASE("an invalid PodGroup is a scheduler error") {
  UpstreamFixture f;
  f.report.state = GangState::kInvalid;
  f.report.sentence = "PodGroup ns/g: wrong";
  f.report.nodes_sentence.clear();
  const Json condition = StatusIn(f.teller.Write(f.report))["conditions"][0];
  CHECK(condition["reason"] == "SchedulerError");
  CHECK(condition["message"] == "PodGroup ns/g: wrong");
}

TEST_CASE("once True, the condition never goes back") {
  UpstreamFixture f;
  REQUIRE(f.teller.Write(f.report));
  f.report.state = GangState::kBinding;
  CHECK_FALSE(f.teller.Write(f.report));
  f.report.state = GangState::kWhole;
  f.report.sentence.clear();
  f.report.nodes_sentence.clear();
  const Json condition = StatusIn(f.teller.Write(f.report))["conditions"][0];
  CHECK(condition["status"] == "True");
  CHECK(condition["reason"] == "Scheduled");
  CHECK(condition["message"] == "");

  f.report.state = GangState::kWaitingForNodes;  // a member was lost before the echo of the write
  f.report.sentence = "one is missing";
  CHECK_FALSE(f.teller.Write(f.report));
  UpstreamFixture restarted(
      R"({"conditions":[{"type":"PodGroupScheduled","status":"True","reason":"Scheduled","message":""}]})");
  CHECK_FALSE(restarted.teller.Write(restarted.report));
}

TEST_CASE("conditions of others do not count") {
  UpstreamFixture f;
  Json condition = StatusIn(f.teller.Write(f.report))["conditions"][0];
  condition["lastTransitionTime"] = "2026-01-01T00:00:00Z";
  const Json theirs = {{"type", "Theirs"}, {"status", "True"}};
  Put(f.dialect, UpstreamGroup(kGang, Json{{"conditions", {theirs, condition}}}.dump()));
  CHECK_FALSE(f.teller.Write(f.report));
  condition["reason"] = "Other";
  Put(f.dialect, UpstreamGroup(kGang, Json{{"conditions", {theirs, condition}}}.dump()));
  CHECK(f.teller.Write(f.report));
}

TEST_CASE("a new reason keeps the time of the old one") {
  UpstreamFixture f(
      R"({"conditions":[{"type":"Other","status":"True"},{"type":"PodGroupScheduled","status":"False","reason":"Unschedulable",
      "message":"x","observedGeneration":4,"lastTransitionTime":"2026-01-01T00:00:00Z"}]})");
  const Json conditions = StatusIn(f.teller.Write(f.report))["conditions"];
  REQUIRE(conditions.size() == 1);
  CHECK(conditions[0]["lastTransitionTime"] == "2026-01-01T00:00:00Z");
}

}  // namespace tutti::dialects
