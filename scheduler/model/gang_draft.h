// SPDX-License-Identifier: Apache-2.0
// GangDraft: a gang as one scheduler has it, to ask another one what would become of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/gang.h"
#include "model/pod.h"

namespace tutti::model {

struct GangDraft {
  struct Member {
    std::shared_ptr<const Pod> pod;  // unbound, without status; never null
    std::string role;
    bool head = false, needs_head = false, late = false;  // as of PromisedMembers
    int32_t priority = 0;                                 // among the members of its gang
    std::shared_ptr<const TopologyRequest> topology;      // what the member itself asks for; null: nothing
    std::shared_ptr<const Unit> unit;                     // null: it is in none
  };
  GangKey key;
  GangSpec spec;      // what it promises is among the members
  bool lone = false;  // of one pod, which nothing but itself declares
  std::vector<Member> members;
};

}  // namespace tutti::model
