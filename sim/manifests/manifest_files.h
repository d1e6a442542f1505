// SPDX-License-Identifier: Apache-2.0
// sim/manifests/manifest_files.h - which files the paths of a command line stand for.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace tutti::sim {

// What a file or a folder is if it is no manifest but makes some: a Helm chart, a kustomization, a URL; with the
// command that makes them. Empty: nothing of the kind. It looks at names alone.
std::string MakerOfManifests(const std::string& path);

// Of a folder its *.yaml, *.yml and *.json, by name, and with `recursive` those of its subfolders too; of all else the
// path itself. A kustomization is left out, hidden folders, and Helm charts below the folder. `notes` (may be null)
// gets a sentence for what is left out, except hidden folders. Error kNotFound: no such file in the folder; kInvalid:
// MakerOfManifests says something of the path itself.
base::Result<std::vector<std::string>> FilesOf(const std::string& path, bool recursive,
                                               std::vector<std::string>* notes);

}  // namespace tutti::sim
