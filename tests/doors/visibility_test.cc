// SPDX-License-Identifier: Apache-2.0
#include "doors/visibility.h"

#include <fmt/format.h>

#include "base/json.h"
#include "doors/visibility_openapi.h"
#include "rig.h"

namespace tutti::doors {
namespace {

using observe::QueueView;

constexpr const char* kLeaf = "/v1beta2/clusterqueues/gpus/pendingworkloads";

observe::Decision Pending(const std::string& ns, const std::string& name, const std::string& local, int32_t priority,
                          base::Millis queued_ms, const std::string& leaf = "gpus") {
  observe::Decision decision = Waiting(ns, name, priority, 1'000, local);
  decision.gang.dialect = decision.queue_dialect = "kueue";
  auto quota = std::make_shared<observe::QuotaDecision>();
  quota->local_queue = local;
  quota->leaf = leaf;
  quota->queued_ms = queued_ms;
  decision.quota = std::move(quota);
  return decision;
}

QueueView QueueOf(QueueView::Kind kind, const std::string& ns, const std::string& name, const std::string& parent) {
  QueueView view;
  view.kind = kind;
  view.dialect = "kueue";
  view.ns = ns;
  view.name = name;
  view.parent = parent;
  return view;
}

// A ClusterQueue "gpus" with a LocalQueue in each of two namespaces, and three Workloads in line.
struct Line {
  base::VirtualClock clock{1'000'000};
  Stage stage;
  std::shared_ptr<const server::Rights> rights = std::make_shared<const server::AllRights>();
  std::unique_ptr<Desk> desk;

  Line() {
    stage.queues = {QueueOf(QueueView::Kind::kLeaf, "", "gpus", "everyone"),
                    QueueOf(QueueView::Kind::kLeaf, "", "empty", ""),
                    QueueOf(QueueView::Kind::kCohort, "", "everyone", ""),
                    QueueOf(QueueView::Kind::kLocal, "a", "team", "gpus"),
                    QueueOf(QueueView::Kind::kLocal, "b", "team", "gpus")};
    stage.Show(Pending("a", "late", "team", 0, 9'000));
    stage.Show(Pending("a", "early", "team", 0, 2'000));
    stage.Show(Pending("b", "urgent", "team", 7, 8'000));
  }

  server::FolderAnswer Ask(const std::string& path, const server::Query& query = {}) {
    if (!desk) desk = std::make_unique<Desk>(stage, clock);
    return Visibility(*desk).Show({.path = Visibility::kPrefix + path, .query = query, .rights = rights});
  }
  // Returns what waits: "name in-cluster-queue/in-local-queue"; or the Status: "code reason: message".
  std::vector<std::string> Names(const std::string& path, const server::Query& query = {}) {
    const server::FolderAnswer answer = Ask(path, query);
    CHECK(answer.type == std::string(server::kJson));
    const base::Json said = base::Json::parse(answer.body);
    if (said.at("kind") == "Status") {
      CHECK(said.at("code") == answer.status);
      CHECK(said.at("status") == "Failure");
      return {fmt::format("{} {}: {}", answer.status, said.at("reason").get<std::string>(),
                          said.at("message").get<std::string>())};
    }
    CHECK(answer.status == 200);
    CHECK(said.at("kind") == "PendingWorkloadsSummary");
    std::vector<std::string> names;
    for (const base::Json& item : said.at("items"))
      names.push_back(fmt::format("{} {}/{}", item.at("metadata").at("name").get<std::string>(),
                                  item.at("positionInClusterQueue").get<int>(),
                                  item.at("positionInLocalQueue").get<int>()));
    return names;
  }
};

using Names = std::vector<std::string>;

TEST_CASE("what waits for a ClusterQueue is told in the order of its line") {
  Line line;
  CHECK(line.Names(kLeaf) == Names{"urgent 0/0", "early 1/0", "late 2/1"});
  CHECK(line.Names("/v1beta1/clusterqueues/gpus/pendingworkloads") == line.Names(kLeaf));
  CHECK(line.Names("/v1beta2/namespaces/a/localqueues/team/pendingworkloads") == Names{"early 1/0", "late 2/1"});
  CHECK(line.Names("/v1beta2/clusterqueues/empty/pendingworkloads").empty());
  const base::Json first = base::Json::parse(line.Ask(kLeaf).body).at("items").at(0);
  CHECK(first == base::Json{{"metadata",
                             {{"name", "urgent"}, {"namespace", "b"}, {"creationTimestamp", "1970-01-01T00:00:01Z"}}},
                            {"priority", 7},
                            {"localQueueName", "team"},
                            {"positionInClusterQueue", 0},
                            {"positionInLocalQueue", 0}});
}

TEST_CASE("only what stands in a line for quota is told, and only there") {
  Line line;
  line.stage.Show(Pending("a", "has-quota", "team", 0, 0));
  line.stage.Show(Pending("a", "misled", "gpus", 0, 1, "gpus"));  // a LocalQueue that does not exist
  line.stage.Show(Waiting("a", "of-volcano", 0, 1, "team"));
  CHECK(line.Names(kLeaf) == Names{"urgent 0/0", "early 1/0", "late 2/1"});
}

TEST_CASE("a part of a line is told by offset and limit") {
  Line line;
  CHECK(line.Names(kLeaf, {{"limit", "1"}}) == Names{"urgent 0/0"});
  CHECK(line.Names(kLeaf, {{"offset", "1"}, {"limit", "1"}}) == Names{"early 1/0"});
  CHECK(line.Names(kLeaf, {{"offset", "3"}}).empty());
  CHECK(line.Names(kLeaf, {{"offset", "-5"}, {"limit", "0"}}).size() == 3);
  CHECK(line.Names("/v1beta2/namespaces/a/localqueues/team/pendingworkloads", {{"offset", "1"}}) ==
        Names{"late 2/1"});
  CHECK(line.Names(kLeaf, {{"limit", "many"}}) == Names{"400 BadRequest: limit must be a whole number"});
  for (int i = 0; i < Visibility::kMostLimit; ++i)
    line.stage.Show(Pending("b", fmt::format("w{:05}", i), "team", 1, 1'000));
  line.desk.reset();
  CHECK(line.Names(kLeaf).size() == Visibility::kUsualLimit);
  CHECK(line.Names(kLeaf, {{"limit", "9000000000"}}).size() == Visibility::kMostLimit);
}

TEST_CASE("a user gets the lines that it has the right to, and no word of others") {
  Line line;
  const auto dev = std::make_shared<SomeRights>(std::vector<std::string>{});
  dev->queues = {{"a", "team"}};
  line.rights = dev;
  CHECK(line.Names("/v1beta2/namespaces/a/localqueues/team/pendingworkloads").size() == 2);
  const std::string forbidden =
      "403 Forbidden: localqueues.visibility.kueue.x-k8s.io \"team\" is forbidden: User \"dev\" cannot get resource "
      "\"localqueues/pendingworkloads\" in API group \"visibility.kueue.x-k8s.io\" in the namespace \"b\"";
  CHECK(line.Names("/v1beta2/namespaces/b/localqueues/team/pendingworkloads") == Names{forbidden});
  for (const char* name : {"gpus", "unknown"})
    CHECK(line.Names(fmt::format("/v1beta2/clusterqueues/{}/pendingworkloads", name)).at(0).starts_with("403 "));
  CHECK(line.Names("").at(0) ==
        "403 Forbidden: forbidden: User \"dev\" cannot get path \"/apis/visibility.kueue.x-k8s.io\"");
  dev->gets = true;
  CHECK(line.Ask("").status == 200);
  dev->down = true;
  CHECK(line.Names(kLeaf).at(0).starts_with("503 ServiceUnavailable: "));
}

TEST_CASE("what is not there is not found") {
  Line line;
  for (const char* path :
       {"/", "/v1", "/v1beta2/", "/v1beta2/clusterqueues", "/v1beta2/clusterqueues/gpus", "x",
        "/v1beta2/clusterqueues//pendingworkloads", "/v1beta2/clusterqueues/gpus/pendingworkloads/more",
        "/v1beta2/localqueues/team/pendingworkloads", "/v1beta2/namespaces//localqueues/team/pendingworkloads"})
    CHECK(line.Names(path) == Names{"404 NotFound: the server could not find the requested resource"});
  for (const char* path : {"/v1beta2/clusterqueues/unknown/pendingworkloads",
                           "/v1beta2/clusterqueues/everyone/pendingworkloads",
                           "/v1beta2/clusterqueues/team/pendingworkloads",
                           "/v1beta2/namespaces/c/localqueues/team/pendingworkloads"})
    CHECK(line.Names(path).at(0).ends_with(" not found"));
}

TEST_CASE("a process that does not lead knows no line, and says what the API has all the same") {
  Line line;
  line.stage.not_leading = "not the leader";
  CHECK(line.Names(kLeaf) == Names{"503 ServiceUnavailable: not the leader"});
  CHECK(line.Ask("/v1beta2").status == 200);
}

TEST_CASE("discovery names the group, its versions and their resources") {
  Line line;
  const base::Json group = base::Json::parse(line.Ask("").body);
  CHECK(group.at("kind") == "APIGroup");
  CHECK(group.at("preferredVersion").at("groupVersion") == "visibility.kueue.x-k8s.io/v1beta2");
  CHECK(group.at("versions").size() == 2);
  CHECK(base::Json::parse(Visibility::Groups()).at("groups").at(0).at("name") == "visibility.kueue.x-k8s.io");
  for (const char* version : {"v1beta1", "v1beta2"}) {
    const base::Json list = base::Json::parse(line.Ask(std::string("/") + version).body);
    CHECK(list.at("groupVersion") == std::string("visibility.kueue.x-k8s.io/") + version);
    Names got;
    for (const base::Json& resource : list.at("resources"))
      if (!resource.at("verbs").empty()) got.push_back(resource.at("name").get<std::string>());
    CHECK(got == Names{"clusterqueues/pendingworkloads", "localqueues/pendingworkloads"});
  }
}

TEST_CASE("OpenAPI has a document for each version, and in it all that the API answers with") {
  Line line;
  const base::Json answer = base::Json::parse(line.Ask(kLeaf).body);
  const base::Json index = base::Json::parse(OpenApiIndex()).at("paths");
  CHECK(index.size() == 2);
  for (const std::string version : {"v1beta1", "v1beta2"}) {
    const std::string url = index.at("apis/visibility.kueue.x-k8s.io/" + version).at("serverRelativeURL");
    CHECK(url.starts_with("/openapi/v3/apis/visibility.kueue.x-k8s.io/" + version + "?hash="));
    CHECK(url.starts_with(OpenApiPathOf(version) + "?"));
    const base::Json document = base::Json::parse(OpenApiOf(version));
    for (const char* of : {"clusterqueues", "namespaces/{namespace}/localqueues"})
      CHECK(document.at("paths").contains(std::string(Visibility::kPrefix) + "/" + version + "/" + of +
                                          "/{name}/pendingworkloads"));
    const base::Json& schemas = document.at("components").at("schemas");
    for (const auto& [field, value] : answer.items())
      CHECK(schemas.at("PendingWorkloadsSummary").at("properties").contains(field));
    for (const auto& [field, value] : answer.at("items").at(0).items())
      CHECK(schemas.at("PendingWorkload").at("properties").contains(field));
  }
}

}  // namespace
}  // namespace tutti::doors
