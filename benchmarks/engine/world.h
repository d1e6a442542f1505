// SPDX-License-Identifier: Apache-2.0
// World: the scheduler as it stands between a feed and a writer that are nothing: events are posted to it as values,
// and binds are answered at once, by the answer and by the pod seen bound. Time is measured inside
// core::Scheduler::RunOnce and nowhere else. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/scheduler.h"
#include "model/node.h"
#include "model/pod.h"

namespace tutti::bench {

class World final : public cluster::ClusterWriter, public observe::Observer {
 public:
  World();

  void Post(cluster::FeedEvent event) { events_.push_back(std::move(event)); }
  void Post(model::Node node) { Post(cluster::NodeChanged{std::make_shared<model::Node>(std::move(node))}); }
  // A pod that waits; it is remembered, to be seen bound.
  void Arrive(std::shared_ptr<const model::Pod> pod);

  // One cycle over what was posted, and the seconds it took. What it wrote is answered in the next.
  double RunOnce();
  // Cycles until nothing is left to do, and the seconds they took.
  double Settle();
  // As Settle, telling the cycles in which binds left apart from those that only take in what became of them.
  struct Spent {
    double deciding = 0, following = 0;
  };
  Spent Follow();

  base::VirtualClock clock{1'800'000'000'000};
  uint64_t bound = 0;     // binds emitted
  std::string last_node;  // of the last of them
  uint64_t attempts = 0;  // gangs considered

 private:
  void Submit(std::vector<cluster::Command> commands) override;
  void OnAttempt(std::string_view, std::string_view, int64_t, double) override { ++attempts; }
  void Answer(const cluster::Command& command);

  std::vector<cluster::FeedEvent> events_;
  std::vector<cluster::Command> written_;
  std::unordered_map<std::string, std::shared_ptr<const model::Pod>> waiting_;
  std::unique_ptr<core::Scheduler> scheduler_;
};

// A node like those of the benchmarks of others: 32 cpu, 256Gi, 110 pods, ten zones, fifty racks, its own hostname.
model::Node MakeNode(size_t i, int64_t gpus = 0);

// A pod of this spec; names are unique among one World's pods, and the creation time is in whole seconds, as the API
// server's: `per_second` pods share one.
std::shared_ptr<model::Pod> MakePod(const std::string& name, std::shared_ptr<const model::PodSpec> spec,
                                    base::Millis created_ms, const std::string& app = "bench");

// A spec of the stock profile that asks for so much.
model::PodSpec MakeSpec(int64_t cpu_milli, int64_t memory_bytes, int64_t gpus = 0);

}  // namespace tutti::bench
