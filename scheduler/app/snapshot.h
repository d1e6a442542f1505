// SPDX-License-Identifier: Apache-2.0
// Snapshot: what a scheduler reads of a cluster, in one file that `tutti simulate` takes: a List of objects, and among
// them the configuration of the scheduler.
//
// Secrets and ConfigMaps are not read, and an object that another one wraps loses its data if it is such a one. Of
// containers only what decides about a place is kept: no environment, command, arguments or probes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/api_client.h"
#include "app/config.h"
#include "base/json_fwd.h"
#include "model/object.h"
#include "sim/manifests/manifest.h"

namespace tutti::app {

// Reads all objects of the kinds that decisions depend on. A kind that the API server does not serve is left out; so is
// one that the user may not list, with a note. Error: Pods or Nodes cannot be listed.
base::Result<std::vector<base::Json>> ReadSnapshot(ApiClient& api, std::vector<std::string>* notes);

// Removes from an object, and from all that it wraps, what no decision depends on and what may be secret.
void StripObject(base::Json& object);

// What the configuration in effect, as /configz shows it, is in files.
std::vector<base::Json> ConfigurationIn(const base::Json& configz);

// The objects as text.
std::string SnapshotText(const std::vector<base::Json>& objects);

// Takes a configuration out of the manifests; nullopt: there is none. Error: kInvalid, with all complaints.
base::Result<std::optional<Config>> TakeConfiguration(std::vector<sim::Manifest>* manifests);

}  // namespace tutti::app
