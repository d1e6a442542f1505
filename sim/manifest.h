// SPDX-License-Identifier: Apache-2.0
// sim/manifest.h - files of Kubernetes manifests, as `kubectl apply -f` reads them.
//
// YAML of several documents, or JSON objects one after another; `kind: List` and typed
// lists are taken apart. A key that is there twice is refused, as kubectl's strict
// validation does. A folder stands for its *.yaml, *.yml and *.json, by name; "-" for
// standard input.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/object.h"
#include "sim/store.h"

namespace tutti::sim {

struct Manifest {
  Json object;
  std::string file;
  int document = 1;  // within the file, from 1
  int line = 1;      // of its first content
  std::string item;  // "items[3]", of a List

  // "pods.yaml: document 2, line 14", and of an item of a List: ", items[3] (Pod default/a)"
  std::string Where() const;
};

// In the order of `paths`, then of the file. Errors (kInvalid, kNotFound) name the file,
// the document and the line.
base::Result<std::vector<Manifest>> LoadManifests(const std::vector<std::string>& paths);
base::Result<std::vector<Manifest>> ParseManifests(std::string_view text, const std::string& file);

// Stores them as they are, status and identity included (CreateOptions::restore).
// Definitions, namespaces and priority classes go first; a namespace that is only
// mentioned is made. A field that the kind does not have is refused, as kubectl has it
// refused. The first refusal ends it, with the manifest's place in front.
base::Status StoreManifests(Store& store, std::vector<Manifest> manifests);

}  // namespace tutti::sim
