// SPDX-License-Identifier: Apache-2.0
// EmbeddedCluster: a sim::World, and the scheduler on it if one is wanted. One thread drives both, step by step.
//
// With a virtual clock and no other user of the store, equal input gives equal output. With the system's clock and a
// Door it serves kubectl.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/embedded_files.h"
#include "base/result.h"
#include "core/scheduler.h"
#include "sim/manifests/manifest.h"
#include "sim/nodes/autoscaler.h"
#include "sim/port/feed.h"
#include "sim/port/world.h"
#include "sim/port/writer.h"
#include "sim/store/door.h"

namespace tutti::app {

class EmbeddedCluster {
 public:
  struct Options {
    sim::WorldOptions world;
    std::optional<core::Options> scheduler;  // none: pods are not scheduled
    dialects::DialectSettings dialects = {};
    bool loose_definitions = false;  // the dialects' definitions lose bounds and types
    bool with_takeover = false;      // Kueue's kinds and AppWrappers are served, whatever is loaded
    bool strict_kinds = false;       // an object of an undefined kind is an error; else it is left out
    std::optional<sim::Autoscaler::Options> autoscaler = std::nullopt;  // none: ProvisioningRequests get no answer
    // Both may be null, and must outlive the cluster.
    observe::Observer* observer = nullptr;
    sim::Interceptor* interceptor = nullptr;  // of the scheduler's writes
  };

  // `clock` must outlive it.
  EmbeddedCluster(const base::Clock& clock, Options options);
  ~EmbeddedCluster();

  sim::Store& store() { return world_.store(); }
  core::Scheduler* scheduler() { return scheduler_.get(); }
  // Makes this object use the store only through `door`, because other threads use it too from now on.
  void SetDoor(sim::Door* door) { door_ = door; }

  // Loads the definitions of the dialects' kinds, except those that `manifests` has itself, and then `manifests`. Those
  // of Kueue and AppWrapper are loaded where an object of their groups or in a queue of Kueue's is, or with_takeover.
  base::Status Load(std::vector<sim::Manifest> manifests);
  // Names the kinds whose objects were left out in loading, the values that a definition which was loosened refuses,
  // and the pods whose node is not there.
  std::vector<std::string> NotesOfLoading();

  // Runs all components until none has work at this instant. False: there was still work after `rounds` rounds.
  bool RunUntilIdle(size_t rounds = 100'000);
  // Returns the next instant at which a timer is due; monotonic.
  std::optional<base::Millis> NextDeadline();
  // Does the same without the scheduler's own timers.
  std::optional<base::Millis> NextWorldDeadline();

  // Replaces the scheduler with a new one that has no memory. Commands that the old one has not sent are lost.
  void RestartScheduler();

  // Called after each cycle of the scheduler, before anything is written.
  std::function<void()> on_decided;

 private:
  class Inbox;
  struct Autoscaling;
  template <class Work>
  auto AtStore(Work&& work) {
    return door_ != nullptr ? door_->With([&](sim::Store&) { return work(); }) : work();
  }
  base::Status LoadDefinitions(const std::vector<EmbeddedFile>& files, const std::vector<sim::Manifest>& manifests);
  base::Status LoadMissingDefinitions(const std::vector<sim::Manifest>& manifests);
  void NoteRefusedValues(const std::vector<sim::Manifest>& manifests);
  bool Step();
  void StartScheduler();

  const base::Clock& clock_;
  const std::optional<core::Options> scheduler_options_;
  const dialects::DialectSettings dialects_;
  const bool loose_definitions_, with_takeover_, strict_kinds_;
  observe::Observer* const observer_;
  sim::Interceptor* const interceptor_;
  sim::UnknownKinds unknown_;
  std::vector<sim::ApiResource> strict_;  // the definitions that were loosened, as they were
  std::vector<std::string> refused_values_, stray_pods_;
  bool defined_ = false;           // the dialects' kinds
  bool takeover_defined_ = false;  // those of Kueue and AppWrapper
  sim::Door* door_ = nullptr;      // null: only this thread uses the store
  sim::World world_;
  std::unique_ptr<Inbox> inbox_;
  std::unique_ptr<sim::Feed> feed_;
  std::unique_ptr<sim::Writer> writer_;
  std::unique_ptr<core::Scheduler> scheduler_;
  std::unique_ptr<Autoscaling> autoscaling_;
};

}  // namespace tutti::app
