// SPDX-License-Identifier: Apache-2.0
// Cases of what Kueue decides, as kueue_cases/README.md writes them.
#pragma once

#include <istream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "queue/policies/kueue/admission.h"

namespace tutti::queue {

struct KueueCase {
  struct Workload {
    model::GangId gang;
    model::GangAsk ask;
    std::optional<HeldQuota> held;
  };
  struct Role {
    std::string name;
    int64_t count = 0;
    std::map<std::string, std::string> flavors;
    friend auto operator<=>(const Role&, const Role&) = default;
  };
  struct End {
    std::string state;
    std::vector<Role> roles;
  };
  using Eviction = std::tuple<std::string, std::string, std::string>;  // victim, why, preemptor

  std::string name;
  KueueRules rules;
  std::vector<model::Flavor> flavors;
  std::vector<model::CohortSpec> cohorts;
  std::vector<model::LeafQueueSpec> leaves;
  std::vector<std::pair<model::LocalQueueSpec, bool>> locals;
  std::map<std::string, Workload> workloads;
  std::string only;  // the preemptor whose evictions are compared; empty: all
  std::set<Eviction> evicts;
  std::map<std::string, End> ends;
};

std::vector<KueueCase> ReadKueueCases(std::istream& in);

// Runs the case until nothing changes any more. Workloads that are evicted leave at once and queue again. Returns what
// differs from what the case says, one sentence for each.
std::vector<std::string> RunKueueCase(const KueueCase& c);

}  // namespace tutti::queue
