// SPDX-License-Identifier: Apache-2.0
#include "cluster/json_text.h"

#include <fmt/format.h>

#include <iterator>
#include <sstream>
#include <vector>

#include "base/json.h"
#include "base/json_string.h"
#include "base/random.h"
#include "tests/support/catch.h"

namespace tutti::cluster {
namespace {

std::string Nested(size_t depth, const std::string& open, const std::string& close) {
  std::string text;
  for (size_t i = 0; i < depth; ++i) text += open;
  text += "1";
  for (size_t i = 0; i < depth; ++i) text += close;
  return text;
}

TEST_CASE("depth is that of arrays and objects, and not of what strings hold") {
  CHECK(JsonDepth("7") == 0);
  CHECK(JsonDepth("[]") == 1);
  CHECK(JsonDepth(R"({"a":[{"b":1}],"c":[]})") == 3);
  CHECK(JsonDepth(R"(["[[[", "\"[[[", "\\", []])") == 2);
  CHECK(JsonDepth("]]][") == 1);
  CHECK(JsonDepth("\"[[") == 0);
  CHECK(JsonDepth("\"\\") == 0);
}

TEST_CASE("JSON is parsed, and what is none is discarded") {
  CHECK(ParseJson(R"({"a":[1,{"b":null}]})") == base::Json{{"a", {1, {{"b", nullptr}}}}});
  CHECK(ParseJson("{").is_discarded());
  CHECK(ParseJson("").is_discarded());
  CHECK(ParseJson("[1] 2").is_discarded());
}

// Arrays and objects of what is easily read differently, some with a byte that is wrong.
std::string Anything(base::Random& random, int depth) {
  static const std::vector<std::string> atoms = [] {
    std::istringstream words(R"(0 -0 7 -7 9223372036854775808 18446744073709551615 18446744073709551616
        -9223372036854775808 -9223372036854775809 0.1 -0.0 1e5 1E-7 123456789.123456789 1e400 01 true false null nul
        "" "plain" "\u0000" "\u00e9\t\/\"" "\ud83d\ude00" "\ud83d" "Größe")");
    std::vector<std::string> all{std::istream_iterator<std::string>(words), {}};
    for (const char* raw : {"\"\x7f\"", "\"\xff\"", "\"\n\""}) all.emplace_back(raw);
    return all;
  }();
  const uint64_t kind = depth > 0 ? random.Below(3) : 0;
  if (kind == 0) return atoms[random.Below(atoms.size())];
  std::string text = kind == 1 ? "[" : "{";
  for (uint64_t i = random.Below(4); i > 0; --i) {
    if (kind == 2) text += fmt::format(R"("{}": )", random.Below(3));
    text += Anything(random, depth - 1);
    if (i > 1 || random.OneIn(20)) text += ", ";
  }
  return text + (kind == 1 ? "]" : "}");
}

TEST_CASE("JSON is read and written as the library itself would") {
  base::Random random(11);
  int good = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = Anything(random, 3);
    INFO(text);
    const base::Json ours = ParseJson(text), theirs = base::Json::parse(text, nullptr, false);
    REQUIRE(ours.is_discarded() == theirs.is_discarded());
    if (ours.is_discarded()) continue;
    REQUIRE(ours == theirs);
    REQUIRE(base::PrintJson(ours) == theirs.dump());
    ++good;
  }
  CHECK(good > 5'000);
}

TEST_CASE("of an object, who manages its fields is left out") {
  const std::string managed = R"({"name":"x","managedFields":[{"manager":"m"}]})";
  const std::string text =
      R"({"metadata":)" + managed + R"(,"data":{"managedFields":"kept"},"items":[{"metadata":)" + managed + "}]}";
  CHECK(ParseObject(text).dump() ==
        R"({"data":{"managedFields":"kept"},"items":[{"metadata":{"name":"x"}}],"metadata":{"name":"x"}})");
  CHECK(ParseJson(text)["metadata"].contains("managedFields"));
}

TEST_CASE("what is nested too deeply is left out, and the rest is there") {
  for (const auto& [open, close] : {std::pair<std::string, std::string>{"[", "]"}, {R"({"x":)", "}"}}) {
    const std::string text = R"({"before":1,"deep":)" + Nested(1'000'000, open, close) + R"(,"after":2})";
    const base::Json json = ParseJson(text);
    REQUIRE(json.is_object());
    CHECK(json["before"] == 1);
    CHECK(json["after"] == 2);
    CHECK(JsonDepth(json.dump()) <= kDeepestJson);
    CHECK(json == base::Json(json));
  }
  CHECK(ParseJson(Nested(1'000'000, "[", "")).is_discarded());
  CHECK(JsonDepth(ParseJson(Nested(kDeepestJson, "[", "]")).dump()) == kDeepestJson);
}

}  // namespace
}  // namespace tutti::cluster
