// SPDX-License-Identifier: Apache-2.0
// Source: what the doors read of the scheduler, and how a question fails. Thread-safe; may block for seconds.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "observe/cluster_view.h"
#include "observe/decision.h"
#include "observe/history.h"
#include "observe/prospect.h"

namespace tutti::doors {

using Nodes = std::deque<observe::NodeView>;
using QueueViews = std::deque<observe::QueueView>;

// What does not change while the program runs.
struct About {
  std::string version;
  base::Millis started_ms = 0;  // wall time
  std::vector<std::string> scheduler_names;
};

// Why a question has no answer.
struct Failure {
  enum class Kind {
    kInvalid,      // 400: the question itself
    kAnonymous,    // 401: there is no credential
    kForbidden,    // 403
    kNotFound,     // 404
    kTooMany,      // 429: as many questions are asked at once as may be
    kUnavailable,  // 503: this process does not lead, or is too busy
  } kind = Kind::kUnavailable;
  std::string message;  // one sentence
};

// Returns the HTTP status.
int StatusOf(Failure::Kind kind);

template <typename T>
using DoorResult = tl::expected<T, Failure>;

inline tl::unexpected<Failure> Fail(Failure::Kind kind, std::string message) {
  return tl::make_unexpected(Failure{kind, std::move(message)});
}

// What would become of these manifests, of the gangs on this node if it were drained, or of those that wait in a queue
// if its limit changed; or when the gang could start that waits; the others are empty.
struct Question {
  std::string manifests;
  std::string ns;  // of manifests that name none; empty: "default"
  std::string node;
  std::optional<observe::LimitChange> limit;
  std::optional<model::GangKey> waits = std::nullopt;
  // Fails if the caller may not ask about gangs in the namespace. It is asked before the scheduler is.
  std::function<DoorResult<void>(const std::string& ns)> may_ask;
};

class Source {
 public:
  virtual ~Source() = default;
  virtual const About& about() const = 0;
  // Says why this process has no decisions to show; empty: it leads.
  virtual std::string NotLeading() const = 0;
  // The number of the last change, as of the last cycle. Does not block.
  virtual uint64_t sequence() const = 0;
  // All Decisions; nullopt: the scheduler does not answer.
  virtual std::optional<observe::DecisionChanges> Decisions() = 0;
  // Those after a sequence number; see Scheduler::DecisionsAfter.
  virtual std::optional<observe::DecisionChanges> DecisionsAfter(uint64_t sequence) = 0;
  // Null: the scheduler does not answer.
  virtual std::shared_ptr<const Nodes> ListNodes() = 0;
  virtual std::shared_ptr<const QueueViews> ListQueues() = 0;
  virtual observe::History::Found HistoryOf(const std::string& ns, const std::string& name,
                                            const std::string& dialect) = 0;
  // Answers the question; nothing comes of it. Failures: those of `may_ask`, kInvalid, kNotFound (the node, queue or
  // gang), kUnavailable.
  virtual DoorResult<observe::Outlook> Ask(const Question& question) = 0;
};

}  // namespace tutti::doors
