// SPDX-License-Identifier: Apache-2.0
// Lines: the gangs that wait, one line a leaf queue, and those that stand aside until there is more of what they lack.
// One thread.
//
// Gangs of one line that ask for the same have one shape. A line is one of shapes, each where its first gang stands:
// when that one is refused the whole shape stands aside, and what becomes free brings back the shapes that lacked it,
// and no others. So an event costs the shapes that it concerns, however many gangs they have.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "model/gang_ask.h"
#include "model/ids.h"
#include "queue/ids.h"
#include "queue/policies/kueue/assignment.h"

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
  // How much a namespaced queue has used.
  using UsageOf = std::function<double(const std::string& local)>;

  // Adds the gang to the line of `leaf`. `by_usage`: the namespaced queues of the leaf take turns by what they used.
  void Put(model::GangId gang, QueueId leaf, LineRank rank, std::string shape, std::string local, bool by_usage);
  // Takes the gang out, wherever it stands, if it does.
  void Erase(model::GangId gang);

  // The first of the line that does not stand aside.
  std::optional<model::GangId> First(QueueId leaf, const UsageOf& usage) const;
  // Returns the gang that would have its turn before one of this rank, if that were in the line; none: it would be the
  // first.
  std::optional<model::GangId> Ahead(QueueId leaf, const LineRank& rank, const std::string& local,
                                     const UsageOf& usage) const;
  // Lets the gang be the first of its line until it is taken out, or stands aside.
  void PutFirst(model::GangId gang);
  // Lets the gang's shape stand aside until one of `lacks` is freer. Empty: until Return, or WakeAll. Returns those of
  // the shape that came since it stood aside last.
  std::set<model::GangId> StandAside(model::GangId gang, std::span<const CellId> lacks, WaitExplanation why);
  // Lets the gang's shape come back, if it stands aside.
  void Return(model::GangId gang);
  // Why the gang's shape stands aside; null: it does not.
  const WaitExplanation* WhyAside(model::GangId gang) const;

  // Lets those come back that lack one of `cells`, of the leaves that `concerns` is true for.
  void Wake(std::span<const CellId> cells, const std::function<bool(QueueId)>& concerns);
  // Lets all come back; returns the leaves where gangs wait.
  std::set<QueueId> WakeAll();

  size_t size() const { return places_.size(); }

 private:
  using Member = std::pair<LineRank, model::GangId>;
  struct Shape {
    QueueId leaf;
    std::string local;         // empty where the namespaced queues do not take turns
    std::set<Member> members;  // none is empty
    std::vector<CellId> lacks;
    std::optional<WaitExplanation> aside;
    std::set<model::GangId> newcomers;  // that came since it stood aside last
  };
  // Shapes do not move in memory.
  using ShapeKey = std::tuple<QueueId, std::string, std::string>;  // leaf, local, text
  using Shapes = std::map<ShapeKey, Shape>;
  struct Place {
    Shapes::iterator shape;
    LineRank rank;
  };
  struct InLine {
    Member first;
    Shape* shape;
    friend bool operator<(const InLine& a, const InLine& b) { return a.first < b.first; }
  };
  struct Line {
    std::map<std::string, std::set<InLine>> ready;  // by namespaced queue; none is empty
    std::optional<model::GangId> first;
  };

  // A shape joins the line, or leaves it, as its first member stands now.
  void Join(Shape& shape);
  void Leave(Shape& shape);
  void Return(Shape& shape);
  // Forgets a line that is empty.
  void Tidy(QueueId leaf);

  absl::flat_hash_map<model::GangId, Place> places_;
  Shapes shapes_;
  absl::flat_hash_map<QueueId, Line> lines_;
  absl::flat_hash_map<CellId, std::set<Shape*>> lacking_;
};

}  // namespace tutti::queue
