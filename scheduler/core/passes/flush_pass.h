// SPDX-License-Identifier: Apache-2.0
// FlushPass: the last resort. A gang that has waited for long is tried once more, though nothing has happened that it
// waits for. If it finds a place, something did happen, and a wake was missed.
#pragma once

#include <optional>

#include "core/options.h"
#include "core/passes/consider.h"

namespace tutti::core {

class FlushPass {
 public:
  FlushPass(const Options& options, GangBook& book, Agenda& agenda, Certificates& certificates,
            Consideration& consideration, const Announcer& announcer, const base::Clock& clock)
      : options_(options),
        book_(book),
        agenda_(agenda),
        certificates_(certificates),
        consideration_(consideration),
        announcer_(announcer),
        clock_(clock) {}

  // Makes some gangs ready that have waited for long, if it is time.
  void Run();
  // Considers a gang that is ready for no other reason, and counts what came of it.
  void Consider(model::GangId id);
  // Returns when Run has something to do, or an earlier instant (monotonic); nullopt: no gang waits.
  std::optional<base::Millis> DueAt() const;

 private:
  const Options& options_;
  GangBook& book_;
  Agenda& agenda_;
  Certificates& certificates_;
  Consideration& consideration_;
  const Announcer& announcer_;
  const base::Clock& clock_;
  base::Millis not_before_ms_ = 0;
};

}  // namespace tutti::core
