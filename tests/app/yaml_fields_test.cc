// SPDX-License-Identifier: Apache-2.0
#include "app/yaml_fields.h"

#include "tests/support/catch.h"

namespace tutti::app {
namespace {

TEST_CASE("A field takes what Go's reader takes for its type, and complains of all else") {
  Complaints complaints("f");
  Fields fields(
      YAML::Load("{a: 010, b: 0x10, c: 1.0, d: yes, e: off, f: '1', g: 'true', h: 1.5, i: 18446744073709551615}"), "",
      &complaints);
  int64_t a = 0, b = 0, c = 0, wrong = 7;
  bool d = false, e = true, wrong_flag = true;
  fields.Integer("a", 0, 100, &a);
  fields.Integer("b", 0, 100, &b);
  fields.Integer("c", 0, 100, &c);
  fields.Bool("d", &d);
  fields.Bool("e", &e);
  CHECK(a == 8);
  CHECK(b == 16);
  CHECK(c == 1);
  CHECK(d);
  CHECK_FALSE(e);
  CHECK(complaints.lines().empty());
  for (const char* name : {"f", "h", "i"}) fields.Integer(name, 0, 100, &wrong);
  fields.Bool("g", &wrong_flag);
  CHECK(wrong == 7);
  CHECK(complaints.lines().size() == 4);
}

TEST_CASE("the closest word is found through case and slips, and nothing when nothing is near") {
  CHECK(Closest("multipoint", {"queueSort", "multiPoint"}) == "multiPoint");
  CHECK(Closest("schdulerName", {"schedulerName", "plugins"}) == "schedulerName");
  CHECK(Closest("zzz", {"schedulerName", "plugins"}).empty());
}

}  // namespace
}  // namespace tutti::app
