// SPDX-License-Identifier: Apache-2.0
// Files of the repository that CMake puts into the binary, so that its verbs need no file.
#pragma once

#include <string_view>
#include <vector>

namespace tutti::app {

struct EmbeddedFile {
  std::string_view name;  // "queue.yaml"
  std::string_view text;
};

// Returns the files of manifests/crds: definitions of the dialects' kinds.
std::vector<EmbeddedFile> EmbeddedDefinitions();
// Returns the definitions of manifests/kueue and manifests/appwrapper, and the policies that hold Kueue's jobs.
std::vector<EmbeddedFile> EmbeddedTakeover();
// Returns the files of ui/, by their paths below it: "index.html", "views/gang.js".
std::vector<EmbeddedFile> EmbeddedConsole();
// Returns the pages docs/migrate/from-*.md.
std::vector<EmbeddedFile> EmbeddedMigrations();
// Returns the manifests that `tutti demo` applies.
std::vector<EmbeddedFile> EmbeddedDemo();

}  // namespace tutti::app
