// SPDX-License-Identifier: Apache-2.0
// QuotaRig: gangs that get quota before they have pods. A PodGroup asks by the annotation "roles", such as
// {"worker": {"count": 2, "min": 1, "cpu": "1", "level": "rack"}}, of the queue that the annotation "queue" names. The
// same dialect says what it was told; a test says what became of the job.
#pragma once

#include "cluster/json_decode.h"
#include "sim/manifests/manifest.h"
#include "tests/core/volcano_rig.h"
#include "tests/support/test_cluster.h"

namespace tutti::core {

// What is declared besides gangs, and what the dialect was told of them.
struct QuotaWorld {
  std::map<std::string, model::Flavor> flavors;
  std::map<std::string, model::CohortSpec> cohorts;
  std::map<std::string, model::LeafQueueSpec> leaves;
  std::map<std::pair<std::string, std::string>, model::LocalQueueSpec> locals;
  std::map<std::string, dialects::GangReport> reports;  // by gang
  std::map<std::string, dialects::SharingReport> sharing;
  std::vector<std::string> events;
};

class QuotaDialect final : public dialects::Dialect {
 public:
  explicit QuotaDialect(QuotaWorld* world) : world_(world) {}
  std::string_view name() const override { return "asking"; }
  const std::vector<model::ObjectKind>& Kinds() const override {
    static const std::vector<model::ObjectKind> kinds{{"scheduling.volcano.sh", "podgroups", "PodGroup", {"v1beta1"}}};
    return kinds;
  }
  void Served(std::string_view, bool, dialects::Touched* touched) override {
    for (const auto& [name, flavor] : world_->flavors) touched->flavors.insert(name);
    for (const auto& [name, cohort] : world_->cohorts) touched->cohorts.insert(name);
    for (const auto& [name, leaf] : world_->leaves) touched->leaves.insert(name);
    for (const auto& [name, local] : world_->locals) touched->locals.insert(name);
  }
  void Put(std::shared_ptr<const model::Object> object, dialects::Touched* touched) override {
    const auto text = [&](const char* name) {
      const std::string* value = model::Find(object->meta.annotations, name);
      return value ? *value : std::string();
    };
    const model::GangKey key{"asking", object->meta.ns, object->meta.name};
    Served("", true, touched);  // declarations change with any event
    touched->gangs.insert(key);
    model::GangSpec& spec = specs_[key];
    const model::GangSpec before = std::exchange(spec, {});
    spec.key = key;
    spec.uid = object->meta.uid;
    spec.created_ms = object->meta.created_ms;
    spec.min_member = 0;
    if (text("queue").empty()) return;
    model::QuotaTerms terms;
    model::GangAsk& ask = terms.ask;
    ask.uid = object->meta.uid;
    ask.ns = key.ns;
    ask.local_queue = text("queue");
    ask.priority = text("priority").empty() ? 0 : std::stoi(text("priority"));
    ask.queued_ms = object->meta.created_ms;
    const base::Json roles = base::Json::parse(text("roles"));
    for (const auto& [role, of] : roles.items()) {
      const auto count = of["count"].get<int64_t>();
      const sim::Json manifest = {
          {"namespace", key.ns}, {"schedulerName", "tutti"}, {"requests", {{"cpu", of.value("cpu", "1")}}}};
      auto pod = cluster::DecodePod(tests::PodManifest(manifest));
      REQUIRE(pod);
      auto shared = std::make_shared<const model::Pod>(*std::move(pod));
      for (const model::PromisedMembers& same : before.promised)
        if (same.role == role && *same.pod->spec == *shared->spec) shared = same.pod;
      model::RoleSpec declared{role, count};
      declared.topology.required = of.value("level", "");
      declared.topology.subset = role;
      spec.roles.push_back(std::move(declared));
      spec.min_member += count;
      spec.promised.push_back({role, count, false, false, false, shared});
      model::RoleAsk asked{role, count, {}, *shared->spec, {}};
      if (of.contains("min")) asked.min_count = of["min"].get<int64_t>();
      ask.roles.push_back(std::move(asked));
    }
    terms.barred = text("barred");
    terms.released = text("released") == "true";
    terms.awaits_checks = text("checks") == "true";
    terms.by_quota_alone = text("fit") == "quota";
    if (!text("has").empty()) {
      model::HeldQuota& has = terms.has.emplace();
      has.uid = ask.uid, has.ns = ask.ns, has.local_queue = ask.local_queue, has.leaf = text("has");
      has.priority = ask.priority, has.queued_ms = ask.queued_ms;
      for (model::RoleAsk role : ask.roles) {
        if (!text("count").empty()) role.count = std::stoll(text("count"));
        HeldRole(role, text("flavor").empty() ? "f" : text("flavor"), &has);
      }
    }
    spec.quota = std::make_shared<const model::QuotaTerms>(std::move(terms));
  }
  void Drop(std::string_view, std::string_view ns, std::string_view name, dialects::Touched* touched) override {
    const model::GangKey key{"asking", std::string(ns), std::string(name)};
    specs_.erase(key);
    touched->gangs.insert(key);
  }
  std::optional<dialects::Membership> MembershipOf(const model::Pod& pod) const override {
    const std::string* gang = model::Find(pod.meta.labels, "gang");
    dialects::Membership membership;
    membership.gang = {"asking", pod.meta.ns, gang ? *gang : pod.meta.name};
    membership.lone = !gang;
    if (const std::string* role = model::Find(pod.meta.labels, "role")) membership.role = *role;
    return membership;
  }
  model::GangSpec Describe(const model::GangKey& key) const override {
    if (const auto at = specs_.find(key); at != specs_.end()) return at->second;
    model::GangSpec none;
    none.key = key;
    return none;
  }
  std::string_view SchedulerName(const model::GangKey& key) const override {
    return specs_.contains(key) ? "tutti" : "";
  }
  template <typename T>
  static std::optional<T> In(const std::map<std::string, T>& map, std::string_view name) {
    const auto at = map.find(std::string(name));
    return at == map.end() ? std::nullopt : std::optional(at->second);
  }
  std::optional<model::Flavor> DescribeFlavor(std::string_view name) const override {
    return In(world_->flavors, name);
  }
  std::optional<model::CohortSpec> DescribeCohort(std::string_view name) const override {
    return In(world_->cohorts, name);
  }
  std::optional<model::LeafQueueSpec> DescribeLeaf(std::string_view name) const override {
    return In(world_->leaves, name);
  }
  std::optional<model::LocalQueueSpec> DescribeLocal(std::string_view ns, std::string_view name) const override {
    const auto at = world_->locals.find({std::string(ns), std::string(name)});
    return at == world_->locals.end() ? std::nullopt : std::optional(at->second);
  }
  base::Millis Desire(const dialects::GangReport& report, const cluster::Unseen&,
                      std::vector<cluster::DesiredObject>*) const override {
    dialects::GangReport& told = world_->reports[report.spec->key.name];
    told = report;
    told.spec = nullptr;
    return 0;
  }
  void DesireOfSharing(const dialects::SharingReport& report, const cluster::Unseen&,
                       std::vector<cluster::DesiredObject>*) const override {
    world_->sharing[report.ns.empty() ? report.name : report.ns + "/" + report.name] = report;
  }
  void Announce(const dialects::GangReport& before, const dialects::GangReport& now,
                std::vector<dialects::ObjectEvent>*) const override {
    const std::string& name = now.spec->key.name;
    if (!before.quota.has && now.quota.has) world_->events.push_back("reserved " + name);
    if (before.quota.evictions != now.quota.evictions) world_->events.push_back("evicted " + name);
  }

 private:
  static void HeldRole(const model::RoleAsk& role, const std::string& flavor, model::HeldQuota* has) {
    model::HeldQuota::Role& as = has->roles.emplace_back(model::HeldQuota::Role{role.name, role.count, {}, {}});
    as.flavors["cpu"] = flavor;
    as.requests.Set(model::kCpu, role.count * role.pod->requests.Get(model::kCpu));
  }

  QuotaWorld* const world_;
  std::map<model::GangKey, model::GangSpec> specs_;
};

struct QuotaRig : Rig {
  QuotaRig() {
    static const auto definitions = sim::LoadManifests({TUTTI_SOURCE_DIR "/manifests/crds"});
    REQUIRE(definitions);
    for (const sim::Manifest& each : *definitions) REQUIRE(store.Create(each.object));
    make_dialects = [this] {
      dialects::DialectList dialects;
      dialects.push_back(std::make_unique<QuotaDialect>(&world));
      return dialects;
    };
    AddFlavor("f");
    Restart();
  }
  void AddFlavor(const std::string& name, const model::StringMap& labels = {}) {
    model::Flavor& flavor = world.flavors[name];
    flavor.name = name;
    flavor.labels = labels;
  }
  // With cpu of these flavors; reached through a queue of its name in the namespace. It is seen with the next PodGroup.
  model::LeafQueueSpec& AddLeaf(const std::string& name, const std::vector<std::pair<std::string, int64_t>>& cpus) {
    model::LeafQueueSpec& leaf = world.leaves[name];
    leaf.name = name;
    model::ResourceGroup group{{"cpu"}, {}};
    for (const auto& [flavor, cpu] : cpus) group.flavors.push_back({flavor, {{"cpu", {cpu * 1'000, {}, {}}}}});
    leaf.groups = {group};
    model::LocalQueueSpec& local = world.locals[{"default", name}];
    local.ns = "default", local.name = name, local.queue = name;
    return leaf;
  }
  void Declare(const std::string& name, const std::string& queue, const sim::Json& roles,
               sim::Json annotations = sim::Json::object()) {
    annotations["queue"] = queue;
    annotations["roles"] = roles.dump();
    REQUIRE(store.Create({{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                          {"kind", "PodGroup"},
                          {"metadata", {{"name", name}, {"namespace", "default"}, {"annotations", annotations}}},
                          {"spec", {{"minMember", 1}}}}));
  }
  void Annotate(const std::string& group, const std::string& name, const std::string& value) {
    REQUIRE(store.Modify(kGroups, "default", group,
                         [&](sim::Json& object) { object["metadata"]["annotations"][name] = value; }));
  }
  void Withdraw(const std::string& name) { REQUIRE(store.Delete(kGroups, "default", name, {.grace_seconds = 0})); }
  const dialects::GangReport& Report(const std::string& gang) { return world.reports[gang]; }
  bool Has(const std::string& gang) { return Report(gang).quota.has.has_value(); }
  observe::Decision Decision(const std::string& gang) const {
    for (observe::Decision& decision : scheduler->Decisions())
      if (decision.gang.name == gang) return decision;
    return {};
  }
  QuotaWorld world;
};

}  // namespace tutti::core
