// SPDX-License-Identifier: Apache-2.0
#include "core/publish/refused_pods.h"

#include "tests/support/catch.h"

namespace tutti::core {
namespace {

using Strings = std::vector<std::string>;

TEST_CASE("pods that wait are counted by all the plugins that refuse them, and taken back alike") {
  RefusedPods pods;
  CHECK(pods.Changed() == nullptr);
  Refusal nodes(observe::Reason{.cause = observe::LacksNodes{}});
  CHECK(pods.Of("a", nodes) == 0);  // such as where there is no node
  nodes.plugins = {"NodeResourcesFit", "NodeAffinity"};
  const RefusedPods::Id both = pods.Of("a", nodes);
  CHECK(pods.Of("a", nodes) == both);
  CHECK(pods.Of("b", nodes) != both);
  const Refusal queue(observe::Reason{.cause = observe::QueueRefuses{}});
  const RefusedPods::Id full = pods.Of("a", queue);
  pods.Add(both, 3);
  pods.Add(full, 2);
  pods.Add(0, 7);
  const auto* counts = pods.Changed();
  REQUIRE(counts != nullptr);
  CHECK((*counts)[both - 1].plugins == Strings{"NodeAffinity", "NodeResourcesFit"});
  CHECK((*counts)[both - 1].pods == 3);
  CHECK((*counts)[full - 1].plugins == Strings{"Queue"});
  CHECK((*counts)[full - 1].pods == 2);
  CHECK(pods.Changed() == nullptr);
  pods.Add(both, -3);
  CHECK((*pods.Changed())[both - 1].pods == 0);
}

}  // namespace
}  // namespace tutti::core
