// SPDX-License-Identifier: Apache-2.0
#include "dialects/pod_sets.h"

#include "base/json.h"
#include "dialects/appwrapper_sets.h"
#include "tests/support/catch.h"

namespace tutti::dialects {
namespace {

using Json = base::Json;
using Sets = std::vector<PodSet>;

Json Parse(const char* text) { return Json::parse(text); }

Sets SetsOf(const char* text) {
  auto sets = PodSetsOf(Parse(text));
  if (!sets) FAIL(sets.error().message);
  return *sets;
}

std::string ErrorOf(const char* text) {
  const auto sets = PodSetsOf(Parse(text));
  REQUIRE_FALSE(sets);
  CHECK(sets.error().code == base::ErrorCode::kInvalid);
  return sets.error().message;
}

}  // namespace

TEST_CASE("the pod sets of a RayJob are its head, its worker groups with all hosts, and its submitter") {
  CHECK(SetsOf(R"({"apiVersion":"ray.io/v1","kind":"RayJob","spec":{"rayClusterSpec":{"headGroupSpec":{},
      "workerGroupSpecs":[{"groupName":"A","replicas":2,"numOfHosts":4},{"groupName":"b","replicas":1,"minReplicas":3}]}}})") ==
        Sets{{"head", 1, "/spec/rayClusterSpec/headGroupSpec/template", true},
             {"A", 8, "/spec/rayClusterSpec/workerGroupSpecs/0/template", false, true},
             {"b", 3, "/spec/rayClusterSpec/workerGroupSpecs/1/template", false, true},
             {"submitter", 1, "/spec/submitterPodTemplate", false, false, true}});
  CHECK(SetsOf(
            R"({"apiVersion":"ray.io/v1","kind":"RayJob","spec":{"submissionMode":"HTTPMode","rayClusterSpec":{}}})") ==
        Sets{{"head", 1, "/spec/rayClusterSpec/headGroupSpec/template", true}});
  CHECK(SetsOf(R"({"apiVersion":"ray.io/v1alpha1","kind":"RayJob","spec":{"clusterSelector":{"a":"b"}}})") ==
        Sets{{"submitter", 1, "/spec/submitterPodTemplate", false, false, true}});
}

TEST_CASE("pod sets whose pods come once others run are told apart from those that come together") {
  // Which of the sets follow others, and which come one by one.
  const auto order_of = [](const char* text) {
    std::string order;
    for (const PodSet& set : SetsOf(text))
      order += set.name + (set.follows ? " follows " : set.ordered ? " by one " : " ");
    return order;
  };
  CHECK(order_of(R"({"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","spec":{"replicatedJobs":[
      {"name":"driver"},{"name":"w","dependsOn":[{"name":"driver","status":"Ready"}]},
      {"name":"x","dependsOn":[]}]}})") == "driver w follows x ");
  CHECK(order_of(R"({"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","spec":{
      "startupPolicy":{"startupPolicyOrder":"InOrder"},"replicatedJobs":[{"name":"a"},{"name":"b"}]}})") ==
        "a b follows ");
  CHECK(order_of(R"({"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet",
      "metadata":{"annotations":{"alpha.jobset.sigs.k8s.io/exclusive-topology":"rack"}},
      "spec":{"startupPolicy":{"startupPolicyOrder":"AnyOrder"},"replicatedJobs":[{"name":"a"},{"name":"b"}]}})") ==
        "a by one b by one ");
  CHECK(order_of(R"({"apiVersion":"leaderworkerset.x-k8s.io/v1","kind":"LeaderWorkerSet","spec":{
      "startupPolicy":"LeaderReady","leaderWorkerTemplate":{"size":4,"leaderTemplate":{}}}})") ==
        "leader worker follows ");
  CHECK(order_of(R"({"apiVersion":"leaderworkerset.x-k8s.io/v1","kind":"LeaderWorkerSet","spec":{
      "startupPolicy":"LeaderReady","leaderWorkerTemplate":{"size":4}}})") == "main by one ");
  CHECK(order_of(R"({"apiVersion":"kubeflow.org/v2beta1","kind":"MPIJob","spec":{
      "launcherCreationPolicy":"WaitForWorkersReady","mpiReplicaSpecs":{"Launcher":{},"Worker":{"replicas":2}}}})") ==
        "launcher follows worker ");
  CHECK(order_of(R"({"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{"annotations":7},
      "spec":{"startupPolicy":[],"replicatedJobs":[{"name":"a","dependsOn":"b"}]}})") == "a ");
}

TEST_CASE("the pod sets of an AppWrapper are those of its components, numbered, where they stand in it") {
  const Json wrapper =
      Parse(R"({"apiVersion":"workload.codeflare.dev/v1beta2","kind":"AppWrapper","metadata":{"name":"a"},
      "spec":{"components":[
        {"template":{"apiVersion":"v1","kind":"ConfigMap"}},
        {"template":{"apiVersion":"ray.io/v1","kind":"RayJob","spec":{"rayClusterSpec":{"enableInTreeAutoscaling":true,
          "headGroupSpec":{"template":{"spec":{"containers":[{"name":"h"}]}}},
          "workerGroupSpecs":[{"groupName":"w","replicas":2}]}}}},
        {"template":{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"alone"}]}}},
        {"template":{"apiVersion":"apps/v1","kind":"StatefulSet","spec":{"replicas":3}}},
        {"podSets":[{"replicas":4,"path":"template.parts[1].made"}],
         "template":{"apiVersion":"a.b/v1","kind":"C","parts":[{},{"made":{"spec":{"containers":[]}}}]}}]}})");
  const auto sets = PodSetsOf(wrapper);
  REQUIRE(sets);
  CHECK(*sets ==
        Sets{{"a-0", 1, "/spec/components/1/template/spec/rayClusterSpec/headGroupSpec/template", true},
             {"a-1", 2, "/spec/components/1/template/spec/rayClusterSpec/workerGroupSpecs/0/template", false, true},
             {"a-submitter-1", 1, "/spec/components/1/template/spec/submitterPodTemplate", false, false, true},
             {"a-2", 1, "/spec/components/2/template"},
             {"a-3", 3, "/spec/components/3/template/spec/template", false, false, false, true},
             {"a-4", 4, "/spec/components/4/template/parts/1/made"}});
  CHECK(TemplateOf(wrapper, (*sets)[0])["spec"]["containers"].size() == 2);  // with Ray's autoscaler
  CHECK(TemplateOf(wrapper, (*sets)[2])["spec"]["containers"][0]["name"] == "ray-job-submitter");
  CHECK(TemplateOf(wrapper, (*sets)[3])["spec"]["containers"][0]["name"] == "alone");
}

TEST_CASE("a wrapped object may have fields of the names that an AppWrapper has") {
  const Json wrapped = Parse(R"({"apiVersion":"v1","kind":"ConfigMap","spec":{"components":{"0":{
      "x":{"spec":{}},"template":{"spec":{"a":1}},"templates":{"spec":{"a":2}}}}}})");
  CHECK(TemplateOf(wrapped, {.name = "", .path = "/spec/components/0/x"}) == Parse(R"({"spec":{}})"));
  CHECK(TemplateOf(wrapped, {.name = "", .path = "/spec/components/0/template"}) == Parse(R"({"spec":{"a":1}})"));

  const Json wrapper = {{"apiVersion", "workload.codeflare.dev/v1beta2"},
                        {"kind", "AppWrapper"},
                        {"metadata", {{"name", "a"}}},
                        {"spec",
                         {{"components",
                           {{{"template", wrapped},
                             {"podSets",
                              {{{"path", "template.spec.components.0.x"}},
                               {{"path", "template.spec.components.0.template"}},
                               {{"path", "template.spec.components.0.templates"}}}}}}}}}};
  const auto sets = PodSetsOf(wrapper);
  REQUIRE((sets && sets->size() == 3));
  CHECK(TemplateOf(wrapper, (*sets)[0]) == Parse(R"({"spec":{}})"));
  CHECK(TemplateOf(wrapper, (*sets)[1]) == Parse(R"({"spec":{"a":1}})"));
  CHECK(TemplateOf(wrapper, (*sets)[2]) == Parse(R"({"spec":{"a":2}})"));
}

TEST_CASE("a path of an AppWrapper's component is split behind its template, and no other is") {
  using Parts = std::pair<std::string, std::string>;
  CHECK(SplitAtComponent("/spec/components/7/template") == Parts{"/spec/components/7/template", ""});
  CHECK(SplitAtComponent("/spec/components/7/template/a") == Parts{"/spec/components/7/template", "/a"});
  for (const char* path : {"", "/spec/components/7", "/spec/components/0/x", "/spec/components/0/templates",
                           "/spec/template"}) {
    CAPTURE(path);
    CHECK(SplitAtComponent(path) == Parts{});
  }
}

TEST_CASE("an AppWrapper has so many pod sets, in one component or in all of them") {
  const auto wrapper = [](size_t components, size_t sets) {
    const Json component = {{"template", {{"kind", "C"}, {"spec", Json::object()}}},
                            {"podSets", Json(sets, Json{{"path", "template.spec"}})}};
    return Json{{"apiVersion", "workload.codeflare.dev/v1beta2"},
                {"kind", "AppWrapper"},
                {"metadata", {{"name", "a"}}},
                {"spec", {{"components", Json(components, component)}}}};
  };
  REQUIRE(PodSetsOf(wrapper(2, 128)));
  CHECK(PodSetsOf(wrapper(2, 128))->size() == 256);
  const auto many = PodSetsOf(wrapper(2, 129)), in_one = PodSetsOf(wrapper(1, 257));
  REQUIRE_FALSE(many);
  CHECK(many.error().message == "spec.components: more than 256 groups of pods are not looked at; write fewer");
  REQUIRE_FALSE(in_one);
  CHECK(in_one.error().message ==
        "spec.components[0].podSets: 257 items are more than the 256 that are looked at; write fewer");
}

TEST_CASE("an AppWrapper whose pod sets cannot be told, or named, says why") {
  const auto error_of = [](const std::string& name, const std::string& component) {
    return ErrorOf((R"({"apiVersion":"workload.codeflare.dev/v1beta2","kind":"AppWrapper","metadata":{"name":")" +
                    name + R"("},"spec":{"components":[)" + component + "]}}")
                       .c_str());
  };
  CHECK(error_of("a.b", "{}").starts_with("metadata.name: a.b is no name for one that waits in a queue"));
  CHECK(error_of(std::string(50, 'a'), "{}").starts_with("metadata.name: "));
  CHECK(error_of("a", R"({"template":{"apiVersion":"workload.codeflare.dev/v1beta2","kind":"AppWrapper"}})") ==
        "spec.components[0].template: Nested AppWrappers are forbidden");
  CHECK(error_of("a", R"({"template":{"kind":"ConfigMap"}})") == "spec.components: components contains no podspecs");
  CHECK(error_of("a", R"({"template":{"kind":"C"},"podSets":[{"path":"template.a"}]})")
            .starts_with("spec.components[0].podSets[0].path: \"template.a\" leads to no pod template"));
}

TEST_CASE("the pod sets of other kinds") {
  struct Row {
    const char* object;
    Sets sets;
  };
  const Row rows[] = {
      {R"({"apiVersion":"ray.io/v1","kind":"RayCluster","spec":{"workerGroupSpecs":[{"groupName":"w","replicas":2,"suspend":true}]}})",
       {{"head", 1, "/spec/headGroupSpec/template", true}, {"w", 0, "/spec/workerGroupSpecs/0/template", false, true}}},
      {R"({"apiVersion":"ray.io/v1","kind":"RayService","spec":{"rayClusterConfig":{}}})",
       {{"head", 1, "/spec/rayClusterConfig/headGroupSpec/template", true}}},
      {R"({"apiVersion":"batch/v1","kind":"Job","spec":{}})", {{"main", 1, "/spec/template"}}},
      {R"({"apiVersion":"batch/v1","kind":"Job","spec":{"parallelism":5,"completions":3}})",
       {{"main", 3, "/spec/template"}}},
      {R"({"apiVersion":"batch/v1","kind":"Job","spec":{"parallelism":2,"completions":9}})",
       {{"main", 2, "/spec/template"}}},
      {R"({"apiVersion":"apps/v1","kind":"Deployment","spec":{"replicas":4}})", {{"main", 4, "/spec/template"}}},
      {R"({"apiVersion":"apps/v1","kind":"StatefulSet","spec":{"replicas":0}})", {{"main", 0, "/spec/template"}}},
      {R"({"apiVersion":"v1","kind":"Pod","spec":{}})", {{"main", 1, ""}}},
      {R"({"apiVersion":"v1","kind":"PodTemplate","template":{}})", {{"main", 1, "/template"}}},
      {R"({"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","spec":{"replicatedJobs":[
          {"name":"driver","template":{"spec":{}}},{"name":"w","replicas":3,"template":{"spec":{"parallelism":2}}}]}})",
       {{"driver", 1, "/spec/replicatedJobs/0/template/spec/template"},
        {"w", 6, "/spec/replicatedJobs/1/template/spec/template"}}},
      {R"({"apiVersion":"leaderworkerset.x-k8s.io/v1","kind":"LeaderWorkerSet","spec":{"replicas":2,"leaderWorkerTemplate":{"size":4}}})",
       {{"main", 8, "/spec/leaderWorkerTemplate/workerTemplate"}}},
      {R"({"apiVersion":"leaderworkerset.x-k8s.io/v1","kind":"LeaderWorkerSet","spec":{"replicas":2,
          "leaderWorkerTemplate":{"size":4,"leaderTemplate":{}}}})",
       {{"leader", 2, "/spec/leaderWorkerTemplate/leaderTemplate"},
        {"worker", 6, "/spec/leaderWorkerTemplate/workerTemplate"}}},
      {R"({"apiVersion":"kubeflow.org/v1","kind":"TFJob","spec":{"tfReplicaSpecs":{"Worker":{"replicas":2},"Chief":{},"PS":{"replicas":1}}}})",
       {{"chief", 1, "/spec/tfReplicaSpecs/Chief/template"},
        {"ps", 1, "/spec/tfReplicaSpecs/PS/template"},
        {"worker", 2, "/spec/tfReplicaSpecs/Worker/template"}}},
      {R"({"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","spec":{"pytorchReplicaSpecs":{"a/b~":{}}}})",
       {{"a/b~", 1, "/spec/pytorchReplicaSpecs/a~1b~0/template"}}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.object);
    CHECK(SetsOf(row.object) == row.sets);
  }
}

TEST_CASE("a count that cannot be, a name that is taken and a kind that is not known are errors that say where") {
  CHECK(
      ErrorOf(
          R"({"apiVersion":"ray.io/v1","kind":"RayCluster","spec":{"workerGroupSpecs":[{"groupName":"w","replicas":-1}]}})")
          .starts_with("spec.workerGroupSpecs[0].replicas: "));
  CHECK(ErrorOf(R"({"apiVersion":"batch/v1","kind":"Job","spec":{"parallelism":"x"}})")
            .starts_with("spec.parallelism: "));
  CHECK(ErrorOf(R"({"apiVersion":"ray.io/v1","kind":"RayCluster","spec":{"workerGroupSpecs":[{"groupName":"head"}]}})")
            .find("\"head\" is reserved for the head group") != std::string::npos);
  CHECK(
      ErrorOf(
          R"({"apiVersion":"jobset.x-k8s.io/v1","kind":"JobSet","spec":{"replicatedJobs":[{"name":"a"},{"name":"a"}]}})")
          .find("the name a is taken") != std::string::npos);
  const auto unknown = PodSetsOf(Parse(R"({"apiVersion":"example.com/v1","kind":"Job"})"));
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == base::ErrorCode::kNotFound);
  for (const char* shapeless : {"null", "[]", R"({"kind":3})", R"({"apiVersion":[],"kind":"Pod/"})"}) {
    CAPTURE(shapeless);
    CHECK_FALSE(PodSetsOf(Parse(shapeless)));
  }
  CHECK(HasPodSets("kubeflow.org", "MPIJob"));
  CHECK_FALSE(HasPodSets("apps", "MPIJob"));
}

TEST_CASE("a head's template has the containers that KubeRay adds, and a submitter has KubeRay's default") {
  const Json job =
      Parse(R"({"apiVersion":"ray.io/v1","kind":"RayJob","metadata":{"name":"j"},"spec":{"submissionMode":"SidecarMode",
      "rayClusterSpec":{"enableInTreeAutoscaling":true,"headGroupSpec":{"template":{"spec":{"containers":[
      {"name":"ray","resources":{"requests":{"cpu":"2"}}}]}}}}}})");
  const Sets sets = *PodSetsOf(job);
  REQUIRE(sets.size() == 1);
  const auto head = PodFromTemplate(TemplateOf(job, sets[0]), "ns", sets[0].path);
  REQUIRE(head);
  CHECK(head->spec->requests.Get("cpu") == 3000);
  CHECK(head->spec->requests.Get("memory") == int64_t{712} << 20);
  CHECK(head->meta.ns == "ns");
  CHECK(head->meta.name.empty());

  const Json plain = Parse(R"({"apiVersion":"ray.io/v1","kind":"RayJob","spec":{}})");
  const auto submitter = PodFromTemplate(TemplateOf(plain, PodSetsOf(plain)->front()), "ns", "");
  REQUIRE(submitter);
  CHECK(submitter->spec->requests.Get("cpu") == 500);
}

TEST_CASE("a template that cannot be read is an error that says where") {
  const auto error = [](const char* pod_template, const char* path) {
    const auto pod = PodFromTemplate(Parse(pod_template), "ns", path);
    REQUIRE_FALSE(pod);
    return pod.error().message;
  };
  CHECK(error(R"({"spec":{"containers":[{"resources":{"requests":{"cpu":"much"}}}]}})", "/spec/template")
            .starts_with("spec.template.spec.containers[0].resources.requests.cpu: \"much\" is not a quantity"));
  CHECK(error("null", "/spec/template").starts_with("spec.template: has no spec"));
  CHECK(error(R"({"spec":[]})", "").starts_with("the pod: has no spec"));
}

}  // namespace tutti::dialects
