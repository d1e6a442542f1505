// SPDX-License-Identifier: Apache-2.0
// AppWrapper: an object that holds other objects, which are created once all of their pods have places. Those pods are
// a gang that is promised first; they are its members by a label that their templates get.
//
// There is one dialect for each of the two API groups.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "dialects/appwrapper_facts.h"
#include "dialects/appwrapper_spec.h"
#include "dialects/dialect.h"
#include "dialects/queued_jobs.h"
#include "dialects/quota_subtrees.h"

namespace tutti::dialects {

class AppWrappers final : public Dialect, public JobController {
 public:
  enum class Group { kMcad, kCodeflare };
  // `queues`: that AppWrappers of v1beta2 may wait in; `quotas`: that those of v1beta1 are charged to. Null: there are
  // none. They must outlive this, and are told of an object before it is.
  AppWrappers(Group group, DialectSettings settings, const JobQueues* queues = nullptr,
              const QuotaSubtrees* quotas = nullptr);

  std::string_view name() const override { return is_mcad_ ? "mcad" : "appwrapper"; }
  const std::vector<model::ObjectKind>& Kinds() const override { return kinds_; }
  void Put(std::shared_ptr<const model::Object> object, Touched* touched) override;
  void Drop(std::string_view kind_name, std::string_view ns, std::string_view name, Touched* touched) override;
  void Served(std::string_view kind_name, bool served, Touched* touched) override;
  std::optional<Membership> MembershipOf(const model::Pod& pod) const override;
  model::GangSpec Describe(const model::GangKey& key) const override;
  std::string_view SchedulerName(const model::GangKey& key) const override;
  base::Millis Desire(const GangReport& report, const cluster::Unseen& unseen,
                      std::vector<cluster::DesiredObject>* out) const override;
  base::Millis DesireOfJob(const model::Object& job, bool let_go, const GangReport& report,
                           const cluster::Unseen& unseen, std::vector<cluster::DesiredObject>* out) const override;
  std::optional<cluster::ObjectRef> EventTarget(const model::GangKey& key) const override;

 private:
  using Place = std::pair<std::string, std::string>;                    // namespace, name
  using Claim = std::tuple<base::Millis, std::string, std::string>;     // created, the wrapper's name, its UID
  struct Record {
    std::shared_ptr<const model::Object> object;
    WrapperSpec spec;
    std::string own_problem;  // of the object alone; spec.problem may also be that others wrap the same
    model::GangSpec gang;
  };

  const Record* Find(const model::GangKey& key) const;
  model::GangKey KeyOf(const Record& record) const;
  // The gang that it is while it waits in a queue; nullopt: it waits in none, and is the one of KeyOf.
  std::optional<model::GangKey> QueuedAs(const Record& record) const;
  void TouchDesires(const Record& record, Touched* touched) const;
  // Follows whether AppWrappers wait in the queues at all.
  void FollowQueues(Touched* touched);
  // Charges the gang to a node of each tree: the one that the label of the tree's name says, else "default".
  void Charge(model::GangSpec* gang, const model::StringMap& labels) const;
  // Reads again what is charged to the quota trees, if those are others now.
  void FollowQuotas(Touched* touched);
  bool Acts(const Record& record) const;  // it is this scheduler that acts on it, and it stays
  void PutWrapper(std::shared_ptr<const model::Object> object, Touched* touched);
  void PutItem(const ItemName& name, const SeenItem* seen, Touched* touched);
  // Puts the wrapper among those that wrap its items, or takes it out; those whose turn that makes it are read again.
  void SetClaims(const Record& record, bool claims, Touched* touched);
  void Refresh(Record& record, Touched* touched);
  std::string ClaimedByOther(const Record& record) const;
  model::GangSpec MakeGang(const Record& record) const;
  WrapperWish WishOf(const Record& record, const WrapperFacts& facts) const;
  WrapperFacts Look(const Record& record, const GangReport& report, const cluster::Unseen& unseen) const;
  base::Millis DesireBy(const Record& record, const WrapperFacts& facts,
                        std::vector<cluster::DesiredObject>* out) const;

  const bool is_mcad_;
  const DialectSettings settings_;
  const JobQueues* const queues_;
  const QuotaSubtrees* const quotas_;
  bool queues_open_ = true;
  std::pair<std::vector<std::string>, std::string> charged_;  // of the quotas: the trees, and the problem
  const model::ObjectKind kind_;
  std::vector<model::ObjectKind> kinds_;
  bool served_ = true, was_served_ = false;  // the kind; told by Served, and until then it counts as served
  std::map<Place, Record> wrappers_;
  std::map<ItemName, std::set<Claim>> claims_;  // AppWrappers that wrap an object of that name; the first may create it
  SeenItems seen_;                              // of watched kinds
};

}  // namespace tutti::dialects
