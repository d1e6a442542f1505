// SPDX-License-Identifier: Apache-2.0
#include "base/flat_map.h"

#include <algorithm>
#include <map>
#include <string>

#include "base/json.h"
#include "base/random.h"
#include "tests/support/catch.h"

namespace tutti::base {
namespace {

using Map = FlatMap<std::string, int, std::less<>, std::allocator<std::pair<const std::string, int>>>;

TEST_CASE("a flat map does what std::map does") {
  Random random(7);
  for (const uint64_t keys : {6, 40}) {  // so few that they are looked through, and more
    Map flat;
    std::map<std::string, int, std::less<>> tree;
    for (int i = 0; i < 4000; ++i) {
      const std::string key = "k" + std::to_string(random.Below(keys) * 37);
      const int value = static_cast<int>(random.Below(1000));
      if (random.OneIn(3)) {
        CHECK(flat.erase(key) == tree.erase(key));
      } else {
        CHECK(flat.emplace(key, value).second == tree.emplace(key, value).second);
      }
      CHECK((flat.find(std::string_view(key)) != flat.end()) == tree.contains(key));
      CHECK(std::ranges::equal(
          flat, tree, [](const auto& a, const auto& b) { return a.first == b.first && a.second == b.second; }));
    }
  }
}

TEST_CASE("a flat map of items in any order is what they make one by one, the last of a key") {
  Random random(8);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::pair<std::string, int>> items;
    std::map<std::string, int, std::less<>> tree;
    for (uint64_t i = random.Below(30); i > 0; --i) {
      items.emplace_back("k" + std::to_string(random.Below(40)), static_cast<int>(i));
      tree[items.back().first] = items.back().second;
    }
    CHECK(std::ranges::equal(Map::Of(items), tree,
                             [](const auto& a, const auto& b) { return a.first == b.first && a.second == b.second; }));
  }
}

TEST_CASE("JSON objects print in the order of their keys, and compare as maps do") {
  Json object = {{"b", 1}, {"a", {{"z", 1}, {"y", 2}}}};
  object["aa"] = nullptr;
  CHECK(object.dump() == R"({"a":{"y":2,"z":1},"aa":null,"b":1})");
  CHECK(object == Json::parse(R"({"b":1,"aa":null,"a":{"z":1,"y":2}})"));
  CHECK(Json{{"a", 1}} < Json{{"a", 2}});
  CHECK(Json{{"a", 2}} < Json{{"b", 1}});
  object.merge_patch(Json::parse(R"({"a":{"y":null},"b":null,"c":[1]})"));
  CHECK(object.dump() == R"({"a":{"z":1},"aa":null,"c":[1]})");
}

TEST_CASE("a copy of a frozen value shares what neither of the two changes") {
  Json first = Json::parse(R"({"a":{"b":{"c":1},"d":[{"e":1}]},"f":{"g":2}})");
  Json loose = first;
  CHECK_FALSE(IsShared(std::as_const(loose)["f"], std::as_const(first)["f"]));
  Freeze(first);
  const Json frozen = std::move(first);
  Json next = frozen;
  CHECK(IsShared(next, frozen));
  next["a"]["d"][0]["e"] = 2;
  const Json changed = next;
  CHECK(changed.dump() == R"({"a":{"b":{"c":1},"d":[{"e":2}]},"f":{"g":2}})");
  CHECK(frozen.dump() == R"({"a":{"b":{"c":1},"d":[{"e":1}]},"f":{"g":2}})");
  CHECK(IsShared(changed["f"], frozen["f"]));
  CHECK(IsShared(changed["a"]["b"], frozen["a"]["b"]));
  CHECK_FALSE(IsShared(changed["a"], frozen["a"]));
}

TEST_CASE("whatever member reads a frozen value, its objects stay where they are") {
  Json value = Json::parse(R"({"a":{"b":1},"c":[{"d":2}]})");
  Freeze(value);
  const Json frozen = std::move(value);
  const Json copy = frozen;
  const Json* const inner = &frozen["a"];
  CHECK(frozen.contains("a"));
  CHECK(frozen.find("c") != frozen.end());
  CHECK(frozen.at("a").at("b") == 1);
  CHECK(frozen.value("e", 3) == 3);
  for (const auto& [key, each] : frozen.items()) CHECK(each.size() == 1);
  for (const Json& each : frozen) CHECK(each.size() == 1);
  CHECK(&frozen["a"] == inner);
  CHECK(IsShared(frozen, copy));
}

TEST_CASE("a copy of a frozen value is the reader's own, by whatever member it is reached") {
  Json value = Json::parse(R"({"a":{"b":1},"c":[{"d":2}]})");
  Freeze(value);
  const Json frozen = std::move(value);
  Json copy = frozen;
  for (auto& each : copy) each = 7;
  Json other = frozen;
  *other.find("a") = 8;
  Json third = frozen;
  third["c"][0].at("d") = 9;
  third.erase(third.find("a"));
  CHECK(frozen.dump() == R"({"a":{"b":1},"c":[{"d":2}]})");
  CHECK(copy.dump() == R"({"a":7,"c":7})");
  CHECK(other.dump() == R"({"a":8,"c":[{"d":2}]})");
  CHECK(third.dump() == R"({"c":[{"d":9}]})");
}

TEST_CASE("a frozen value that is written to by key is not frozen any more") {
  Json value = Json::parse(R"({"a":{"b":1}})");
  Freeze(value);
  const Json before = value;
  value["a"]["b"] = 2;
  value["c"] = 3;
  value.erase(value.find("c"));
  CHECK(value.dump() == R"({"a":{"b":2}})");
  CHECK(before.dump() == R"({"a":{"b":1}})");
}

TEST_CASE("to look into a frozen map, and to erase what it lacks, ends no sharing") {
  Map first;
  first.emplace("a", 1);
  first.Freeze([](int) {});
  Map next = first;
  CHECK(std::as_const(next).find("a") != std::as_const(next).end());
  CHECK(next.erase("b") == 0);
  CHECK(next.Shares(first));
  CHECK(next == first);
  CHECK(next.erase("a") == 1);
  CHECK(next.empty());
  CHECK(first.size() == 1);
}

TEST_CASE("a copy stays what it was, whatever is written to the others") {
  Random random(9);
  std::vector<std::pair<Map, std::map<std::string, int, std::less<>>>> versions(1);
  for (int i = 0; i < 5'000; ++i) {
    auto& [flat, tree] = versions[random.Below(versions.size())];
    const std::string key = "k" + std::to_string(random.Below(12));
    const int value = static_cast<int>(random.Below(1000));
    switch (random.Below(5)) {
      case 0: flat.Freeze([](int) {}); break;
      case 1: CHECK(flat.erase(key) == tree.erase(key)); break;
      case 2: {
        auto copy = versions[random.Below(versions.size())];
        if (versions.size() < 20)
          versions.push_back(std::move(copy));
        else
          versions[random.Below(versions.size())] = std::move(copy);
        break;
      }
      default: CHECK(flat.emplace(key, value).second == tree.emplace(key, value).second);
    }
    for (const auto& [each, model] : versions)
      REQUIRE(std::ranges::equal(
          each, model, [](const auto& a, const auto& b) { return a.first == b.first && a.second == b.second; }));
  }
}

}  // namespace
}  // namespace tutti::base
