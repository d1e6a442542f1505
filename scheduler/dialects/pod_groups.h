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
#include "dialects/status_memory.h"

namespace tutti::dialects {

struct PodGroup {
  std::shared_ptr<const model::Object> object;  // never null
  model::GangSpec spec;
  base::Json observed;  // of its status, what the dialect writes
  StatusMemory memory;
  std::string written;  // for the dialect: what it wrote and has not observed
};

// Writes the status that is `wanted` of the group; the counters that it does not name are taken out.
void WriteStatus(PodGroup* group, base::Json wanted, std::vector<cluster::CommandBody>* out);

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

  // `observed` is what of the status is the dialect's, without times: a status is its tenant's too, who may fill it
  // with a megabyte, and of that nothing is looked at. Touches the gang where the declaration is not what it was, and
  // its status where what is observed is not.
  void Put(std::shared_ptr<const model::Object> object, model::GangSpec spec, base::Json observed, Touched* touched);
  void Drop(std::string_view ns, std::string_view name, Touched* touched);

  void ReportLost(const model::GangKey& key) {
    if (PodGroup* group = Find(key)) {
      group->memory.Forget();
      group->written.clear();
    }
  }

  PodGroup* Find(const model::GangKey& key);
  const PodGroup* Find(const model::GangKey& key) const { return const_cast<PodGroupTable*>(this)->Find(key); }
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
