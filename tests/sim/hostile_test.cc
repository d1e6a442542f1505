// SPDX-License-Identifier: Apache-2.0
// Whatever JSON a client sends, every request gets an answer, and what is stored can be read in every form.
#include "base/random.h"
#include "sim/api_handler.h"
#include "tests/sim/cluster.h"

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

}  // namespace
}  // namespace tutti::sim
