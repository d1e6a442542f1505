// SPDX-License-Identifier: Apache-2.0
// QuotaRig: gangs that get quota before they have pods. A PodGroup asks by the annotation "roles", such as
// {"worker": {"count": 2, "min": 1, "cpu": "1", "level": "rack"}}. It asks the queue that the annotation "queue" names.
// The dialect keeps what it was told. The test says what became of the job.
#pragma once

#include "dialects/declaration.h"
#include "tests/core/declaring_rig.h"

namespace tutti::core {

// What is declared in addition to gangs, and what the dialect was told.
struct QuotaWorld {
  std::map<std::string, model::Flavor> flavors;
  std::map<std::string, model::CohortSpec> cohorts;
  std::map<std::string, model::LeafQueueSpec> leaves;
  std::map<std::pair<std::string, std::string>, model::LocalQueueSpec> locals;
  std::map<std::string, dialects::GangReport> reports;  // by gang
  std::map<std::string, dialects::SharingReport> sharing;
  std::vector<std::string> events;
  bool makes_maps = false;  // each gang needs a ConfigMap of its name
};

class QuotaDialect final : public DeclaringDialect {
 public:
  explicit QuotaDialect(QuotaWorld* world) : DeclaringDialect("asking"), world_(world) {}
  void Served(std::string_view, bool, dialects::Touched* touched) override {
    for (const auto& [name, flavor] : world_->flavors) touched->flavors.insert(name);
    for (const auto& [name, cohort] : world_->cohorts) touched->cohorts.insert(name);
    for (const auto& [name, leaf] : world_->leaves) touched->leaves.insert(name);
    for (const auto& [name, local] : world_->locals) touched->locals.insert(name);
  }
  void Put(std::shared_ptr<const model::Object> object, dialects::Touched* touched) override {
    Served("", true, touched);  // declarations change with any event
    DeclaringDialect::Put(std::move(object), touched);
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
                      std::vector<cluster::DesiredObject>* to) const override {
    const model::GangKey& key = report.spec->key;
    if (world_->makes_maps)
      to->push_back({.ref = cluster::NewRef("", "v1", "configmaps", "ConfigMap", key.ns, key.name),
                     .mode = cluster::DesiredObject::Mode::kExists,
                     .fields = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", key.name}}}}});
    dialects::GangReport& told = world_->reports[key.name];
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
  void Declare(const model::Object& object, const model::GangSpec& before, model::GangSpec* spec) override {
    const auto text = [&](const char* name) {
      const std::string* value = model::Find(object.meta.annotations, name);
      return value ? *value : std::string();
    };
    if (text("queue").empty()) return;
    model::QuotaTerms terms;
    model::GangAsk& ask = terms.ask;
    ask.uid = object.meta.uid;
    ask.ns = object.meta.ns;
    ask.local_queue = text("queue");
    ask.priority = text("priority").empty() ? 0 : std::stoi(text("priority"));
    ask.queued_ms = object.meta.created_ms;
    if (text("elastic") == "true") ask.replaces = ask.uid;
    const base::Json roles = base::Json::parse(text("roles"));
    for (const auto& [role, of] : roles.items()) {
      const auto count = of["count"].get<int64_t>();
      std::shared_ptr<const model::Pod> shared = PodOf(object.meta.ns, of.value("cpu", "1"));
      for (const model::PromisedMembers& same : before.promised)
        if (same.role == role && *same.pod->spec == *shared->spec) shared = same.pod;
      model::RoleSpec declared{role, count};
      declared.topology.required = of.value("level", "");
      declared.topology.subset = role;
      spec->roles.push_back(std::move(declared));
      spec->min_member += count;
      spec->promised.push_back({.role = role, .count = count, .pod = shared});
      model::RoleAsk asked{role, count, {}, *shared->spec, {}};
      if (of.contains("min")) asked.min_count = of["min"].get<int64_t>();
      ask.roles.push_back(std::move(asked));
    }
    if (!text("done").empty())  // so many members of each role have ended well
      for (model::RoleAsk& role : ask.roles) role.count -= terms.done[role.name] = std::stoll(text("done"));
    if (!text("limit").empty()) spec->run_limit_ms = std::stoll(text("limit")) * 1'000;
    terms.barred = text("barred");
    terms.released = text("released") == "true";
    terms.awaits_checks = text("checks") == "true";
    spec->fit = dialects::FitNamed(text("fit")).value_or(model::Fit::kNodes);
    if (!text("has").empty()) {
      model::HeldQuota& has = terms.has.emplace();
      has.uid = ask.uid, has.ns = ask.ns, has.local_queue = ask.local_queue, has.leaf = text("has");
      has.priority = ask.priority, has.queued_ms = ask.queued_ms;
      has.evicted = text("evicted") == "true";
      for (model::RoleAsk role : ask.roles) {
        if (!text("count").empty()) role.count = std::stoll(text("count"));
        HeldRole(role, text("flavor").empty() ? "f" : text("flavor"), &has);
      }
    }
    spec->quota = std::make_shared<const model::QuotaTerms>(std::move(terms));
  }
  static void HeldRole(const model::RoleAsk& role, const std::string& flavor, model::HeldQuota* has) {
    model::HeldQuota::Role& as = has->roles.emplace_back(model::HeldQuota::Role{role.name, role.count, {}, {}});
    as.flavors["cpu"] = flavor;
    as.requests.Set(model::kCpu, role.count * role.pod->requests.Get(model::kCpu));
  }

  QuotaWorld* const world_;
};

struct QuotaRig : DeclaringRig {
  QuotaRig() {
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
  // Adds a queue with cpu of these flavors, and a local queue of the same name. They are seen with the next PodGroup.
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
    PutGroup(name, {{"minMember", 1}}, annotations);
  }
  void Annotate(const std::string& group, const std::string& name, const std::string& value) {
    REQUIRE(store.Modify(kGroups, "default", group,
                         [&](sim::Json& object) { object["metadata"]["annotations"][name] = value; }));
  }
  const dialects::GangReport& Report(const std::string& gang) { return world.reports[gang]; }
  bool Has(const std::string& gang) { return Report(gang).quota.has.has_value(); }
  QuotaWorld world;
};

}  // namespace tutti::core
