// SPDX-License-Identifier: Apache-2.0
// The whole client against a real kube-apiserver: what the scripted server of the unit tests is believed to do, it
// does. Needs KUBECONFIG, and a cluster without controllers or kubelets (see `run`). Objects are named by this process,
// so that it may be run again.
#include <unistd.h>

#include <chrono>

#include "base/json.h"
#include "base/mailbox.h"
#include "kube/client.h"
#include "tests/support/catch.h"

namespace tutti::kube {
namespace {

using cluster::CommandReply;
using cluster::Outcome;
using json = base::Json;

const std::string kRun = "live" + std::to_string(getpid());

class Sink final : public cluster::EventSink {
 public:
  void Post(cluster::FeedEvent event) override { mailbox.Put(std::move(event)); }
  base::Mailbox<cluster::FeedEvent> mailbox;
};

struct Rig {
  base::SystemClock clock;
  Sink sink;
  KubeClient client{LoadedConfig(), {}, clock, sink};
  std::vector<cluster::FeedEvent> seen;
  uint64_t last_id = 0;

  static Config LoadedConfig() {
    auto config = LoadConfig({});
    if (!config) throw std::runtime_error(config.error().message);
    return *config;
  }
  // Until an event satisfies `match`, or ten seconds have passed.
  template <typename T>
  std::optional<T> Await(const std::function<bool(const T&)>& match, int seconds = 10) {
    const base::Millis give_up = clock.MonotonicMs() + seconds * 1000;
    size_t next = 0;
    while (true) {
      for (; next < seen.size(); ++next)
        if (const T* event = std::get_if<T>(&seen[next]); event != nullptr && match(*event)) return *event;
      if (clock.MonotonicMs() > give_up) return std::nullopt;
      for (auto& event : sink.mailbox.TakeAll(std::chrono::milliseconds(100))) seen.push_back(std::move(event));
    }
  }
  std::optional<CommandReply> Do(cluster::CommandBody body, cluster::Lane lane = cluster::Lane::kBind) {
    const uint64_t id = ++last_id;
    client.writer().Submit({{id, lane, clock.MonotonicMs() + 10'000, std::move(body)}});
    return Await<CommandReply>([id](const CommandReply& answer) { return answer.id == id; }, 12);
  }
  json Get(const std::string& target) {
    const auto reply = client.Get(target);
    return reply ? json::parse(reply->body, nullptr, false) : json();
  }
  void MakeNode(const std::string& name) {
    const json node = {{"apiVersion", "v1"},
                       {"kind", "Node"},
                       {"metadata", {{"name", name}}},
                       {"status", {{"allocatable", {{"cpu", "8"}, {"pods", "10"}}}}}};
    REQUIRE(Do(cluster::Create{cluster::NewRef("", "v1", "nodes", "Node", "", ""), node.dump()})->outcome ==
            Outcome::kDone);
  }
  cluster::ObjectRef MakePod(const std::string& name) {
    const json pod = {
        {"apiVersion", "v1"},
        {"kind", "Pod"},
        {"metadata", {{"name", name}, {"namespace", "default"}}},
        {"spec",
         {{"schedulerName", kRun},
          {"containers", {{{"name", "c"}, {"image", "i"}, {"resources", {{"requests", {{"cpu", "250m"}}}}}}}}}}};
    REQUIRE(Do(cluster::Create{cluster::NewRef("", "v1", "pods", "Pod", "default", ""), pod.dump()})->outcome ==
            Outcome::kDone);
    const auto changed = Await<cluster::PodChanged>([&](const auto& e) { return e.pod->meta.name == name; });
    REQUIRE(changed);
    cluster::ObjectRef ref = cluster::RefOf(changed->pod);
    ref.resource_version = changed->pod->meta.resource_version;
    return ref;
  }
};

TEST_CASE("binding: preconditions, conflicts, annotations, vanished pods") {
  Rig rig;
  rig.client.LeadAlone();
  rig.client.feed().Start({});
  REQUIRE(rig.Await<cluster::KindSynced>([](const auto& e) { return e.kind_name == "pods" && e.served; }));
  REQUIRE(rig.Await<cluster::KindSynced>([](const auto& e) { return e.kind_name == "nodes" && e.served; }));
  const std::string node = kRun + "-n1", other = kRun + "-n2";
  rig.MakeNode(node);
  rig.MakeNode(other);
  REQUIRE(rig.Await<cluster::NodeChanged>(
      [&](const auto& e) { return e.node->meta.name == node && e.node->allocatable.Get("cpu") == 8000; }));

  auto pod = rig.MakePod(kRun + "-a");
  CHECK(rig.Do(cluster::Bind{pod, node, {{"tutti.dev/plan", "p1"}}})->outcome == Outcome::kDone);
  const auto bound =
      rig.Await<cluster::PodChanged>([&](const auto& e) { return e.pod->meta.uid == pod.uid() && e.pod->bound(); });
  REQUIRE(bound);
  CHECK(bound->pod->node_name == node);
  CHECK(bound->pod->spec->requests.Get("cpu") == 250);
  CHECK(bound->pod->scheduled.status);
  REQUIRE(model::Find(bound->pod->meta.annotations, "tutti.dev/plan") != nullptr);

  // Again as it is: done. Elsewhere: refused, and where it is.
  CHECK(rig.Do(cluster::Bind{pod, node, {{"tutti.dev/plan", "p1"}}})->outcome == Outcome::kDone);
  const auto elsewhere = rig.Do(cluster::Bind{pod, other, {}});
  CHECK(elsewhere->outcome == Outcome::kRefused);
  CHECK(elsewhere->current_node == node);

  // Another UID, an older version, no such pod.
  const auto stale = rig.MakePod(kRun + "-b");
  const auto like = [](const cluster::ObjectRef& ref, const std::string& name, const std::string& uid) {
    return cluster::NewRef("", "v1", "pods", "Pod", "default", name, uid, ref.resource_version);
  };
  const auto wrong = like(stale, stale.name(), "00000000-0000-0000-0000-000000000000");
  CHECK(rig.Do(cluster::Bind{wrong, node, {}})->gone);
  REQUIRE(
      rig
          .Do(cluster::Patch{
              cluster::NewRef("", "v1", "pods", "Pod", "default", stale.name(), stale.uid()), true,
              cluster::Patch::Type::kStrategic,
              R"({"status":{"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"m"}]}})"})
          ->outcome == Outcome::kDone);
  const auto old = rig.Do(cluster::Bind{stale, node, {}});
  CHECK(old->outcome == Outcome::kRefused);
  CHECK(old->current_node.empty());
  CHECK_FALSE(old->gone);
  const auto waiting = rig.Await<cluster::PodChanged>(
      [&](const auto& e) { return e.pod->meta.uid == stale.uid() && e.pod->scheduled.present; });
  REQUIRE(waiting);
  CHECK(waiting->pod->scheduled.reason == "Unschedulable");
  CHECK(rig.Do(cluster::Bind{like(stale, kRun + "-none", stale.uid()), node, {}})->gone);

  // A delete with another UID leaves the pod; with its own it goes, and going twice is fine.
  CHECK(rig.Do(cluster::Delete{wrong})->outcome == Outcome::kDone);
  CHECK(rig.Get("/api/v1/namespaces/default/pods/" + stale.name()).at("metadata").at("uid") == stale.uid());
  CHECK(rig.Do(cluster::Delete{stale})->outcome == Outcome::kDone);
  REQUIRE(rig.Await<cluster::PodGone>([&](const auto& e) { return e.uid == stale.uid(); }));
  CHECK(rig.Do(cluster::Delete{stale})->outcome == Outcome::kDone);
  rig.client.Shutdown(3'000);
}

TEST_CASE("objects of other kinds are made, patched, tried and deleted") {
  Rig rig;
  rig.client.LeadAlone();
  rig.client.feed().Start({});
  const auto ref = [](const std::string& name, const std::string& uid = "", const std::string& version = "") {
    return cluster::NewRef("", "v1", "configmaps", "ConfigMap", "default", name, uid, version);
  };
  const json body = {{"apiVersion", "v1"},
                     {"kind", "ConfigMap"},
                     {"metadata", {{"generateName", kRun + "-"}}},
                     {"data", {{"a", "1"}}}};
  const auto tried = rig.Do(cluster::Create{ref(""), body.dump(), true});
  REQUIRE(tried->outcome == Outcome::kDone);
  REQUIRE(tried->object != nullptr);
  const auto path = [](const std::string& name) { return "/api/v1/namespaces/default/configmaps/" + name; };
  CHECK(rig.Get(path(tried->object->meta.name)).at("code") == 404);

  const auto made = rig.Do(cluster::Create{ref(""), body.dump()});
  REQUIRE(made->outcome == Outcome::kDone);
  REQUIRE(made->object != nullptr);
  const std::string name = made->object->meta.name, uid = made->object->meta.uid;
  CHECK(name.starts_with(kRun + "-"));
  CHECK(rig.Get(path(name)).at("metadata").at("uid") == uid);

  const auto patch = [&](const cluster::ObjectRef& object, const char* value, bool dry_run = false) {
    const json operations = {{{"op", "replace"}, {"path", "/data/a"}, {"value", value}}};
    return rig.Do(cluster::Patch{object, false, cluster::Patch::Type::kJson, operations.dump(), dry_run});
  };
  const auto value = [&] { return rig.Get(path(name)).at("data").at("a").get<std::string>(); };
  CHECK(patch(ref(name, uid, made->object->meta.resource_version), "2")->outcome == Outcome::kDone);
  CHECK(value() == "2");
  CHECK(patch(ref(name, uid, made->object->meta.resource_version), "3")->http_status == 409);
  const auto another = ref(name, "00000000-0000-0000-0000-000000000000");
  CHECK(patch(another, "3")->http_status == 422);
  CHECK(rig.Do(cluster::Patch{another, false, cluster::Patch::Type::kMerge, R"({"data":{"a":"3"}})"})->http_status ==
        422);
  CHECK(value() == "2");
  CHECK(patch(ref(name, uid), "3", true)->outcome == Outcome::kDone);
  CHECK(value() == "2");

  CHECK(rig.Do(cluster::Delete{ref(name, uid), cluster::Propagation::kForeground, true})->outcome == Outcome::kDone);
  CHECK_FALSE(rig.Get(path(name)).at("metadata").contains("deletionTimestamp"));
  CHECK(rig.Do(cluster::Delete{ref(name, uid), cluster::Propagation::kOrphan})->outcome == Outcome::kDone);
  // No controller is there to take the finalizer off.
  CHECK(rig.Get(path(name)).at("metadata").at("finalizers") == json{"orphan"});
  rig.client.Shutdown(3'000);
}

TEST_CASE("Events are accepted, and repeats become a series") {
  Rig rig;
  rig.client.LeadAlone();
  rig.client.feed().Start({});
  const auto pod = rig.MakePod(kRun + "-e");
  const cluster::EmitEvent event{pod, true, "FailedScheduling", "Scheduling", std::string(2000, 'x'), "tutti"};
  REQUIRE(rig.Do(event, cluster::Lane::kEvent)->outcome == Outcome::kDone);
  REQUIRE(rig.Do(event, cluster::Lane::kEvent)->outcome == Outcome::kDone);
  const json events =
      rig.Get("/apis/events.k8s.io/v1/namespaces/default/events?fieldSelector=reason%3DFailedScheduling");
  int found = 0;
  for (const json& item : events.at("items")) {
    if (item.at("regarding").at("name") != pod.name()) continue;
    ++found;
    CHECK(item.at("series").at("count") == 2);
    CHECK(item.at("note").get<std::string>().size() == 1024);
    CHECK(item.at("regarding").at("apiVersion") == "v1");
    CHECK(item.at("type") == "Warning");
    CHECK(item.at("reportingInstance").get<std::string>().starts_with("tutti-"));
  }
  CHECK(found == 1);
  rig.client.Shutdown(3'000);
}

json Definition(const std::string& group, const std::vector<std::string>& versions) {
  json list = json::array();
  for (const std::string& version : versions)
    list.push_back(
        {{"name", version},
         {"served", true},
         {"storage", version == versions.front()},
         {"subresources", {{"status", json::object()}}},
         {"schema", {{"openAPIV3Schema", {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}}}}});
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", "queues." + group}}},
          {"spec",
           {{"group", group},
            {"scope", "Cluster"},
            {"names", {{"plural", "queues"}, {"singular", "queue"}, {"kind", "Queue"}}},
            {"versions", list}}}};
}

TEST_CASE("custom resources come, gain a version, and go while it runs") {
  Rig rig;
  rig.client.LeadAlone();
  const std::string group = kRun + ".example.com", kind = "queues." + group;
  const model::ObjectKind asked{group, "queues", "Queue", {"v2", "v1"}};
  const model::ObjectKind definitions{
      "apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition", {"v1"}};
  rig.client.feed().Start({asked, definitions});
  const auto synced = [&](bool served) {
    return rig.Await<cluster::KindSynced>([&](const auto& e) { return e.kind_name == kind && e.served == served; }, 15);
  };
  REQUIRE(synced(false));
  REQUIRE(rig.Await<cluster::KindSynced>([&](const auto& e) { return e.kind_name == definitions.Name(); }));
  rig.seen.clear();

  const base::Millis made_ms = rig.clock.MonotonicMs();
  const cluster::ObjectRef definition =
      cluster::NewRef("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", "", kind);
  REQUIRE(rig.Do(cluster::Create{definition, Definition(group, {"v1"}).dump()})->outcome == Outcome::kDone);
  REQUIRE(synced(true));
  CHECK(rig.clock.MonotonicMs() - made_ms < 8'000);

  const cluster::ObjectRef queue = cluster::NewRef(group, "", "queues", "Queue", "", "q");
  const json body = {
      {"apiVersion", group + "/v1"}, {"kind", "Queue"}, {"metadata", {{"name", "q"}}}, {"spec", {{"weight", 1}}}};
  REQUIRE(rig.Do(cluster::Create{queue, body.dump()})->outcome == Outcome::kDone);
  const auto object = rig.Await<cluster::ObjectChanged>(
      [&](const auto& e) { return e.object->resource == "queues" && e.object->meta.name == "q"; });
  REQUIRE(object);
  CHECK(object->object->version == "v1");
  REQUIRE(rig.Do(cluster::Patch{queue, true, cluster::Patch::Type::kMerge, R"({"status":{"state":"Open"}})"},
                 cluster::Lane::kStatus)
              ->outcome == Outcome::kDone);
  REQUIRE(rig.Await<cluster::ObjectChanged>([&](const auto& e) {
    return e.object->resource == "queues" && e.object->body->contains("status") &&
           e.object->body->at("status").at("state") == "Open";
  }));

  const json more = {{"spec", {{"versions", Definition(group, {"v1", "v2"}).at("spec").at("versions")}}}};
  REQUIRE(rig.Do(cluster::Patch{definition, false, cluster::Patch::Type::kMerge, more.dump()})->outcome ==
          Outcome::kDone);
  REQUIRE(rig.Await<cluster::ObjectChanged>(
      [&](const auto& e) { return e.object->resource == "queues" && e.object->version == "v2"; }, 20));

  rig.seen.clear();
  REQUIRE(rig.Do(cluster::Delete{definition})->outcome == Outcome::kDone);
  REQUIRE(synced(false));
  CHECK(rig.Await<cluster::ObjectGone>([&](const auto& e) { return e.kind_name == kind && e.name == "q"; }));
  rig.client.Shutdown(3'000);
}

TEST_CASE("the lease has one holder, and passes on at once when it is given up") {
  LeaseOptions options;
  options.name = kRun;
  Rig first, second;
  for (Rig* rig : {&first, &second}) rig->client.feed().Start({});  // a leader waits for its list of pods
  options.identity = MakeIdentity();
  first.client.Elect(options);
  const auto led = first.Await<cluster::Leadership>([](const auto& e) { return e.leading; });
  REQUIRE(led);
  CHECK(led->plan_after_ms <= first.clock.MonotonicMs());
  CHECK(
      first.Get("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/" + kRun).at("spec").at("holderIdentity") ==
      options.identity);
  options.identity = MakeIdentity();
  second.client.Elect(options);
  CHECK_FALSE(second.Await<cluster::Leadership>([](const auto&) { return true; }, 3));
  first.client.Shutdown(3'000);
  CHECK(second.Await<cluster::Leadership>([](const auto& e) { return e.leading; }, 6));
  const json lease = second.Get("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/" + kRun);
  CHECK(lease.at("spec").at("holderIdentity") == options.identity);
  CHECK(lease.at("spec").at("leaseTransitions").get<int>() >= 1);
  second.client.Shutdown(3'000);
}

}  // namespace
}  // namespace tutti::kube
