// SPDX-License-Identifier: Apache-2.0
// WrappedItem: one object that an AppWrapper wraps: as it is to be created, and the pods that it will have.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "cluster/command.h"
#include "cluster/json_reader.h"
#include "dialects/appwrapper_demand.h"
#include "dialects/appwrapper_kinds.h"
#include "dialects/pod_sets.h"
#include "model/gang.h"
#include "model/object.h"

namespace tutti::dialects {

// On objects and pods that an AppWrapper has, by its group; the value is its name. MCAD's own is also on those of
// v1beta1 in the other group.
inline constexpr std::string_view kWrapperLabel = "workload.codeflare.dev/appwrapper",
                                  kMcadLabel = "appwrapper.mcad.ibm.com";
// On the pods of an item: which item, and which of its pod sets: "0-1".
inline constexpr std::string_view kPodSetLabel = "tutti.dev/pod-set";

// Whether the text may stand for it in a URL.
bool IsObjectName(std::string_view name);
bool IsApiVersion(std::string_view version);

struct WrappedItem {
  const WrappedKind* kind = nullptr;
  std::string version, name;
  base::Json object;                             // whole, as it is to be created
  std::string form;                              // its digest (kFormAnnotation), which it has as well
  std::vector<PodSet> sets;                      // of which the templates are known
  std::vector<model::PromisedMembers> promised;  // of its pods, by set; the role is the set's name
  // Its pods come one after the other, each when the one before runs: a StatefulSet's, unless it says otherwise. Then
  // `promised` has the first, and all others as late ones.
  bool ordered = false;
  Demand declared;         // v1beta1: custompodresources
  std::string completion;  // v1beta1: condition types by which it has ended, a comma list

  bool IsPod() const { return kind->kind.kind == "Pod"; }  // a bare one: nothing makes it again
  cluster::ObjectRef Ref(const std::string& ns, const std::string& uid = "") const;
  std::string Title(const std::string& ns) const;  // "RayCluster ns/name"
};

// What all items of one AppWrapper share.
struct WrapperContext {
  const model::Object& wrapper;
  bool components = false;                          // v1beta2
  const std::vector<std::string>& scheduler_names;  // that are served; templates without one get the first
};

// Reads the item at `index`. What is wrong is a problem of `read`, at `template_field` or in what it holds.
//   template_field: the object; pod_sets: v1beta2's podSets; infos: its podSetInfos; demand: v1beta1's
//   custompodresources. Each may be absent.
struct ItemFields {
  const cluster::JsonField& template_field;
  const cluster::JsonField& pod_sets;
  const cluster::JsonField& infos;
  const cluster::JsonField& demand;
};
WrappedItem ReadItem(cluster::JsonReader& read, const WrapperContext& context, size_t index, const ItemFields& fields);

}  // namespace tutti::dialects
