// SPDX-License-Identifier: Apache-2.0
// World: the scheduler with a feed and a writer that cost nothing. Events are posted as values, and each bind gets its
// answer and its bound pod at once. Only the time inside core::Scheduler::RunOnce is measured. One thread.
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

// Returns the CPU seconds of this thread, whatever else the machine does.
double ThreadSeconds();

class World final : public cluster::ClusterWriter, public observe::Observer {
 public:
  World();

  void Post(cluster::FeedEvent event) { events_.push_back(std::move(event)); }
  void Post(model::Node node) { Post(cluster::NodeChanged{std::make_shared<model::Node>(std::move(node))}); }
  // Posts a pod that waits, and remembers it for its bind.
  void Arrive(std::shared_ptr<const model::Pod> pod);

  // Runs one cycle over the posted events, and returns its seconds. Its writes are answered in the next cycle.
  double RunOnce();
  // Runs cycles until no work is left, and returns their seconds.
  double Settle();
  // Does the same, but separates cycles that emit binds from those that only read answers.
  struct Spent {
    double deciding = 0, following = 0;
  };
  Spent Follow();

  base::VirtualClock clock{1'800'000'000'000};
  uint64_t bound = 0;     // binds emitted
  std::string last_node;  // node of the last bind
  uint64_t attempts = 0;  // gangs considered
  uint64_t searches = 0;  // for victims, of gangs and of lone pods

 private:
  void Submit(std::vector<cluster::Command> commands) override;
  void OnAttempt(std::string_view, std::string_view, int64_t, double) override { ++attempts; }
  void OnPreemption(int64_t) override { ++searches; }
  void Answer(const cluster::Command& command);

  std::vector<cluster::FeedEvent> events_;
  std::vector<cluster::Command> written_;
  std::unordered_map<std::string, std::shared_ptr<const model::Pod>> waiting_;
  std::unique_ptr<core::Scheduler> scheduler_;
};

// Makes a node like those of other benchmarks: 32 cpu, 256Gi, 110 pods, one of ten zones and fifty racks, its own
// hostname.
model::Node MakeNode(size_t i, int64_t gpus = 0);

// Makes a pod with this spec. Names must be unique in a World. The creation time is cut to whole seconds, as the API
// server does.
std::shared_ptr<model::Pod> MakePod(const std::string& name, std::shared_ptr<const model::PodSpec> spec,
                                    base::Millis created_ms, const std::string& app = "bench");

// Makes a spec of the stock profile with these requests.
model::PodSpec MakeSpec(int64_t cpu_milli, int64_t memory_bytes, int64_t gpus = 0);

}  // namespace tutti::bench
