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

namespace tutti::kube {

// Makes ExtenderArgs from the pod and the nodes, as JSON text. If `node_jsons` is empty, it has the nodes' names only.
std::string ExtenderArgs(const std::string& pod_json, const std::vector<std::string>& names,
                         const std::vector<std::string>& node_jsons);

struct ExtenderFilterResult {
  std::vector<std::string> nodes;             // that the extender accepts
  std::map<std::string, std::string> failed;  // the reason, by node
};
// Reads an answer. Error: the extender's own error, or that this is no such answer.
base::Result<ExtenderFilterResult> ReadFilterResult(const std::string& body);

// A HostPriorityList: nodes with their scores, 0 to 10.
using Priorities = std::vector<std::pair<std::string, int64_t>>;
base::Result<Priorities> ReadPriorities(const std::string& body);

std::string ExtenderBindingArgs(const cluster::Bind& bind);
// Reads the answer to a bind. Error: the extender's own error.
base::Status ReadBindingResult(const std::string& body);

// Returns the items of a list of objects by name, each as JSON text; empty if it is no list.
std::map<std::string, std::string> ItemsByName(const std::string& list_json);

}  // namespace tutti::kube
