// SPDX-License-Identifier: Apache-2.0
// Sums of what pods ask for, on nodes that others have bound more to than can be counted.
#include <fmt/format.h>

#include <limits>

#include "tests/support/catch.h"
#include "tests/support/test_cluster.h"

namespace tutti::cluster {
namespace {

using tests::json;

constexpr int64_t kPebi = int64_t{1} << 50;
constexpr int kToOverflow = 1 << 13;  // so many pods of 1Pi come to 2^63

struct Crowd {
  // So many more pods of 1Pi of everything on node n.
  void Add(int count) {
    const json each = {{"cpu", "1125899906842624m"}, {"memory", "1Pi"}, {"example.com/x", "1Pi"}};
    for (int i = 0; i < count; ++i) pods.push_back(cluster.AddPod({{"node", "n"}, {"requests", each}}));
  }
  void Drop(int count) {
    for (int i = 0; i < count; ++i, pods.pop_back()) cluster.state().DropPod(pods.back());
  }
  model::ResourceId Column(const char* resource) { return cluster.snapshot().resources().Column(resource); }

  tests::TestCluster cluster;
  std::vector<model::PodId> pods;
};

TEST_CASE("a node is full of what its pods ask for beyond all counting, and exactly as before when they go") {
  Crowd crowd;
  const model::NodeId n = crowd.cluster.AddNode({{"name", "n"}, {"allocatable", {{"example.com/x", "1Ei"}}}});
  const Snapshot& nodes = crowd.cluster.snapshot();
  for (const int count : {kToOverflow, kToOverflow, 5}) {
    crowd.Add(count);
    INFO(crowd.pods.size());
    for (const char* resource : {"cpu", "memory", "example.com/x"}) {
      INFO(resource);
      CHECK(nodes.Free(n, crowd.Column(resource)) < 0);
    }
    CHECK(nodes.nonzero_cpu()[n.index()] > kPebi);
    CHECK(nodes.nonzero_memory()[n.index()] > kPebi);
    crowd.cluster.state().Audit();
  }
  crowd.Drop(2 * kToOverflow + 4);
  crowd.cluster.state().Audit();
  for (const char* resource : {"cpu", "memory", "example.com/x"})
    CHECK(nodes.requested(crowd.Column(resource))[n.index()] == kPebi);
  CHECK(nodes.nonzero_cpu()[n.index()] == kPebi);
  CHECK(nodes.nonzero_memory()[n.index()] == kPebi);
  crowd.Drop(1);
  CHECK(nodes.requested(kMemoryColumn)[n.index()] == 0);
  CHECK(nodes.nonzero_memory()[n.index()] == 0);
}

TEST_CASE("what was asked for beyond all counting before any node had it fills the node that comes to have it") {
  Crowd crowd;
  crowd.cluster.AddNode({{"name", "n"}});
  crowd.Add(2 * kToOverflow);
  const model::NodeId n = crowd.cluster.AddNode({{"name", "n"}, {"allocatable", {{"example.com/x", "1Ei"}}}});
  const Snapshot& nodes = crowd.cluster.snapshot();
  CHECK(nodes.Free(n, crowd.Column("example.com/x")) < 0);
  crowd.cluster.state().Audit();
  crowd.Drop(2 * kToOverflow - 3);
  CHECK(nodes.requested(crowd.Column("example.com/x"))[n.index()] == 3 * kPebi);
  crowd.cluster.state().Audit();
}

TEST_CASE("a node that says it has more than can be counted is full like others") {
  Crowd crowd;
  const model::NodeId n = crowd.cluster.AddNode(
      {{"name", "n"}, {"allocatable", {{"memory", "9E"}, {"cpu", "9223372036854775807m"}, {"pods", "9E"}}}});
  CHECK(crowd.cluster.snapshot().Free(n, kMemoryColumn) > kPebi);
  for (int i = 0; i < 3; ++i) {
    crowd.Add(kToOverflow / 2);
    CHECK(crowd.cluster.snapshot().Free(n, kMemoryColumn) <= 0);
    CHECK(crowd.cluster.snapshot().Free(n, kCpuColumn) <= 0);
  }
}

}  // namespace
}  // namespace tutti::cluster
