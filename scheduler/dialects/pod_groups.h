// SPDX-License-Identifier: Apache-2.0
// PodGroupTable: the objects of one dialect that each declare a gang, as declarations.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "dialects/dialect.h"

namespace tutti::dialects {

struct PodGroup {
  std::shared_ptr<const model::Object> object;  // never null
  model::GangSpec spec;
};

// The object with this status; `type`: how it is merged into what is there.
cluster::DesiredObject WithStatus(const std::shared_ptr<const model::Object>& object, base::Json status,
                                  cluster::DesiredObject::Agree agree,
                                  cluster::Patch::Type type = cluster::Patch::Type::kMerge);
// The object's status as it was written last, and until something is, as the feed shows it. Valid as long as `unseen`
// and the object do not change.
const base::Json& LatestStatus(const std::shared_ptr<const model::Object>& object, const cluster::Unseen& unseen);
// Has a merge take the counters out that `status` does not name.
void TakeOutOtherCounters(base::Json* status);

class PodGroupTable {
 public:
  // `link` ends the sentence about one that is missing: how a pod came to name it.
  PodGroupTable(std::string dialect, model::ObjectKind kind, std::string link)
      : dialect_(std::move(dialect)), kind_(std::move(kind)), link_(std::move(link)) {}

  const model::ObjectKind& kind() const { return kind_; }
  // Told by Dialect::Served; until then the kind counts as served.
  void set_served(bool served, Touched* touched) {
    touched->declarations = touched->declarations || served != served_;  // what it says of those that are missing
    served_ = served;
  }
  bool served() const { return served_; }

  // Touches the gang where the declaration is not what it was.
  void Put(std::shared_ptr<const model::Object> object, model::GangSpec spec, Touched* touched);
  void Drop(std::string_view ns, std::string_view name, Touched* touched);

  const PodGroup* Find(const model::GangKey& key) const;
  std::map<std::string, PodGroup>& all() { return groups_; }

  // The declaration, or one with the problem that there is none.
  model::GangSpec Describe(const model::GangKey& key) const;
  std::optional<cluster::ObjectRef> EventTarget(const model::GangKey& key) const;

 private:
  std::string dialect_;
  model::ObjectKind kind_;
  std::string link_;
  bool served_ = true;
  std::map<std::string, PodGroup> groups_;  // by "ns/name"
};

}  // namespace tutti::dialects
