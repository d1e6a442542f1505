// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "observe/metrics.h"

namespace tutti::observe {
namespace {

// Reads the fields of /proc/self/stat from the third on. The second, the command's name, may have spaces.
std::vector<std::string> ReadStat() {
  std::ifstream in("/proc/self/stat");
  std::string line;
  std::getline(in, line);
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream rest(line.substr(name_end + 1));
  return {std::istream_iterator<std::string>(rest), std::istream_iterator<std::string>()};
}

double BootTime() {
  std::ifstream in("/proc/stat");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("btime ", 0) == 0) return std::stod(line.substr(6));
  }
  return 0;
}

}  // namespace

ProcessUsage ReadProcessUsage() {
  // Places in proc(5)'s table, counted from the third field.
  constexpr size_t kUserTime = 11, kSystemTime = 12, kStartTime = 19, kVirtualBytes = 20, kResidentPages = 21;
  ProcessUsage usage;
  const std::vector<std::string> stat = ReadStat();
  if (stat.size() <= kResidentPages) return usage;
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  usage.cpu_seconds = (std::stod(stat[kUserTime]) + std::stod(stat[kSystemTime])) / ticks;
  usage.start_time_seconds = BootTime() + std::stod(stat[kStartTime]) / ticks;
  usage.virtual_bytes = std::stod(stat[kVirtualBytes]);
  usage.resident_bytes = std::stod(stat[kResidentPages]) * static_cast<double>(sysconf(_SC_PAGESIZE));
  std::error_code ignored;
  for (std::filesystem::directory_iterator it("/proc/self/fd", ignored), end; it != end; it.increment(ignored)) {
    ++usage.open_files;
  }
  return usage;
}

}  // namespace tutti::observe
