// SPDX-License-Identifier: Apache-2.0
#include "dialects/appwrapper_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "base/json.h"
#include "dialects/declaration.h"
#include "dialects/wording.h"
#include "model/gang_rank.h"
#include "model/quantity.h"

namespace tutti::dialects {
namespace {

using cluster::JsonField;
using cluster::JsonReader;

constexpr size_t kMostItems = 256;
constexpr std::string_view kManagers[] = {"", "workload.codeflare.dev/appwrapper",
                                          "workload.codeflare.dev/appwrapper-controller", "tutti.dev/appwrapper"};

void ReadComponents(JsonReader& read, const JsonField& spec, const WrapperContext& context, WrapperSpec* wrapper) {
  const JsonField components = spec["components"], nothing = spec["-"];
  if (!FewEnough(read, components, kMostItems)) return;
  read.Items(components, [&](const JsonField& one) {
    const JsonField made = one["template"], sets = one["podSets"], infos = one["podSetInfos"];
    wrapper->items.push_back(ReadItem(read, context, wrapper->items.size(), {made, sets, infos, nothing}));
  });
}

void ReadGenericItem(JsonReader& read, const JsonField& one, const WrapperContext& context, WrapperSpec* wrapper) {
  const JsonField made = one["generictemplate"], demand = one["custompodresources"], nothing = one["-"];
  ReadCount(read, one["replicas"], 1, 0);
  ReadCount(read, one["minavailable"], 0, 0);
  WrappedItem item = ReadItem(read, context, wrapper->items.size(), {made, nothing, nothing, demand});
  item.completion = read.Text(one["completionstatus"]);
  wrapper->items.push_back(std::move(item));
}

// Rounded to two digits, so that there are few different ones, however many AppWrappers there are.
void ReadSlope(JsonReader& read, const JsonField& field, WrapperSpec* wrapper) {
  constexpr double kSteepest = 100;
  if (!field.present()) return;
  const base::Json& value = field.value();
  const double slope = value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
  if (std::isnan(slope))
    return read.Problem(field, fmt::format("{} is no slope; write how much priority it gains each second, as a number",
                                           cluster::Describe(value)));
  const double units = std::clamp(slope, -kSteepest, kSteepest) * model::kSlopeUnit;
  double digit = 1;
  while (std::abs(units) >= 100 * digit) digit *= 10;
  wrapper->priority_slope = static_cast<int32_t>(std::lround(units / digit) * static_cast<int64_t>(digit));
}

void ReadResources(JsonReader& read, const JsonField& spec, const WrapperContext& context, WrapperSpec* wrapper) {
  const JsonField resources = spec["resources"], items = resources["GenericItems"], old_items = resources["Items"],
                  condensed = resources["generictemplate"], scheduling = spec["schedulingSpec"],
                  slope = spec["priorityslope"];
  if (FewEnough(read, items, kMostItems))
    read.Items(items, [&](const JsonField& one) { ReadGenericItem(read, one, context, wrapper); });
  if (condensed.present()) ReadGenericItem(read, resources, context, wrapper);
  if (old_items.present() && !old_items.value().empty())
    read.Problem(old_items, "Items of MCAD's first releases are not read; write GenericItems");
  wrapper->requeuing = ReadRequeuing(read, scheduling);
  ReadSlope(read, slope, wrapper);
}

void ReadWrapperPriority(JsonReader& read, const JsonField& field, WrapperSpec* wrapper) {
  if (!field.present()) return;
  const int64_t value = read.Integer(field, 0);
  if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max())
    return read.Problem(field, fmt::format("{} is no priority; write one from -2147483648 to 2147483647", value));
  wrapper->priority = static_cast<int32_t>(value);
}

void CheckItems(JsonReader& read, const JsonField& spec, const WrapperSpec& wrapper) {
  std::map<std::pair<const WrappedKind*, std::string>, size_t> names;
  for (const WrappedItem& item : wrapper.items)
    if (!names.emplace(std::pair(item.kind, item.name), 0).second)
      return read.Problem(spec, fmt::format("two items are {} {}; give each a name of its own", item.kind->kind.kind,
                                            Named(item.name)));
  const int64_t pods = wrapper.PodCount();
  if (pods > kMostPods)
    return read.Problem(spec,
                        fmt::format("{} pods are more than the {} that are looked at; write fewer", pods, kMostPods));
  if (pods == 0)
    read.Problem(spec, wrapper.components
                           ? "components contains no podspecs"
                           : "no item has pods, so there is nothing to wait for; wrap an object with pods");
}

// Two items may have pod sets of one name.
void NameRoles(WrapperSpec* wrapper) {
  if (wrapper->items.size() < 2) return;
  for (WrappedItem& item : wrapper->items)
    for (model::PromisedMembers& members : item.promised) members.role = fmt::format("{}/{}", item.name, members.role);
}

std::string Differences(const WrapperSpec& wrapper, const std::string& ns) {
  std::string all;
  for (const WrappedItem& item : wrapper.items)
    if (!item.sets.empty()) all = Join(all, Difference(item.declared, DemandOf(item.promised), item.Title(ns)));
  return all;
}

}  // namespace

int64_t WrapperSpec::PodCount() const {
  int64_t pods = 0;
  for (const WrappedItem& item : items)
    for (const model::PromisedMembers& members : item.promised) pods = model::SaturatingAdd(pods, members.count);
  return pods;
}

WrapperSpec ReadWrapper(const model::Object& object, const DialectSettings& settings) {
  WrapperSpec wrapper;
  JsonReader read;
  const JsonField root(*object.body), spec = root["spec"], components = spec["components"],
                                      resources = spec["resources"], suspend = spec["suspend"];
  wrapper.components = components.present();
  wrapper.suspended = read.Flag(suspend);
  wrapper.foreign = std::ranges::find(kManagers, read.Text(spec["managedBy"])) == std::end(kManagers);
  const WrapperContext context{object, wrapper.components, settings.scheduler_names};
  ReadWrapperPriority(read, spec["priority"], &wrapper);
  wrapper.fit = ReadFit(read, object).value_or(settings.fit);
  if (components.present() == resources.present())
    read.Problem(spec, "exactly one of resources (v1beta1) and components (v1beta2) must be set");
  else if (wrapper.components)
    ReadComponents(read, spec, context, &wrapper);
  else
    ReadResources(read, spec, context, &wrapper);
  wrapper.periods = ReadPeriods(object.meta.annotations);
  if (read.ok()) CheckItems(read, spec, wrapper);
  if (!read.ok()) wrapper.fault = read.problem();
  wrapper.problem = ProblemIn(object, read);
  NameRoles(&wrapper);
  if (wrapper.problem.empty()) wrapper.remark = Differences(wrapper, object.meta.ns);
  return wrapper;
}

bool SameDeclaration(const model::Object& a, const model::Object& b) {
  static const base::Json none;
  const auto spec = [](const model::Object& object) -> const base::Json& {
    const auto at = object.body->find("spec");
    return at == object.body->end() ? none : *at;
  };
  return a.meta.uid == b.meta.uid && a.version == b.version && a.meta.annotations == b.meta.annotations &&
         *a.meta.labels == *b.meta.labels && spec(a) == spec(b);
}

}  // namespace tutti::dialects
