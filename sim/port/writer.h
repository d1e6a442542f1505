// SPDX-License-Identifier: Apache-2.0
// sim/port/writer.h - cluster::ClusterWriter straight into a Store, without HTTP.
//
// Commands wait until the driver pumps, lower lanes first, and their answers are posted by a pump too: a simulation
// can stop the world between any two writes. One thread: the store's owner.
//
// Every command with an id gets exactly one answer, at the latest at its deadline (kUnknown when the reply is lost).
// A request still on its way at its deadline has no effect, as under `?timeout=` of a real API server, unless its fate
// is to be a stray.
#pragma once

#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "cluster/ports.h"
#include "sim/port/interceptor.h"
#include "sim/store/event_recorder.h"
#include "sim/store/store.h"

namespace tutti::sim {

class Writer final : public cluster::ClusterWriter {
 public:
  // All must outlive it. `clock` measures deadlines; without an `interceptor` every command is delivered.
  Writer(Store& store, cluster::EventSink& sink, const base::Clock& clock, Interceptor* interceptor = nullptr);

  void Submit(std::vector<cluster::Command> commands) override;

  // Carries out at most `limit` commands that have arrived by now. Returns how many.
  size_t PumpCommands(size_t limit = std::numeric_limits<size_t>::max());
  // Posts the answers that are due. Returns how many.
  size_t PumpAnswers();
  // Both.
  size_t Pump() {
    const size_t done = PumpCommands();
    return done + PumpAnswers();
  }
  // When something becomes due that a pump now would not do yet; monotonic. Empty: nothing will.
  std::optional<base::Millis> NextDeadline() const;
  bool Idle() const { return queue_.empty() && answers_.empty(); }

  // The sender has died: what is on its way still arrives, what waits to be sent does not, and no reply is heard.
  void OrphanInFlight();

 private:
  struct Waiting {
    cluster::Command command;
    Fate fate;
    base::Millis arrives_ms;
    bool on_its_way;
  };

  void Carry(const Waiting& waiting);
  void ReplyAt(base::Millis due_ms, cluster::CommandReply answer);
  cluster::CommandReply Execute(const cluster::CommandBody& body);
  cluster::CommandReply DoBind(const cluster::Bind& bind);
  cluster::CommandReply DoDelete(const cluster::Delete& command);
  cluster::CommandReply DoPatch(const cluster::Patch& patch);
  cluster::CommandReply DoCreate(const cluster::Create& create);
  cluster::CommandReply DoEvent(const cluster::EmitEvent& event);

  // Constant after construction.
  Store& store_;
  cluster::EventSink& sink_;
  const base::Clock& clock_;
  Interceptor* const interceptor_;

  EventRecorder events_;
  std::map<cluster::Lane, std::deque<Waiting>> queue_;          // no empty lanes
  std::multimap<base::Millis, cluster::CommandReply> answers_;  // by when they are due
  bool orphaned_ = false;
};

}  // namespace tutti::sim
