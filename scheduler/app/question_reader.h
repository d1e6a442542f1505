// SPDX-License-Identifier: Apache-2.0
// QuestionReader: makes of manifests the gangs that would come of them, for core::Scheduler::Rehearse.
//
// It loads them into an embedded cluster without nodes, where the same controllers, dialects and core are at work as in
// `simulate`, and takes the gangs that wait there. Thread-safe: it reads one question at a time.
#pragma once

#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "core/options.h"
#include "dialects/dialect.h"
#include "model/gang_draft.h"
#include "sim/manifests/manifest.h"

namespace tutti::app {

class QuestionReader {
 public:
  static constexpr int64_t kMostPods = 10'000;
  static constexpr size_t kMostObjects = 1'000;

  // The options are used by this alone. `clock` must outlive it.
  QuestionReader(core::Options options, dialects::DialectSettings dialects, const base::Clock& clock);

  struct Gangs {
    std::vector<model::GangDraft> drafts;
    std::vector<std::string> notes;  // what of the manifests has no effect on the answer
  };
  // `ns`: of objects that name no namespace; empty: "default". Error: kInvalid, naming document, line and field, or the
  // limit that is exceeded.
  base::Result<Gangs> Read(const std::string& manifests, const std::string& ns);

 private:
  base::Mutex mutex_;
  core::Options options_ ABSL_GUARDED_BY(mutex_);
  const dialects::DialectSettings dialects_;
  const base::Clock& clock_;
};

// Returns how many pods the objects ask for, at least: those of kinds that make pods, also inside of other objects, or
// those that AppWrappers declare. Error kInvalid names an object whose pods cannot be counted, and its field.
base::Result<int64_t> PodsAskedFor(const std::vector<sim::Manifest>& manifests);

}  // namespace tutti::app
