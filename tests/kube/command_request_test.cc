// SPDX-License-Identifier: Apache-2.0
#include "kube/command_request.h"

#include "base/json.h"
#include "tests/kube/writer_rig.h"

namespace tutti::kube {
namespace {

using cluster::Create;
using cluster::Delete;
using cluster::NewRef;
using cluster::Patch;
using cluster::Propagation;

constexpr const char* kUid = R"("preconditions":{"uid":"u"})";

struct Row {
  const char* what;
  cluster::CommandBody command;
  Method method;
  std::string target, content_type, accept;
  std::string body;  // JSON; empty: it is not compared
};

cluster::ObjectRef Queue(const char* uid = "", const char* version = "") {
  return NewRef("g", "", "queues", "Queue", "", "q", uid, version);
}
cluster::ObjectRef Pod(const char* uid = "", const char* version = "") {
  return NewRef("", "v1", "pods", "Pod", "ns", "p", uid, version);
}

Patch Patched(cluster::ObjectRef object, Patch::Type type, const char* body, bool status = false,
              bool dry_run = false) {
  return {std::move(object), status, type, body, dry_run};
}

const std::string kPod = "/api/v1/namespaces/ns/pods/p", kQueues = "/apis/g/v1beta1/queues";
const std::string kMerge = "application/merge-patch+json", kOperations = "application/json-patch+json";

const std::vector<Row> kRows = {
    {"a bind", cluster::Bind{Pod("u"), "n", {}}, Method::kPost, kPod + "/binding", kProtobuf, kProtobufOrJson, ""},
    {"a delete", Delete{Pod("u")}, Method::kDelete, kPod, kJson, kProtobufOrJson,
     std::string(R"({"apiVersion":"v1","kind":"DeleteOptions",)") + kUid + "}"},
    {"a delete that orphans", Delete{Queue(), Propagation::kOrphan}, Method::kDelete, kQueues + "/q", kJson,
     kProtobufOrJson, R"({"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Orphan"})"},
    {"a delete in the foreground, tried", Delete{Queue("u"), Propagation::kForeground, true}, Method::kDelete,
     kQueues + "/q", kJson, kProtobufOrJson,
     std::string(R"({"apiVersion":"v1","kind":"DeleteOptions","dryRun":["All"],"propagationPolicy":"Foreground",)") +
         kUid + "}"},
    {"a delete in the background", Delete{Queue(), Propagation::kBackground}, Method::kDelete, kQueues + "/q", kJson,
     kProtobufOrJson, R"({"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Background"})"},
    {"a merge patch of a status", Patched(Queue("u", "5"), Patch::Type::kMerge, R"({"status":{}})", true),
     Method::kPatch, kQueues + "/q/status", kMerge, kJson,
     R"({"metadata":{"resourceVersion":"5","uid":"u"},"status":{}})"},
    {"a strategic patch, tried", Patched(Pod(), Patch::Type::kStrategic, "{}", false, true), Method::kPatch,
     kPod + "?dryRun=All", "application/strategic-merge-patch+json", kProtobufOrJson, "{}"},
    {"operations", Patched(Queue(), Patch::Type::kJson, R"([{"op":"remove","path":"/spec/x"}])"), Method::kPatch,
     kQueues + "/q", kOperations, kJson, R"([{"op":"remove","path":"/spec/x"}])"},
    {"operations with preconditions", Patched(Queue("u", "5"), Patch::Type::kJson, "[]"), Method::kPatch,
     kQueues + "/q", kOperations, kJson,
     R"([{"op":"add","path":"/metadata/uid","value":"u"},{"op":"add","path":"/metadata/resourceVersion","value":"5"}])"},
    {"a create", Create{Queue(), R"({"a":1})"}, Method::kPost, kQueues, kJson, kJson, R"({"a":1})"},
    {"a create, tried", Create{Pod(), "{}", true}, Method::kPost, "/api/v1/namespaces/ns/pods?dryRun=All", kJson, kJson,
     "{}"},
};

TEST_CASE("Each command has its request") {
  const ServedKinds kinds;
  const RequestContext context{kinds, Encoding::kProtobuf, "tutti", "host"};
  for (const Row& row : kRows) {
    INFO(row.what);
    const auto request = RequestOf(row.command, context);
    REQUIRE(request);
    CHECK(request->method == row.method);
    CHECK(request->target == row.target);
    CHECK(request->content_type == row.content_type);
    CHECK(request->accept == row.accept);
    if (!row.body.empty()) CHECK(base::Json::parse(request->body) == base::Json::parse(row.body));
  }
}

TEST_CASE("A command whose kind is not served, or whose body is of another form, has no request") {
  const ServedKinds kinds;
  const RequestContext context{kinds, Encoding::kProtobuf, "tutti", "host"};
  const cluster::ObjectRef unknown = NewRef("unknown", "", "things", "Thing", "ns", "x");
  const std::vector<std::pair<cluster::CommandBody, std::string>> rows = {
      {Delete{unknown}, "things is not served"},
      {Create{unknown, "{}"}, "things is not served"},
      {Patched(unknown, Patch::Type::kMerge, "{}"), "things is not served"},
      {Patched(Queue(), Patch::Type::kMerge, "[]"), "the patch is not a JSON object"},
      {Patched(Queue("u"), Patch::Type::kMerge, R"({"metadata":[]})"), "the patch's metadata is not an object"},
      {Patched(Queue("u"), Patch::Type::kJson, "{}"), "the patch is not a list of operations"},
  };
  for (const auto& [command, why] : rows) {
    const auto request = RequestOf(command, context);
    REQUIRE_FALSE(request);
    CHECK(request.error().message == why);
  }
}

TEST_CASE("Only a create that leaves the name to the API server may not be repeated") {
  const auto repeats = [](const char* body, bool dry_run = false) { return MayRepeat(Create{Queue(), body, dry_run}); };
  CHECK(MayRepeat(Delete{Pod()}));
  CHECK(repeats(R"({"metadata":{"name":"x"}})"));
  CHECK(repeats(R"({"metadata":{"name":"x","generateName":"x-"}})"));
  CHECK(repeats(R"({"spec":{"template":{"metadata":{"generateName":"x-"}}}})"));
  CHECK_FALSE(repeats(R"({"metadata":{"generateName":"x-"}})"));
  CHECK(repeats(R"({"metadata":{"generateName":"x-"}})", true));
}

}  // namespace
}  // namespace tutti::kube
