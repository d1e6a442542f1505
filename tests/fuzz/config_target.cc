// SPDX-License-Identifier: Apache-2.0
// The file given to --config: a KubeSchedulerConfiguration, a TuttiConfiguration, or anything else; and the profiles,
// with their plugins and args, that are made of it.
#include <algorithm>
#include <set>
#include <string>

#include "app/config.h"
#include "app/profiles.h"
#include "base/check.h"
#include "tests/fuzz/target.h"

namespace tutti::app {
namespace {

constexpr const char* kFile = "scheduler.yaml";

// One complaint a line, each with its place.
void CheckComplaints(std::string_view text) {
  TUTTI_CHECK(!text.empty(), "a refusal without a reason");
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    TUTTI_CHECK(line.starts_with(kFile), "a complaint without its place");
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
}

}  // namespace
}  // namespace tutti::app

TUTTI_FUZZ_TARGET(config) {
  using namespace tutti;
  const std::string text(input);
  app::Config config;
  if (const auto read = app::ReadConfig(text, app::kFile, &config); !read)
    return app::CheckComplaints(read.error().message);
  TUTTI_CHECK(!config.kinds_read.empty(), "a configuration of no kind");
  TUTTI_CHECK(!app::ReadConfig(text, app::kFile, &config), "the same kind twice");
  (void)app::CheckElection(config.leader_election);

  app::Config once;
  (void)app::ReadConfig(text, app::kFile, &once);
  const auto profiles = app::MakeProfiles(once, app::OfflineSchedulerNames());
  if (!profiles) return app::CheckComplaints(profiles.error().message);
  std::set<std::string> names;
  for (const framework::Profile& profile : *profiles)
    TUTTI_CHECK(names.insert(profile.scheduler_name).second, "two profiles of one name");
  TUTTI_CHECK(!names.empty() && !names.contains(""), "no scheduler is served");
}
