// SPDX-License-Identifier: Apache-2.0
// Reads questions from standard input, one JSON object a line, and writes an answer a line:
//   {"config": KubeSchedulerConfiguration, "objects": [...], "pod": "ns/name"} → the JSON of `tutti evaluate`,
//   or {"error": "..."}.
#include <iostream>
#include <string>

#include "app/config.h"
#include "app/evaluate.h"
#include "app/profiles.h"
#include "base/json.h"

namespace {

using namespace tutti;

base::Result<nlohmann::ordered_json> Answer(const base::Json& question) {
  app::Config config;
  if (const auto read = app::ReadConfig(question["config"].dump(), "config", &config); !read)
    return tl::make_unexpected(read.error());
  const auto profiles = app::MakeProfiles(config, {"default-scheduler"});
  if (!profiles) return tl::make_unexpected(profiles.error());
  const std::string pod = question["pod"];
  const size_t slash = pod.find('/');
  return app::Evaluate(question["objects"], *profiles, pod.substr(0, slash), pod.substr(slash + 1));
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    const auto answer = Answer(base::Json::parse(line));
    std::cout << (answer ? answer->dump() : base::Json{{"error", answer.error().message}}.dump()) << std::endl;
  }
}
