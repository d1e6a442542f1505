// SPDX-License-Identifier: Apache-2.0
#include "cluster/json_text.h"

#include "base/json.h"
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
