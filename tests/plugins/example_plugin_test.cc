// SPDX-License-Identifier: Apache-2.0
#include "tests/plugins/example_plugin.h"

#include <fstream>
#include <sstream>

#include "base/json_fwd.h"
#include "framework/ranking.h"
#include "tests/support/catch.h"
#include "tests/support/test_cluster.h"

using namespace tutti;

namespace {

std::string Read(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("the example of docs/plugins.md does what it says") {
  tests::TestCluster cluster;
  cluster.AddNode({{"name", "old"}, {"labels", {{"generation", "1"}}}});
  cluster.AddNode({{"name", "new"}, {"labels", {{"generation", "2"}}}});
  framework::Profile profile;
  profile.filters.push_back(std::make_shared<plugins::SameGeneration>("2"));
  framework::Ranking ranking(profile, cluster.Class(base::Json::object()), cluster.snapshot());
  CHECK(ranking.Best() == cluster.Node("new"));
  CHECK(ranking.Explain().Sentence() == "0/2 nodes are available: 1 node(s) were of another generation.");

  cluster.AddNode({{"name", "new"}, {"labels", {{"generation", "3"}}}});
  ranking.Refresh();
  CHECK(ranking.feasible_count() == 0);
}

TEST_CASE("docs/plugins.md shows the example as it is compiled here") {
  const std::string source = Read(TUTTI_SOURCE "/tests/plugins/example_plugin.h");
  const std::string mark = "// [example]\n";
  const size_t begin = source.find(mark) + mark.size();
  const std::string example = source.substr(begin, source.rfind(mark) - begin);
  REQUIRE(example.size() > 100);
  CHECK(Read(TUTTI_SOURCE "/docs/plugins.md").find(example) != std::string::npos);
}
