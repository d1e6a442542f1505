// SPDX-License-Identifier: Apache-2.0
// Takings: what placing one pod decides and takes on its node, beyond what its class asks for.
#pragma once

#include <string>
#include <vector>

namespace tutti::cluster {

// What placing a pod decides about one of its open claims.
struct VolumePick {
  std::string claim;   // "namespace/name"
  std::string volume;  // the PersistentVolume it gets; empty: one is to be made for the pod's node
  friend bool operator==(const VolumePick&, const VolumePick&) = default;
};

struct Takings {
  std::vector<VolumePick> volumes;

  bool empty() const { return volumes.empty(); }
  friend bool operator==(const Takings&, const Takings&) = default;
};

}  // namespace tutti::cluster
