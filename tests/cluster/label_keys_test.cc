// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <random>
#include <set>

#include "tests/support/catch.h"
#include "tests/support/test_cluster.h"

namespace tutti::cluster {
namespace {

using Json = base::Json;

// Pods by name as this test knows them, and whether the classes of all are told apart by the labels that some pod
// reads.
class Keys {
 public:
  void Add(const Json& brief) {
    Drop(brief.at("name"));
    pods_[brief.at("name")] = brief;
    cluster_.AddPod(brief);
  }
  void Drop(const std::string& name) {
    const auto at = pods_.find(name);
    if (at == pods_.end()) return;
    cluster_.state().DropPod(cluster_.state().FindPod(at->second.at("namespace").get<std::string>(), name));
    pods_.erase(at);
    cluster_.state().Reclassify();
  }
  void Check() {
    for (const auto& [name, brief] : pods_) {
      const std::string ns = brief.at("namespace");
      std::set<std::string> told;
      for (const auto& [key, value] : brief.at("labels").items())
        if (Read(key, ns)) told.insert(key + "=" + value.get<std::string>());
      std::set<std::string> kept;
      const PodClass& pod_class = *cluster_.state().pod(cluster_.state().FindPod(ns, name)).pod_class;
      const SymbolTable& symbols = cluster_.snapshot().symbols();
      for (const auto& [key, value] : pod_class.labels) kept.insert(symbols.Text(key) + "=" + symbols.Text(value));
      INFO(name);
      REQUIRE(kept == told);
    }
  }

 private:
  bool Read(const std::string& key, const std::string& ns) const {
    for (const auto& [name, brief] : pods_) {
      const bool own = brief.at("namespace") == ns;
      for (const Json& spread : brief.value("topologySpreadConstraints", Json::array()))
        if (own && spread.at("labelSelector").at("matchLabels").contains(key)) return true;
      if (!brief.contains("affinity")) continue;
      for (const Json& term :
           brief.at("affinity").at("podAntiAffinity").at("requiredDuringSchedulingIgnoredDuringExecution")) {
        const bool there = term.contains("namespaceSelector") ||
                           (term.contains("namespaces") ? term.at("namespaces").front() == ns : own);
        if (there && term.at("labelSelector").at("matchLabels").contains(key)) return true;
      }
    }
    return false;
  }

  tests::TestCluster cluster_;
  std::map<std::string, Json> pods_;
};

}  // namespace

TEST_CASE("Pods are told apart by the labels that pods which are there read, where they read them") {
  std::mt19937 random(20261123);
  const auto one_of = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const auto key = [&] { return fmt::format("k{}", one_of(4)); };
  Keys keys;
  for (int step = 0; step < 1'500; ++step) {
    const std::string name = fmt::format("p{}", one_of(12));
    Json pod = {{"name", name}, {"namespace", fmt::format("n{}", one_of(3))}, {"labels", Json::object()}};
    for (int i = 0; i < 3; ++i) pod["labels"][key()] = fmt::format("v{}", one_of(2));
    const Json selector = {{"matchLabels", {{key(), "v0"}}}};
    Json term = {{"topologyKey", "zone"}, {"labelSelector", selector}};
    switch (one_of(8)) {
      case 0:
        pod["topologySpreadConstraints"] = {{{"maxSkew", 1},
                                             {"topologyKey", "zone"},
                                             {"whenUnsatisfiable", "DoNotSchedule"},
                                             {"labelSelector", selector}}};
        break;
      case 1: term["namespaceSelector"] = Json::object(); [[fallthrough]];
      case 2:
        if (one_of(2) == 0) term["namespaces"] = {fmt::format("n{}", one_of(3))};
        pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] = {term};
        break;
      default: break;
    }
    if (one_of(4) == 0)
      keys.Drop(name);
    else
      keys.Add(pod);
    keys.Check();
  }
}

}  // namespace tutti::cluster
