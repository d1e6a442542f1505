// SPDX-License-Identifier: Apache-2.0
// AuditLog: writes the log's lines about gangs: one for each start, undo and eviction, and one for each wait whose
// reason changed in kind. At verbosity 2 lone pods and binds have lines too.
//
// Each start, undo and eviction has writes that limit their number. Waits have none, so their lines are paced: a gang
// has at most one in ten seconds, and all gangs together have a hundred a second after the first thousand. A line that
// is held back is written later, with the reason of that time; no gang is left out. Memory grows with the gangs that
// wait.
//
// The scheduler's thread only.
#pragma once

#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "observe/decision.h"

namespace tutti::observe {

class AuditLog final : public Observer {
 public:
  using Write = std::function<void(std::string_view message, std::initializer_list<base::LogField> fields)>;

  // `clock` outlives this.
  explicit AuditLog(const base::Clock& clock, Write write = WriteInfo);

  void OnHappening(const Happening& happening) override;
  void OnCycle(double seconds, int64_t events, const Gauges& gauges) override;

 private:
  // What a gang waits for: as it was last written, and as it is now.
  struct Wait {
    std::string told, reason, queue, message;
    int64_t members = 0;
    base::Millis not_before_ms = 0;  // monotonic; the earliest time of its next line
    bool in_line = false;            // in `late_`
  };

  static void WriteInfo(std::string_view message, std::initializer_list<base::LogField> fields);
  void OnWait(const Happening& happening);
  bool MayWrite(const Wait& wait);
  void WriteWait(const model::GangKey& gang, Wait& wait);
  void WriteLate();

  const base::Clock& clock_;
  const Write write_;
  std::map<model::GangKey, Wait> waits_;
  std::deque<model::GangKey> late_;  // gangs whose line was held back
  double allowance_;                 // lines that may be written at once
  base::Millis filled_ms_;           // monotonic; when the allowance was last raised
};

}  // namespace tutti::observe
