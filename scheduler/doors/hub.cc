// SPDX-License-Identifier: Apache-2.0
#include "doors/hub.h"

#include <pthread.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "doors/messages.h"
#include "doors/text.h"

namespace tutti::doors {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// How often the thread looks whether something has changed.
constexpr milliseconds kLook{100};
// So long after the last reader the copy is let go.
constexpr std::chrono::seconds kIdle{120};
constexpr milliseconds kPatience{10'000};

auto NameOf(const model::GangKey& gang) { return std::tie(gang.ns, gang.name, gang.dialect); }

// Gives those that wait their positions, queue by queue.
void SetPositions(std::vector<Row>* rows) {
  std::map<std::string, std::vector<Row*>> lines;
  for (Row& row : *rows)
    if (StandsInLine(*row.decision)) lines[QueueOf(*row.decision)].push_back(&row);
  for (auto& [queue, line] : lines) {
    std::ranges::stable_sort(line, {}, [](const Row* row) {
      return std::pair(-int64_t{row->decision->priority}, row->decision->created_ms);
    });
    for (size_t i = 0; i < line.size(); ++i) {
      line[i]->position = static_cast<int32_t>(i + 1);
      line[i]->line = static_cast<int32_t>(line.size());
    }
  }
}

}  // namespace

std::string QueueOf(const observe::Decision& decision) {
  return decision.quota && !decision.quota->leaf.empty() ? decision.quota->leaf : decision.queue;
}

bool StandsInLine(const observe::Decision& decision) {
  using observe::GangState;
  return decision.state == GangState::kWaitingForQueue || decision.state == GangState::kWaitingForNodes;
}

std::pair<size_t, size_t> Table::RangeOf(const std::string& ns, const std::string& name) const {
  const auto key = [&](const Row& row) {
    const model::GangKey& gang = row.decision->gang;
    return std::tuple<const std::string&, const std::string&>(gang.ns, name.empty() ? name : gang.name);
  };
  const auto found =
      std::ranges::equal_range(rows, std::tuple<const std::string&, const std::string&>(ns, name), std::less(), key);
  return {found.begin() - rows.begin(), found.end() - rows.begin()};
}

const std::string& Hub::Change::Json() const {
  std::call_once(printed_, [this] {
    v1::WatchGangsResponse response;
    if (decision_)
      Fill(*decision_, response.mutable_gang());
    else
      Fill(gang_, response.mutable_gone());
    json_ = JsonOf(response);
  });
  return json_;
}

bool Hub::ByName::operator()(const model::GangKey& a, const model::GangKey& b) const { return NameOf(a) < NameOf(b); }

Hub::Hub(Source& source) : source_(source) {
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "doors");
    Run();
  });
}

Hub::~Hub() {
  {
    const base::MutexLock lock(mutex_);
    stopping_ = true;
  }
  asked_.NotifyAll();
  changed_.NotifyAll();
  thread_.join();
}

void Hub::Run() {
  for (;;) {
    bool list = false;
    {
      const base::MutexLock lock(mutex_);
      while (!stopping_ && !wanted_) asked_.Wait(mutex_);
      if (stopping_) return;
      if (steady_clock::now() - last_read_ > kIdle) {
        LetGo();
        continue;
      }
      if (has_copy_ && source_.sequence() == sequence_) {
        asked_.WaitUntil(mutex_, steady_clock::now() + kLook);
        continue;
      }
      list = !has_copy_;
    }
    if (list || !Follow()) Relist();
  }
}

void Hub::LetGo() {
  gangs_.clear();
  batches_.clear();
  table_.reset();
  kept_ = 0;
  has_copy_ = wanted_ = false;
}

void Hub::Relist() {
  observe::DecisionChanges list = source_.Decisions();
  decltype(gangs_) gangs;
  for (observe::Decision& decision : list.decisions) {
    model::GangKey gang = decision.gang;
    gangs[std::move(gang)] = std::make_shared<const observe::Decision>(std::move(decision));
  }
  {
    const base::MutexLock lock(mutex_);
    gangs_.swap(gangs);  // the old ones are freed without the lock
    batches_.clear();
    table_.reset();
    kept_ = 0;
    sequence_ = from_ = list.sequence;
    has_copy_ = true;
  }
  changed_.NotifyAll();
}

bool Hub::Follow() {
  uint64_t sequence = 0;
  {
    const base::MutexLock lock(mutex_);
    sequence = sequence_;
  }
  std::optional<observe::DecisionChanges> changes = source_.DecisionsAfter(sequence);
  if (!changes) return false;
  auto batch = std::make_shared<Batch>();
  batch->sequence = changes->sequence;
  for (observe::Decision& decision : changes->decisions) {
    model::GangKey gang = decision.gang;
    batch->changes.emplace_back(std::move(gang), std::make_shared<const observe::Decision>(std::move(decision)));
  }
  for (model::GangKey& gang : changes->gone) batch->changes.emplace_back(std::move(gang), nullptr);
  {
    const base::MutexLock lock(mutex_);
    if (changes->sequence == sequence_) {  // the scheduler is too busy, or does not run any more
      asked_.WaitUntil(mutex_, steady_clock::now() + kLook);
      return true;
    }
    for (const Change& change : batch->changes) {
      if (change.decision())
        gangs_.insert_or_assign(change.gang(), change.decision());
      else
        gangs_.erase(change.gang());
    }
    sequence_ = batch->sequence;
    kept_ += batch->changes.size();
    batches_.push_back(std::move(batch));
    for (; kept_ > kMostKept && batches_.size() > 1; batches_.pop_front()) {
      kept_ -= batches_.front()->changes.size();
      from_ = batches_.front()->sequence;
    }
    table_.reset();
  }
  changed_.NotifyAll();
  return true;
}

bool Hub::AwaitCopy() {
  last_read_ = steady_clock::now();
  if (has_copy_) return true;
  wanted_ = true;
  asked_.NotifyAll();
  const auto until = steady_clock::now() + kPatience;
  while (!has_copy_ && !stopping_ && changed_.WaitUntil(mutex_, until)) {
  }
  return has_copy_;
}

std::shared_ptr<const Table> Hub::List() {
  const base::MutexLock lock(mutex_);
  if (!AwaitCopy()) return nullptr;
  if (table_) return table_;
  auto table = std::make_shared<Table>();
  table->sequence = sequence_;
  table->rows.reserve(gangs_.size());
  for (const auto& [gang, decision] : gangs_) table->rows.push_back({decision});
  SetPositions(&table->rows);
  table_ = std::move(table);
  return table_;
}

std::optional<Hub::Batches> Hub::After(uint64_t sequence, milliseconds patience) {
  const base::MutexLock lock(mutex_);
  if (!AwaitCopy()) return Batches();
  const auto until = steady_clock::now() + patience;
  while (!stopping_ && has_copy_ && sequence >= sequence_ && changed_.WaitUntil(mutex_, until)) {
  }
  // The number of another list may be ahead of the copy.
  if (has_copy_ && sequence > sequence_ && sequence <= source_.sequence()) return Batches();
  if (!has_copy_ || sequence < from_ || sequence > sequence_) return std::nullopt;
  Batches batches;
  const auto first =
      std::ranges::upper_bound(batches_, sequence, {}, [](const auto& batch) { return batch->sequence; });
  batches.assign(first, batches_.end());
  return batches;
}

}  // namespace tutti::doors
