// SPDX-License-Identifier: Apache-2.0
#include "app/demo.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <system_error>

#include "app/demo_story.h"

namespace tutti::app {
namespace {

struct NamedDemo {
  std::string_view name;
  DemoSettings settings;
  void (*tell)(Story&);
};

const std::vector<NamedDemo>& Demos() {
  static const std::vector<NamedDemo> demos{
      {"volcano",
       {"Gang scheduling with KubeRay's Volcano integration, on the embedded cluster.",
        "All of it started, none of it, all of it: as it should be.", sim::BatchScheduler::kVolcano, false},
       TellOfQueues},
      {"mcad",
       {"MCAD's AppWrappers without MCAD, on the embedded cluster.",
        "Nothing was created before all of it had a place: as it should be.", sim::BatchScheduler::kNone, true},
       TellOfAppWrappers},
      {"kueue-priority",
       {"Kueue's quota and priorities for RayJobs without Kueue, on the embedded cluster.",
        "One ran at a time, and the urgent one first: as it should be.", sim::BatchScheduler::kNone, true},
       TellOfPriorities},
  };
  return demos;
}

}  // namespace

std::vector<std::string> DemoNames() {
  std::vector<std::string> names;
  std::ranges::transform(Demos(), std::back_inserter(names),
                         [](const NamedDemo& demo) { return std::string(demo.name); });
  return names;
}

int Demo(const std::string& name) {
  const auto demo = std::ranges::find(Demos(), name, &NamedDemo::name);
  if (demo == Demos().end()) {
    fmt::print(stderr, "tutti demo: error: there is no demo {}; there are {}\n", name, fmt::join(DemoNames(), ", "));
    return 2;  // as of every command line that is wrong
  }
  base::Result<bool> told = false;
  try {
    told = TellStory(demo->settings, demo->tell);
  } catch (const std::system_error& error) {  // from fmt, when it cannot print
    told = base::Fail(base::ErrorCode::kUnavailable, std::string("standard output: ") + error.what());
  }
  if (told) return *told ? 0 : 1;
  fmt::print(stderr, "tutti demo: error: {}\n", told.error().message);
  return 1;
}

}  // namespace tutti::app
