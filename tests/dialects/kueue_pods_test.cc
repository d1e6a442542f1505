// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "cluster/json_decode.h"
#include "dialects/kueue/desired_pods.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/pods.h"
#include "dialects/kueue/workloads.h"
#include "tests/support/catch.h"

namespace tutti::dialects::kueue {
namespace {

using base::Json;

std::shared_ptr<const model::Object> Pod(const std::string& name, const Json& change = Json::object()) {
  Json pod = {{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata",
               {{"name", name},
                {"namespace", "n"},
                {"uid", "u-" + name},
                {"labels", {{"kueue.x-k8s.io/queue-name", "q"}, {"kueue.x-k8s.io/pod-group-name", "g"}}},
                {"annotations", {{"kueue.x-k8s.io/pod-group-total-count", "2"}}}}},
              {"spec", {{"containers", {{{"name", "c"}, {"resources", {{"requests", {{"cpu", "1"}}}}}}}}}}};
  pod.merge_patch(change);
  auto decoded = cluster::DecodeObject({"", "pods", "Pod", {"v1"}, "kueue.x-k8s.io/queue-name"},
                                       std::make_shared<const Json>(std::move(pod)));
  REQUIRE(decoded);
  return std::make_shared<const model::Object>(*std::move(decoded));
}

const Json kGated = {{"spec", {{"schedulingGates", {{{"name", "kueue.x-k8s.io/admission"}}}}}}};
const Json kStarted = {{"metadata", {{"labels", {{"kueue.x-k8s.io/podset", "r"}}}}}};

QueuedPods PodsOf(const std::vector<std::shared_ptr<const model::Object>>& objects) {
  QueuedPods pods;
  for (const auto& object : objects) pods.emplace(object->meta.name, SeePod(object));
  return pods;
}

GroupTerms Of(int64_t total) {
  GroupTerms terms;
  terms.total = total;
  return terms;
}

TEST_CASE("A pod is held until it has what pods of an admitted job have, and no gate of Kueue's") {
  CHECK(SeePod(Pod("a")).held());
  CHECK(SeePod(Pod("a", kGated)).held());
  CHECK(SeePod(Pod("a", kStarted)).runs());
  CHECK(SeePod(Pod("a", {{"metadata", kStarted["metadata"]}, {"spec", kGated["spec"]}})).held());
  CHECK(SeePod(Pod("a", {{"metadata", kStarted["metadata"]}, {"status", {{"phase", "Succeeded"}}}})).succeeded);
}

TEST_CASE("A pod that is deleted before it has a node never runs") {
  Json deleted = kStarted;
  deleted["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  CHECK_FALSE(SeePod(Pod("a", deleted)).runs());
  deleted["spec"]["nodeName"] = "n";
  CHECK(SeePod(Pod("a", deleted)).runs());
}

TEST_CASE("What a pod is one of follows from its owner, its template and the group that it names") {
  const auto owner_of = [](const Json& change, bool bound = false) { return OwnerOf(Pod("a", change)->meta, bound); };
  const auto owned_by = [](const char* kind) {
    return Json{{"metadata",
                 {{"ownerReferences",
                   {{{"apiVersion", "x/v1"}, {"kind", kind}, {"name", "o"}, {"uid", "o"}, {"controller", true}}}}}}};
  };
  CHECK(owner_of(Json::object()) == PodOwner::kGroup);
  CHECK(owner_of({{"metadata", {{"labels", {{"kueue.x-k8s.io/pod-group-name", nullptr}}}}}}) == PodOwner::kItself);
  CHECK(owner_of({{"metadata", {{"labels", {{"kueue.x-k8s.io/queue-name", nullptr}}}}}}) == PodOwner::kNone);
  CHECK(owner_of(owned_by("RayCluster")) == PodOwner::kNone);
  CHECK(owner_of(owned_by("ReplicaSet")) == PodOwner::kGroup);
  CHECK(owner_of(Json::object(), true) == PodOwner::kNone);
  CHECK(owner_of(kStarted, true) == PodOwner::kGroup);
  Json of_set = owned_by("StatefulSet");
  of_set["metadata"]["annotations"]["kueue.x-k8s.io/pod-suspending-parent"] = "statefulset";
  CHECK(owner_of(of_set) == PodOwner::kStatefulSet);
}

TEST_CASE(
    "A group lacks pods until there are as many as its total, unless it has a Workload or starts with what it has") {
  const QueuedPods one = PodsOf({Pod("a")});
  CHECK(TermsOfGroup("g", one, false).problem == "'g' group has fewer runnable pods than expected");
  CHECK(TermsOfGroup("g", one, true).problem.empty());
  CHECK(TermsOfGroup("g", PodsOf({Pod("a"), Pod("b")}), false).problem.empty());
  const Json fast = {{"metadata", {{"annotations", {{"kueue.x-k8s.io/pod-group-fast-admission", "true"}}}}}};
  const GroupTerms terms = TermsOfGroup("g", PodsOf({Pod("a", fast)}), false);
  CHECK(terms.problem.empty());
  CHECK(SetsOfGroup(terms, PodsOf({Pod("a", fast)})).sets.front().count == 2);
}

TEST_CASE("Pods that are scheduled by the same are one set of the group, and any other is another") {
  const Json other = {{"spec", {{"nodeSelector", {{"disk", "ssd"}}}}}};
  const QueuedPods pods = PodsOf({Pod("a"), Pod("b"), Pod("c", other)});
  const SetsOfPods sets = SetsOfGroup(Of(3), pods);
  REQUIRE(sets.sets.size() == 2);
  CHECK(sets.sets[0].count + sets.sets[1].count == 3);
  CHECK(sets.json.size() == 2);
  CHECK_FALSE(sets.json[0]["template"]["spec"].contains("schedulingGates"));
}

TEST_CASE("The youngest of those that are held are too many, and none that was let go is") {
  const auto at = [](const char* time, Json change = Json::object()) {
    change["metadata"]["creationTimestamp"] = time;
    return change;
  };
  const QueuedPods pods = PodsOf({Pod("old", at("2026-01-01T00:00:00Z")), Pod("new", at("2026-01-02T00:00:00Z")),
                                  Pod("late", at("2026-01-03T00:00:00Z", kStarted))});
  const std::string role = pods.at("old").role;
  CHECK(ExcessOf({{role, 1}}, pods) == std::vector<std::string>{"new"});
  CHECK(ExcessOf({{"r", 0}}, pods).empty());
  CHECK(AbsentOf({{role, 3}}, pods) == 1);
}

TEST_CASE("A group has ended once all have succeeded, or once none works and one may not be retried") {
  const Json done = {{"status", {{"phase", "Succeeded"}}}}, failed = {{"status", {{"phase", "Failed"}}}};
  CHECK_FALSE(EndOfGroup(Of(2), PodsOf({Pod("a", done), Pod("b")})));
  CHECK_FALSE(EndOfGroup(Of(2), PodsOf({Pod("a", done), Pod("b", failed)})));
  const auto end = EndOfGroup(Of(2), PodsOf({Pod("a", done), Pod("b", done)}));
  REQUIRE(end);
  CHECK(end->message == "Pods succeeded: 2/2.");
  GroupTerms unretriable = Of(2), serving = Of(2);
  unretriable.unretriable = serving.serves = true;
  CHECK(EndOfGroup(unretriable, PodsOf({Pod("a", done), Pod("b", failed)})));
  CHECK_FALSE(EndOfGroup(serving, PodsOf({Pod("a", done), Pod("b", done)})));
}

TEST_CASE("A pod that is let go loses Kueue's gates alone; one that had none keeps its selector") {
  PodSetGrant grant;
  grant.labels = {{"kueue.x-k8s.io/podset", "r"}};
  grant.node_selector = {{"pool", "a"}};
  Json gated = kGated;
  gated["spec"]["schedulingGates"].push_back({{"name", "mine"}});
  const Json started = StartedPod(grant, *Pod("a", gated)->body);
  CHECK(started["spec"]["schedulingGates"] == Json::array({{{"name", "mine"}}}));
  CHECK(started["spec"]["nodeSelector"] == Json{{"pool", "a"}});
  CHECK(started["metadata"]["labels"]["kueue.x-k8s.io/podset"] == "r");
  CHECK_FALSE(StartedPod(grant, *Pod("a")->body)["spec"].contains("nodeSelector"));
}

TEST_CASE("The templates of what makes pods are marked once, and of no other object") {
  const Json set = {{"apiVersion", "apps/v1"},
                    {"kind", "StatefulSet"},
                    {"metadata", {{"name", "s"}, {"namespace", "n"}, {"labels", {{"kueue.x-k8s.io/queue-name", "q"}}}}},
                    {"spec", {{"template", {{"spec", Json::object()}}}}}};
  const auto read = [](const Json& body) {
    return *cluster::DecodeObject({"apps", "statefulsets", "StatefulSet", {"v1"}}, std::make_shared<const Json>(body));
  };
  const Json marked = MarkedTemplates(read(set));
  REQUIRE(marked.is_object());
  CHECK(marked["spec"]["template"]["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "q");
  CHECK(marked["spec"]["template"]["metadata"]["annotations"]["kueue.x-k8s.io/pod-suspending-parent"] == "statefulset");
  CHECK(MarkedTemplates(read(marked)).is_null());
  CHECK(MarkedTemplates(*Pod("a")).is_null());
}

TEST_CASE("A pod that waits in a group that has ended is not marked again and again") {
  Entry entry;
  entry.kind = &GroupKind();
  entry.pods = PodsOf({Pod("a", kGated)});
  entry.job = GroupObject("g", entry.pods);
  const auto desired = [&] {
    std::vector<cluster::DesiredObject> out;
    DesirePods(entry, {}, &out);
    return out.size();
  };
  CHECK(desired() == 1);
  entry.read.finished = true;
  CHECK(desired() == 0);
}

TEST_CASE("A pod that comes before its set waits for it, whatever goes in other namespaces") {
  const auto of = [](const std::string& ns) {
    return Pod("s-0", {{"metadata",
                        {{"namespace", ns},
                         {"uid", "u-" + ns},
                         {"labels",
                          {{"kueue.x-k8s.io/pod-group-name", nullptr},
                           {"leaderworkerset.sigs.k8s.io/name", "s"},
                           {"leaderworkerset.sigs.k8s.io/group-index", "0"}}},
                         {"annotations", {{"kueue.x-k8s.io/pod-suspending-parent", "leaderworkerset"}}}}}});
  };
  const Queues queues;
  const DialectSettings settings;
  Workloads workloads(queues, settings);
  Touched touched;
  workloads.PutPod(of("n"), &touched);
  workloads.PutPod(of("m"), &touched);
  workloads.DropPod("m", "s-0", &touched);
  const JobKind& kind = *FindJobKind("labelled-leaderworkersets.leaderworkerset.x-k8s.io");
  const auto set = cluster::DecodeObject(
      kind.kind,
      std::make_shared<const Json>(
          Json{{"apiVersion", "leaderworkerset.x-k8s.io/v1"},
               {"kind", "LeaderWorkerSet"},
               {"metadata",
                {{"name", "s"}, {"namespace", "n"}, {"uid", "set"}, {"labels", {{"kueue.x-k8s.io/queue-name", "q"}}}}},
               {"spec",
                {{"replicas", 1},
                 {"leaderWorkerTemplate",
                  {{"size", 1}, {"workerTemplate", {{"spec", {{"containers", {{{"name", "c"}}}}}}}}}}}}}));
  REQUIRE(set);
  workloads.PutJob(kind, std::make_shared<const model::Object>(*set), &touched);
  const Entry* entry =
      workloads.Find({"kueue", "n", WorkloadName("LeaderWorkerSet", "leaderworkerset.x-k8s.io", "s-0", "set")});
  REQUIRE(entry);
  CHECK(entry->pods.size() == 1);
}

}  // namespace
}  // namespace tutti::dialects::kueue
