// SPDX-License-Identifier: Apache-2.0
// The objects of a small cluster with Kueue's kinds, and a core that does what is desired.
#pragma once

#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dialects/kueue/kueue.h"
#include "dialects/kueue/names.h"
#include "tests/dialects/objects.h"

namespace tutti::dialects::kueue {

inline std::shared_ptr<const model::Object> Of(const std::string& resource, Json body) {
  const std::string version = body.value("apiVersion", "");
  return ObjectFrom(version, resource, body.dump());
}

inline Json Quota(const std::string& flavor, const Json& amounts) {
  Json covered = Json::array(), resources = Json::array();
  for (const auto& [name, amount] : amounts.items()) {
    covered.push_back(name);
    resources.push_back({{"name", name}, {"nominalQuota", amount}});
  }
  return {{"coveredResources", covered}, {"flavors", Json::array({{{"name", flavor}, {"resources", resources}}})}};
}

inline Json ClusterQueue(const std::string& name, Json spec) {
  spec.emplace("namespaceSelector", Json::object());
  return {{"apiVersion", "kueue.x-k8s.io/v1beta1"},
          {"kind", "ClusterQueue"},
          {"metadata", {{"name", name}, {"uid", "cq"}}},
          {"spec", std::move(spec)}};
}

inline Json LocalQueue(const std::string& name, const std::string& leaf) {
  return {{"apiVersion", "kueue.x-k8s.io/v1beta1"},
          {"kind", "LocalQueue"},
          {"metadata", {{"namespace", "ns"}, {"name", name}, {"uid", "lq"}}},
          {"spec", {{"clusterQueue", leaf}}}};
}

inline Json Named(const std::string& kind, const std::string& name, Json spec = Json::object()) {
  return {{"apiVersion", "kueue.x-k8s.io/v1beta1"},
          {"kind", kind},
          {"metadata", {{"name", name}, {"uid", name}}},
          {"spec", std::move(spec)}};
}

inline Json RayJob(const std::string& name, Json labels = {{"kueue.x-k8s.io/queue-name", "user-queue"}}) {
  return Json::parse(fmt::format(R"({{"apiVersion":"ray.io/v1","kind":"RayJob",
      "metadata":{{"namespace":"ns","name":"{0}","uid":"uid-{0}","resourceVersion":"7","creationTimestamp":"2026-08-20T09:59:00Z",
        "labels":{1}}},
      "spec":{{"suspend":true,"shutdownAfterJobFinishes":true,"rayClusterSpec":{{"headGroupSpec":{{"template":{{"spec":{{"containers":[
        {{"name":"ray","image":"ray:2","resources":{{"requests":{{"cpu":"2"}},"limits":{{"memory":"8G","nvidia.com/gpu":"1"}}}}}}]}}}}}},
      "workerGroupSpecs":[]}}}}}})",
                                 name, labels.dump()));
}

// A cluster of one dialect: what is desired is done and seen at once.
class Cluster final : public cluster::Unseen {
 public:
  explicit Cluster(DialectSettings settings = {}) : dialect(std::move(settings)) {
    Add("resourceflavors", Named("ResourceFlavor", "default-flavor"));
    Add("clusterqueues",
        ClusterQueue(
            "cluster-queue",
            {{"preemption", {{"withinClusterQueue", "LowerPriority"}}},
             {"resourceGroups",
              Json::array({Quota("default-flavor", {{"cpu", 2}, {"memory", "8G"}, {"nvidia.com/gpu", 1}})})}}));
    Add("localqueues", LocalQueue("user-queue", "cluster-queue"));
    Add("workloadpriorityclasses", {{"apiVersion", "kueue.x-k8s.io/v1beta1"},
                                    {"kind", "WorkloadPriorityClass"},
                                    {"metadata", {{"name", "prod"}}},
                                    {"value", 1000}});
  }

  Kueue dialect;
  GangReport report;
  base::Millis now = kNow;

  void Add(const std::string& resource, Json body) {
    const std::string place = Place(body["kind"], body["metadata"].value("namespace", ""), body["metadata"]["name"]);
    if (!body["metadata"].contains("uid")) body["metadata"]["uid"] = "uid-" + place;
    resources_[body["kind"]] = resource;
    objects_[place] = body;
    touched = Put(dialect, Of(resource, body));
  }
  const Json& At(const std::string& kind, const std::string& name) const {
    return objects_.at(Place(kind, "ns", name));
  }
  bool Has(const std::string& kind, const std::string& name) const {
    return objects_.contains(Place(kind, "ns", name));
  }
  void Edit(const std::string& kind, const std::string& name, const Json& change) {
    Json body = At(kind, name);
    body.merge_patch(change);
    Add(resources_.at(kind), body);
  }

  void Remove(const std::string& kind, const std::string& name, const std::string& group) {
    objects_.erase(Place(kind, "ns", name));
    dialect.Drop(resources_.at(kind) + (group.empty() ? "" : "." + group), "ns", name, &touched);
  }

  model::GangKey KeyOf(const std::string& job) const {
    return {"kueue", "ns", WorkloadName("RayJob", "ray.io", job, "uid-" + job)};
  }
  // Returns "status reason: message" of the condition.
  std::string Condition(const std::string& workload, const std::string& type) const {
    for (const Json& each : At("Workload", workload)["status"].value("conditions", Json::array()))
      if (each["type"] == type)
        return fmt::format("{} {}: {}", each["status"].get<std::string>(), each["reason"].get<std::string>(),
                           each["message"].get<std::string>());
    return "";
  }

  // Does what is desired until nothing more is desired. Returns what was done, in order.
  std::vector<std::string> Settle(const model::GangKey& key) {
    std::vector<std::string> done;
    for (int step = 0; step < 20; ++step) {
      const model::GangSpec spec = dialect.Describe(key);
      report.spec = &spec;
      report.now_wall_ms = now;
      std::vector<cluster::DesiredObject> desired;
      dialect.Desire(report, *this, &desired);
      bool changed = false;
      for (const cluster::DesiredObject& each : desired) changed = Do(each, &done) || changed;
      report.spec = nullptr;
      if (!changed) return done;
    }
    FAIL("it does not settle");
    return done;
  }

  // Lets the dialect make the Workload.
  void Create(const model::GangKey& key) {
    const GangReport kept = std::exchange(report, GangReport());
    Settle(key);
    report = kept;
  }

  // Returns the Events of the step from the last report to this one.
  std::vector<std::string> Announce(const model::GangKey& key) {
    const model::GangSpec spec = dialect.Describe(key);
    report.spec = &spec;
    report.now_wall_ms = now;
    std::vector<ObjectEvent> events;
    dialect.Announce(announced_[key], report, &events);
    report.spec = nullptr;
    auto& kept = announced_[key] = report;
    specs_.push_back(std::make_unique<model::GangSpec>(spec));
    kept.spec = specs_.back().get();
    std::vector<std::string> texts;
    for (const ObjectEvent& event : events)
      texts.push_back(fmt::format("{} {} {} {}: {}", event.about.kind, event.reporter,
                                  event.warning ? "Warning" : "Normal", event.reason, event.note));
    return texts;
  }

  // Returns what is desired now.
  std::vector<cluster::DesiredObject> Desired(const model::GangKey& key) {
    const model::GangSpec spec = dialect.Describe(key);
    report.spec = &spec;
    report.now_wall_ms = now;
    std::vector<cluster::DesiredObject> desired;
    dialect.Desire(report, *this, &desired);
    report.spec = nullptr;
    return desired;
  }

  std::optional<Json> written;  // of a Workload, and not seen yet
  const Json* Written(const cluster::ObjectRef& ref) const override {
    return written && ref.kind == "Workload" ? &*written : nullptr;
  }
  std::shared_ptr<const model::Object> Created(const cluster::ObjectRef&) const override { return nullptr; }

  Touched touched;

 private:
  static std::string Place(const std::string& kind, const std::string& ns, const std::string& name) {
    return fmt::format("{} {}/{}", kind, ns, name);
  }
  bool Do(const cluster::DesiredObject& desired, std::vector<std::string>* done) {
    const std::string kind(desired.ref.kind), place = Place(kind, desired.ref.ns(), desired.ref.name());
    using Mode = cluster::DesiredObject::Mode;
    if (desired.mode == Mode::kExists) {
      if (objects_.contains(place)) return false;
      done->push_back("create " + kind);
      Json body = desired.fields;
      body["metadata"]["uid"] = "uid-of-" + kind;
      body["metadata"]["creationTimestamp"] = "2026-08-20T10:00:00Z";
      Add(std::string(desired.ref.resource), body);
      return true;
    }
    if (desired.mode == Mode::kGone) {
      if (!objects_.contains(place)) return false;
      done->push_back("delete " + kind);
      Remove(kind, desired.ref.name(), std::string(desired.ref.group));
      return true;
    }
    if (desired.Agrees(objects_.at(place))) return false;
    done->push_back(fmt::format("{} {}", desired.status ? "status of" : "patch", kind));
    Json body = objects_.at(place);
    body.merge_patch(desired.fields);
    Add(std::string(desired.ref.resource), body);
    return true;
  }

  std::map<std::string, Json> objects_;
  std::map<std::string, std::string> resources_;
  std::map<model::GangKey, GangReport> announced_;
  std::vector<std::unique_ptr<model::GangSpec>> specs_;
};

// Returns the quota that one of these RayJobs holds.
inline model::HeldQuota HeldBy(const model::GangKey& key, const std::string& uid) {
  model::HeldQuota has;
  has.uid = uid;
  has.ns = key.ns;
  has.local_queue = "user-queue";
  has.leaf = "cluster-queue";
  has.queued_ms = kNow - 60'000;
  has.reserved_ms = kNow;
  model::HeldQuota::Role head{"head", 1, {}, {}};
  head.requests.Set("cpu", 2000);
  head.requests.Set("memory", 8'000'000'000);
  head.requests.Set("nvidia.com/gpu", 1);
  for (const char* resource : {"cpu", "memory", "nvidia.com/gpu"}) head.flavors[resource] = "default-flavor";
  has.roles.push_back(head);
  return has;
}

// Returns the Job ns/j, which waits in user-queue. `spec` is put into its own.
inline Json QueuedJob(const Json& spec = Json::object()) {
  Json job = Json::parse(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"namespace":"ns","name":"j","uid":"u",
      "labels":{"kueue.x-k8s.io/queue-name":"user-queue"}},"spec":{"suspend":true,
      "template":{"spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}]}}}})");
  job["spec"].update(spec);
  return job;
}

// Gives the gang of the uid u quota for so many pods of one set, and places for them.
inline void Admit(Cluster& cluster, const model::GangKey& key, const std::string& set, int64_t count) {
  cluster.report.quota.has = HeldBy(key, "u");
  cluster.report.quota.has->roles = {{set, count, {}, {{"cpu", "default-flavor"}}}};
  cluster.report.state = GangState::kAdmitted;
}

}  // namespace tutti::dialects::kueue
