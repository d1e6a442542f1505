// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace tutti::base {

// With C's files: a stream's iterators throw where a folder is read, and its state does not say why.
Result<std::string> ReadFile(const std::string& path) {
  const auto fail = [&] { return Fail(ErrorCode::kNotFound, fmt::format("{}: {}", path, std::strerror(errno))); };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) return fail();
  std::string text;
  char buffer[64 * 1024];
  while (const size_t got = std::fread(buffer, 1, sizeof buffer, file.get())) text.append(buffer, got);
  if (std::ferror(file.get()) != 0) return fail();
  return text;
}

}  // namespace tutti::base
