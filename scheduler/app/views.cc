// SPDX-License-Identifier: Apache-2.0
#include "app/views.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace tutti::app {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kViewPatience{5'000};
// Changes, or members of the gangs that changed, that are told in one cycle; some two milliseconds.
constexpr size_t kChangesAtOnce = 256;
// The most that collecting records may add to one cycle.
constexpr milliseconds kCollectAtOnce{2};
// The most that questions may add to one cycle, but for the last one.
constexpr milliseconds kQuestionsAtOnce{10};
constexpr milliseconds kQuestionPatience{30'000};

// Whether the gang is in `ns` and called `name`; an empty one does not restrict it.
bool IsMeant(const model::GangKey& gang, const std::string& ns, const std::string& name) {
  return (ns.empty() || gang.ns == ns) && (name.empty() || gang.name == name);
}

}  // namespace

bool Views::wanted() const {
  if (decisions_.wanted() || pods_.wanted() || nodes_.wanted() || queues_.wanted()) return true;
  const base::MutexLock lock(readers_mutex_);
  return !followers_.empty() || !questions_.empty();
}

template <typename Records, typename Place>
template <typename Add>
void Views::Collection<Records, Place>::GoOn(Add add) {
  if (!records) {
    asked = shown.wanted();
    if (asked == 0) return;
    records = std::make_shared<Records>();
    place = {};
  }
  const auto until = std::chrono::steady_clock::now() + kCollectAtOnce;
  while (!add(&place, records.get()))
    if (std::chrono::steady_clock::now() >= until) return;
  shown.Publish(std::move(records), asked);
}

void Views::Serve(core::Scheduler& scheduler) {
  decisions_.GoOn([&](auto* place, DecisionList* list) {
    if (!list->sequence) list->sequence = scheduler.decision_sequence();
    return scheduler.AddDecisions(place, &list->records);
  });
  pods_.GoOn([&](auto* place, auto* pods) { return scheduler.AddPods(place, pods); });
  nodes_.GoOn([&](auto* place, auto* nodes) { return scheduler.AddNodes(place, nodes); });
  queues_.GoOn([&](auto* place, auto* queues) { return scheduler.AddQueues(place, queues); });
  TellFollower(scheduler);
  AnswerQuestions(scheduler);
  sequence_ = scheduler.decision_sequence();
}

template <typename Records, typename Place>
std::shared_ptr<const Records> Views::Fresh(Collection<Records, Place>& list) {
  return closed_ ? list.shown.Latest() : list.shown.Fresh(kViewPatience, wake_);
}

std::shared_ptr<const core::Scheduler::PodList> Views::Pods() { return Fresh(pods_); }
std::shared_ptr<const core::Scheduler::NodeList> Views::Nodes() { return Fresh(nodes_); }
std::shared_ptr<const core::Scheduler::QueueList> Views::Queues() { return Fresh(queues_); }

void Views::Close() {
  closed_ = true;
  const auto release = [](auto& list) { list.shown.Publish(list.shown.Latest()); };
  release(decisions_);
  release(pods_);
  release(nodes_);
  release(queues_);
  const base::MutexLock lock(readers_mutex_);
  for (const auto& follower : followers_)
    follower->told.set_value(observe::DecisionChanges{.sequence = follower->after});
  followers_.clear();
  for (const auto& asked : questions_) asked->told.set_value(std::nullopt);
  questions_.clear();
}

void Views::AnswerQuestions(core::Scheduler& scheduler) {
  const auto until = std::chrono::steady_clock::now() + kQuestionsAtOnce;
  do {
    std::shared_ptr<Asked> asked;
    {
      const base::MutexLock lock(readers_mutex_);
      if (questions_.empty()) return;
      asked = std::move(questions_.front());
      questions_.pop_front();
    }
    asked->told.set_value(asked->question(scheduler));
  } while (std::chrono::steady_clock::now() < until);
}

base::Result<std::optional<observe::Outlook>> Views::Ask(Question question) {
  const auto asked = std::make_shared<Asked>();
  asked->question = std::move(question);
  {
    const base::MutexLock lock(readers_mutex_);
    if (closed_) return std::nullopt;
    questions_.push_back(asked);
  }
  wake_();
  auto told = asked->told.get_future();
  if (told.wait_for(kQuestionPatience) == std::future_status::ready) return told.get();
  const base::MutexLock lock(readers_mutex_);
  std::erase(questions_, asked);
  return base::Fail(base::ErrorCode::kUnavailable, "the scheduler is too busy to answer; try again");
}

void Views::TellFollower(const core::Scheduler& scheduler) {
  std::shared_ptr<Follower> follower;
  {
    const base::MutexLock lock(readers_mutex_);
    if (followers_.empty()) return;
    follower = std::move(followers_.front());
    followers_.pop_front();
  }
  follower->told.set_value(scheduler.DecisionsAfter(follower->after, kChangesAtOnce));
}

std::optional<observe::DecisionChanges> Views::DecisionsAfter(uint64_t sequence, const std::string& ns,
                                                              const std::string& name) {
  const auto follower = std::make_shared<Follower>();
  follower->after = sequence;
  {
    const base::MutexLock lock(readers_mutex_);
    if (closed_) return observe::DecisionChanges{.sequence = sequence};
    followers_.push_back(follower);
  }
  wake_();
  auto told = follower->told.get_future();
  if (told.wait_for(kViewPatience) != std::future_status::ready) {
    const base::MutexLock lock(readers_mutex_);
    std::erase(followers_, follower);
    return observe::DecisionChanges{.sequence = sequence};
  }
  std::optional<observe::DecisionChanges> changes = told.get();
  if (!changes) return std::nullopt;
  std::erase_if(changes->decisions, [&](const observe::Decision& one) { return !IsMeant(one.gang, ns, name); });
  std::erase_if(changes->gone, [&](const model::GangKey& gang) { return !IsMeant(gang, ns, name); });
  return changes;
}

std::optional<observe::DecisionChanges> Views::Decisions(const std::string& ns, const std::string& name) {
  const auto all = Fresh(decisions_);
  if (!all) return std::nullopt;
  std::vector<const observe::Decision*> found;
  for (const observe::Decision& one : all->records)
    if (IsMeant(one.gang, ns, name)) found.push_back(&one);
  std::ranges::stable_sort(found, {}, [](const observe::Decision* one) -> const model::GangKey& { return one->gang; });
  observe::DecisionChanges list{.sequence = all->sequence.value_or(0)};
  for (size_t i = 0; i < found.size(); ++i)  // of those about one gang, the last
    if (i + 1 == found.size() || found[i]->gang != found[i + 1]->gang) list.decisions.push_back(*found[i]);
  return list;
}

}  // namespace tutti::app
