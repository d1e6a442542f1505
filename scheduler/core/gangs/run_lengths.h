// SPDX-License-Identifier: Apache-2.0
// RunLengths: how long gangs have run that ended well of late, so that a guess can be made for those like them that
// have no limit. It is kept in memory alone, and what it holds is bounded. One thread.
#pragma once

#include <compare>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "model/gang.h"

namespace tutti::core {

class RunLengths {
 public:
  // So many runs of each shape are kept, the last ones; and so many shapes, those of which some ended last.
  static constexpr size_t kMostRuns = 16, kMostShapes = 1'024;

  // What gangs that are alike have in common, of one of their pods.
  struct Shape {
    std::string dialect, queue, role;
    int64_t min_member = 1;
    std::vector<model::ResourceList::Item> requests = {};
    friend auto operator<=>(const Shape&, const Shape&) = default;
  };

  // How long runs of a shape took.
  struct Guess {
    int64_t runs = 0;
    base::Millis median_ms = 0, longest_ms = 0;
  };

  // Notes that a pod of the gang, or the lone pod, has ended well after such a time. The last one of a gang counts.
  void Note(const Shape& shape, const model::GangKey& gang, base::Millis took_ms);
  bool empty() const { return runs_.empty(); }
  // nullopt: none has ended yet.
  std::optional<Guess> Of(const Shape& shape) const;

 private:
  struct Run {
    model::GangKey gang;
    base::Millis took_ms = 0;
  };
  struct Runs {
    std::vector<Run> last;  // the oldest first
    std::list<Shape>::iterator place;
  };
  std::map<Shape, Runs> runs_;
  std::list<Shape> by_use_;  // the one of which some ended last is at the end
};

}  // namespace tutti::core
