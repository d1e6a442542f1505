// SPDX-License-Identifier: Apache-2.0
// Limits: what the pods of a job may ask for at all. A pod that breaks its own limits, or those of a LimitRange of its
// namespace, would be refused by the API server after its job has quota; so such a job gets none.
//
// Scheduler thread only.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "model/object.h"
#include "model/resource_list.h"

namespace tutti::dialects::kueue {

class Limits {
 public:
  static const model::ObjectKind& Kind();  // LimitRange

  // Both say whether it changes anything for jobs of its namespace.
  bool Put(const model::Object& object);
  bool Drop(std::string_view ns, std::string_view name);

  // Why pods of these pod sets would be refused, by their place in the Workload; empty: they would not.
  std::string Problem(std::string_view ns, const base::Json& pod_sets) const;

 private:
  struct Bounds {
    bool of_pod = false;  // of all containers of a pod together, or of each
    model::ResourceList least, most;
    friend bool operator==(const Bounds&, const Bounds&) = default;
  };
  using Range = std::vector<Bounds>;

  std::map<std::string, std::map<std::string, Range, std::less<>>, std::less<>> ranges_;  // by namespace, by name
};

}  // namespace tutti::dialects::kueue
