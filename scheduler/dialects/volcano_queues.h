// SPDX-License-Identifier: Apache-2.0
// Volcano's Queues: a tree by spec.parent, capped by spec.capability, with counters and state in their status.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/dialect.h"
#include "dialects/volcano_commands.h"

namespace tutti::dialects {

class VolcanoQueues {
 public:
  static model::ObjectKind Kind();

  void Put(const std::shared_ptr<const model::Object>& object, Touched* touched);
  void Drop(std::string_view name, Touched* touched);

  // A PodGroup names this queue, or does so no longer. One without an object is touched when the first does and when
  // the last does not, so that the core asks about it.
  void Mention(const std::string& name, Touched* touched);
  void Forget(const std::string& name, Touched* touched);

  // `default` and `root`, which Volcano's scheduler creates, need no object and have no cap; any other that is named
  // and does not exist has the problem that it does not. A queue that names no parent is below `root`. nullopt: no
  // object speaks of it.
  std::optional<model::QueueSpec> Describe(std::string_view name) const;

  // It is known what Queues there are: `default` and `root` are there without an object, too.
  void OnServed(Touched* touched) const { TouchBuiltIn("default", touched); }
  // A Command changes what is desired of its queue.
  void PutCommand(const std::shared_ptr<const model::Object>& object, Touched* touched);
  void DropCommand(std::string_view ns, std::string_view name, Touched* touched);

  // Counters, allocated, and the state: where it is empty, where a Command asks for another one, and where a queue that
  // is closing has no more gangs. Another state that is there is never changed. A Command that is carried out is gone.
  void Desire(const QueueReport& report, const cluster::Unseen& unseen, std::vector<cluster::DesiredObject>* out) const;

 private:
  struct Queue {
    std::shared_ptr<const model::Object> object;  // never null
    model::QueueSpec spec;                        // as written, the parent not looked at
  };
  // The queue and its parent, where they have no object and need none.
  void TouchBuiltIn(const std::string& name, Touched* touched) const;
  void TouchTree(std::string_view name, Touched* touched) const;
  // The state to be written in place of the one observed; empty: that stands. `asked`: of a Command; nullopt: by none.
  static std::string StateToWrite(const QueueReport& report, const base::Json& observed,
                                  std::optional<VolcanoCommands::Action> asked);
  // Empty, or why the queues above cannot be used.
  std::string ProblemAbove(const Queue& queue) const;

  std::map<std::string, Queue, std::less<>> queues_;
  std::map<std::string, std::set<std::string>, std::less<>> children_;  // by spec.parent, existing or not
  VolcanoCommands commands_;
  std::map<std::string, size_t, std::less<>> mentions_;  // PodGroups by the queue that they name
};

}  // namespace tutti::dialects
