// SPDX-License-Identifier: Apache-2.0
// The JSON that kube-scheduler and its extenders exchange (k8s.io/kube-scheduler/extender/v1). Go matches names of
// fields whatever their case, and so is it done here.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "cluster/command.h"

namespace tutti::kube {

// ExtenderArgs: `pod_json` and, unless `node_jsons` is empty, the nodes themselves are objects as JSON text; else
// their names.
std::string ExtenderArgs(const std::string& pod_json, const std::vector<std::string>& names,
                         const std::vector<std::string>& node_jsons);

struct ExtenderFilterResult {
  std::vector<std::string> nodes;             // that it takes
  std::map<std::string, std::string> failed;  // by node, why
};
// Error: what the extender says went wrong, or that it is no such answer.
base::Result<ExtenderFilterResult> ReadFilterResult(const std::string& body);

// HostPriorityList: nodes with their scores, 0 to 10.
using Priorities = std::vector<std::pair<std::string, int64_t>>;
base::Result<Priorities> ReadPriorities(const std::string& body);

std::string ExtenderBindingArgs(const cluster::Bind& bind);
// Error: what the extender says went wrong.
base::Status ReadBindingResult(const std::string& body);

// The items of a list of objects by name, each as JSON text; or nothing if it is no list.
std::map<std::string, std::string> ItemsByName(const std::string& list_json);

}  // namespace tutti::kube
