// SPDX-License-Identifier: Apache-2.0
// A scheduler that does not run. Tests say what it shows.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "doors/desk.h"
#include "tests/support/catch.h"

namespace tutti::doors {

inline observe::Decision Waiting(const std::string& ns, const std::string& name, int32_t priority,
                                 base::Millis created_ms, const std::string& queue = "q") {
  observe::Decision decision;
  decision.gang = {"volcano", ns, name};
  decision.queue = queue;
  decision.queue_dialect = "volcano";
  decision.priority = priority;
  decision.created_ms = created_ms;
  decision.state = observe::GangState::kWaitingForNodes;
  return decision;
}

// What the doors show. Thread-safe.
class Stage final : public Source {
 public:
  const About& about() const override { return about_; }
  std::string NotLeading() const override { return not_leading; }
  uint64_t sequence() const override { return sequence_; }
  std::optional<observe::DecisionChanges> Decisions() override {
    const std::lock_guard lock(mutex_);
    ++lists;
    if (busy) return std::nullopt;
    return observe::DecisionChanges{sequence_, decisions_};
  }
  std::optional<observe::DecisionChanges> DecisionsAfter(uint64_t sequence) override {
    const std::lock_guard lock(mutex_);
    ++questions;
    if (forgetful) return std::nullopt;
    observe::DecisionChanges changes{sequence_};
    for (const auto& [at, decision] : changes_)
      if (at > sequence) changes.decisions.push_back(decision);
    return changes;
  }
  std::shared_ptr<const Nodes> ListNodes() override { return std::make_shared<const Nodes>(nodes); }
  std::shared_ptr<const QueueViews> ListQueues() override { return std::make_shared<const QueueViews>(queues); }
  observe::History::Found HistoryOf(const std::string&, const std::string&, const std::string&) override {
    return history;
  }
  DoorResult<observe::Outlook> Ask(const Question& question) override {
    if (while_asking) while_asking();
    const std::lock_guard lock(mutex_);
    if (outlook && question.node.empty() && !question.waits)
      for (const observe::Prospect& prospect : outlook->prospects)
        if (const auto may = question.may_ask(prospect.gang.ns); !may) return tl::make_unexpected(may.error());
    asked.push_back(question);
    return outlook;
  }

  void Show(observe::Decision decision) {
    const std::lock_guard lock(mutex_);
    std::erase_if(decisions_, [&](const observe::Decision& old) { return old.gang == decision.gang; });
    decisions_.push_back(decision);
    changes_.emplace_back(sequence_ + 1, std::move(decision));
    ++sequence_;
  }

  std::string not_leading;
  Nodes nodes;
  QueueViews queues;
  observe::History::Found history;
  DoorResult<observe::Outlook> outlook = observe::Outlook{};
  std::vector<Question> asked;
  std::function<void()> while_asking;  // called for each question; may be empty
  std::atomic<bool> forgetful = false;  // keeps no changes
  std::atomic<bool> busy = false;       // makes no list
  std::atomic<int> lists = 0, questions = 0;

 private:
  const About about_{"1.2.3", 1'000, {"tutti"}};
  std::mutex mutex_;
  std::vector<observe::Decision> decisions_;
  std::vector<std::pair<uint64_t, observe::Decision>> changes_;
  std::atomic<uint64_t> sequence_ = 100;
};

// The rights of a user who may list pods in some namespaces.
class SomeRights final : public server::Rights {
 public:
  explicit SomeRights(std::vector<std::string> namespaces, std::string user = "dev")
      : namespaces(std::move(namespaces)), user_(std::move(user)) {}
  std::string user() const override { return user_; }
  base::Result<bool> MayAccess(const server::ResourceAccess& access) const override {
    ++asked;
    if (down) return base::Fail(base::ErrorCode::kUnavailable, "down");
    if (access.resource == "pods") return std::ranges::find(namespaces, access.ns) != namespaces.end();
    return access.verb == "get" && access.group == "visibility.kueue.x-k8s.io" &&
           access.subresource == "pendingworkloads" &&
           std::ranges::find(queues, std::pair(access.ns, access.name)) != queues.end();
  }
  base::Result<bool> MayGet(std::string_view) const override { return gets; }

  mutable int asked = 0;
  bool down = false;
  bool gets = false;  // may get every path
  std::vector<std::string> namespaces;
  std::vector<std::pair<std::string, std::string>> queues = {};  // whose lines it may get, in v1beta2 and v1beta1

 private:
  const std::string user_;
};

}  // namespace tutti::doors
