// SPDX-License-Identifier: Apache-2.0
// Views: shows other threads what a core::Scheduler knows. They ask; the thread that owns the scheduler answers between
// its cycles, a part at a time, so that no cycle waits for a long list.
//
// Thread safety: Serve is called on the owner's thread, everything else on any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "base/result.h"
#include "core/scheduler.h"
#include "observe/published.h"

namespace tutti::app {

class Views {
 public:
  // `wake` makes the owner call Serve soon; it is called on any thread.
  explicit Views(std::function<void()> wake) : wake_(std::move(wake)) {}

  // Goes on with what readers wait for, for some two milliseconds each.
  void Serve(core::Scheduler& scheduler);
  // Tells whether a reader waits. Serve is then to be called at once.
  bool wanted() const;
  // Says that Serve is not called any more: readers get what there is, and wait for nothing. On the owner's thread.
  void Close();
  // The number of the last change of a Decision, as of the last Serve.
  uint64_t sequence() const { return sequence_; }

  // Returns one current record for each gang, sorted. `ns` and `name`, where not empty, restrict the gangs. If the
  // owner does not make the records within five seconds, it returns the previous ones; nullopt: there are none.
  // DecisionsAfter tells what has changed after their sequence.
  std::optional<observe::DecisionChanges> Decisions(const std::string& ns = "", const std::string& name = "");
  // See Scheduler::DecisionsAfter. Looks at some hundred changes at once, and at none if the owner is too busy for five
  // seconds. `ns` and `name` restrict the gangs as above.
  std::optional<observe::DecisionChanges> DecisionsAfter(uint64_t sequence, const std::string& ns = "",
                                                         const std::string& name = "");
  // A question without effect, which the owner's thread puts to the scheduler. nullopt: see Scheduler::Rehearse.
  using Question = std::function<std::optional<observe::Outlook>(core::Scheduler& scheduler)>;
  // Error kUnavailable: there was no answer for half a minute.
  base::Result<std::optional<observe::Outlook>> Ask(Question question);
  // Return all pods, nodes and queues of the cluster in the same way; null if no list was ever made.
  std::shared_ptr<const core::Scheduler::PodList> Pods();
  std::shared_ptr<const core::Scheduler::NodeList> Nodes();
  std::shared_ptr<const core::Scheduler::QueueList> Queues();

 private:
  // A list that a reader asked for.
  template <typename Records, typename Place>
  struct Collection {
    observe::Published<Records> shown;
    // The list while it is incomplete; null: none is being made. The owner's thread only.
    std::shared_ptr<Records> records;
    Place place{};
    uint64_t asked = 0;

    bool wanted() const { return records || shown.wanted() != 0; }
    // Adds to the list until `add` says that it is complete, or the cycle has no more time.
    template <typename Add>
    void GoOn(Add add);
  };

  // A reader's question for what has changed. Its thread and the owner's both hold it, because the reader may give up
  // while the answer is made.
  struct Follower {
    uint64_t after = 0;
    std::promise<std::optional<observe::DecisionChanges>> told;
  };
  // Answers the follower that has waited longest.
  void TellFollower(const core::Scheduler& scheduler);

  // The thread that asks and the owner's both hold it, as a Follower.
  struct Asked {
    Question question;
    std::promise<std::optional<observe::Outlook>> told;
  };
  // Answers those that have waited longest, for some ten milliseconds.
  void AnswerQuestions(core::Scheduler& scheduler);

  struct DecisionList {
    std::optional<uint64_t> sequence;  // of the last change before the list was begun
    std::deque<observe::Decision> records;
  };
  template <typename Records, typename Place>
  std::shared_ptr<const Records> Fresh(Collection<Records, Place>& list);

  const std::function<void()> wake_;
  std::atomic<bool> closed_ = false;
  std::atomic<uint64_t> sequence_ = 0;
  Collection<DecisionList, core::Scheduler::DecisionsPlace> decisions_;
  Collection<core::Scheduler::PodList, uint32_t> pods_;
  Collection<core::Scheduler::NodeList, uint32_t> nodes_;
  Collection<core::Scheduler::QueueList, core::Scheduler::QueuesPlace> queues_;
  mutable base::Mutex readers_mutex_;
  std::deque<std::shared_ptr<Follower>> followers_ ABSL_GUARDED_BY(readers_mutex_);
  std::deque<std::shared_ptr<Asked>> questions_ ABSL_GUARDED_BY(readers_mutex_);
};

}  // namespace tutti::app
