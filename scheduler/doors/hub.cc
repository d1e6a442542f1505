// SPDX-License-Identifier: Apache-2.0
#include "doors/hub.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "doors/messages.h"
#include "doors/text.h"

namespace tutti::doors {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// How often the thread looks whether something has changed.
constexpr milliseconds kLook{100};
// The least that lies between two questions for what has changed, unless an answer was cut.
constexpr milliseconds kPace{100};
// So long after the last reader the copy is let go.
constexpr std::chrono::seconds kIdle{120};
constexpr milliseconds kPatience{10'000};

Hub::Printed Print(const v1::WatchGangsResponse& response) { return {JsonOf(response), response.SerializeAsString()}; }

Hub::Change Changed(const observe::Decision& decision) {
  v1::WatchGangsResponse response;
  Fill(decision, response.mutable_gang());
  Hub::Change change{.gang = decision.gang, .all = Print(response)};
  const auto in_its_own = [&decision](const std::string& ns) { return ns == decision.gang.ns; };
  if (HideVictims(decision, in_its_own, response.mutable_gang())) change.narrow = Print(response);
  return change;
}

Hub::Change Gone(const model::GangKey& gang) {
  v1::WatchGangsResponse response;
  Fill(gang, response.mutable_gone());
  return {.gang = gang, .gone = true, .all = Print(response)};
}

}  // namespace

Hub::Hub(Source& source, size_t most_bytes) : source_(source), most_bytes_(most_bytes) {
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
      if (has_copy_ && steady_clock::now() < next_follow_) {
        asked_.WaitUntil(mutex_, next_follow_);
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
  kept_ = kept_bytes_ = 0;
  has_copy_ = wanted_ = false;
}

void Hub::Relist() {
  std::optional<observe::DecisionChanges> list = source_.Decisions();
  if (!list) {
    const base::MutexLock lock(mutex_);
    ++failures_;
    changed_.NotifyAll();
    has_copy_ = false;  // an old copy is of no use, as changes are missing
    if (!stopping_) asked_.WaitUntil(mutex_, steady_clock::now() + kLook);
    return;
  }
  decltype(gangs_) gangs;
  for (observe::Decision& decision : list->decisions) {
    model::GangKey gang = decision.gang;
    gangs[std::move(gang)] = std::make_shared<const observe::Decision>(std::move(decision));
  }
  {
    const base::MutexLock lock(mutex_);
    gangs_.swap(gangs);  // the old ones are freed without the lock
    batches_.clear();
    table_.reset();
    kept_ = kept_bytes_ = 0;
    sequence_ = from_ = list->sequence;
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
  const uint64_t known = source_.sequence();
  next_follow_ = steady_clock::now() + kPace;
  std::optional<observe::DecisionChanges> changes = source_.DecisionsAfter(sequence);
  if (!changes) return false;
  if (changes->sequence == sequence) return true;    // the scheduler is too busy, or does not run any more
  if (changes->sequence < known) next_follow_ = {};  // the answer was cut
  auto batch = std::make_shared<Batch>();
  batch->sequence = changes->sequence;
  for (const observe::Decision& decision : changes->decisions) batch->changes.push_back(Changed(decision));
  for (const model::GangKey& gang : changes->gone) batch->changes.push_back(Gone(gang));
  for (const Change& change : batch->changes) batch->bytes += sizeof change + change.all.size() + change.narrow.size();
  {
    const base::MutexLock lock(mutex_);
    for (observe::Decision& decision : changes->decisions) {
      model::GangKey gang = decision.gang;
      gangs_.insert_or_assign(std::move(gang), std::make_shared<const observe::Decision>(std::move(decision)));
    }
    for (const model::GangKey& gang : changes->gone) gangs_.erase(gang);
    Keep(std::move(batch));
    table_.reset();
  }
  changed_.NotifyAll();
  return true;
}

void Hub::Keep(std::shared_ptr<const Batch> batch) {
  sequence_ = batch->sequence;
  kept_ += batch->changes.size();
  kept_bytes_ += batch->bytes;
  batches_.push_back(std::move(batch));
  for (; (kept_ > kMostKept || kept_bytes_ > most_bytes_) && batches_.size() > 1; batches_.pop_front()) {
    kept_ -= batches_.front()->changes.size();
    kept_bytes_ -= batches_.front()->bytes;
    from_ = batches_.front()->sequence;
  }
}

bool Hub::AwaitCopy() {
  last_read_ = steady_clock::now();
  if (has_copy_) return true;
  wanted_ = true;
  asked_.NotifyAll();
  const auto until = steady_clock::now() + kPatience;
  const uint64_t failures = failures_;
  while (!has_copy_ && !stopping_ && failures_ == failures && changed_.WaitUntil(mutex_, until)) {
  }
  return has_copy_;
}

std::shared_ptr<const Table> Hub::List() {
  const base::MutexLock lock(mutex_);
  if (!AwaitCopy()) return nullptr;
  const Instant now = steady_clock::now();
  if (table_ && (!table_->rises || now < table_until_)) return table_;
  std::vector<Row> rows;
  rows.reserve(gangs_.size());
  for (const auto& [gang, decision] : gangs_) rows.push_back({decision});
  table_ = std::make_shared<const Table>(sequence_, std::move(rows), base::SystemClock().WallMs());
  table_until_ = now + kPace;
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
