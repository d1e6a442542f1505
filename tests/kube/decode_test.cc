// SPDX-License-Identifier: Apache-2.0
#include "kube/decode.h"

#include "base/json.h"
#include "cluster/json_decode.h"
#include "fakes.h"
#include "kube/decode_meta.h"
#include "kube/watch_parser.h"
#include "tests/support/catch.h"

namespace tutti::kube {
namespace {

void Map(WireWriter& w, uint32_t field, const std::string& key, const std::string& value) {
  w.Message(field, [&](WireWriter& e) { e.Bytes(1, key), e.Bytes(2, value); });
}
void Amount(WireWriter& w, uint32_t field, const std::string& key, const std::string& quantity) {
  w.Message(field, [&](WireWriter& e) {
    e.Bytes(1, key);
    e.Message(2, [&](WireWriter& q) { q.Bytes(1, quantity); });
  });
}

struct PodText {
  std::string name = "worker-0", node, volume = "kube-api-access-x1y2z", cpu = "500m";
  std::string phase = "Pending";
};

std::string PodMessage(const PodText& pod) {
  std::string message;
  WireWriter w(&message);
  w.Message(1, [&](WireWriter& m) {
    m.Text(1, pod.name), m.Text(3, "ml"), m.Text(5, "uid-" + pod.name), m.Text(6, "4711"), m.Number(7, 3);
    m.Message(8, [](WireWriter& t) { t.Number(1, 1'700'000'000); });
    Map(m, 11, "ray.io/cluster", "c0");
    Map(m, 11, "app", "x");
    Map(m, 12, "kubectl.kubernetes.io/last-applied-configuration", std::string(5000, 'x'));
    Map(m, 12, "note", "kept");
    m.Message(13, [](WireWriter& o) {
      o.Text(1, "RayCluster"), o.Text(3, "c0"), o.Text(4, "u0"), o.Text(5, "ray.io/v1"), o.Number(6, 1);
    });
    m.Message(17, [](WireWriter& f) { f.Text(1, std::string(3000, 'm')); });
  });
  w.Message(2, [&](WireWriter& s) {
    s.Message(1, [&](WireWriter& v) {
      v.Text(1, pod.volume);
      v.Message(2, [](WireWriter& source) { source.Message(26, [](WireWriter&) {}); });
    });
    s.Message(2, [&](WireWriter& c) {
      c.Text(1, "main"), c.Text(2, "ray:2"), c.Bytes(5, "");
      c.Message(6, [](WireWriter& p) { p.Number(2, 8265), p.Number(3, 8265), p.Text(4, "TCP"); });
      c.Message(7, [&](WireWriter& env) { env.Text(1, "POD"), env.Text(2, pod.name); });
      c.Message(8, [&](WireWriter& r) {
        Amount(r, 1, "cpu", "2");
        Amount(r, 2, "cpu", pod.cpu);
        Amount(r, 2, "memory", "1Gi");
        Amount(r, 2, "nvidia.com/gpu", "1");
      });
    });
    Map(s, 7, "zone", "a");
    s.Text(10, pod.node);
    s.Message(18, [](WireWriter& a) {
      a.Message(1, [](WireWriter& n) {
        n.Message(1, [](WireWriter& req) {
          req.Message(1, [](WireWriter& term) {
            term.Message(
                1, [](WireWriter& e) { e.Text(1, "gpu"), e.Text(2, "In"), e.Text(3, "a100"), e.Text(3, "h100"); });
          });
        });
        n.Message(2, [](WireWriter& p) {
          p.Number(1, 7);
          p.Message(2, [](WireWriter& term) {
            term.Message(2, [](WireWriter& e) { e.Text(1, "metadata.name"), e.Text(2, "Gt"), e.Text(3, "1"); });
          });
        });
      });
      a.Message(3, [](WireWriter& anti) {
        anti.Message(1, [](WireWriter& t) {
          t.Message(1, [](WireWriter& sel) { Map(sel, 1, "app", "x"); });
          t.Text(2, "other"), t.Text(3, "kubernetes.io/hostname"), t.Message(4, [](WireWriter&) {}), t.Text(5, "rev");
        });
      });
    });
    s.Text(19, "tutti");
    s.Message(20, [](WireWriter& c) {
      c.Text(1, "side"), c.Text(2, "proxy"), c.Text(24, "Always");
      c.Message(8, [](WireWriter& r) { Amount(r, 2, "cpu", "100m"); });
    });
    s.Message(22, [](WireWriter& t) { t.Text(1, "gpu"), t.Text(2, "Exists"), t.Text(4, "NoSchedule"); });
    s.Number(25, -5);
    s.Text(31, "Never");
    Amount(s, 32, "cpu", "10m");
    s.Message(33, [](WireWriter& c) {
      c.Number(1, 2), c.Text(2, "zone"), c.Text(3, "ScheduleAnyway"), c.Number(5, 3), c.Text(6, "Honor");
      c.Message(4,
                [](WireWriter& sel) { sel.Message(2, [](WireWriter& e) { e.Text(1, "app"), e.Text(2, "Exists"); }); });
    });
    s.Message(38, [](WireWriter& g) { g.Text(1, "wait"); });
    s.Message(43, [](WireWriter& g) { g.Text(1, "pg"); });
  });
  w.Message(3, [&](WireWriter& s) {
    s.Text(1, pod.phase);
    s.Message(2, [](WireWriter& c) {
      c.Text(1, "PodScheduled"), c.Text(2, "False"), c.Text(5, "Unschedulable"), c.Text(6, "0/4 nodes");
    });
    s.Message(2, [](WireWriter& c) { c.Text(1, "tutti.dev/Preempting"), c.Text(2, "True"), c.Text(6, "{}"); });
    s.Message(
        2, [](WireWriter& c) { c.Text(1, "DisruptionTarget"), c.Text(2, "True"), c.Text(5, "PreemptionByScheduler"); });
    s.Text(4, "Evicted");
    s.Message(7, [](WireWriter& t) { t.Number(1, 1'700'000'100); });
    s.Text(11, "n7");
  });
  return message;
}

// The same pod as the API server would write it in JSON.
base::Json PodJson() {
  return base::Json::parse(R"({
    "metadata": {"name": "worker-0", "namespace": "ml", "uid": "uid-worker-0", "resourceVersion": "4711", "generation": 3,
      "creationTimestamp": "2023-11-14T22:13:20Z", "labels": {"ray.io/cluster": "c0", "app": "x"}, "annotations": {"note": "kept"},
      "ownerReferences": [{"apiVersion": "ray.io/v1", "kind": "RayCluster", "name": "c0", "uid": "u0", "controller": true}]},
    "spec": {
      "containers": [{"name": "main", "image": "ray:2", "ports": [{"hostPort": 8265, "containerPort": 8265, "protocol": "TCP"}],
        "resources": {"limits": {"cpu": "2"}, "requests": {"cpu": "500m", "memory": "1Gi", "nvidia.com/gpu": "1"}}}],
      "initContainers": [{"name": "side", "image": "proxy", "restartPolicy": "Always", "resources": {"requests": {"cpu": "100m"}}}],
      "nodeSelector": {"zone": "a"}, "schedulerName": "tutti", "priority": -5, "preemptionPolicy": "Never",
      "overhead": {"cpu": "10m"}, "schedulingGates": [{"name": "wait"}], "schedulingGroup": {"podGroupName": "pg"},
      "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
      "affinity": {"nodeAffinity": {
          "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "gpu", "operator": "In", "values": ["a100", "h100"]}]}]},
          "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 7, "preference": {"matchFields": [{"key": "metadata.name", "operator": "Gt", "values": ["1"]}]}}]},
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"labelSelector": {"matchLabels": {"app": "x"}},
          "namespaces": ["other"], "topologyKey": "kubernetes.io/hostname", "namespaceSelector": {}, "matchLabelKeys": ["rev"]}]}},
      "topologySpreadConstraints": [{"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", "minDomains": 3,
        "nodeAffinityPolicy": "Honor", "labelSelector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]}}]},
    "status": {"phase": "Pending", "reason": "Evicted", "nominatedNodeName": "n7",
      "startTime": "2023-11-14T22:15:00Z", "conditions": [
      {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/4 nodes"},
      {"type": "tutti.dev/Preempting", "status": "True", "message": "{}"},
      {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]}})");
}

TEST_CASE("a pod decodes to the same value from protobuf as from JSON") {
  SpecCache specs;
  const auto wire = DecodePod(PodMessage({}), &specs);
  const auto json = cluster::DecodePod(PodJson());
  REQUIRE(json);
  CHECK(*wire->spec == *json->spec);
  CHECK(wire->spec->requests.Get("cpu") == 610);
  CHECK(wire->spec->priority == -5);
  CHECK(wire->meta.name == json->meta.name);
  CHECK(wire->meta.uid == json->meta.uid);
  CHECK(wire->meta.resource_version == json->meta.resource_version);
  CHECK(wire->meta.generation == json->meta.generation);
  CHECK(wire->meta.created_ms == json->meta.created_ms);
  CHECK(wire->meta.labels == json->meta.labels);
  CHECK(wire->meta.annotations == json->meta.annotations);
  CHECK(*wire->meta.controller == *json->meta.controller);
  CHECK(wire->scheduling_gates == json->scheduling_gates);
  CHECK(wire->scheduling_group == json->scheduling_group);
  CHECK(wire->scheduled == json->scheduled);
  REQUIRE(wire->preempting);
  REQUIRE(json->preempting);
  CHECK(*wire->preempting == *json->preempting);
  CHECK(wire->started_ms == json->started_ms);
  for (const model::Pod& pod : {*wire, *json}) {
    CHECK(pod.spec->never_preempts);
    CHECK(pod.preempted);
    CHECK_FALSE(pod.undo_begun);
  }
}

TEST_CASE("equal pods share one spec, whatever their names, nodes and token volumes") {
  SpecCache specs;
  const auto first = DecodePod(PodMessage({}), &specs);
  const auto second = DecodePod(PodMessage({"worker-1", "n1", "kube-api-access-other", "500m", "Running"}), &specs);
  CHECK(first->spec == second->spec);
  CHECK(specs.size() == 1);
  const auto other = DecodePod(PodMessage({"worker-2", "", "v", "501m", "Pending"}), &specs);
  CHECK(other->spec != first->spec);
  // Written differently, the same amount: found by value.
  const auto again = DecodePod(PodMessage({"worker-3", "", "v", "0.5", "Pending"}), &specs);
  CHECK(again->spec == first->spec);
}

// A pod whose first volume is `claim`, with a volume of each kind that restricts nodes.
std::string PodWithVolumes(const std::string& name, const std::string& claim) {
  std::string message;
  WireWriter w(&message);
  w.Message(1, [&](WireWriter& m) { m.Text(1, name), m.Text(3, "ml"); });
  const auto source = [](WireWriter& s, const char* volume, uint32_t field, const auto& fill) {
    s.Message(1, [&](WireWriter& v) {
      v.Text(1, volume);
      v.Message(2, [&](WireWriter& of) { of.Message(field, fill); });
    });
  };
  w.Message(2, [&](WireWriter& s) {
    source(s, "a", 10, [&](WireWriter& v) { v.Text(1, claim), v.Number(2, 0); });
    source(s, "b", 29, [](WireWriter&) {});
    source(s, "c", 3, [](WireWriter& v) { v.Text(1, "pd"), v.Text(2, "ext4"), v.Number(4, 1); });
    source(s, "d", 4, [](WireWriter& v) { v.Text(1, "aws://z/vol-1"); });
    source(s, "e", 8, [](WireWriter& v) { v.Text(1, "portal"), v.Text(2, "iqn"), v.Number(6, 1); });
    source(s, "f", 11, [](WireWriter& v) {
      v.Text(1, "m1"), v.Text(1, "m2"), v.Text(2, "image"), v.Text(4, "pool"), v.Number(8, 1);
    });
    source(s, "g", 22, [](WireWriter& v) { v.Text(1, "name"), v.Text(2, "uri"); });
    source(s, "h", 30, [](WireWriter& v) { v.Text(1, "data:1"); });
    source(s, "i", 2, [](WireWriter&) {});
    s.Text(19, "tutti");
  });
  return message;
}

TEST_CASE("volumes decode to the same from protobuf as from JSON, and claims are the pod's own") {
  const auto json = cluster::DecodePod(base::Json::parse(R"({"metadata": {"name": "w-0", "namespace": "ml"},
    "spec": {"schedulerName": "tutti", "volumes": [{"name": "a", "persistentVolumeClaim": {"claimName": "data-0"}}, {"name": "b", "ephemeral": {}},
      {"name": "c", "gcePersistentDisk": {"pdName": "pd", "readOnly": true}}, {"name": "d", "awsElasticBlockStore": {"volumeID": "aws://z/vol-1"}},
      {"name": "e", "iscsi": {"targetPortal": "portal", "iqn": "iqn", "readOnly": true}},
      {"name": "f", "rbd": {"monitors": ["m1", "m2"], "image": "image", "pool": "pool", "readOnly": true}},
      {"name": "g", "azureDisk": {"diskName": "name", "diskURI": "uri"}}, {"name": "h", "image": {"reference": "data:1"}}, {"name": "i", "emptyDir": {}}]}})"));
  REQUIRE(json);
  SpecCache specs;
  const auto wire = DecodePod(PodWithVolumes("w-0", "data-0"), &specs);
  CHECK(wire->spec->volumes.size() == 7);
  CHECK(*wire->spec == *json->spec);
  CHECK(wire->claims == json->claims);
  CHECK(wire->claims == std::vector<model::PodClaim>{{"data-0", false}, {"w-0-b", true}});
  const auto other = DecodePod(PodWithVolumes("w-1", "data-1"), &specs);
  CHECK(other->spec == wire->spec);
  CHECK(other->claims == std::vector<model::PodClaim>{{"data-1", false}, {"w-1-b", true}});
}

TEST_CASE("a quantity that cannot be read makes the spec fit nowhere") {
  SpecCache specs;
  CHECK(DecodePod(PodMessage({"w", "", "v", "abc", "Pending"}), &specs)->spec->saturated);
}

TEST_CASE("an amount below zero makes the spec fit nowhere, and is no room of a node") {
  SpecCache specs;
  const auto pod = DecodePod(PodMessage({"w", "", "v", "-5", "Pending"}), &specs);
  CHECK(pod->spec->saturated);
  CHECK(pod->spec->requests.Get("cpu") == 110);  // the overhead and the sidecar
  CHECK(DecodePod(PodMessage({"w", "", "v", "-0", "Pending"}), &specs)->spec->requests.Get("cpu") == 110);

  std::string message;
  WireWriter(&message).Message(3, [](WireWriter& s) { Amount(s, 2, "cpu", "-1"), Amount(s, 2, "pods", "110"); });
  const auto node = DecodeNode(message);
  CHECK_FALSE(node->allocatable.Has("cpu"));
  CHECK(node->allocatable.Get("pods") == 110);
}

TEST_CASE("a bound pod that is being resized counts the larger of asked and held") {
  std::string message = PodMessage({"w", "n1", "v", "500m", "Running"});
  WireWriter w(&message);
  w.Message(3, [](WireWriter& s) {
    s.Text(1, "Running");
    s.Message(8, [](WireWriter& c) {
      c.Text(1, "main");
      c.Message(11, [](WireWriter& r) { Amount(r, 2, "cpu", "3"); });
    });
  });
  SpecCache specs;
  CHECK(DecodePod(message, &specs)->spec->requests.Get("cpu") == 3110);
  CHECK(DecodePod(PodMessage({}), &specs)->spec->requests.Get("cpu") == 610);
}

TEST_CASE("a pod with requests of its own that is being resized counts the larger of asked and held") {
  const auto message = [](bool bound, const std::string& pending) {
    std::string text;
    WireWriter w(&text);
    w.Message(1, [](WireWriter& m) { m.Text(1, "p"), m.Text(3, "ml"); });
    w.Message(2, [&](WireWriter& s) {
      s.Message(2, [](WireWriter& c) { c.Text(1, "main"); });
      if (bound) s.Text(10, "n1");
      s.Message(40, [](WireWriter& r) { Amount(r, 2, "cpu", "4"); });
    });
    w.Message(3, [&](WireWriter& s) {
      if (!pending.empty()) s.Message(2, [&](WireWriter& c) { c.Text(1, "PodResizePending"), c.Text(5, pending); });
      Amount(s, 19, "cpu", "6");
      s.Message(20, [](WireWriter& r) { Amount(r, 2, "cpu", "3"), Amount(r, 2, "memory", "1Gi"); });
    });
    return text;
  };
  SpecCache specs;
  const auto cpu = [&](bool bound, const std::string& pending) {
    return DecodePod(message(bound, pending), &specs)->spec->requests.Get("cpu");
  };
  CHECK(cpu(false, "") == 4000);
  CHECK(cpu(true, "") == 6000);
  CHECK(cpu(true, "Deferred") == 6000);
  CHECK(cpu(true, "Infeasible") == 6000);
  CHECK_FALSE(DecodePod(message(true, ""), &specs)->spec->requests.Has("memory"));
}

TEST_CASE("the status of an init container counts only if it restarts") {
  auto cpu = [specs = SpecCache()](bool restarts) mutable {
    std::string text;
    WireWriter w(&text);
    w.Message(1, [](WireWriter& m) { m.Text(1, "p"), m.Text(3, "ml"); });
    w.Message(2, [&](WireWriter& s) {
      s.Message(
          2, [](WireWriter& c) { c.Text(1, "main"), c.Message(8, [](WireWriter& r) { Amount(r, 2, "cpu", "1"); }); });
      s.Text(10, "n1");
      s.Message(20, [&](WireWriter& c) {
        c.Text(1, "init"), c.Message(8, [](WireWriter& r) { Amount(r, 2, "cpu", "2"); });
        if (restarts) c.Text(24, "Always");
      });
    });
    w.Message(3, [](WireWriter& s) {
      s.Message(10, [](WireWriter& c) {
        c.Text(1, "init");
        c.Message(11, [](WireWriter& r) { Amount(r, 2, "cpu", "7"); });
      });
    });
    return DecodePod(text, &specs)->spec->requests.Get("cpu");
  };
  CHECK(cpu(false) == 2000);
  CHECK(cpu(true) == 8000);
}

TEST_CASE("a truncated pod never reads out of bounds") {
  const std::string whole = PodMessage({});
  SpecCache specs;
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string cut(whole.data(), size);  // its own allocation, so that a sanitizer sees an overrun
    CHECK(DecodePod(cut, &specs)->spec != nullptr);
  }
}

TEST_CASE("a node is read, heartbeats aside") {
  std::string message;
  WireWriter w(&message);
  w.Message(1, [](WireWriter& m) { m.Text(1, "n1"), m.Text(6, "9"), Map(m, 11, "zone", "a"); });
  w.Message(2, [](WireWriter& s) {
    s.Number(4, 1);
    s.Message(5, [](WireWriter& t) { t.Text(1, "gpu"), t.Text(2, "yes"), t.Text(3, "NoSchedule"); });
  });
  w.Message(3, [](WireWriter& s) {
    Amount(s, 1, "cpu", "99");
    Amount(s, 2, "cpu", "31500m");
    Amount(s, 2, "memory", "256Gi");
    Amount(s, 2, "pods", "110");
    s.Message(4, [](WireWriter& c) { c.Text(1, "Ready"), c.Text(2, "Unknown"); });
    s.Message(8, [](WireWriter& i) { i.Text(1, "ray:2"), i.Text(1, "ray@sha"), i.Number(2, 123); });
  });
  const auto node = DecodeNode(message);
  CHECK(node->meta.name == "n1");
  CHECK(node->unschedulable);
  CHECK_FALSE(node->ready);
  CHECK(node->taints == std::vector<model::Taint>{{"gpu", "yes", "NoSchedule"}});
  CHECK(node->allocatable.Get("cpu") == 31500);
  CHECK(node->allocatable.Get("pods") == 110);
  CHECK(node->images == std::vector<model::ContainerImage>{{{"ray:2", "ray@sha"}, 123}});
}

TEST_CASE("of a Service and of controllers the selector is read") {
  using Kind = model::Selection::Kind;
  const auto message = [](const std::function<void(WireWriter&)>& spec) {
    std::string text;
    WireWriter w(&text);
    w.Message(1, [](WireWriter& m) { m.Text(1, "web"), m.Text(3, "ml"); });
    w.Message(2, spec);
    w.Message(3, [](WireWriter& status) { status.Number(2, 7); });
    return text;
  };
  const std::string service = message([](WireWriter& s) {
    s.Message(1, [](WireWriter& port) { port.Text(1, "http"); });
    Map(s, 2, "tier", "x"), Map(s, 2, "app", "a");
  });
  const model::StringMap labels{{"app", "a"}, {"tier", "x"}};
  CHECK(DecodeSelection(Kind::kService, service) == model::Selection{Kind::kService, "ml", "web", {labels, {}}});
  CHECK(DecodeSelection(Kind::kReplicationController, service).selector.match_labels == labels);
  const std::string replica_set = message([](WireWriter& s) {
    s.Number(1, 3);
    s.Message(2, [](WireWriter& selector) {
      Map(selector, 1, "app", "a");
      selector.Message(2, [](WireWriter& r) { r.Text(1, "tier"), r.Text(2, "In"), r.Text(3, "x"), r.Text(3, "y"); });
    });
    s.Message(3, [](WireWriter& t) { t.Message(1, [](WireWriter& m) { Map(m, 11, "app", "other"); }); });
  });
  const model::LabelSelector wanted{{{"app", "a"}}, {{"tier", model::Operator::kIn, {"x", "y"}}}};
  for (const Kind kind : {Kind::kReplicaSet, Kind::kStatefulSet})
    CHECK(DecodeSelection(kind, replica_set) == model::Selection{kind, "ml", "web", wanted});
  CHECK(DecodeSelection(Kind::kService, message([](WireWriter&) {})).selector == model::LabelSelector());
}

TEST_CASE("a Status is read from protobuf and from JSON") {
  std::string message;
  WireWriter w(&message);
  w.Text(3, "slow down"), w.Text(4, "TooManyRequests"), w.Number(6, 429);
  w.Message(5, [](WireWriter& d) { d.Number(5, 7); });
  const ApiStatus wire = DecodeStatus(Enveloped("Status", message));
  CHECK(wire.code == 429);
  CHECK(wire.retry_after_ms == 7000);
  const ApiStatus json = DecodeStatus(R"({"kind":"Status","code":410,"reason":"Expired","message":"too old"})");
  CHECK(json.code == 410);
  CHECK(json.reason == "Expired");
  CHECK(DecodeStatus("gateway says no").code == 0);
}

TEST_CASE("a time to wait that is out of all bounds is cut, not overflown") {
  constexpr auto kLongestMs = std::numeric_limits<int32_t>::max() * int64_t{1000};
  constexpr auto kTooMuch = std::numeric_limits<int64_t>::max();
  std::string message;
  WireWriter w(&message);
  w.Message(5, [](WireWriter& d) { d.Number(5, kTooMuch); });
  CHECK(DecodeStatus(Enveloped("Status", message)).retry_after_ms == kLongestMs);
  const std::string json = R"({"kind":"Status","details":{"retryAfterSeconds":9223372036854775807}})";
  CHECK(DecodeStatus(json).retry_after_ms == kLongestMs);
  CHECK(DecodeStatus(R"({"kind":"Status","details":{"retryAfterSeconds":-7}})").retry_after_ms == -1);
  Response response;
  response.ReadHeader("retry-after", "9223372036854775807");
  CHECK(response.retry_after_ms == kLongestMs);
  std::string time;
  WireWriter(&time).Number(1, kTooMuch);
  CHECK(DecodeTime(time) == 253'402'300'799'000);
}

TEST_CASE("a watch is cut into events wherever its pieces end") {
  const std::string pod = PodMessage({});
  const std::string stream = WatchFrame("ADDED", Enveloped("Pod", pod)) + WatchFrame("BOOKMARK", Enveloped("Pod", "")) +
                             WatchFrame("DELETED", Enveloped("Pod", pod));
  for (size_t step : {size_t{1}, size_t{3}, size_t{1000}, stream.size()}) {
    std::vector<WatchType> types;
    size_t bytes = 0;
    WatchParser::Each each = [&](WatchType type, const WireObject& object) {
      types.push_back(type);
      bytes += object.protobuf.size();
    };
    WatchParser parser(true);
    for (size_t at = 0; at < stream.size(); at += step)
      REQUIRE(parser.Feed(std::string_view(stream).substr(at, step), each));
    CHECK(types == std::vector{WatchType::kAdded, WatchType::kBookmark, WatchType::kDeleted});
    CHECK(bytes == 2 * pod.size());
  }
}

TEST_CASE("a watch in JSON is one document a line; anything else ends it") {
  int events = 0;
  WatchParser::Each each = [&](WatchType type, const WireObject& object) {
    events += type == WatchType::kModified && object.kind == "Queue" && object.json->at("spec").at("weight") == 1;
  };
  WatchParser parser(false);
  CHECK(parser.Feed(R"({"type":"MODIFIED","object":{"kind":"Queue","spec":{"we)", each));
  CHECK(parser.Feed("ight\":1}}}\n{\"type\":\"MODIFIED\"", each));
  CHECK(events == 1);
  CHECK_FALSE(parser.Feed("}\n", each));
}

TEST_CASE("a watch in JSON whose document has no end is ended") {
  WatchParser::Each each = [](WatchType, const WireObject&) {};
  WatchParser parser(false);
  const std::string piece(32u << 20, ' ');
  CHECK(parser.Feed(piece, each));
  CHECK(parser.Feed(piece, each));
  CHECK_FALSE(parser.Feed(" ", each));
}

}  // namespace
}  // namespace tutti::kube
