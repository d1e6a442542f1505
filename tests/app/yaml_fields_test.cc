// SPDX-License-Identifier: Apache-2.0
#include "app/yaml_fields.h"

#include "base/json.h"
#include "tests/support/catch.h"

namespace tutti::app {
namespace {

TEST_CASE("YAML scalars become JSON by what they look like, and quotes make strings") {
  const auto json = YamlToJson(YAML::Load("{a: 1, b: '1', c: 010, d: 1.5, e: true, f: ~, g: yes, h: [1Gi, {}]}"));
  REQUIRE(json);
  CHECK(json->dump() == R"({"a":1,"b":"1","c":10,"d":1.5,"e":true,"f":null,"g":"yes","h":["1Gi",{}]})");
}

TEST_CASE("aliases that stand in themselves or for too much are refused") {
  CHECK(YamlToJson(YAML::Load("&b {z: *b}")).error().message == "is nested too deeply");
  std::string bomb = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (char i = '1'; i <= '9'; ++i) {
    bomb += std::string("a") + i + ": &a" + i + " [";
    for (int n = 0; n < 10; ++n) bomb += std::string("*a") + char(i - 1) + ", ";
    bomb += "]\n";
  }
  CHECK(YamlToJson(YAML::Load(bomb)).error().message == "is too large with its aliases expanded");
}

TEST_CASE("the closest word is found through case and slips, and nothing when nothing is near") {
  CHECK(Closest("multipoint", {"queueSort", "multiPoint"}) == "multiPoint");
  CHECK(Closest("schdulerName", {"schedulerName", "plugins"}) == "schedulerName");
  CHECK(Closest("zzz", {"schedulerName", "plugins"}).empty());
}

}  // namespace
}  // namespace tutti::app
