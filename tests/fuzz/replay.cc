// SPDX-License-Identifier: Apache-2.0
// replay CORPUS: gives every target the files of its folder, cut short at several places too. A crash is the failure.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "tests/fuzz/target.h"

namespace tutti::fuzz {
namespace {

std::map<std::string, Run>& Targets() {
  static std::map<std::string, Run> targets;
  return targets;
}

}  // namespace

Registered::Registered(const char* name, Run run) { Targets().emplace(name, run); }

namespace {

int Replay(const std::filesystem::path& corpus) {
  int without = 0;
  for (const auto& [name, run] : Targets()) {
    size_t files = 0;
    run("");
    if (std::filesystem::is_directory(corpus / name)) {
      for (const auto& entry : std::filesystem::directory_iterator(corpus / name)) {
        std::ifstream file(entry.path(), std::ios::binary);
        const std::string input((std::istreambuf_iterator<char>(file)), {});
        fmt::print(stderr, "{} {}\n", name, entry.path().filename().string());  // the last line names the culprit
        run(input);
        for (const size_t part : {2, 3, 7}) run(std::string_view(input).substr(0, input.size() - input.size() / part));
        ++files;
      }
    }
    fmt::print("{:12} {} files\n", name, files);
    without += files == 0;
  }
  return without == 0 && !Targets().empty() ? 0 : 1;
}

}  // namespace
}  // namespace tutti::fuzz

int main(int argc, char** argv) { return argc == 2 ? tutti::fuzz::Replay(argv[1]) : 2; }
