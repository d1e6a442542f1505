// SPDX-License-Identifier: Apache-2.0
#include "sim/store/controller.h"

#include <algorithm>
#include <tuple>

#include "base/log.h"

namespace tutti::sim {
namespace {

constexpr base::Millis kFirstRetryMs = 1000;
constexpr base::Millis kLastRetryMs = 300'000;
// Rounds of one object within one Work; a controller that wants more undoes its own work, and goes on later.
constexpr int kMostRounds = 100;

}  // namespace

void ObjectIndex::Put(const ObjectKey& key, const std::string& value) {
  if (const auto known = values_.find(key); known != values_.end()) {
    if (known->second == value) return;
    const auto at = keys_.find(known->second);
    at->second.erase(key);
    if (at->second.empty()) keys_.erase(at);
    values_.erase(known);
  }
  if (value.empty()) return;
  values_[key] = value;
  keys_[value].insert(key);
}

std::vector<Object> ObjectIndex::Find(const Store& store, const std::string& value) const {
  std::vector<Object> found;
  const auto at = keys_.find(value);
  if (at == keys_.end()) return found;
  for (const ObjectKey& key : at->second) {
    if (Object object = store.Find(resource_, key.ns, key.name)) found.push_back(std::move(object));
  }
  return found;
}

bool Controller::Work() {
  bool worked = false;
  std::map<ObjectKey, int> rounds;
  while (const auto key = queue_.Take(clock_.MonotonicMs())) {
    if (++rounds[*key] > kMostRounds) {
      RetryLater(*key);
      continue;
    }
    worked = true;
    try {
      Reconcile(*key);
      unreadable_.erase(*key);
    } catch (const Json::exception& error) {
      // What a definition lets through may still be of a type that no code expects: one object's trouble, not the
      // cluster's.
      if (unreadable_.insert(*key).second) {
        base::LogError("an object cannot be worked off",
                       {{"controller", name()}, {"namespace", key->ns}, {"name", key->name}, {"error", error.what()}});
      }
      RetryLater(*key);
    }
  }
  return worked;
}

void Controller::EnqueueOwner(const Json& object, std::string_view kind) {
  const Json& owner = ControllerOf(object);
  if (DigString(owner, "kind") == kind) Enqueue({NamespaceOf(object), DigString(owner, "name")});
}

void Controller::FollowOwnedPod(const WatchEvent& event, std::string_view kind, ObjectIndex* index) {
  if (event.resource != kPods) return;
  const Json& owner = ControllerOf(*event.object);
  if (DigString(owner, "kind") != kind) return;
  index->Put(KeyFor(*event.object), event.type == EventType::kDeleted ? "" : DigString(owner, "uid"));
  EnqueueOwner(*event.object, kind);
}

void Controller::RetryLater(const ObjectKey& key) {
  const int failures = failures_[key]++;
  EnqueueIn(key, failures >= 9 ? kLastRetryMs : std::min(kFirstRetryMs << failures, kLastRetryMs));
}

bool IsReadyPod(const Json& pod) { return IsTrue(pod, "Ready"); }

void SortForRemoval(std::vector<Object>* pods) {
  std::ranges::stable_sort(*pods, {}, [](const Object& pod) {
    return std::tuple(!DigString(*pod, "spec", "nodeName").empty(), PhaseOf(*pod) == "Running", IsReadyPod(*pod),
                      -ResourceVersionOf(*pod));
  });
}

Json PodFromTemplate(const Json& pod_template, const Json& owner, const std::string& generate_name) {
  Json meta = Json::object();
  for (const char* field : {"labels", "annotations", "finalizers"}) {
    if (const Json& value = Dig(pod_template, "metadata", field); !value.empty()) meta[field] = value;
  }
  meta["generateName"] = generate_name;
  meta["namespace"] = NamespaceOf(owner);
  meta["ownerReferences"] = Json::array({ControllerReference(owner)});
  return {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", std::move(meta)}, {"spec", Child(pod_template, "spec")}};
}

}  // namespace tutti::sim
