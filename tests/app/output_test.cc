// SPDX-License-Identifier: Apache-2.0
#include "app/output.h"

#include "base/json.h"
#include "tests/support/catch.h"

namespace tutti::app {
namespace {

using Json = nlohmann::ordered_json;

TEST_CASE("YAML stands as kubectl prints it: sequences below their key, keys in order") {
  const Json value = {{"metadata", {{"name", "a"}, {"labels", Json::object()}}},
                      {"items", {{{"b", 1}, {"c", {1, 2}}}, "x", Json::array()}}};
  CHECK(ToYamlText(value) == "metadata:\n  name: a\n  labels: {}\nitems:\n- b: 1\n  c:\n  - 1\n  - 2\n- x\n- []\n");
}

TEST_CASE("a string that another type would be read from is quoted, and others are not") {
  for (const char* quoted : {"3", "1e3", "0x1f", "2026-01-01T00:00:05Z", "true", "null", "no", "", "- a", "a: b",
                             "a #b", "@x", "0b11", "-0x1f", "<<", "\x1b[31m"}) {
    INFO(quoted);
    CHECK(ToYamlText(quoted)[0] == '"');
  }
  for (const char* plain : {"4Gi", "83f91ca7-864a-4135-b6b9-aeef0d2df7ab", "v1.2", "node-1", "a:b", "tasks in gang"}) {
    INFO(plain);
    CHECK(ToYamlText(plain) == std::string(plain) + "\n");
  }
  CHECK(ToYamlText("two\nlines") == "\"two\\nlines\"\n");
}

TEST_CASE("a name in a table cannot move the cursor, nor make a line of its own") {
  Table table({"NAME", "AGE"});
  table.Add({"\x1b[31mred", "5s"});
  table.Add({"two\nlines", "6s\r"});
  CHECK(table.Text() == "NAME        AGE\n^[[31mred   5s\ntwo...      6s...\n");
}

TEST_CASE("tables are aligned, without spaces at the end") {
  Table table({"NAME", "AGE"});
  table.Add({"a-long-name", "5s"});
  table.Add({"b", ""});
  CHECK(table.Text() == "NAME          AGE\na-long-name   5s\nb\n");
}

}  // namespace
}  // namespace tutti::app
