// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/engine/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "dialects/dialect.h"
#include "model/shared_pool.h"
#include "plugins/registry.h"

namespace tutti::bench {
namespace {

constexpr int64_t kGi = int64_t{1} << 30;

core::Options Stock() {
  core::Options options;
  options.profiles.push_back(plugins::DefaultProfile("default-scheduler"));
  return options;
}

}  // namespace

double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

World::World() : scheduler_(new core::Scheduler(Stock(), dialects::MakeDialects(), *this, clock, this)) {
  Post(cluster::KindSynced{"pods"});
  Post(cluster::KindSynced{"nodes"});
  for (const model::ObjectKind& kind : scheduler_->Kinds()) Post(cluster::KindSynced{kind.Name()});
  Post(cluster::Leadership{true, clock.MonotonicMs()});
}

void World::Arrive(std::shared_ptr<const model::Pod> pod) {
  waiting_.emplace(pod->meta.ns + "/" + pod->meta.name, pod);
  Post(cluster::PodChanged{std::move(pod)});
}

void World::Submit(std::vector<cluster::Command> commands) {
  if (written_.empty())
    written_ = std::move(commands);
  else
    std::ranges::move(commands, std::back_inserter(written_));
}

void World::Answer(const cluster::Command& command) {
  if (command.id != 0) {
    cluster::CommandReply answer;
    answer.id = command.id;
    answer.http_status = 201;
    Post(std::move(answer));
  }
  const auto* bind = std::get_if<cluster::Bind>(&command.body);
  if (!bind) return;
  ++bound;
  last_node = bind->node;
  const auto waiting = waiting_.extract(bind->pod.ns() + "/" + bind->pod.name());
  auto pod = std::make_shared<model::Pod>(*waiting.mapped());
  pod->node_name = bind->node;
  auto& annotations = pod->meta.annotations;
  annotations.insert(annotations.end(), bind->annotations.begin(), bind->annotations.end());
  if (annotations.size() > bind->annotations.size()) std::ranges::sort(annotations);
  Post(cluster::PodChanged{std::move(pod)});
}

double World::RunOnce() {
  std::vector<cluster::FeedEvent> events = std::exchange(events_, {});
  const double started = ThreadSeconds();
  scheduler_->RunOnce(events);
  const double took = ThreadSeconds() - started;
  for (const cluster::Command& command : std::exchange(written_, {})) Answer(command);
  return took;
}

double World::Settle() {
  const Spent spent = Follow();
  return spent.deciding + spent.following;
}

World::Spent World::Follow() {
  Spent spent;
  std::optional<base::Millis> due;
  do {
    const uint64_t before = bound;
    const double took = RunOnce();
    (bound != before ? spent.deciding : spent.following) += took;
    due = scheduler_->NextDeadline();
  } while (!events_.empty() || (due && *due <= clock.MonotonicMs()));
  return spent;
}

model::Node MakeNode(size_t i, int64_t gpus) {
  model::Node node;
  node.meta.name = fmt::format("node-{:06}", i);
  node.meta.labels = {{"kubernetes.io/hostname", node.meta.name},
                      {"pool", fmt::format("p{}", i % 50)},
                      {"rack", fmt::format("r{}", i % 50)},
                      {"topology.kubernetes.io/zone", fmt::format("z{}", i % 10)}};
  node.allocatable.Set(model::kCpu, 32'000);
  node.allocatable.Set(model::kMemory, 256 * kGi);
  node.allocatable.Set(model::kPods, 110);
  if (gpus > 0) node.allocatable.Set("nvidia.com/gpu", gpus);
  node.images = {{{"registry.k8s.io/pause:3.9", "worker:1"}, 700'000'000}};
  return node;
}

std::shared_ptr<model::Pod> MakePod(const std::string& name, std::shared_ptr<const model::PodSpec> spec,
                                    base::Millis created_ms, const std::string& app) {
  auto pod = std::make_shared<model::Pod>();
  pod->meta.ns = "default";
  pod->meta.name = name;
  pod->meta.uid = fmt::format("8c1d6a4e-1f0b-4a57-9c3e-{:0>12.12}", name);
  pod->meta.resource_version = "1000000";
  pod->meta.created_ms = created_ms / 1000 * 1000;
  pod->meta.labels = {{"app", app}};
  pod->meta.controller = model::OwnerReference{"ReplicaSet", "bench", "3f0b8c1d-1f0b-4a57-9c3e-000000000000"};
  static model::MetaPool pool;  // as in the feed's decoder
  pool.Share(&pod->meta);
  pod->spec = std::move(spec);
  return pod;
}

model::PodSpec MakeSpec(int64_t cpu_milli, int64_t memory_bytes, int64_t gpus) {
  model::PodSpec spec;
  spec.scheduler_name = "default-scheduler";
  model::ContainerRequests container;
  container.requests.Set(model::kCpu, cpu_milli);
  container.requests.Set(model::kMemory, memory_bytes);
  if (gpus > 0) container.requests.Set("nvidia.com/gpu", gpus);
  model::SetEffectiveRequests({}, {container}, {}, {}, model::CountedAs::kWaiting, &spec);
  spec.images = {"worker:1"};
  spec.container_count = 1;
  return spec;
}

}  // namespace tutti::bench
