// SPDX-License-Identifier: Apache-2.0
// Gangs of a Ray head and workers, declared by hand.
#include <fmt/format.h>

#include "tests/simulation/workload.h"

namespace tutti::simulation {

using base::Random;
using sim::Json;

// A PodGroup made by hand: it counts members, and only a label says that one of them is the head.
std::string Workload::ArriveHeaded(Random& random) {
  if (Full()) return {};
  Gang gang{.name = fmt::format("h{}", ++made_), .dialect = "volcano", .owner = "ReplicaSet"};
  const int64_t least = random.Between(1, 3), workers = least + random.Between(1, 3);
  gang.parts = {{"head", 1, 1}, {"worker", least, workers}};
  gang.min = 1 + least;
  gang.size = 1 + workers;
  gang.declaration = Declaration(random, gang);
  (void)store_.Create(gang.declaration);  // its kind may be gone just now
  const Json like = PodTemplate(random, gang);
  for (const Part& part : gang.parts) {
    Json pods = like;
    pods["metadata"]["labels"]["ray.io/cluster"] = gang.name;
    pods["metadata"]["labels"]["ray.io/node-type"] = part.name;
    MakeReplicaSet(fmt::format("{}-{}", gang.name, part.name), part.size, std::move(pods));
  }
  gangs_.push_back(gang);
  return fmt::format("volcano gang {} of a head and {} workers, {} pods needed, arrives", gang.name, workers, gang.min);
}

}  // namespace tutti::simulation
