// SPDX-License-Identifier: Apache-2.0
// DeclaringRig: a rig in which the test's own dialect reads PodGroups. It declares gangs before they have pods.
#pragma once

#include "cluster/json_decode.h"
#include "tests/core/volcano_rig.h"
#include "tests/support/test_cluster.h"

namespace tutti::core {

// A pod's label "gang" names its gang, and its label "role" its role. A pod without "gang" is a lone pod.
class DeclaringDialect : public dialects::Dialect {
 public:
  explicit DeclaringDialect(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  const std::vector<model::ObjectKind>& Kinds() const override {
    static const std::vector<model::ObjectKind> kinds{{"scheduling.volcano.sh", "podgroups", "PodGroup", {"v1beta1"}}};
    return kinds;
  }
  void Put(std::shared_ptr<const model::Object> object, dialects::Touched* touched) override {
    const model::GangKey key = KeyOf(object->meta.ns, object->meta.name);
    const model::GangSpec before = std::exchange(specs_[key], {});
    model::GangSpec& spec = specs_[key];
    spec.key = key;
    spec.uid = object->meta.uid;
    spec.created_ms = object->meta.created_ms;
    spec.min_member = 0;
    Declare(*object, before, &spec);
    touched->gangs.insert(key);
  }
  void Drop(std::string_view, std::string_view ns, std::string_view name, dialects::Touched* touched) override {
    const model::GangKey key = KeyOf(ns, name);
    specs_.erase(key);
    touched->gangs.insert(key);
  }
  std::optional<dialects::Membership> MembershipOf(const model::Pod& pod) const override {
    const std::string* gang = model::Find(pod.meta.labels, "gang");
    dialects::Membership membership;
    membership.gang = KeyOf(pod.meta.ns, gang ? *gang : pod.meta.name);
    membership.lone = !gang;
    if (const std::string* role = model::Find(pod.meta.labels, "role")) membership.role = *role;
    membership.head = membership.role == "head";
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

 protected:
  // Fills in what the object declares. Its names are there already, and a minimum of 0. `before`: what it declared
  // last.
  virtual void Declare(const model::Object& object, const model::GangSpec& before, model::GangSpec* spec) = 0;
  // Returns the pod that a member will be.
  static std::shared_ptr<const model::Pod> PodOf(const std::string& ns, const std::string& cpu) {
    auto pod = cluster::DecodePod(
        tests::PodManifest({{"namespace", ns}, {"schedulerName", "tutti"}, {"requests", {{"cpu", cpu}}}}));
    REQUIRE(pod);
    return std::make_shared<const model::Pod>(*std::move(pod));
  }

 private:
  model::GangKey KeyOf(std::string_view ns, std::string_view name) const {
    return {name_, std::string(ns), std::string(name)};
  }

  const std::string name_;
  std::map<model::GangKey, model::GangSpec> specs_;
};

struct DeclaringRig : GroupRig {
  void Withdraw(const std::string& name) { REQUIRE(store.Delete(kGroups, "default", name, {.grace_seconds = 0})); }
  observe::Decision Decision(const std::string& gang) const {
    for (observe::Decision& decision : scheduler->Decisions())
      if (decision.gang.name == gang) return decision;
    return {};
  }
};

}  // namespace tutti::core
