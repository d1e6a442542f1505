// SPDX-License-Identifier: Apache-2.0
// Table: all gangs at one time, their places in line, and what they hold of the nodes. Thread-safe once it is made.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "observe/decision.h"

namespace tutti::doors {

// One gang of a Table.
struct Row {
  std::shared_ptr<const observe::Decision> decision;  // never null
  // Among those that wait in its queue, by priority and then age; 0: it does not wait.
  int32_t position = 0, line = 0;
};

// What a gang has, on one node or on all of them.
struct Holding {
  const observe::Decision* decision = nullptr;
  int64_t pods = 0;
  model::ResourceList amounts;
};
using HoldersByNode = std::unordered_map<std::string, std::vector<Holding>>;

class Table {
 public:
  // Gives those that wait their positions at the instant (wall time). REQUIRES: the rows are sorted by namespace, name
  // and dialect.
  Table(uint64_t sequence, std::vector<Row> sorted, base::Millis now_ms);

  const uint64_t sequence;   // of the last change
  const base::Millis at_ms;  // the instant of the positions
  const std::vector<Row> rows;
  const bool rises;  // time alone changes positions

  // The rows [first, second) of the namespace, or of one name in it.
  std::pair<size_t, size_t> RangeOf(const std::string& ns, const std::string& name = "") const;
  // Returns the gangs with pods on each node, and what they have there. The first reader makes it for all.
  const HoldersByNode& holders() const;

 private:
  mutable std::once_flag made_;
  mutable HoldersByNode holders_;
};

// Returns the queue in which the gang stands in line.
std::string QueueOf(const observe::Decision& decision);
// The same, told apart from a queue of that name of another dialect: {dialect, name}.
using QueueKey = std::pair<std::string, std::string>;
QueueKey QueueKeyOf(const observe::Decision& decision);
// Returns its place there at the instant (wall time): the smaller one is first. A higher priority comes first, then the
// longer wait.
std::pair<int64_t, base::Millis> PlaceInLine(const observe::Decision& decision, base::Millis now_ms);
// Tells whether it stands there.
bool StandsInLine(const observe::Decision& decision);

}  // namespace tutti::doors
