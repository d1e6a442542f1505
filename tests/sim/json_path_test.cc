// SPDX-License-Identifier: Apache-2.0
#include "sim/api/json_path.h"

#include "tests/sim/cluster.h"

namespace tutti::sim {
namespace {

std::string Texts(const char* object, std::string_view path) {
  const Json parsed = testing::ParseJson(object);
  std::string texts;
  for (const Json* each : FindPath(parsed, path)) texts += (texts.empty() ? "" : " ") + StringOf(*each);
  return texts;
}

TEST_CASE("a union finds what each of its parts finds, and takes no notice of what is missing") {
  CHECK(Texts(R"({"spec": {"cohort": "a"}})", ".spec['cohort','cohortName']") == "a");
  CHECK(Texts(R"({"spec": {"cohortName": "b"}})", ".spec['cohort', 'cohortName']") == "b");
  CHECK(Texts(R"({"spec": {"cohortName": "b", "cohort": "a"}})", ".spec['cohort','cohortName']") == "a b");
  CHECK(Texts(R"({"spec": {}})", ".spec['cohort','cohortName']").empty());
  CHECK(Texts(R"({"l": ["x", "y", "z"]})", ".l[2,0]") == "z x");
}

TEST_CASE("a comma in quotes or in a filter divides no brackets") {
  CHECK(Texts(R"({"a,b": "x"})", "['a,b']") == "x");
  CHECK(Texts(R"({"l": [{"k": "1,2", "v": "x"}]})", R"(.l[?(@.k=="1,2")].v)") == "x");
}

}  // namespace
}  // namespace tutti::sim
