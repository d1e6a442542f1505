// SPDX-License-Identifier: Apache-2.0
// queue_bench: measures the cost of queues: 1,000 queues below 20 departments, 50,000 waiting gangs, and 1,000 gangs a
// second that finish.
//
// Each finish releases a charge, updates shares up the path, wakes the gangs that may now fit, admits them in order,
// and lets a new gang come. The queues' deserved amounts are computed ten times a second. Prints the CPU time.
#include <fmt/format.h>

#include <ctime>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "queue/ledger.h"
#include "queue/policies/volcano_capacity.h"
#include "queue/policies/volcano_proportion.h"
#include "queue/tournament.h"
#include "queue/waits.h"

namespace tutti::queue {
namespace {

constexpr int kDepartments = 20, kQueues = 1'000, kWaiting = 50'000, kFinishes = 20'000, kRenewEach = 100;
constexpr int64_t kGpus = 8'000;

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

class Bench {
 public:
  explicit Bench(bool proportion) {
    if (proportion)
      policy_ = std::make_unique<VolcanoProportion>(tree_, used_, pending_);
    else
      policy_ = std::make_unique<VolcanoCapacity>(tree_, used_);
    tree_.Put(Spec("root", ""));
    for (int i = 0; i < kDepartments; ++i) tree_.Put(Spec(fmt::format("department-{}", i), "root"));
    for (int i = 0; i < kQueues; ++i)
      leaves_.push_back(tree_.Put(Spec(fmt::format("queue-{}", i), fmt::format("department-{}", i % kDepartments))));
    for (int i = 0; i < kWaiting + 4 * kQueues; ++i) Arrive();
    Renew();
    AdmitReady();
  }

  double CpuPerFinish() {
    const double start = CpuSeconds();
    for (int i = 0; i < kFinishes; ++i) {
      if (i % kRenewEach == 0) Renew();
      Finish();
      Arrive();
      AdmitReady();
    }
    return (CpuSeconds() - start) / kFinishes;
  }

  std::string Describe() const {
    return fmt::format("{} wait, {} run, {:.2f} looked at for each finish", waits_.size(), running_.size(),
                       static_cast<double>(waits_.looked_at()) / kFinishes);
  }
  void Audit() const {
    used_.Audit();
    pending_.Audit();
  }

 private:
  struct Gang {
    QueueId queue;
    GangRank rank;
    Ask ask;
    ChargeId charge, request;
  };

  model::QueueSpec Spec(const std::string& name, const std::string& parent) {
    model::QueueSpec spec;
    spec.dialect = "volcano";
    spec.name = name;
    spec.parent = parent;
    spec.weight = random_.Between(1, 4);
    if (parent.starts_with("department")) {
      spec.deserved.Set("nvidia.com/gpu", kGpus / kQueues);
      if (random_.OneIn(4)) spec.capability.Set("nvidia.com/gpu", 4 * kGpus / kQueues);
    }
    return spec;
  }

  void Renew() {
    model::ResourceList total;
    total.Set("nvidia.com/gpu", kGpus);
    total.Set("cpu", kGpus * 32'000);
    total.Set("memory", kGpus * (int64_t{64} << 30));
    policy_->Renew(total);
    for (size_t i = 0; i < tree_.end(); ++i) SetRank(QueueId(static_cast<uint32_t>(i)));
    // Any limit may have risen.
    std::vector<CellId> cells;
    for (const char* resource : {"nvidia.com/gpu", "cpu", "memory"}) cells.push_back(tree_.cells().Find({}, resource));
    for (const QueueId leaf : leaves_) Wake(leaf, cells);
  }

  void SetRank(QueueId queue) {
    if (queue.index() >= ranks_.size()) ranks_.resize(queue.index() + 1);
    const QueueRank rank{tree_.spec(queue).priority, policy_->Share(queue)};
    if (std::exchange(ranks_[queue.index()], rank) == rank) return;
    ready_.Moved(queue);
    waits_.Moved(queue);
  }

  void Wake(QueueId queue, const std::vector<CellId>& cells) {
    for (const model::GangId id : waits_.Wake(queue, cells, clock_)) ready_.Put(id, At(id).queue, At(id).rank, 0);
  }

  void Arrive() {
    const model::GangId id = free_.empty() ? model::GangId(static_cast<uint32_t>(gangs_.size())) : free_.back();
    if (free_.empty())
      gangs_.emplace_back();
    else
      free_.pop_back();
    const int64_t gpus = int64_t{1} << random_.Between(0, 3);
    model::ResourceList amounts;
    amounts.Set("nvidia.com/gpu", gpus);
    amounts.Set("cpu", gpus * 8'000);
    amounts.Set("memory", gpus * (int64_t{32} << 30));
    Gang& gang = At(id);
    gang = {leaves_[random_.Below(leaves_.size())],
            {static_cast<int32_t>(random_.Below(3)), ++clock_},
            Ask(tree_.cells(), amounts),
            {},
            {}};
    gang.request = pending_.Charge(gang.queue, gang.ask);
    ready_.Put(id, gang.queue, gang.rank, 0);
  }

  void AdmitReady() {
    while (const auto id = ready_.First(0, clock_)) {
      ready_.Erase(*id);
      Gang& gang = At(*id);
      if (!policy_->Admit(gang.queue, gang.ask).admitted()) {
        TUTTI_CHECK(waits_.Put(*id, {gang.queue}, gang.rank, gang.ask), "what is refused is short of something");
        continue;
      }
      pending_.Release(gang.request);
      gang.charge = used_.Charge(gang.queue, gang.ask);
      running_.push_back(*id);
      Climb(gang.queue);
    }
  }

  void Finish() {
    const size_t which = random_.Below(running_.size());
    const model::GangId id = running_[which];
    running_[which] = running_.back();
    running_.pop_back();
    Gang& gang = At(id);
    std::vector<CellId> cells;
    for (const auto& [cell, amount] : gang.ask) cells.push_back(cell);
    used_.Release(gang.charge);
    Climb(gang.queue);
    Wake(gang.queue, cells);
    free_.push_back(id);
  }

  void Climb(QueueId leaf) {
    for (QueueId at = leaf; at.valid(); at = tree_.parent(at)) SetRank(at);
  }

  Gang& At(model::GangId id) { return gangs_[id.index()]; }

  base::Random random_{1};
  QueueTree tree_;
  Ledger used_{tree_}, pending_{tree_};
  QueueRanks ranks_;
  Tournament ready_{tree_, ranks_};
  Waits waits_{tree_, used_, ranks_};
  std::unique_ptr<Policy> policy_;
  std::vector<QueueId> leaves_;
  std::deque<Gang> gangs_;
  std::vector<model::GangId> free_, running_;
  base::Millis clock_ = 0;
};

}  // namespace
}  // namespace tutti::queue

int main() {
  for (const bool proportion : {true, false}) {
    tutti::queue::Bench bench(proportion);
    const double seconds = bench.CpuPerFinish();
    bench.Audit();
    fmt::print("{}: {:.1f} us for a finish; at 1,000 a second {:.1f} % of a core ({})\n",
               proportion ? "proportion" : "capacity", seconds * 1e6, seconds * 1e5, bench.Describe());
  }
}
