// SPDX-License-Identifier: Apache-2.0
#include "cluster/kinds.h"

#include "tests/support/catch.h"

namespace tutti::cluster {
namespace {

TEST_CASE("A kind has one row however many read it, and is found by group and resource, or by its name") {
  const model::ObjectKind groups{"scheduling.example.io", "podgroups", "PodGroup", {"v1", "v1beta1"}};
  KindTable kinds;
  const KindId pods = kinds.Add(PodKind()), first = kinds.Add(groups);
  CHECK(first != pods);
  CHECK(kinds.Add(groups) == first);
  CHECK(kinds.size() == 2);
  CHECK(kinds.at(first) == groups);
  CHECK(kinds.Find("scheduling.example.io", "podgroups") == first);
  CHECK(kinds.FindByName(groups.Name()) == first);
  CHECK(kinds.FindByName("pods") == pods);
}

TEST_CASE("A resource of another group is another kind") {
  KindTable kinds;
  const KindId core = kinds.Add(PodKind());
  const KindId other = kinds.Add({"metrics.k8s.io", "pods", "PodMetrics", {"v1beta1"}});
  CHECK(kinds.FindByName("pods") == core);
  CHECK(kinds.FindByName("pods.metrics.k8s.io") == other);
  CHECK_FALSE(kinds.Find("k8s.io", "pods").valid());
  CHECK_FALSE(kinds.FindByName("nodes").valid());
}

TEST_CASE("Those of a kind that have a label are a kind of their own, beside all of them") {
  const model::ObjectKind some{"", "pods", "Pod", {"v1"}, "queue"};
  KindTable kinds;
  const KindId all = kinds.Add(PodKind()), labelled = kinds.Add(some);
  CHECK(all != labelled);
  CHECK(some.Name() == "labelled-pods");
  CHECK(kinds.FindByName("labelled-pods") == labelled);
  CHECK(kinds.FindByName("pods") == all);
  CHECK(kinds.Find("", "pods", true) == labelled);
  CHECK(kinds.Find("", "pods") == all);
}

TEST_CASE("The rows stay where they are while more are added") {
  KindTable kinds;
  std::vector<KindId> ids;
  for (int i = 0; i < 300; ++i) ids.push_back(kinds.Add({"g", "r" + std::to_string(i), "R", {"v1"}}));
  for (int i = 0; i < 300; ++i) {
    CHECK(ids[static_cast<size_t>(i)].index() == static_cast<size_t>(i));
    CHECK(kinds.FindByName("r" + std::to_string(i) + ".g") == ids[static_cast<size_t>(i)]);
  }
}

}  // namespace
}  // namespace tutti::cluster
