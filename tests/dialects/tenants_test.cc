// SPDX-License-Identifier: Apache-2.0
// docs/threat-model.md: what a pod says of gangs and queues reaches no further than its namespace.
#include "tests/dialects/objects.h"

namespace tutti::dialects {
namespace {

// The victim's PodGroups, RayCluster and pods are all called "g"; these are the ways to name them from elsewhere.
const std::vector<std::string> kNames = {"g",
                                         "victim/g",
                                         "/victim/g",
                                         "../victim/g",
                                         "..%2fvictim%2fg",
                                         "../../victim/podgroups/g",
                                         "g?namespace=victim",
                                         "g\nvictim/g",
                                         std::string("g\0victim", 8),
                                         std::string(300, 'g'),
                                         ""};

Json Annotated(const std::string& ns, const std::string& name) {
  return {{"namespace", ns},
          {"name", "p"},
          {"uid", "u"},
          {"labels",
           {{"scheduling.x-k8s.io/pod-group", name},
            {"ray.io/cluster", name},
            {"ray.io/node-type", "worker"},
            {"ray.io/group", name},
            {"ray.io/is-ray-node", "yes"},
            {"applicationId", name},
            {"kai.scheduler/queue", name}}},
          {"annotations", {{"scheduling.k8s.io/group-name", name}, {"yunikorn.apache.org/task-groups", name}}}};
}

// Keeps only what makes the pod this dialect's.
std::vector<model::Pod> PodsNaming(const std::string& ns, const std::string& name) {
  std::vector<model::Pod> pods;
  const Json all = Annotated(ns, name);
  for (const char* part : {"labels", "annotations"}) {
    for (const auto& [key, value] : all[part].items()) {
      Json one = all;
      one.erase("labels");
      one.erase("annotations");
      one[part][key] = value;
      if (key.starts_with("ray.io/")) one["labels"] = all["labels"];
      pods.push_back(PodFrom(one.dump(-1, ' ', false, Json::error_handler_t::replace)));
    }
  }
  const Json group = {{"schedulingGroup", {{"podGroupName", name}}}};
  pods.push_back(PodFrom(Json{{"namespace", ns}, {"name", "p"}}.dump(), group.dump()));
  return pods;
}

DialectList DialectsWithVictim() {
  DialectList dialects = MakeDialects();
  const std::string meta = R"({"kind":"K","metadata":{"name":"g","namespace":"victim","uid":"victim-uid"},)";
  for (const auto& dialect : dialects) {
    for (const model::ObjectKind& kind : dialect->Kinds()) {
      if (kind.resource != "podgroups" && kind.resource != "rayclusters") continue;
      const std::string spec =
          kind.resource == "rayclusters"
              ? R"("spec":{"workerGroupSpecs":[{"groupName":"g","replicas":2,"minReplicas":0,"maxReplicas":9}]}})"
              : R"("spec":{"minMember":2,"schedulingPolicy":{"gang":{"minCount":2}}}})";
      Json body = Json::parse(meta + spec);
      body["kind"] = kind.kind;
      Touched touched;
      dialect->Put(ObjectFrom(kind.group + "/" + kind.versions.front(), kind.resource, body.dump()), &touched);
    }
  }
  return dialects;
}

// Every gang that some dialect makes of some pod in another namespace than the victim's.
template <typename Visit>
void ForEachTenantGang(const DialectList& dialects, Visit visit) {
  for (const std::string& name : kNames) {
    INFO("name " << name);
    for (const model::Pod& pod : PodsNaming("tenant", name)) {
      for (const auto& dialect : dialects) {
        INFO("dialect " << dialect->name());
        if (const auto membership = dialect->MembershipOf(pod)) visit(*dialect, *membership);
      }
    }
  }
}

TEST_CASE("a pod's gang is in its own namespace, whatever name it is given") {
  const DialectList dialects = DialectsWithVictim();
  int memberships = 0;
  ForEachTenantGang(dialects, [&](const Dialect& dialect, const Membership& membership) {
    ++memberships;
    CHECK(membership.gang.ns == "tenant");
    CHECK(membership.gang != model::GangKey{std::string(dialect.name()), "victim", "g"});
  });
  CHECK(memberships > 100);
}

TEST_CASE("a gang that names another namespace's declaration has none, and nothing is written there for it") {
  const DialectList dialects = DialectsWithVictim();
  int silent = 0;
  ForEachTenantGang(dialects, [&](Dialect& dialect, const Membership& membership) {
    if (dialect.name() == "plain") return;
    const model::GangSpec spec = membership.declared ? *membership.declared : dialect.Describe(membership.gang);
    CHECK_FALSE(spec.problem.empty());
    CHECK(spec.uid.empty());
    CHECK(spec.problem.find('\n') == std::string::npos);
    CHECK_FALSE(dialect.EventTarget(membership.gang));
    GangReport report;
    report.spec = &spec;
    report.state = GangState::kInvalid;
    report.total = report.pending = 1;
    report.sentence = spec.problem;
    report.now_wall_ms = kNow;
    CHECK_FALSE(Teller(dialect).Write(report));
    ++silent;
  });
  CHECK(silent > 50);
}

TEST_CASE("the victim's own gang is found, so that the others would be") {
  const DialectList dialects = DialectsWithVictim();
  int found = 0;
  for (const model::Pod& pod : PodsNaming("victim", "g")) {
    for (const auto& dialect : dialects) {
      const auto membership = dialect->MembershipOf(pod);
      if (membership && !membership->declared && dialect->Describe(membership->gang).uid == "victim-uid") ++found;
    }
  }
  CHECK(found >= 4);
}

}  // namespace
}  // namespace tutti::dialects
