// SPDX-License-Identifier: Apache-2.0
#include "sim/port/writer.h"

#include <algorithm>

#include "cluster/json_decode.h"
#include "cluster/json_text.h"

namespace tutti::sim {
namespace {

using cluster::CommandReply;
using cluster::Outcome;

CommandReply Done(int http_status) {
  CommandReply answer;
  answer.http_status = http_status;
  return answer;
}

CommandReply Refused(int http_status, std::string message) {
  CommandReply answer;
  answer.outcome = Outcome::kRefused;
  answer.http_status = http_status;
  answer.message = std::move(message);
  return answer;
}

CommandReply Refused(const ApiError& error) { return Refused(error.code, error.message); }

CommandReply Unknown() {
  CommandReply answer;
  answer.outcome = Outcome::kUnknown;
  answer.message = "no answer before the deadline";
  return answer;
}

bool Expired(const cluster::Command& command, base::Millis now) {
  return command.deadline_ms > 0 && now > command.deadline_ms;
}

GroupResource ResourceOf(const cluster::ObjectRef& ref) { return {std::string(ref.group), std::string(ref.resource)}; }

Json Preconditions(const cluster::ObjectRef& ref) {
  Json meta = Json::object();
  if (!ref.uid().empty()) meta["uid"] = ref.uid();
  if (!ref.resource_version.empty()) meta["resourceVersion"] = ref.resource_version;
  return meta;
}

void AddPreconditions(const cluster::ObjectRef& ref, Json* patch) {
  const Json meta = Preconditions(ref);
  if (patch->is_object()) {
    if (!meta.empty()) (*patch)["metadata"].update(meta);
    return;
  }
  Json operations = Json::array();
  for (const auto& [name, value] : meta.items())
    operations.push_back({{"op", "add"}, {"path", "/metadata/" + name}, {"value", value}});
  for (Json& operation : *patch) operations.push_back(std::move(operation));
  *patch = std::move(operations);
}

PatchType TypeOf(cluster::Patch::Type type) {
  switch (type) {
    case cluster::Patch::Type::kStrategic: return PatchType::kStrategic;
    case cluster::Patch::Type::kJson: return PatchType::kJson;
    default: return PatchType::kMerge;
  }
}

}  // namespace

Writer::Writer(Store& store, cluster::EventSink& sink, const base::Clock& clock, Interceptor* interceptor)
    : store_(store), sink_(sink), clock_(clock), interceptor_(interceptor), events_(store) {}

void Writer::Submit(std::vector<cluster::Command> commands) {
  const base::Millis now = clock_.MonotonicMs();
  for (cluster::Command& command : commands) {
    Fate fate = interceptor_ ? interceptor_->Decide(command) : Fate{};
    const base::Millis arrives = now + fate.request_delay_ms;
    const bool on_its_way = fate.request_delay_ms > 0;
    if (on_its_way && command.id != 0 && command.deadline_ms > 0 && arrives > command.deadline_ms) {
      CommandReply answer = Unknown();  // the sender does not wait for it
      answer.id = std::exchange(command.id, 0);
      ReplyAt(command.deadline_ms, std::move(answer));
    }
    std::deque<Waiting>& lane = queue_[command.lane];
    lane.push_back({std::move(command), std::move(fate), arrives, on_its_way});
  }
}

size_t Writer::PumpCommands(size_t limit) {
  const base::Millis now = clock_.MonotonicMs();
  size_t carried = 0;
  while (carried < limit) {
    // The first that has arrived, in the lowest lane.
    auto lane = queue_.begin();
    std::deque<Waiting>::iterator found;
    for (; lane != queue_.end(); ++lane) {
      found = std::ranges::find_if(lane->second, [&](const Waiting& w) { return w.arrives_ms <= now; });
      if (found != lane->second.end()) break;
    }
    if (lane == queue_.end()) break;
    const Waiting waiting = std::move(*found);
    lane->second.erase(found);
    if (lane->second.empty()) queue_.erase(lane);
    Carry(waiting);
    ++carried;
  }
  return carried;
}

void Writer::Carry(const Waiting& waiting) {
  const base::Millis now = clock_.MonotonicMs();
  const cluster::Command& command = waiting.command;
  const Fate& fate = waiting.fate;
  CommandReply answer;
  bool reply_lost = fate.kind == Fate::Kind::kDrop || fate.kind == Fate::Kind::kLoseReply;
  if (Expired(command, now) && !(waiting.on_its_way && fate.stray)) {
    // On its way it is the server's timeout that stops it; the sender cannot know.
    if (waiting.on_its_way)
      reply_lost = true;
    else
      answer = Refused(0, "not sent: its deadline had passed");
  } else if (fate.kind == Fate::Kind::kRefuse) {
    answer = Refused(fate.http_status, fate.message);
  } else if (fate.kind != Fate::Kind::kDrop) {
    answer = Execute(command.body);
    if (interceptor_) interceptor_->Happened(command, answer);
  }
  if (command.id == 0) return;
  base::Millis due = now + fate.reply_delay_ms;
  if (command.deadline_ms > 0 && due > command.deadline_ms && !Expired(command, now)) reply_lost = true;
  if (reply_lost) {
    answer = Unknown();
    due = std::max(now, command.deadline_ms);
  }
  answer.id = command.id;
  ReplyAt(due, std::move(answer));
}

void Writer::ReplyAt(base::Millis due_ms, CommandReply answer) {
  if (!orphaned_) answers_.emplace(due_ms, std::move(answer));
}

size_t Writer::PumpAnswers() {
  const base::Millis now = clock_.MonotonicMs();
  size_t posted = 0;
  while (!answers_.empty() && answers_.begin()->first <= now) {
    CommandReply answer = std::move(answers_.begin()->second);
    answers_.erase(answers_.begin());
    sink_.Post(std::move(answer));
    ++posted;
  }
  return posted;
}

std::optional<base::Millis> Writer::NextDeadline() const {
  std::optional<base::Millis> next;
  const auto consider = [&](base::Millis at) {
    if (!next || at < *next) next = at;
  };
  for (const auto& [lane, waiting] : queue_) {
    for (const Waiting& each : waiting) consider(each.arrives_ms);
  }
  if (!answers_.empty()) consider(answers_.begin()->first);
  return next;
}

void Writer::OrphanInFlight() {
  orphaned_ = true;
  answers_.clear();
  for (auto& [lane, waiting] : queue_) std::erase_if(waiting, [](const Waiting& w) { return !w.on_its_way; });
  std::erase_if(queue_, [](const auto& lane) { return lane.second.empty(); });
}

CommandReply Writer::Execute(const cluster::CommandBody& body) {
  struct Visitor {
    Writer& writer;
    CommandReply operator()(const cluster::Bind& b) { return writer.DoBind(b); }
    CommandReply operator()(const cluster::Delete& d) { return writer.DoDelete(d); }
    CommandReply operator()(const cluster::Patch& p) { return writer.DoPatch(p); }
    CommandReply operator()(const cluster::Create& c) { return writer.DoCreate(c); }
    CommandReply operator()(const cluster::EmitEvent& e) { return writer.DoEvent(e); }
  };
  return std::visit(Visitor{*this}, body);
}

CommandReply Writer::DoBind(const cluster::Bind& bind) {
  Json meta = Preconditions(bind.pod);
  meta["name"] = bind.pod.name();
  meta["namespace"] = bind.pod.ns();
  for (const auto& [key, value] : bind.annotations) meta["annotations"][key] = value;
  Json binding = Json::object();
  binding["metadata"] = std::move(meta);
  binding["target"]["kind"] = "Node";
  binding["target"]["name"] = bind.node;
  const auto bound = store_.Bind(binding);
  if (bound) return Done(201);
  CommandReply answer = Refused(bound.error());
  const Object pod = store_.Find(kPods, bind.pod.ns(), bind.pod.name());
  answer.gone = !pod || (!bind.pod.uid().empty() && UidOf(*pod) != bind.pod.uid());
  if (pod && !answer.gone) answer.current_node = DigString(*pod, "spec", "nodeName");
  return answer;
}

CommandReply Writer::DoDelete(const cluster::Delete& command) {
  const cluster::ObjectRef& ref = command.object;
  DeleteOptions options;
  options.uid = ref.uid();
  if (!command.controller.empty()) {
    const Object there = store_.Find(ResourceOf(ref), ref.ns(), ref.name());
    if (!there || DigString(ControllerOf(*there), "uid") != command.controller) return Done(200);
    options.uid = UidOf(*there);
  }
  options.dry_run = command.dry_run;
  if (command.propagation == cluster::Propagation::kForeground) options.propagation = Propagation::kForeground;
  if (command.propagation == cluster::Propagation::kOrphan) options.propagation = Propagation::kOrphan;
  const auto deleted = store_.Delete(ResourceOf(ref), ref.ns(), ref.name(), options);
  return deleted ? Done(200) : Refused(deleted.error());
}

CommandReply Writer::DoPatch(const cluster::Patch& patch) {
  const bool operations = patch.type == cluster::Patch::Type::kJson;
  Json body = cluster::ParseJson(patch.body);
  if (operations ? !body.is_array() : !body.is_object())
    return Refused(400, operations ? "the body of the patch is not a list of operations"
                                   : "the body of the patch is not a JSON object");
  AddPreconditions(patch.object, &body);
  const ApiResource* resource = store_.resources().Find(ResourceOf(patch.object));
  const ApiVersion* version = nullptr;
  if (resource) {
    const std::string_view asked = patch.object.version;
    version = resource->FindVersion(asked.empty() ? resource->storage_version : asked);
  }
  const Part part = patch.status && version && version->has_status ? Part::kStatus : Part::kMain;
  const auto patched = store_.Patch(ResourceOf(patch.object), patch.object.ns(), patch.object.name(),
                                    TypeOf(patch.type), body, part, {.dry_run = patch.dry_run});
  return patched ? Done(200) : Refused(patched.error());
}

CommandReply Writer::DoCreate(const cluster::Create& create) {
  Json body = cluster::ParseJson(create.body);
  if (!body.is_object()) return Refused(400, "the body of the object is not a JSON object");
  const cluster::ObjectRef& ref = create.object;
  const auto created = store_.Create(std::move(body), {.dry_run = create.dry_run});
  if (!created && created.error().code != 409) return Refused(created.error());
  CommandReply answer = created ? Done(201) : Refused(created.error());
  const Object there = created ? *created : store_.Find(ResourceOf(ref), ref.ns(), ref.name());
  if (!there) return answer;
  auto object =
      cluster::DecodeObject({std::string(ref.group), std::string(ref.resource), std::string(ref.kind), {}}, there);
  if (object) answer.object = std::make_shared<const model::Object>(std::move(*object));
  return answer;
}

CommandReply Writer::DoEvent(const cluster::EmitEvent& event) {
  const cluster::ObjectRef& about = event.regarding;
  std::string version(about.version);
  if (const ApiResource* resource = store_.resources().Find(ResourceOf(about)); version.empty() && resource) {
    version = resource->storage_version;
  }
  Json regarding = {{"apiVersion", JoinApiVersion(about.group, version)}, {"kind", about.kind}, {"name", about.name()}};
  if (!about.ns().empty()) regarding["namespace"] = about.ns();
  if (!about.uid().empty()) regarding["uid"] = about.uid();
  if (!about.resource_version.empty()) regarding["resourceVersion"] = about.resource_version;
  const auto emitted =
      events_.Emit(regarding, {event.warning, event.reason, event.action, event.note, event.reporting_controller});
  return emitted ? Done(201) : Refused(emitted.error());
}

}  // namespace tutti::sim
