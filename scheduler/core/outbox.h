// SPDX-License-Identifier: Apache-2.0
// Outbox: the commands of one cycle, numbered, and the owner of each reply. Commands leave together at the cycle's end;
// the reply to one goes to the class that sent it, once.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/functional/any_invocable.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "cluster/ports.h"

namespace tutti::core {

class Outbox {
 public:
  // What a command is for. Replies are counted, and forgotten, by it. kEnd: the number of purposes.
  enum class For : uint8_t { kBind, kEviction, kVolume, kNomination, kRecord, kStatus, kEnd };
  using OnReply = absl::AnyInvocable<void(const cluster::CommandReply&) &&>;

  // Sends a command, and returns the id that the reply will carry. `body` is one of CommandBody, or such a variant.
  template <typename Body>
  cluster::CommandId Send(For what, cluster::Lane lane, base::Millis deadline_ms, Body&& body, OnReply on_reply) {
    const cluster::CommandId id = Expect(what, std::move(on_reply));
    Put(id, lane, deadline_ms, std::forward<Body>(body));
    return id;
  }
  // Returns the id of a command that leaves by another way and is replied to as these are.
  cluster::CommandId Expect(For what, OnReply on_reply) {
    awaited_.emplace(++last_id_, Awaited{what, /*delayed=*/false, std::move(on_reply)});
    ++counts_[static_cast<size_t>(what)];
    return last_id_;
  }
  // Sends a command whose reply is not read.
  template <typename Body>
  void Post(cluster::Lane lane, base::Millis deadline_ms, Body&& body) {
    Put(0, lane, deadline_ms, std::forward<Body>(body));
  }
  // Returns an id for a question that is no command.
  cluster::CommandId NextId() { return ++last_id_; }

  // Hands the reply to its owner. Does nothing if it is not awaited any more.
  void Deliver(const cluster::CommandReply& reply) {
    const auto at = awaited_.find(reply.id);
    if (at == awaited_.end()) return;
    Awaited awaited = std::move(at->second);
    awaited_.erase(at);
    --counts_[static_cast<size_t>(awaited.what)];
    if (awaited.delayed) --delayed_[static_cast<size_t>(awaited.what)];
    std::move(awaited.on_reply)(reply);
  }
  // Notes that the reply to this command may take long.
  void Delay(cluster::CommandId id) {
    const auto at = awaited_.find(id);
    if (at == awaited_.end() || std::exchange(at->second.delayed, true)) return;
    ++delayed_[static_cast<size_t>(at->second.what)];
  }
  // Drops the owners of all replies of that purpose: a new term as leader knows nothing of what was sent before.
  void Forget(For what) {
    absl::erase_if(awaited_, [what](const auto& item) { return item.second.what == what; });
    counts_[static_cast<size_t>(what)] = delayed_[static_cast<size_t>(what)] = 0;
  }
  // Return how many replies of that purpose are still to come, how many of these are delayed, and how many of all are
  // to come.
  size_t awaited(For what) const { return counts_[static_cast<size_t>(what)]; }
  size_t delayed(For what) const { return delayed_[static_cast<size_t>(what)]; }
  size_t awaited() const { return awaited_.size(); }

  void Flush(cluster::ClusterWriter& writer) {
    usual_ = commands_.size();
    if (!commands_.empty()) writer.Submit(std::exchange(commands_, {}));
  }

 private:
  struct Awaited {
    For what;
    bool delayed;
    OnReply on_reply;
  };
  // Builds a command in its place and leaves room for as many as usual, because commands are large.
  template <typename Body>
  void Put(cluster::CommandId id, cluster::Lane lane, base::Millis deadline_ms, Body&& body) {
    if (commands_.empty()) commands_.reserve(usual_);
    commands_.emplace_back(id, lane, deadline_ms, std::forward<Body>(body));
  }

  std::vector<cluster::Command> commands_;
  size_t usual_ = 0;  // in the last cycle
  cluster::CommandId last_id_ = 0;
  absl::flat_hash_map<cluster::CommandId, Awaited> awaited_;
  std::array<size_t, static_cast<size_t>(For::kEnd)> counts_{}, delayed_{};
};

}  // namespace tutti::core
