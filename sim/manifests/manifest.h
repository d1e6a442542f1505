// SPDX-License-Identifier: Apache-2.0
// sim/manifests/manifest.h - files of Kubernetes manifests, as `kubectl apply -f` reads them.
//
// YAML of several documents, or JSON objects one after another; `kind: List` and typed
// lists are taken apart. A key that is there twice is refused, as kubectl's strict
// validation does. Which files a folder stands for is in sim/manifests/manifest_files.h; "-" is
// standard input, once.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sim/objects/object.h"
#include "sim/store/store.h"

namespace tutti::sim {

struct Manifest {
  Json object;
  std::string file;
  int document = 1;  // within the file, from 1
  int line = 1;      // of its first content
  std::string item;  // "items[3]", of a List
  // The document that it is of, and the line on which that begins; null: JSON.
  std::shared_ptr<const std::string> text = nullptr;
  int text_line = 1;

  // "pods.yaml: document 2, line 14", and of an item of a List: ", items[3] (Pod default/a)"
  std::string Where() const;
  // "pods.yaml:17", the line of the field, or of the nearest field around it; Where() if no line is known. `path` is as
  // in "spec.containers[0].image" or "metadata.annotations[a/b]".
  std::string WhereIs(std::string_view path) const;
};

struct LoadOptions {
  bool recursive = false;                     // subfolders too
  std::vector<std::string>* notes = nullptr;  // gets, where given, what of a folder was not read
};

// In the order of `paths`, then of the file. Errors (kInvalid, kNotFound) name the file,
// the document and the line.
base::Result<std::vector<Manifest>> LoadManifests(const std::vector<std::string>& paths, LoadOptions options = {});
base::Result<std::vector<Manifest>> ParseManifests(std::string_view text, const std::string& file);

// Objects of kinds that the store does not know: their keys, by apiVersion and kind.
using UnknownKinds = std::map<std::pair<std::string, std::string>, std::vector<std::string>>;
// A sentence for each kind, with the versions in which `store` serves it, or the kind that may be meant.
std::vector<std::string> NotesOf(const UnknownKinds& unknown, const Store& store);

// Stores them as they are, status and identity included (CreateOptions::restore).
// Definitions, namespaces and priority classes go first; a namespace that is only
// mentioned is made. A field that the kind does not have is refused, as kubectl has it
// refused. The first refusal ends it, with the place of the field or of the manifest in front.
// A kind that the store does not serve in that version, also by a definition among `manifests`, is refused;
// with `unknown` such objects are added there and left out.
base::Status StoreManifests(Store& store, std::vector<Manifest> manifests, UnknownKinds* unknown = nullptr);

// "a, b, c and 4 more"
std::string Some(std::vector<std::string> names);

}  // namespace tutti::sim
