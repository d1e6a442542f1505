// SPDX-License-Identifier: Apache-2.0
#include "sim/api/api_handler.h"

#include "tests/sim/cluster.h"

namespace tutti::sim {
namespace {

using namespace testing;
using std::chrono::milliseconds;

struct Api {
  Cluster cluster;
  Door door{cluster.store};
  ApiHandler handler{door};

  HttpResponse Call(const std::string& method, const std::string& target, const Json& body = nullptr,
                    const std::string& content_type = "application/json", const std::string& accept = "") {
    HttpRequest request{
        .method = method, .path = target, .params = {}, .accept = accept, .content_type = content_type, .body = {}};
    if (const size_t mark = target.find('?'); mark != std::string::npos) {
      request.path = target.substr(0, mark);
      std::string rest = target.substr(mark + 1);
      while (!rest.empty()) {
        const size_t end = std::min(rest.find('&'), rest.size());
        const std::string pair = rest.substr(0, end);
        const size_t equals = std::min(pair.find('='), pair.size());
        request.params.emplace(pair.substr(0, equals), equals < pair.size() ? pair.substr(equals + 1) : "");
        rest = end < rest.size() ? rest.substr(end + 1) : "";
      }
    }
    if (!body.is_null()) request.body = body.is_string() ? body.get<std::string>() : body.dump();
    return handler.Handle(request);
  }

  Json Get(const std::string& target, const std::string& accept = "") {
    const HttpResponse response = Call("GET", target, nullptr, "", accept);
    INFO(response.body);
    REQUIRE(response.code == 200);
    return Json::parse(response.body);
  }

  // All lines of a watch until it has been silent for a moment.
  std::vector<Json> Lines(const HttpResponse& response) {
    REQUIRE(response.watch);
    std::vector<Json> lines;
    while (true) {
      const auto piece = response.watch->Next(milliseconds(5));
      if (!piece || piece->empty()) return lines;
      std::istringstream in(*piece);
      for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
    }
  }
};

const std::string kPodsPath = "/api/v1/namespaces/default/pods";
const std::string kTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

TEST_CASE("a list carries the version to watch from, and pages carry a token") {
  Api api;
  for (const char* name : {"a", "b", "c"}) Make(api.cluster.store, Pod(name));
  const Json first = api.Get(kPodsPath + "?limit=2");
  CHECK(first["kind"] == "PodList");
  CHECK(first["items"].size() == 2);
  CHECK(first["metadata"]["remainingItemCount"] == 1);
  const Json rest = api.Get(kPodsPath + "?limit=2&continue=" + first["metadata"]["continue"].get<std::string>());
  CHECK(rest["items"].size() == 1);
  CHECK_FALSE(rest["metadata"].contains("continue"));
  CHECK(api.Get("/api/v1/pods?labelSelector=x")["items"].empty());
  CHECK(api.Call("GET", kPodsPath + "?resourceVersion=999999").code == 504);
  CHECK(api.Call("GET", kPodsPath + "?resourceVersion=abc").code == 400);
}

TEST_CASE("a watch resumes after a version and selects by labels, with Kubernetes' transitions") {
  Api api;
  const std::string after = std::to_string(api.cluster.store.resource_version());
  const HttpResponse watch = api.Call("GET", kPodsPath + "?watch=true&labelSelector=on&resourceVersion=" + after);
  CHECK(watch.content_type != "application/json");
  Make(api.cluster.store, Pod("p"));
  const auto label = [&](const char* key, bool set) {
    REQUIRE(api.cluster.store.Modify(kPods, "default", "p", [&](Json& o) {
      if (set) {
        o["metadata"]["labels"][key] = "1";
      } else {
        o["metadata"]["labels"].erase(key);
      }
    }));
  };
  label("on", true);
  label("other", true);
  label("on", false);
  const std::vector<Json> lines = api.Lines(watch);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0]["type"] == "ADDED");
  CHECK(lines[1]["type"] == "MODIFIED");
  CHECK(lines[2]["type"] == "DELETED");
  CHECK(ResourceVersionOf(lines[2]["object"]) == api.cluster.store.resource_version());
}

TEST_CASE("a watch from a version of a former life gets one ERROR with 410, and ends") {
  Api api;
  const HttpResponse watch = api.Call("GET", kPodsPath + "?watch=1&resourceVersion=999999");
  const std::vector<Json> lines = api.Lines(watch);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0]["type"] == "ERROR");
  CHECK(lines[0]["object"]["code"] == 410);
  CHECK_FALSE(watch.watch->Next(milliseconds(0)));
}

TEST_CASE("a streamed list ends with the bookmark that says so, before anything new") {
  Api api;
  Make(api.cluster.store, Pod("a"));
  Make(api.cluster.store, Pod("b"));
  const HttpResponse watch = api.Call(
      "GET", "/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
  const std::string at = std::to_string(api.cluster.store.resource_version());
  Make(api.cluster.store, Pod("c"));
  const std::vector<Json> lines = api.Lines(watch);
  REQUIRE(lines.size() == 4);
  CHECK(lines[1]["type"] == "ADDED");
  CHECK(lines[2]["type"] == "BOOKMARK");
  CHECK(lines[2]["object"]["metadata"] ==
        Json({{"resourceVersion", at}, {"annotations", {{"k8s.io/initial-events-end", "true"}}}}));
  CHECK(lines[2]["object"]["kind"] == "Pod");
  CHECK(NameOf(lines[3]["object"]) == "c");
  CHECK(api.Call("GET", "/api/v1/pods?watch=1&sendInitialEvents=true").code == 422);
}

Json GangDefinition() {
  return ParseJson(R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":"gangs.x.io"},"spec":{"group":"x.io","scope":"Namespaced",
    "names":{"plural":"gangs","kind":"Gang"},"versions":[{"name":"v1","served":true,"storage":true,
    "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})");
}

TEST_CASE("a watch ends when the definition of its resource changes or goes, after what came before") {
  Api api;
  Make(api.cluster.store, GangDefinition());
  const std::string gangs = "/apis/x.io/v1/gangs?watch=1";
  const HttpResponse other = api.Call("GET", "/api/v1/pods?watch=1");
  const HttpResponse first = api.Call("GET", gangs);
  const auto change = [&](const std::function<void(Json&)>& edit) {
    REQUIRE(api.cluster.store.Modify(kCustomResourceDefinitions, "", "gangs.x.io", edit));
  };
  change([](Json& o) { o["metadata"]["labels"]["a"] = "b"; });
  CHECK(first.watch->Next(milliseconds(0)) == "");
  Make(api.cluster.store, {{"apiVersion", "x.io/v1"}, {"kind", "Gang"}, {"metadata", {{"name", "g"}}}});
  change([](Json& o) { o["spec"]["names"]["shortNames"] = {"gg"}; });
  CHECK(api.Lines(first).size() == 1);
  CHECK_FALSE(first.watch->Next(milliseconds(0)));

  const HttpResponse second = api.Call("GET", gangs);
  CHECK(api.Lines(second).size() == 1);
  REQUIRE(api.cluster.store.Delete(kCustomResourceDefinitions, "", "gangs.x.io"));
  const std::vector<Json> lines = api.Lines(second);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0]["type"] == "DELETED");
  CHECK_FALSE(second.watch->Next(milliseconds(0)));
  CHECK(api.Call("GET", gangs).code == 404);
  CHECK(other.watch->Next(milliseconds(0)) == "");
}

TEST_CASE("a watch that ended with its definition marks nothing that came after, which it has not sent") {
  Api api;
  Store& store = api.cluster.store;
  Make(store, GangDefinition());
  const HttpResponse watch = api.Call("GET", "/apis/x.io/v1/gangs?watch=1&allowWatchBookmarks=true");
  const Json gang = {{"apiVersion", "x.io/v1"}, {"kind", "Gang"}, {"metadata", {{"name", "g"}}}};
  Make(store, gang);
  REQUIRE(store.Delete(kCustomResourceDefinitions, "", "gangs.x.io"));
  Make(store, GangDefinition());
  const int64_t before = store.resource_version();
  Make(store, gang);
  for (const Json& line : api.Lines(watch))
    CHECK(std::stoll(DigString(line, "object", "metadata", "resourceVersion")) <= before);
}

TEST_CASE("a watch ends at its time-out, with a last bookmark where those are wanted") {
  Api api;
  const HttpResponse plain = api.Call("GET", kPodsPath + "?watch=1&timeoutSeconds=1");
  const HttpResponse marked = api.Call("GET", kPodsPath + "?watch=1&timeoutSeconds=1&allowWatchBookmarks=true");
  const auto rest_of = [](const HttpResponse& response) {
    std::string said;
    while (const auto piece = response.watch->Next(milliseconds(0))) said += *piece;
    return said;
  };
  CHECK(plain.watch->Next(milliseconds(0)) == "");
  CHECK(marked.watch->due_ms() == api.cluster.clock.MonotonicMs() + 1'000);
  api.cluster.clock.Advance(1'000);
  CHECK(Json::parse(rest_of(marked))["type"] == "BOOKMARK");
  CHECK(rest_of(plain).empty());
}

TEST_CASE("a watch in which nothing happens has a bookmark every 30 s, where those are wanted") {
  Api api;
  const HttpResponse plain = api.Call("GET", kPodsPath + "?watch=1");
  const HttpResponse marked = api.Call("GET", kPodsPath + "?watch=1&allowWatchBookmarks=true");
  Make(api.cluster.store, {{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", "n1"}}}});
  for (int i = 0; i < 2; ++i) {
    CHECK(marked.watch->Next(milliseconds(0)) == "");
    CHECK(marked.watch->due_ms() == api.cluster.clock.MonotonicMs() + 30'000);
    api.cluster.clock.Advance(30'000);
    const Json line = Json::parse(marked.watch->Next(milliseconds(0)).value());
    CHECK(line["type"] == "BOOKMARK");
    CHECK(ResourceVersionOf(line["object"]) == api.cluster.store.resource_version());
    CHECK(plain.watch->Next(milliseconds(0)) == "");
  }
}

TEST_CASE("aggregated discovery is not sent again to a client that has it, until a kind comes or goes") {
  Api api;
  HttpRequest request{.method = "GET", .path = "/apis", .params = {}, .accept = {}, .content_type = {}, .body = {}};
  request.accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const HttpResponse first = api.handler.Handle(request);
  CHECK(first.code == 200);
  REQUIRE_FALSE(first.etag.empty());
  request.if_none_match = first.etag;
  CHECK(api.handler.Handle(request).code == 304);
  CHECK(api.handler.Handle(request).body.empty());
  CHECK(api.handler.Handle(request).content_type == first.content_type);
  api.cluster.store.StopServing("scheduling.k8s.io", "v1alpha2");
  const HttpResponse later = api.handler.Handle(request);
  CHECK(later.code == 200);
  CHECK(later.etag != first.etag);
}

// Tells whether the watch ends within a few pieces.
bool Ends(const HttpResponse& response) {
  for (int piece = 0; piece < 10; ++piece)
    if (!response.watch->Next(milliseconds(0))) return true;
  return false;
}

TEST_CASE("closing the watches ends them all, later ones too") {
  Api api;
  const HttpResponse before = api.Call("GET", kPodsPath + "?watch=1");
  CHECK_FALSE(Ends(before));
  api.handler.CloseWatches();
  CHECK(Ends(before));
  CHECK(Ends(api.Call("GET", kPodsPath + "?watch=1")));
}

TEST_CASE("tables and metadata come in the form asked for, protobuf clients get JSON") {
  Api api;
  Make(api.cluster.store, Pod("p"));
  api.cluster.clock.Advance(192'000);
  const Json table = api.Get(kPodsPath, kTable);
  CHECK(table["kind"] == "Table");
  CHECK(table["columnDefinitions"][0]["name"] == "Name");
  CHECK(table["rows"][0]["cells"][4] == "3m12s");
  CHECK(table["rows"][0]["object"]["kind"] == "PartialObjectMetadata");
  CHECK(api.Get(kPodsPath + "/p", kTable)["rows"].size() == 1);
  const Json partial = api.Get(kPodsPath, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
  CHECK_FALSE(partial["items"][0].contains("spec"));
  CHECK(api.Get(kPodsPath + "/p", "application/vnd.kubernetes.protobuf,application/json")["kind"] == "Pod");
  CHECK(api.Call("GET", kPodsPath, nullptr, "", "application/vnd.kubernetes.protobuf").code == 406);
}

TEST_CASE("a client that accepts no answer changes nothing") {
  Api api;
  const std::string kNothing = "application/vnd.kubernetes.protobuf";
  CHECK(api.Call("POST", kPodsPath, Pod("p"), "application/json", kNothing).code == 406);
  CHECK(api.Call("GET", kPodsPath + "/p").code == 404);
  Make(api.cluster.store, Pod("p"));
  const int64_t before = api.cluster.store.resource_version();
  CHECK(api.Call("PUT", kPodsPath + "/p", Pod("p"), "application/json", kNothing).code == 406);
  CHECK(api.Call("PATCH", kPodsPath + "/p", Json::object(), "application/merge-patch+json", kNothing).code == 406);
  CHECK(api.Call("DELETE", kPodsPath + "/p", nullptr, "", kNothing).code == 406);
  CHECK(api.cluster.store.resource_version() == before);
}

TEST_CASE("a pod is resized below its name, and nothing else of it changes there") {
  Api api;
  Json pod = Pod("p");
  pod["spec"]["containers"][0]["resources"]["requests"] = {{"cpu", "1"}, {"nvidia.com/gpu", "1"}};
  pod["spec"]["containers"][0]["resources"]["limits"] = {{"nvidia.com/gpu", "1"}};
  REQUIRE(api.Call("POST", kPodsPath, pod).code == 201);
  const auto resize = [&](const Json& patch) {
    return api.Call("PATCH", kPodsPath + "/p/resize", patch, "application/strategic-merge-patch+json");
  };
  const auto of_container = [](const Json& fields) {
    Json container = {{"name", "main"}};
    container.update(fields);
    return Json{{"spec", {{"containers", {container}}}}};
  };
  const HttpResponse done = resize(of_container({{"resources", {{"requests", {{"cpu", "500m"}}}}}}));
  INFO(done.body);
  REQUIRE(done.code == 200);
  const Json resized = Json::parse(done.body);
  CHECK(resized["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "500m");
  CHECK(resized["metadata"]["generation"] == 2);
  CHECK(api.Get(kPodsPath + "/p/resize")["kind"] == "Pod");
  CHECK(resize(of_container({{"image", "other"}})).code == 422);
  CHECK(resize(of_container({{"resources", {{"requests", {{"nvidia.com/gpu", "2"}}}}}})).code == 422);
  CHECK(resize({{"spec", {{"activeDeadlineSeconds", 9}}}}).code == 422);
  // It would be of another QoS class.
  CHECK(resize(of_container({{"resources", {{"requests", {{"cpu", nullptr}}}}}})).code == 422);
  // Labels and the status are not looked at.
  CHECK(resize({{"metadata", {{"labels", {{"a", "b"}}}}}, {"status", {{"phase", "Failed"}}}}).code == 200);
  const Json after = api.Get(kPodsPath + "/p");
  CHECK_FALSE(after["metadata"].contains("labels"));
  CHECK(after["status"]["phase"] == "Pending");
  CHECK(api.Call("PATCH", kPodsPath + "/p", of_container({{"resources", {{"requests", {{"cpu", "2"}}}}}}),
                 "application/strategic-merge-patch+json")
            .code == 422);
}

TEST_CASE("a request that contradicts its URL is refused") {
  Api api;
  Json pod = Pod("p");
  pod["metadata"]["namespace"] = "other";
  CHECK(api.Call("POST", kPodsPath, pod).code == 400);
  CHECK(api.Call("POST", kPodsPath, ConfigMap("c")).code == 400);
  CHECK(api.Call("POST", "/api/v1/pods", Pod("p")).code == 405);
  CHECK(api.Call("POST", kPodsPath, "not json").code == 400);
  CHECK(api.Call("POST", kPodsPath, Json::array()).code == 400);
  CHECK(api.Call("GET", "/api/v1/nodes/n/pods").code == 404);
  CHECK(api.Call("GET", "/apis/nope/v1/things").code == 404);
  CHECK(api.Call("GET", "/nothing").code == 404);
  CHECK(api.Call("PUT", kPodsPath + "/q", Pod("p")).code == 400);
  CHECK(api.Call("PATCH", kPodsPath + "/p", Json::object(), "text/plain").code == 415);
  CHECK(api.Call("POST", kPodsPath, Json{{"spec", 5}}).code == 400);
}

TEST_CASE("bodies may be YAML") {
  Api api;
  const HttpResponse made = api.Call("POST", "/api/v1/namespaces/default/configmaps",
                                     "metadata: {name: c}\ndata: {a: \"1\"}\n", "application/yaml");
  CHECK(made.code == 201);
  CHECK(api.Call("PATCH", "/api/v1/namespaces/default/configmaps/d?fieldManager=t", "data: {b: x}\n",
                 "application/apply-patch+yaml")
            .code == 201);
}

TEST_CASE("deletes answer with the pod, or with a Status that carries the uid") {
  Api api;
  Make(api.cluster.store, Pod("p"));
  const std::string uid = UidOf(*Make(api.cluster.store, ConfigMap("c")));
  CHECK(Json::parse(api.Call("DELETE", kPodsPath + "/p").body)["kind"] == "Pod");
  const Json options = {{"kind", "DeleteOptions"}, {"preconditions", {{"uid", "other"}}}};
  CHECK(api.Call("DELETE", "/api/v1/namespaces/default/configmaps/c", options).code == 409);
  const Json status = Json::parse(api.Call("DELETE", "/api/v1/namespaces/default/configmaps/c").body);
  CHECK(status["status"] == "Success");
  CHECK(status["details"]["uid"] == uid);
}

// k8s\0, then Unknown{typeMeta{v1, Binding}, raw Binding{metadata{name p}, target{kind Node, name n1}}}.
TEST_CASE("a binding may come as protobuf") {
  Api api;
  Make(api.cluster.store, Pod("p"));
  const auto field = [](int number, const std::string& bytes) {
    return std::string(1, char(number << 3 | 2)) + char(bytes.size()) + bytes;
  };
  const std::string meta = field(1, "p") + field(2, "") + field(3, "default");
  const std::string binding = field(1, meta) + field(2, field(1, "Node") + field(3, "n1"));
  const std::string body = std::string("k8s\0", 4) + field(1, field(1, "v1") + field(2, "Binding")) +
                           field(2, binding) + field(3, "") + field(4, "");
  const HttpResponse bound = api.Call("POST", kPodsPath + "/p/binding", body, "application/vnd.kubernetes.protobuf");
  INFO(bound.body);
  CHECK(bound.code == 201);
  CHECK(DigString(*api.cluster.store.Find(kPods, "default", "p"), "spec", "nodeName") == "n1");
  for (size_t cut = 0; cut < body.size(); ++cut) {
    const int code =
        api.Call("POST", kPodsPath + "/p/binding", Json(body.substr(0, cut)), "application/vnd.kubernetes.protobuf")
            .code;
    CHECK(code >= 400);
  }
}

}  // namespace
}  // namespace tutti::sim
