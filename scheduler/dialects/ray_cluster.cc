// SPDX-License-Identifier: Apache-2.0
#include "dialects/ray_cluster.h"

#include <algorithm>

#include "dialects/declaration.h"
#include "model/quantity.h"

namespace tutti::dialects {

model::RoleSpec ReadWorkerGroup(cluster::JsonReader& read, const cluster::JsonField& group, RayCount count) {
  const cluster::JsonField name = group["groupName"];
  const int64_t hosts = ReadCount(read, group["numOfHosts"], 1, 1);
  const int64_t least = ReadCount(read, group["minReplicas"], 0, 0);
  const int64_t most = ReadCount(read, group["maxReplicas"], kLargestCount, 0);
  const int64_t replicas = ReadCount(read, group["replicas"], least, 0);
  const bool least_counts = count == RayCount::kAutoscaled || (count == RayCount::kKai && least > 0);
  const bool suspended = read.Flag(group["suspend"]);
  const int64_t kept = suspended ? 0 : std::min(std::max(least_counts ? least : replicas, least), most);
  model::RoleSpec role{read.Text(name), model::SaturatingMul(kept, hosts), hosts};
  if (role.name.empty()) read.Problem(name, "is missing; give each worker group a name");
  return role;
}

int64_t PodsOf(const model::Object& cluster) {
  cluster::JsonReader read;
  const cluster::JsonField root(*cluster.body), spec = root["spec"], groups = spec["workerGroupSpecs"];
  int64_t pods = 1;
  if (FewEnough(read, groups, kMostRoles))
    read.Items(groups, [&](const cluster::JsonField& group) {
      pods = model::SaturatingAdd(pods, ReadWorkerGroup(read, group, RayCount::kKept).min);
    });
  return read.ok() ? pods : 0;
}

}  // namespace tutti::dialects
