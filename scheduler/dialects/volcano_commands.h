// SPDX-License-Identifier: Apache-2.0
// VolcanoCommands: Volcano's Commands to open or close a Queue, as vcctl sends them. One that is carried out is
// deleted.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/desired.h"
#include "model/object.h"

namespace tutti::dialects {

class VolcanoCommands {
 public:
  static model::ObjectKind Kind();

  // Both return the queue that the command is about; empty: it is about none, and is left to others.
  std::string Put(const std::shared_ptr<const model::Object>& object);
  std::string Drop(std::string_view ns, std::string_view name);

  enum class Action { kOpen, kClose };
  // What the command that was created last asks of the queue, of those since `from_ms` (wall); nullopt: none is about
  // it.
  std::optional<Action> Of(std::string_view queue, base::Millis from_ms) const;
  // Adds that no command about the queue from before `until_ms` (wall) is desired any more.
  void DesireGone(std::string_view queue, base::Millis until_ms, std::vector<cluster::DesiredObject>* out) const;

 private:
  struct Command {
    std::shared_ptr<const model::Object> object;  // never null
    std::string queue;
    Action action = Action::kOpen;
  };
  std::map<std::pair<std::string, std::string>, Command> commands_;  // by namespace and name; few
};

}  // namespace tutti::dialects
