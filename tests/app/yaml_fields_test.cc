// SPDX-License-Identifier: Apache-2.0
#include "app/yaml_fields.h"

#include "base/json.h"
#include "tests/support/catch.h"

namespace tutti::app {
namespace {

TEST_CASE("YAML scalars become JSON by what they look like, and quotes make strings") {
  const auto json = YamlToJson(YAML::Load("{a: 1, b: '1', c: 010, d: 1.5, e: true, f: ~, g: yes, h: [1Gi, {}]}"));
  CHECK(json.dump() == R"({"a":1,"b":"1","c":10,"d":1.5,"e":true,"f":null,"g":"yes","h":["1Gi",{}]})");
}

TEST_CASE("the closest word is found through case and slips, and nothing when nothing is near") {
  CHECK(Closest("multipoint", {"queueSort", "multiPoint"}) == "multiPoint");
  CHECK(Closest("schdulerName", {"schedulerName", "plugins"}) == "schedulerName");
  CHECK(Closest("zzz", {"schedulerName", "plugins"}).empty());
}

}  // namespace
}  // namespace tutti::app
