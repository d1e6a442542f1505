// SPDX-License-Identifier: Apache-2.0
// Whatever JSON a client sends, every request gets an answer, what is stored can be read in every form, and the
// controllers that work it off go on.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/random.h"
#include "sim/api/api_handler.h"
#include "sim/objects/yaml.h"
#include "sim/schema/field_validation.h"
#include "tests/sim/cluster.h"
#include "tests/sim/world_fixture.h"

namespace tutti::sim {
namespace {

using namespace testing;

Json RandomValue(base::Random& random, int depth) {
  switch (random.Below(depth > 2 ? 8 : 11)) {
    case 0: return nullptr;
    case 1: return random.OneIn(2);
    case 2: return random.Between(-3, 3);
    case 3: return int64_t(random.Next());
    case 4: return 1.5;
    case 5: return "";
    case 6: return "x";
    case 7: return "Bad Name/☃";
    case 8: return Json::array({RandomValue(random, depth + 1)});
    case 9: return Json{{"name", RandomValue(random, depth + 1)}};
    default: return Json::object();
  }
}

// Replaces, removes or adds something at a random place.
void Mutate(Json& value, base::Random& random) {
  if (value.is_structured() && !value.empty() && !random.OneIn(4)) {
    auto it = value.begin();
    std::advance(it, int64_t(random.Below(value.size())));
    if (random.OneIn(8)) {
      value.erase(it);
    } else {
      Mutate(*it, random);
    }
    return;
  }
  if (value.is_object() && random.OneIn(2)) {
    constexpr const char* kFields[] = {"metadata", "spec",       "status",     "name",
                                       "labels",   "conditions", "finalizers", "ownerReferences",
                                       "$patch",   "containers", "template",   "resources"};
    value[kFields[random.Below(std::size(kFields))]] = RandomValue(random, 0);
  } else {
    value = RandomValue(random, 0);
  }
}

// One object of each kind, with the metadata and the parts that code looks into.
Json Specimen(const ApiResource& resource) {
  Json object = {{"apiVersion", resource.StorageApiVersion()},
                 {"kind", resource.kind},
                 {"metadata", {{"name", "specimen"}, {"labels", {{"a", "b"}}}}},
                 {"status", {{"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}};
  const Json pod_spec = {{"containers", {{{"name", "c"}, {"image", "i"}, {"ports", {{{"containerPort", 1}}}}}}},
                         {"restartPolicy", "Never"},
                         {"schedulingGates", {{{"name", "g"}}}},
                         {"tolerations", {{{"key", "k"}, {"operator", "Exists"}}}}};
  object["spec"] = pod_spec;
  if (resource.id != kPods) {
    object["spec"] = {{"replicas", 1},
                      {"ports", {{{"port", 80}}}},
                      {"finalizers", {"kubernetes"}},
                      {"taints", {{{"key", "k"}, {"effect", "NoSchedule"}}}},
                      {"schedulingPolicy", {{"gang", {{"minCount", 1}}}}},
                      {"selector", {{"matchLabels", {{"a", "b"}}}}},
                      {"template", {{"metadata", {{"labels", {{"a", "b"}}}}}, {"spec", pod_spec}}}};
  }
  if (resource.id == kCustomResourceDefinitions) {
    object["metadata"]["name"] = "gangs.x.io";
    object["spec"] = {
        {"group", "x.io"},
        {"scope", "Namespaced"},
        {"names", {{"plural", "gangs"}, {"kind", "Gang"}}},
        {"versions",
         {{{"name", "v1"},
           {"served", true},
           {"storage", true},
           {"subresources", {{"status", {}}, {"scale", {{"specReplicasPath", ".spec.n"}}}}},
           {"additionalPrinterColumns", {{{"name", "N"}, {"type", "string"}, {"jsonPath", ".spec.n[0]"}}}},
           {"schema",
            {{"openAPIV3Schema",
              {{"type", "object"},
               {"properties", {{"spec", {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}}}}}}}}}}}};
  }
  return object;
}

TEST_CASE("any JSON is answered, never crashed on") {
  const uint64_t seed = GENERATE(1, 2, 3);
  INFO("seed " << seed);
  base::Random random(seed);
  Cluster c;
  Door door(c.store);
  ApiHandler handler(door);
  const auto call = [&](const char* method, const std::string& path, const Json& body, const char* type) {
    const HttpResponse response = handler.Handle(
        {.method = method, .path = path, .params = {}, .accept = {}, .content_type = type, .body = body.dump()});
    CHECK(response.code >= 200);
    CHECK(response.code != 500);
  };
  std::vector<ApiResource> kinds;
  for (const auto& [_, resource] : c.store.resources().All()) kinds.push_back(resource);
  for (int round = 0; round < 1500; ++round) {
    const ApiResource& resource = kinds[random.Below(kinds.size())];
    const std::string base = (resource.id.group.empty() ? "/api/" : "/apis/" + resource.id.group + "/") +
                             resource.storage_version + (resource.namespaced ? "/namespaces/default/" : "/") +
                             resource.id.resource;
    Json object = Specimen(resource);
    const std::string one = base + "/" + NameOf(object);
    for (uint64_t i = random.Below(4); i > 0; --i) Mutate(object, random);
    call("POST", base, object, "application/json");
    Json patch = Specimen(resource);
    for (uint64_t i = random.Below(5); i > 0; --i) Mutate(patch, random);
    constexpr const char* kTypes[] = {"application/merge-patch+json", "application/strategic-merge-patch+json",
                                      "application/apply-patch+yaml"};
    const std::string where = one + (random.OneIn(3) ? "/status" : random.OneIn(6) ? "/scale" : "");
    call("PATCH", where, patch, kTypes[random.Below(3)]);
    if (resource.id == kPods)
      call("POST", one + (random.OneIn(2) ? "/binding" : "/eviction"), patch, "application/json");
    call("GET", one, nullptr, "");
    if (random.OneIn(3)) call("DELETE", one, random.OneIn(2) ? patch : Json::object(), "application/json");
  }
  for (const auto& [id, resource] : c.store.resources().All()) {
    for (const char* accept : {"", "application/json;as=Table;v=v1;g=meta.k8s.io"}) {
      const HttpResponse list = handler.Handle({.method = "GET",
                                                .path = (id.group.empty() ? "/api/" : "/apis/" + id.group + "/") +
                                                        resource.storage_version + "/" + id.resource,
                                                .params = {},
                                                .accept = accept,
                                                .content_type = {},
                                                .body = {}});
      INFO(id.ToString() << " " << list.body.substr(0, 300));
      CHECK(list.code == 200);
      CHECK_FALSE(Json::parse(list.body, nullptr, false).is_discarded());
    }
  }
}

// --- Ray ---

constexpr const char* kRayCluster = R"({"apiVersion":"ray.io/v1","kind":"RayCluster",
  "metadata":{"annotations":{"ray.io/enable-serve-service":"true"},"labels":{"a":"b"}},
  "spec":{"enableInTreeAutoscaling":true,"rayVersion":"2.46.0","headServiceAnnotations":{"a":"b"},
    "autoscalerOptions":{"version":"v2","env":[{"name":"A","value":"b"}],"envFrom":[{"prefix":"p"}],
      "resources":{"requests":{"cpu":"1"}},"securityContext":{"runAsUser":1},
      "volumeMounts":[{"name":"m","mountPath":"/m"}]},
    "gcsFaultToleranceOptions":{"redisAddress":"r","redisPassword":{"value":"p"},
      "redisUsername":{"valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}},
    "headGroupSpec":{"rayStartParams":{"port":"1","resources":"'{\"a\": 1}'"},"serviceType":"ClusterIP",
      "headService":{"metadata":{"name":"h","labels":{"a":"b"},"annotations":{"a":"b"}},
        "spec":{"type":"ClusterIP","ports":[{"name":"x","port":80}],"selector":{"a":"b"}}},
      "template":{"metadata":{"labels":{"a":"b"},"annotations":{"sim.tutti.dev/run-for":"60s"},"finalizers":["x.io/f"]},
        "spec":{"restartPolicy":"Never","volumes":[{"name":"m","emptyDir":{}}],
          "containers":[{"name":"ray","image":"i","command":["c"],"args":["a"],"env":[{"name":"A","value":"b"}],
            "ports":[{"name":"serve","containerPort":8000}],"volumeMounts":[{"name":"m","mountPath":"/m"}],
            "resources":{"limits":{"cpu":"1","nvidia.com/gpu":0},"requests":{"memory":"1Mi"}}}]}}},
    "workerGroupSpecs":[{"groupName":"w","replicas":1,"minReplicas":1,"maxReplicas":2,"numOfHosts":2,
      "rayStartParams":{"block":"true"},"scaleStrategy":{"workersToDelete":["x"]},
      "template":{"metadata":{"labels":{"a":"b"}},"spec":{"initContainers":[{"name":"i","image":"i"}],
        "containers":[{"name":"ray","image":"i","env":[{"name":"A","value":"b"}]}]}}}]}})";

constexpr const char* kRayJob = R"({"apiVersion":"ray.io/v1","kind":"RayJob",
  "metadata":{"annotations":{"sim.tutti.dev/run-for":"5s"},"labels":{"a":"b"}},
  "spec":{"entrypoint":"e","metadata":{"a":"b"},"runtimeEnvYAML":"a: b","entrypointNumCpus":1.5,
    "entrypointResources":"{}","shutdownAfterJobFinishes":true,"ttlSecondsAfterFinished":1,"backoffLimit":1,
    "activeDeadlineSeconds":100,"submissionMode":"K8sJobMode","submitterConfig":{"backoffLimit":1},
    "submitterPodTemplate":{"metadata":{"labels":{"a":"b"},"annotations":{"a":"b"}},
      "spec":{"restartPolicy":"Never","containers":[{"name":"s","image":"i","env":[{"name":"A","value":"b"}],
        "resources":{"requests":{"cpu":"1"}}}]}},
    "rayClusterSpec":{"headGroupSpec":{"rayStartParams":{},"template":{"spec":{"containers":[
      {"name":"ray","image":"i","ports":[{"name":"dashboard","containerPort":8265}]}]}}}}}})";

void AddPointers(const Json& value, const Json::json_pointer& at, std::vector<Json::json_pointer>& pointers) {
  if (!at.empty()) pointers.push_back(at);
  if (value.is_object())
    for (const auto& [key, member] : value.items()) AddPointers(member, at / key, pointers);
  if (value.is_array())
    for (size_t i = 0; i < value.size(); ++i) AddPointers(value[i], at / i, pointers);
}

// Ray's definitions as someone may write them: any fields, of any type.
void AllowAnything(Store& store) {
  for (const char* name : {"rayclusters.ray.io", "rayjobs.ray.io"}) {
    REQUIRE(store.Modify(kCustomResourceDefinitions, "", name, [](Json& definition) {
      for (Json& version : definition["spec"]["versions"])
        version["schema"]["openAPIV3Schema"] = {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
    }));
  }
}

void Live(WorldFixture& f) {
  for (int round = 0; round < 4; ++round) {
    f.BindAll("n");
    f.Advance(3'000);
  }
}

TEST_CASE("whatever stands in a field of a RayCluster or RayJob, the cluster lives on") {
  const bool any_type = GENERATE(false, true);
  const Json specimen = ParseJson(GENERATE(kRayCluster, kRayJob));
  std::vector<Json::json_pointer> pointers;
  AddPointers(Child(specimen, "spec"), Json::json_pointer("/spec"), pointers);
  AddPointers(Dig(specimen, "metadata", "annotations"), Json::json_pointer("/metadata/annotations"), pointers);
  for (const Json::json_pointer& pointer : pointers) {
    INFO(pointer.to_string());
    WorldFixture f;
    if (any_type) AllowAnything(f.store());
    f.AddNode("n", {{"cpu", "1k"}, {"memory", "1Ti"}, {"pods", "1k"}});
    int n = 0;
    for (const char* text : {"null", "7", "-1.5", "true", R"("x")", "[]", R"(["x"])", "[null]", "[{}]", "{}",
                             R"({"name":"x"})", R"({"name":[1]})"}) {
      Json object = specimen;
      object[pointer] = ParseJson(text);
      object["metadata"]["name"] = fmt::format("s{}", n++);
      (void)f.store().Create(std::move(object));
    }
    Live(f);
    Json good = specimen;
    good["metadata"]["name"] = "good";
    f.Apply(std::move(good));
    Live(f);
    CHECK(std::ranges::any_of(f.Pods(), [](const Object& pod) { return NameOf(*pod).starts_with("good"); }));
  }
}

TEST_CASE("resources in a start parameter that are nested without end are no resources, and the cluster lives on") {
  constexpr size_t kDeep = 400'000;
  WorldFixture f;
  f.AddNode("n", {{"cpu", "1k"}, {"memory", "1Ti"}, {"pods", "1k"}, {"google.com/tpu", "8"}});
  Json cluster = ParseJson(kRayCluster);
  cluster["metadata"]["name"] = "deep";
  Json& head = cluster["spec"]["headGroupSpec"];
  head["rayStartParams"]["resources"] = "{\"a\": " + std::string(kDeep, '[') + std::string(kDeep, ']') + "}";
  head["template"]["spec"]["containers"][0]["resources"]["limits"]["google.com/tpu"] = "4";
  f.Apply(cluster);
  Live(f);
  CHECK(std::ranges::any_of(f.Pods(), [](const Object& pod) { return NameOf(*pod).starts_with("deep-head"); }));
}

TEST_CASE("a name that is cut within a character is refused as any other that is none") {
  const std::string umlauts = fmt::format("a{}", fmt::join(std::vector<std::string>(60, "\xc3\xa9"), ""));
  WorldFixture f;
  f.AddNode("n", {{"cpu", "1k"}, {"memory", "1Ti"}, {"pods", "1k"}});
  Json pod = {{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata", {{"generateName", umlauts}, {"namespace", "default"}}},
              {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
  const auto refused = f.store().Create(pod);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == 422);
  Json cluster = ParseJson(kRayCluster);
  cluster["metadata"]["name"] = "c";
  cluster["spec"]["workerGroupSpecs"][0]["groupName"] = umlauts;
  f.Apply(cluster);
  Live(f);
  CHECK(std::ranges::any_of(f.Pods(), [](const Object& each) { return NameOf(*each).starts_with("c-head"); }));
}

TEST_CASE("a body of YAML that is not UTF-8 is refused, and says where") {
  const auto parsed = ParseYaml("kind: Pod\nmetadata: {name: \"p\xff\"}\n");
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().message ==
        "line 2: the byte 0xff after `metadata: {name: \"p` is not UTF-8; save the text as UTF-8");
}

TEST_CASE("a field of a pod that a Ray object embeds is refused by its path when its type is wrong") {
  WorldFixture f;
  Json job = ParseJson(kRayJob);
  job["metadata"]["name"] = "j";
  job["spec"]["submitterPodTemplate"]["spec"]["containers"] = {{"name", "s"}, {"image", "i"}};
  const auto refused = f.store().Create(job);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == 422);
  CHECK(refused.error().message.find("spec.submitterPodTemplate.spec.containers in body must be of type array: "
                                     "\"object\"") != std::string::npos);
  CHECK(CheckFieldsStrictly(*f.store().resources().Find(kRayJobs), "v1", job));  // no field of it is unknown
  Json cluster = ParseJson(kRayCluster);
  cluster["metadata"]["name"] = "c";
  cluster["spec"]["headGroupSpec"]["headService"]["spec"]["ports"] = {{"name", "x"}, {"port", 80}};
  const auto also = f.store().Create(cluster);
  REQUIRE_FALSE(also);
  CHECK(also.error().message.find("spec.headGroupSpec.headService.spec.ports in body must be of type array") !=
        std::string::npos);
  cluster["spec"]["headGroupSpec"]["headService"] = nullptr;
  cluster["spec"]["headGroupSpec"]["template"]["metadata"]["creationTimestamp"] = nullptr;
  CHECK(f.store().Create(cluster));
}

}  // namespace
}  // namespace tutti::sim
