// SPDX-License-Identifier: Apache-2.0
#include "core/passes/forecast.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "core/gangs/draft.h"

namespace tutti::core {

using model::GangDraft;
using model::GangId;
using observe::Outlook;
using observe::Prospect;
using observe::StartEstimate;

namespace {

// What the estimates of a question may spend, in units of the budget, some 10 ms; what it takes to look whether a
// gang is in the line, and to have a pod of the line as a guest.
constexpr int64_t kWorkOfEstimates = 800'000, kWorkOfOther = 5, kWorkOfGuest = 100;

constexpr const char* kDoesNotWait = "It waits neither for its queue nor for nodes.";
constexpr const char* kFarBehind = "More gangs stand before it in its line than are looked at.";
constexpr const char* kLacksQueue = "It waits for its queue, which is missing or stopped, and for nothing that runs.";
constexpr const char* kHasQuota = "It has its quota, and its pods wait for nodes one by one.";

StartEstimate NoEstimate(std::string why) {
  StartEstimate none;
  none.why = std::move(why);
  return none;
}

// The line in which a gang stands: of a queue that gives quota before there are pods, of another one of a dialect, or
// of no queue.
using LineName = std::tuple<bool, std::string, std::string>;

LineName LineNamed(const model::GangSpec& spec, const std::string& dialect, const QuotaDesk& desk) {
  if (spec.quota) return {true, "", desk.QueueName(spec.quota->ask)};
  if (spec.queue.empty()) return {};
  return {false, spec.queue_dialect.empty() ? dialect : spec.queue_dialect, spec.queue};
}

// Whether the queue of a gang that waits cannot be used at all.
bool LacksQueue(const Gang& gang) {
  if (gang.quota) return gang.quota->report.lacks_queue;
  const auto* refuses = gang.refusal ? std::get_if<observe::QueueRefuses>(&gang.refusal->reason().cause) : nullptr;
  return refuses && !refuses->problem.empty();
}

// The gang of a question, which stands in line from now on.
GangDraft AsIfMadeAt(base::Millis now_ms, GangDraft draft) {
  if (!draft.spec.quota) return draft;
  model::QuotaTerms terms = *draft.spec.quota;
  terms.ask.queued_ms = now_ms;
  draft.spec.quota = std::make_shared<const model::QuotaTerms>(std::move(terms));
  return draft;
}

}  // namespace

WaitingLine Forecast::LineBeside(const GangDraft& draft) const {
  const LineName name = LineNamed(draft.spec, draft.key.dialect, desk_);
  const auto stands_there = [&](const Gang& gang) {
    if (gang.quota && (!gang.quota->terms || gang.quota->report.has || gang.quota->replaced)) return false;
    const model::GangSpec& spec = gang.quota ? gang.quota->declared : gang.spec;
    return LineNamed(spec, gang.key.dialect, desk_) == name;
  };
  return LineOf(book_, state_, clock_.WallMs(), stands_there, StartWalk::kMostGangs);
}

std::optional<Outlook> Forecast::Await(const model::GangKey& key, const Look& look) {
  const GangId id = book_.Find(key);
  if (!id) return std::nullopt;
  const Gang& gang = book_.at(id);
  Outlook outlook;
  Prospect& prospect = outlook.prospects.emplace_back();
  prospect.gang = key;
  if (gang.state != GangState::kWaitingForQueue && gang.state != GangState::kWaitingForNodes) {
    prospect.start = NoEstimate(kDoesNotWait);
    return outlook;
  }
  if (LacksQueue(gang)) {
    prospect.start = NoEstimate(kLacksQueue);
    return outlook;
  }
  if (gang.quota && gang.quota->report.has) {
    prospect.start = NoEstimate(kHasQuota);
    return outlook;
  }
  WaitingLine line = LineBeside(DraftOf(gang, state_));
  const auto place = std::ranges::find(line.drafts, key, &GangDraft::key) - line.drafts.begin();
  int64_t work = kWorkOfEstimates;
  prospect.start = Estimate(std::move(line.drafts), static_cast<size_t>(place), look, &work);
  return outlook;
}

void Forecast::AddStarts(const std::vector<const GangDraft*>& asked, const Look& look, Outlook* outlook) {
  const base::Millis now = clock_.WallMs();
  int64_t work = kWorkOfEstimates;
  for (size_t i = 0; i < asked.size(); ++i) {
    Prospect& prospect = outlook->prospects[i];
    if (prospect.verdict != Prospect::Verdict::kWaitsForQueue && prospect.verdict != Prospect::Verdict::kWaitsForNodes)
      continue;
    work -= kWorkOfOther * static_cast<int64_t>(book_.count());
    if (work < 0) {
      prospect.start = NoEstimate(StartWalk::kCutShort);
      continue;
    }
    const GangDraft& draft = *asked[i];
    const LineName name = LineNamed(draft.spec, draft.key.dialect, desk_);
    const int64_t priority = RankOf(draft).PriorityAt(now);
    std::vector<GangDraft> line = LineBeside(draft).drafts;
    auto place =
        std::ranges::find_if(line, [&](const GangDraft& there) { return RankOf(there).PriorityAt(now) < priority; });
    for (size_t j = 0; j <= i; ++j)  // those of the question before it stand there, too
      if (LineNamed(asked[j]->spec, asked[j]->key.dialect, desk_) == name)
        place = std::next(line.insert(place, AsIfMadeAt(now, *asked[j])));
    prospect.start = Estimate(line, static_cast<size_t>(place - line.begin()) - 1, look, &work);
  }
}

StartEstimate Forecast::Estimate(std::vector<GangDraft> line, size_t place, const Look& look, int64_t* work) {
  if (line.size() > StartWalk::kMostGangs) line.resize(StartWalk::kMostGangs);
  if (place >= line.size()) return NoEstimate(kFarBehind);
  StartEstimate estimate;
  {
    Guests guests(state_, book_);
    std::vector<GangId> ids;
    for (const GangDraft& draft : line) {
      *work -= kWorkOfGuest * std::ssize(draft.members);
      ids.push_back(guests.Add(**std::ranges::find(dialects_, draft.key.dialect, &dialects::Dialect::name), draft, {}));
    }
    state_.Reclassify();
    seeker_.CatchUp();
    const model::LeafQueueSpec* leaf = nullptr;
    if (const auto& quota = line[place].spec.quota) leaf = desk_.Leaf({quota->ask.ns, quota->ask.local_queue});
    Trial trial(state_, planner_.what_if(), book_, queues_, waits_, desk_, guests, ids,
                Trial::WeighsWaiting(options_, queues_), leaf ? std::optional(*leaf) : std::nullopt);
    StartWalk walk(state_, book_, lengths_, planner_, clock_.WallMs(), line, ids, place, *work, trial, look);
    estimate = walk.Run();
    *work = walk.left();
  }
  state_.Reclassify();
  return estimate;
}

}  // namespace tutti::core
