// SPDX-License-Identifier: Apache-2.0
// GangAsk: what a gang asks of a queue before its pods exist. HeldQuota: what it was given.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "model/pod_spec.h"
#include "model/resource_list.h"
#include "model/shared.h"

namespace tutti::model {

struct RoleAsk {
  std::string name;
  int64_t count = 1;
  std::optional<int64_t> min_count;  // it may start with so few; none: with `count`
  Shared<PodSpec> pod;               // each member
  std::string group;                 // roles that name the same one get the same flavors; empty: it stands alone
  bool in_topology = false;          // it asks how its members stand to each other: only a flavor with levels will do
  friend bool operator==(const RoleAsk&, const RoleAsk&) = default;
};

struct GangAsk {
  std::string uid;
  std::string ns, local_queue;  // what it names
  int32_t priority = 0;
  base::Millis queued_ms = 0;  // since when it stands in line, wall time
  std::vector<RoleAsk> roles;
  std::string replaces;  // the uid of the gang that this one is a larger form of; empty: none
  // For sentences: the uids of the object that stands in line for it, and of its job; empty: not known.
  std::string line_uid, job_uid;
  std::string problem;  // why it cannot be admitted as it is, whatever there is room for; empty: nothing
  friend bool operator==(const GangAsk&, const GangAsk&) = default;
};

// Quota that a gang has: of which flavors, for how many members of each role.
struct HeldQuota {
  // So many members of a role in one domain: on nodes with this value of the label `level`.
  struct Place {
    std::string level, value;
    int64_t count = 0;
    bool failed = false;  // its nodes are said to have failed: the members are to have others
    friend bool operator==(const Place&, const Place&) = default;
  };
  struct Role {
    std::string name;
    int64_t count = 0;
    ResourceList requests;                       // of all `count`
    std::map<std::string, std::string> flavors;  // by resource
    std::vector<Place> places = {};              // where its object says that they are; empty: it does not say
    friend bool operator==(const Role&, const Role&) = default;
  };
  std::string uid;
  std::string ns, local_queue, leaf;
  int32_t priority = 0;
  base::Millis queued_ms = 0, reserved_ms = 0;  // wall
  bool evicted = false;                         // it has been told to leave, and has its quota until it has left
  std::vector<Role> roles;
  friend bool operator==(const HeldQuota&, const HeldQuota&) = default;
};

}  // namespace tutti::model
