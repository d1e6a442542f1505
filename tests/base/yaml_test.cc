// SPDX-License-Identifier: Apache-2.0
#include <yaml-cpp/yaml.h>

#include "base/json.h"
#include "base/yaml_node.h"
#include "base/yaml_scalar.h"
#include "tests/support/catch.h"

namespace tutti::base {
namespace {

TEST_CASE("a plain scalar is what Kubernetes' own reader takes it for") {
  const auto [text, json] = GENERATE(table<std::string, std::string>({
      {"", "null"},
      {"~", "null"},
      {"Null", "null"},
      {"nULL", "\"nULL\""},
      {"yes", "true"},
      {"On", "true"},
      {"y", "true"},
      {"yEs", "\"yEs\""},
      {"no", "false"},
      {"OFF", "false"},
      {"N", "false"},
      {"12", "12"},
      {"+12", "12"},
      {"-12", "-12"},
      {"010", "8"},
      {"08", "8"},
      {"0x1F", "31"},
      {"0o17", "15"},
      {"0b101", "5"},
      {"1_000", "1000"},
      {"1.0", "1"},
      {"1e3", "1000"},
      {"1.5", "1.5"},
      {".5", "0.5"},
      {"1Gi", "\"1Gi\""},
      {"1.2.3", "\"1.2.3\""},
      {"-", "\"-\""},
      {"2026-01-01", "\"2026-01-01\""},
      {"18446744073709551615", "18446744073709551615"},
  }));
  CAPTURE(text);
  const auto value = PlainScalar(text);
  REQUIRE(value);
  CHECK(value->dump() == json);
}

TEST_CASE("what JSON has no value for is told") {
  for (const char* text : {".inf", "-.inf", ".nan"}) CHECK_FALSE(PlainScalar(text));
  CHECK(YamlToJson(YAML::Load("a: .inf")).error().message == ".inf is no JSON value");
}

TEST_CASE("quotes make strings, and what is nested keeps its shape") {
  const auto json = YamlToJson(YAML::Load("{a: 1, b: '1', c: 010, d: 1.5, e: true, f: ~, g: yes, h: [1Gi, {}]}"));
  REQUIRE(json);
  CHECK(json->dump() == R"({"a":1,"b":"1","c":8,"d":1.5,"e":true,"f":null,"g":true,"h":["1Gi",{}]})");
}

TEST_CASE("a key that is there twice is refused") {
  CHECK(YamlToJson(YAML::Load("{a: 1, a: 2}")).error().message == "has the key \"a\" twice; remove one");
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

}  // namespace
}  // namespace tutti::base
