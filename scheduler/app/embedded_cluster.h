// SPDX-License-Identifier: Apache-2.0
// EmbeddedCluster: a sim::World and, if wanted, the scheduler on it, driven step by step on one thread.
//
// With a virtual clock and nobody else at the store it is a function of what is put in; with the system's clock and a
// Door it serves kubectl.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/scheduler.h"
#include "sim/manifests/manifest.h"
#include "sim/port/feed.h"
#include "sim/port/writer.h"
#include "sim/store/door.h"
#include "sim/world.h"

namespace tutti::app {

class EmbeddedCluster {
 public:
  struct Options {
    sim::WorldOptions world;
    std::optional<core::Options> scheduler;  // none: nobody schedules
    bool loose_definitions = false;          // ours, for the dialects' kinds: without bounds and types
    bool strict_kinds = false;               // a kind that nobody defines is an error, not left out
    // Both may be null, and must outlive the cluster.
    observe::Observer* observer = nullptr;
    sim::Interceptor* interceptor = nullptr;  // of the scheduler's writes
  };

  // `clock` must outlive it.
  EmbeddedCluster(const base::Clock& clock, Options options);
  ~EmbeddedCluster();

  sim::Store& store() { return world_.store(); }
  core::Scheduler* scheduler() { return scheduler_.get(); }
  // From now on the store is others' too, and only touched through `door`.
  void SetDoor(sim::Door* door) { door_ = door; }

  // Definitions of the dialects' kinds, those that `manifests` brings itself excepted; then `manifests`.
  base::Status Load(std::vector<sim::Manifest> manifests);
  // What of all that was loaded was left out.
  std::vector<std::string> NotesOfUnknownKinds();

  // Lets everybody work until nobody has anything to do at this instant. False: it went on for `rounds` without end.
  bool Settle(size_t rounds = 100'000);
  // The next instant at which something will be done though nothing changes; monotonic.
  std::optional<base::Millis> NextDeadline();
  // Without the scheduler's own timers: what the cluster still has to do.
  std::optional<base::Millis> NextWorldDeadline();

  // Kills the scheduler and starts another one, which remembers nothing. What the old one had not sent is lost.
  void RestartScheduler();

  // Called after each cycle of the scheduler, before anything is written.
  std::function<void()> on_decided;

 private:
  class Inbox;
  template <class Work>
  auto AtStore(Work&& work) {
    return door_ != nullptr ? door_->With([&](sim::Store&) { return work(); }) : work();
  }
  base::Status LoadDefinitions(const std::vector<sim::Manifest>& manifests);
  bool Step();
  void StartScheduler();

  const base::Clock& clock_;
  const std::optional<core::Options> scheduler_options_;
  const bool loose_definitions_, strict_kinds_;
  observe::Observer* const observer_;
  sim::Interceptor* const interceptor_;
  sim::UnknownKinds unknown_;
  bool defined_ = false;       // the dialects' kinds
  sim::Door* door_ = nullptr;  // null: the store is this thread's alone
  sim::World world_;
  std::unique_ptr<Inbox> inbox_;
  std::unique_ptr<sim::Feed> feed_;
  std::unique_ptr<sim::Writer> writer_;
  std::unique_ptr<core::Scheduler> scheduler_;
};

}  // namespace tutti::app
