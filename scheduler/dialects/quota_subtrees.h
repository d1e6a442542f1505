// SPDX-License-Identifier: Apache-2.0
// QuotaSubtrees: MCAD's quota trees, of which each object declares some nodes. A node is a queue, and is named
// TREE/NODE; AppWrappers of v1beta1 are its gangs, each in all trees.
//
// A hard node, and the root, hold no more than their quota. A soft one may borrow: what it has goes up to the next hard
// node, or to the root. There are no pods of this dialect.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dialects/dialect.h"

namespace tutti::dialects {

class QuotaSubtrees final : public Dialect {
 public:
  static const model::ObjectKind& Kind();
  static constexpr std::string_view kName = "quotasubtree";

  std::string_view name() const override { return kName; }
  const std::vector<model::ObjectKind>& Kinds() const override;
  void Put(std::shared_ptr<const model::Object> object, Touched* touched) override;
  void Drop(std::string_view kind_name, std::string_view ns, std::string_view name, Touched* touched) override;
  std::optional<Membership> MembershipOf(const model::Pod&) const override { return std::nullopt; }
  model::GangSpec Describe(const model::GangKey& key) const override;
  std::optional<model::QueueSpec> DescribeQueue(std::string_view name) const override;

  // The trees that AppWrappers are charged to, by name.
  std::vector<std::string> trees() const;
  // Why they cannot be charged: no node of a QuotaSubtree can be read, or there are too many trees. Empty: they can.
  std::string problem() const;

 private:
  using Place = std::pair<std::string, std::string>;  // namespace, name of a QuotaSubtree
  using Nodes = std::map<std::string, model::QueueSpec, std::less<>>;
  struct Subtree {
    std::string tree;
    Nodes nodes;          // what is wrong with it is in each of them
    std::string problem;  // the same where it has none
    friend bool operator==(const Subtree&, const Subtree&) = default;
  };
  static Subtree Read(const model::Object& object);
  void Forget(const Place& place, Touched* touched);

  std::map<Place, Subtree> subtrees_;
  std::set<Place> unread_;                                           // those with a problem
  std::map<std::string, size_t, std::less<>> trees_;                 // how many objects are of each
  std::map<std::string, std::set<Place>, std::less<>> declared_by_;  // by queue
};

}  // namespace tutti::dialects
