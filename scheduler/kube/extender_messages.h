// SPDX-License-Identifier: Apache-2.0
// The JSON that kube-scheduler and its extenders exchange (k8s.io/kube-scheduler/extender/v1). Names of fields match in
// upper and lower case, as in Go.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "cluster/command.h"
#include "cluster/extenders.h"

namespace tutti::kube {

// Make ExtenderArgs, as JSON text: for an extender with a cache of nodes, and for one without.
struct NodeNames {
  std::vector<std::string> names;
};
struct NodeObjects {
  std::vector<std::string> jsons;
};
std::string ExtenderArgs(const std::string& pod_json, const NodeNames& nodes);
std::string ExtenderArgs(const std::string& pod_json, const NodeObjects& nodes);

struct ExtenderFilterResult {
  std::vector<std::string> nodes;             // that the extender accepts
  std::map<std::string, std::string> failed;  // the reason, by node
};
// Reads an answer. Error: the extender's own error, or that this is no such answer.
base::Result<ExtenderFilterResult> ReadFilterResult(const std::string& body);

// A HostPriorityList: nodes with their scores, 0 to 10.
using Priorities = std::vector<std::pair<std::string, int64_t>>;
base::Result<Priorities> ReadPriorities(const std::string& body);

// Makes ExtenderPreemptionArgs, as JSON text: the victims by UID alone, or, if `pod_jsons` is not null, as the objects
// that it has by UID; victims that it does not have are left out.
std::string ExtenderPreemptionArgs(const std::string& pod_json, const std::vector<cluster::NodeVictims>& candidates,
                                   const std::map<std::string, std::string>* pod_jsons);

// The victims on one node that an extender names.
struct MetaVictims {
  std::vector<std::string> uids;
  int64_t violations = 0;
};
// Reads an ExtenderPreemptionResult, by node.
base::Result<std::map<std::string, MetaVictims>> ReadPreemptionResult(const std::string& body);
// Makes the candidates what the extender says of them. Those that it does not name are taken out, and, if it is
// `ignorable`, those of which it names no victim. Error: it names a node that is no candidate, a pod that may not go
// from there, or no victim. Then the candidates are as before.
base::Status TakePreemptionResult(const std::map<std::string, MetaVictims>& result, bool ignorable,
                                  std::vector<cluster::NodeVictims>* candidates);

std::string ExtenderBindingArgs(const cluster::Bind& bind);
// Reads the answer to a bind. Error: the extender's own error.
base::Status ReadBindingResult(const std::string& body);

// Returns the items of a list of objects by name, each as JSON text; empty if it is no list.
std::map<std::string, std::string> ItemsByName(const std::string& list_json);

}  // namespace tutti::kube
