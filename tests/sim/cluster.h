// SPDX-License-Identifier: Apache-2.0
// What the tests of the embedded cluster begin with: a store under the test's own clock, and short objects.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "sim/store/store.h"
#include "tests/support/catch.h"

namespace tutti::sim::testing {

inline constexpr base::Millis kStart = 1'767'225'600'000;  // 2026-01-01T00:00:00Z

struct Cluster {
  base::VirtualClock clock{kStart};
  Store store{clock, 7};
};

inline Json ParseJson(const char* text) { return Json::parse(text); }

inline Json Pod(const std::string& name) {
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"name", name}}},
          {"spec", {{"containers", {{{"name", "main"}, {"image", "busybox:1.36"}}}}}}};
}

inline Json ConfigMap(const std::string& name) {
  return {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}}}, {"data", {{"k", "v"}}}};
}

inline const GroupResource kConfigMaps{"", "configmaps"};

// Creates the object. Otherwise fails the test with the server's words.
inline Object Make(Store& store, Json object) {
  auto made = store.Create(std::move(object));
  INFO((made ? "" : made.error().message));
  REQUIRE(made);
  return *made;
}

inline Json BindingOf(const std::string& pod, const std::string& node) {
  return {{"apiVersion", "v1"},
          {"kind", "Binding"},
          {"metadata", {{"name", pod}, {"namespace", "default"}}},
          {"target", {{"kind", "Node"}, {"name", node}}}};
}

}  // namespace tutti::sim::testing
