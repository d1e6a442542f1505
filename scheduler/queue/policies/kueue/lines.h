// SPDX-License-Identifier: Apache-2.0
// Lines: the gangs that wait, one line a leaf queue, and those that stand aside until there is more of what they lack.
// One thread.
//
// Gangs of one line that ask for the same have one shape: when the first of them is refused, all others of the shape
// stand aside with it. What becomes free wakes the shapes that lacked it, and no others.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "model/gang_ask.h"
#include "model/ids.h"
#include "queue/ids.h"

namespace tutti::queue {

struct LineRank {
  int32_t priority = 0;
  base::Millis queued_ms = 0;
  std::string uid;

  // The higher priority first, then the one that has stood longer.
  friend bool operator<(const LineRank& a, const LineRank& b) {
    if (a.priority != b.priority) return a.priority > b.priority;
    if (a.queued_ms != b.queued_ms) return a.queued_ms < b.queued_ms;
    return a.uid < b.uid;
  }
  friend bool operator==(const LineRank&, const LineRank&) = default;
};

// Two asks of one line with equal shapes are admitted or refused alike.
std::string ShapeOf(const model::GangAsk& ask);

class Lines {
 public:
  // How much a namespaced queue has used, of the leaves where that comes first; it must not change during one call.
  using UsageOf = std::function<double(const std::string& local)>;

  // Adds the gang to the line of `leaf`. `by_usage`: the namespaced queues of the leaf take turns by what they used.
  void Put(model::GangId gang, QueueId leaf, LineRank rank, std::string shape, std::string local, bool by_usage);
  // Takes the gang out, wherever it stands, if it does.
  void Erase(model::GangId gang);

  // The first of the line that does not stand aside.
  std::optional<model::GangId> First(QueueId leaf, const UsageOf& usage) const;
  // Lets the gang be the first of its line, before all others, until it is taken out.
  void PutFirst(model::GangId gang);
  // Lets the gang, and all others of its shape, stand aside until one of `lacks` is freer. Empty: until WakeAll.
  void StandAside(model::GangId gang, std::span<const CellId> lacks);
  // Lets the gang alone stand aside until WakeAll.
  void StandAsideAlone(model::GangId gang);

  // Lets those come back that lack one of `cells`, of the leaves that `concerns` is true for.
  void Wake(std::span<const CellId> cells, const std::function<bool(QueueId)>& concerns);
  void WakeAll();

  // Those in whose line somebody stands.
  std::vector<QueueId> Leaves() const;
  size_t size() const { return places_.size(); }

 private:
  struct Shape {
    QueueId leaf;
    std::string text;
    friend bool operator==(const Shape&, const Shape&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Shape& s) {
      return H::combine(std::move(h), s.leaf, s.text);
    }
  };
  using Members = std::set<std::pair<LineRank, model::GangId>>;
  struct Aside {
    std::vector<CellId> lacks;
    Members members;
  };
  struct Place {
    Shape shape;
    LineRank rank;
    std::string local;  // empty where the namespaced queues do not take turns
    bool aside_alone = false;
  };
  struct Line {
    std::map<std::string, Members> ready;  // by namespaced queue; none is empty
    std::optional<model::GangId> first;
    size_t waiting = 0;  // those that stand aside, too
  };
  void Join(model::GangId gang, const Place& place);
  void Leave(model::GangId gang, const Place& place);
  void Return(const Shape& shape);

  absl::flat_hash_map<model::GangId, Place> places_;
  std::map<QueueId, Line> lines_;
  absl::flat_hash_map<Shape, std::set<model::GangId>> shapes_;  // those that are ready
  absl::flat_hash_map<Shape, Aside> aside_;
  absl::flat_hash_map<CellId, absl::flat_hash_set<Shape>> lacking_;
  std::set<model::GangId> aside_alone_;
};

}  // namespace tutti::queue
