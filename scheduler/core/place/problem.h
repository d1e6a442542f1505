// SPDX-License-Identifier: Apache-2.0
// Problem: what a search is asked: so many members of some kinds, under rules about where they stand to each other.
//
// Members that may stand for one another are one kind; a placement is known by how many of each kind go to each node.
#pragma once

#include <absl/container/inlined_vector.h>

#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "cluster/extenders.h"
#include "cluster/pod_class.h"
#include "core/gangs/gang.h"
#include "model/ids.h"

namespace tutti::core {

using Counts = absl::InlinedVector<int32_t, 4>;  // members by kind

struct MemberKind {
  std::shared_ptr<const cluster::PodClass> pod_class;
  std::string role;
  std::string subset;                  // of the topology request it is under
  bool must = false;                   // all of its members are demanded
  std::vector<model::NodeId> refused;  // nodes that are not to be tried for these members; sorted
  // Of what extenders said of them; null: none was asked.
  std::shared_ptr<const cluster::ExtenderReply> judged;
  std::vector<Member*> members;  // in the order in which they are to be placed

  int32_t count() const { return static_cast<int32_t>(members.size()); }
};

// `count` members of any of `kinds`.
struct Demand {
  int64_t count = 0;
  std::vector<size_t> kinds;
  int64_t others = 0;  // what the demands before it ask of its kinds, besides
  enum class Of { kUnits, kRole, kRest } of = Of::kRest;
  int64_t of_kinds() const { return count + others; }
};

// A condition on how the members of `kinds` spread over the domains of a level. Nodes without the label take none.
struct Rule {
  enum class Shape {
    kOne,     // all in one domain
    kSlices,  // each domain holds a multiple of `size`
    kEven,    // each domain holds none, `size` or `size` + 1
  } shape = Shape::kOne;
  model::Symbol level;
  int64_t size = 0;
  std::vector<size_t> kinds;  // sorted
  // Members that have a node already, by domain; they count as `kinds` do. Under the invalid symbol: those whose nodes
  // lack the label. They are in no domain, so no member can join them.
  std::map<model::Symbol, int64_t> held;
};

struct Problem {
  std::vector<MemberKind> kinds;
  std::vector<Demand> demands;  // that of units first, then roles', then the rest, of all kinds
  bool explains = true;         // false: where there is no placement, nothing is said but that
  int64_t total() const {
    int64_t sum = 0;
    for (const Demand& demand : demands) sum += demand.count;
    return sum;
  }
  // Asks for every member, and for nothing else.
  void DemandAll() {
    Demand all{0, std::vector<size_t>(kinds.size()), 0, Demand::Of::kRest};
    std::iota(all.kinds.begin(), all.kinds.end(), size_t{0});
    for (const MemberKind& kind : kinds) all.count += kind.count();
    demands = {std::move(all)};
  }
};

// So many members of a kind on a node.
struct Spot {
  size_t kind = 0;
  model::NodeId node;
  int32_t count = 0;
};

// What a search may still spend, in units of some 10 ns: each piece of work says what it costs by its size,
// so that the same input spends the same, and a step of a gang of a thousand kinds counts as what it takes.
class Budget {
 public:
  static constexpr int64_t kPlacement = 100;  // what a placement costs, with what it changes on its node for its kind

  explicit Budget(int64_t units) : left_(units) {}
  bool Spend(int64_t units) { return (left_ -= units) >= 0; }
  int64_t left() const { return left_; }  // below zero: the last piece was too much
  bool exhausted() const { return left_ < 0; }

 private:
  int64_t left_;
};

enum class SearchOutcome { kFound, kImpossible, kUnknown };

}  // namespace tutti::core
