// SPDX-License-Identifier: Apache-2.0
#include "dialects/volcano_commands.h"

#include <utility>

#include "base/json.h"
#include "cluster/json_reader.h"

namespace tutti::dialects {

model::ObjectKind VolcanoCommands::Kind() { return {"bus.volcano.sh", "commands", "Command", {"v1alpha1"}}; }

std::string VolcanoCommands::Put(const std::shared_ptr<const model::Object>& object) {
  cluster::JsonReader read;
  const cluster::JsonField root(*object->body), target = root["target"];
  const std::string action = read.Text(root["action"]);
  std::string queue = read.Text(target["name"]);
  const bool is_of_queue = read.Text(target["kind"]) == "Queue" && (action == "OpenQueue" || action == "CloseQueue");
  if (!read.ok() || !is_of_queue) return {};
  commands_[{object->meta.ns, object->meta.name}] = {object, queue,
                                                     action == "OpenQueue" ? Action::kOpen : Action::kClose};
  return queue;
}

std::string VolcanoCommands::Drop(std::string_view ns, std::string_view name) {
  const auto at = commands_.find({std::string(ns), std::string(name)});
  if (at == commands_.end()) return {};
  std::string queue = at->second.queue;
  commands_.erase(at);
  return queue;
}

std::optional<VolcanoCommands::Action> VolcanoCommands::Of(std::string_view queue, base::Millis from_ms) const {
  const Command* last = nullptr;
  for (const auto& [place, command] : commands_)
    if (command.queue == queue && command.object->meta.created_ms >= from_ms &&
        (!last || command.object->meta.created_ms >= last->object->meta.created_ms))
      last = &command;
  return last ? std::optional(last->action) : std::nullopt;
}

void VolcanoCommands::DesireGone(std::string_view queue, base::Millis until_ms,
                                 std::vector<cluster::DesiredObject>* out) const {
  for (const auto& [place, command] : commands_)
    if (command.queue == queue && command.object->meta.created_ms < until_ms)
      out->push_back(
          {.ref = cluster::RefOf(command.object), .mode = cluster::DesiredObject::Mode::kGone, .seen = command.object});
}

}  // namespace tutti::dialects
