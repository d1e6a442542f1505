// SPDX-License-Identifier: Apache-2.0
#include "app/console.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "app/embedded_files.h"

namespace tutti::app {
namespace {

constexpr std::string_view kAddress = "/ui", kFolder = kConsolePath;
constexpr std::string_view kFirstPage = "index.html", kHeaders = "headers";

const char* TypeOf(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  return "image/svg+xml";
}

struct Files {
  std::map<std::string_view, std::string_view> by_name;
  std::vector<std::pair<std::string, std::string>> headers;
};

Files ReadFiles() {
  Files files;
  for (const EmbeddedFile& file : EmbeddedConsole()) {
    if (file.name != kHeaders) {
      files.by_name[file.name] = file.text;
      continue;
    }
    for (std::string_view rest = file.text; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      if (const size_t colon = line.find(": "); colon != std::string_view::npos)
        files.headers.emplace_back(line.substr(0, colon), line.substr(colon + 2));
    }
  }
  return files;
}

}  // namespace

std::optional<server::OpenAnswer> ShowConsole(std::string_view path) {
  static const Files files = ReadFiles();
  if (path == kAddress) return server::OpenAnswer{308, server::kText, "see ui/\n", {{"Location", "ui/"}}};
  if (!path.starts_with(kFolder)) return std::nullopt;
  const std::string_view name = path == kFolder ? kFirstPage : path.substr(kFolder.size());
  const auto file = files.by_name.find(name);
  if (file == files.by_name.end()) return server::OpenAnswer{404, server::kText, "404 page not found\n", {}};
  return server::OpenAnswer{200, TypeOf(name), file->second, files.headers};
}

}  // namespace tutti::app
