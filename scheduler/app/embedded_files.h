// SPDX-License-Identifier: Apache-2.0
// Files of the repository that the binary carries, so that its verbs need none. Written by CMake.
#pragma once

#include <string_view>
#include <vector>

namespace tutti::app {

struct EmbeddedFile {
  std::string_view name;  // "queue.yaml"
  std::string_view text;
};

// manifests/crds: the kinds of the dialects that bring none.
std::vector<EmbeddedFile> EmbeddedDefinitions();
// What `tutti demo` applies.
std::vector<EmbeddedFile> EmbeddedDemo();

}  // namespace tutti::app
