// SPDX-License-Identifier: Apache-2.0
// What extenders without a cache of nodes are sent, and how often it is read.
#include "kube/extender_nodes.h"

#include <fmt/format.h>

#include "base/json.h"
#include "cluster/json_text.h"
#include "kube/extender_messages.h"
#include "tests/support/catch.h"

namespace tutti::kube {
namespace {

struct NodesRig {
  base::VirtualClock clock{0};
  int reads = 0;
  std::string trouble;
  ExtenderNodes nodes{[this](const std::string& target) -> base::Result<std::string> {
                        CHECK(target == "/api/v1/nodes");
                        ++reads;
                        if (!trouble.empty()) return base::Invalid(trouble);
                        return fmt::format(R"({{"items":[{{"metadata":{{"name":"n{}"}}}}]}})", reads);
                      },
                      clock};

  // As a question does.
  std::string Name() {
    const auto listed = nodes.AsOf(clock.MonotonicMs() - ExtenderNodes::kFreshMs);
    return listed ? (*listed)->begin()->first : listed.error().message;
  }
};

TEST_CASE("one list of nodes serves all questions of some seconds") {
  NodesRig rig;
  for (int i = 0; i < 64; ++i) CHECK(rig.Name() == "n1");
  CHECK(rig.reads == 1);
  rig.clock.AdvanceTo(ExtenderNodes::kFreshMs);
  CHECK(rig.Name() == "n1");
  rig.clock.AdvanceTo(ExtenderNodes::kFreshMs + 1);
  CHECK(rig.Name() == "n2");
  CHECK(rig.reads == 2);

  // A question about a node that the list lacks.
  rig.clock.AdvanceTo(ExtenderNodes::kFreshMs + 2);
  for (int i = 0; i < 2; ++i) CHECK((*rig.nodes.AsOf(rig.clock.MonotonicMs()))->contains("n3"));
  CHECK(rig.reads == 3);
}

TEST_CASE("a list of nodes that fails is not asked for again by each question") {
  NodesRig rig;
  rig.trouble = "HTTP 500";
  for (int i = 0; i < 64; ++i) CHECK(rig.Name() == "the nodes could not be read for an extender: HTTP 500");
  CHECK(rig.reads == 1);
  rig.trouble.clear();
  rig.clock.AdvanceTo(ExtenderNodes::kFreshMs + 1);
  CHECK(rig.Name() == "n2");
}

TEST_CASE("an extender gets either nodes or their names, also where there are none") {
  const std::string pod = R"({"kind":"Pod"})";
  const base::Json whole = cluster::ParseJson(ExtenderArgs(pod, NodeObjects{}));
  CHECK(whole["NodeNames"].is_null());
  CHECK(whole["Nodes"]["items"] == base::Json::array());
  const base::Json named = cluster::ParseJson(ExtenderArgs(pod, NodeNames{}));
  CHECK(named["Nodes"].is_null());
  CHECK(named["NodeNames"] == base::Json::array());
  CHECK(cluster::ParseJson(ExtenderArgs(pod, NodeNames{{"a", "b"}}))["NodeNames"] == base::Json({"a", "b"}));
  const base::Json two = cluster::ParseJson(ExtenderArgs(pod, NodeObjects{{R"({"a":1})", R"({"b":2})"}}));
  CHECK(two["Nodes"]["items"] == base::Json::array({{{"a", 1}}, {{"b", 2}}}));
}

}  // namespace
}  // namespace tutti::kube
