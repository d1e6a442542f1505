// SPDX-License-Identifier: Apache-2.0
#include "dialects/kueue/queue_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/json.h"

namespace tutti::dialects::kueue {

using base::Json;

namespace {

std::string WithSuffix(int64_t amount, int64_t base, const std::vector<const char*>& suffixes) {
  size_t suffix = 0;
  while (amount != 0 && amount % base == 0 && suffix + 1 < suffixes.size()) {
    amount /= base;
    ++suffix;
  }
  return fmt::format("{}{}", amount, suffixes[suffix]);
}

std::string Decimal(int64_t amount) { return WithSuffix(amount, 1000, {"", "k", "M", "G", "T", "P", "E"}); }

bool IsBinary(std::string_view resource) {
  return resource == model::kMemory || resource == model::kEphemeralStorage || resource.starts_with("hugepages-");
}

// Of each flavor of the queue, in its order, each resource by name.
Json Usages(const model::LeafQueueSpec& leaf, const SharingReport& report, bool used, bool with_borrowed) {
  Json flavors = Json::array();
  for (const model::ResourceGroup& group : leaf.groups)
    for (const model::FlavorQuota& flavor : group.flavors) {
      std::vector<std::string> names;
      for (const auto& [name, cell] : flavor.resources) names.push_back(name);
      std::ranges::sort(names);
      Json resources = Json::array();
      for (const std::string& name : names) {
        const auto cell = std::ranges::find_if(
            report.cells, [&](const auto& c) { return c.flavor == flavor.flavor && c.resource == name; });
        const bool known = cell != report.cells.end();
        const int64_t total = !known ? 0 : used ? cell->used : cell->reserved;
        Json resource = {{"name", name}, {"total", QuantityText(name, total)}};
        if (with_borrowed) {
          const int64_t over = known && !leaf.cohort.empty() ? std::max<int64_t>(0, total - cell->nominal) : 0;
          resource["borrowed"] = QuantityText(name, over);
        }
        resources.push_back(std::move(resource));
      }
      flavors.push_back({{"name", flavor.flavor}, {"resources", std::move(resources)}});
    }
  return flavors;
}

bool SameWithoutTimes(const Json& a, const Json& b) {
  if (base::IsShared(a, b)) return true;
  if (a.is_object() && b.is_object()) {
    const auto &of = a.get_ref<const Json::object_t&>(), &in = b.get_ref<const Json::object_t&>();
    for (const auto& [key, value] : of) {
      if (key == "lastTransitionTime") continue;
      const auto at = in.find(key);
      if (at == in.end() || !SameWithoutTimes(value, at->second)) return false;
    }
    return std::ranges::all_of(in, [&of](const auto& item) {
      return item.first == "lastTransitionTime" || item.first == "observedGeneration" || of.count(item.first) > 0;
    });
  }
  if (a.is_array() && b.is_array())
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), SameWithoutTimes);
  return a == b;
}

}  // namespace

std::string QuantityText(std::string_view resource, int64_t amount) {
  if (resource == model::kCpu && amount % 1000 != 0) return fmt::format("{}m", amount);
  if (resource == model::kCpu) return Decimal(amount / 1000);
  if (!IsBinary(resource) || (amount > -1024 && amount < 1024)) return Decimal(amount);
  return WithSuffix(amount, 1024, {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"});
}

void SetCondition(std::string_view type, bool status, std::string_view reason, std::string_view message,
                  base::Millis now_wall_ms, Json* conditions) {
  const char* word = status ? "True" : "False";
  if (!conditions->is_array()) *conditions = Json::array();
  for (Json& condition : *conditions) {
    if (!condition.is_object() || condition.value("type", Json()) != type) continue;
    if (condition.value("status", Json()) != word || !condition.contains("lastTransitionTime"))
      condition["lastTransitionTime"] = base::FormatTime(now_wall_ms);
    condition["status"] = word;
    condition["reason"] = reason;
    condition["message"] = message;
    return;
  }
  conditions->push_back({{"type", type},
                         {"status", word},
                         {"reason", reason},
                         {"message", message},
                         {"lastTransitionTime", base::FormatTime(now_wall_ms)}});
}

// One that borrows with weight 0 has the largest share there is.
Json ShareStatus(const SharingReport& report) {
  if (!report.share) return {{"fairSharing", nullptr}};
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const double share = std::ceil(*report.share);
  const int64_t weighted = share < static_cast<double>(kMost) ? static_cast<int64_t>(share) : kMost;
  return {{"fairSharing", {{"weightedShare", weighted}}}};
}

Json LeafStatus(const model::LeafQueueSpec& leaf, const SharingReport& report) {
  Json status = {{"pendingWorkloads", report.pending},
                 {"reservingWorkloads", report.reserving},
                 {"admittedWorkloads", report.admitted},
                 {"flavorsReservation", Usages(leaf, report, false, true)},
                 {"flavorsUsage", Usages(leaf, report, true, true)}};
  status.update(ShareStatus(report));
  return status;
}

Json LocalStatus(const model::LeafQueueSpec* leaf, bool stopped, const SharingReport& report) {
  Json status = {{"pendingWorkloads", stopped ? 0 : report.pending},
                 {"reservingWorkloads", report.reserving},
                 {"admittedWorkloads", report.admitted}};
  if (!leaf) return status;
  status["flavorsReservation"] = Usages(*leaf, report, false, false);
  status["flavorsUsage"] = Usages(*leaf, report, true, false);
  status["flavorUsage"] = status["flavorsUsage"];  // v1beta1
  return status;
}

bool AgreesWithoutTimes(const Json& fields, const Json& object) {
  if (!fields.is_object()) return SameWithoutTimes(fields, object);
  if (!object.is_object()) return false;
  const auto& in = object.get_ref<const Json::object_t&>();
  return std::ranges::all_of(fields.get_ref<const Json::object_t&>(), [&in](const auto& item) {
    const auto& [key, value] = item;
    const auto at = in.find(key);
    if (at == in.end() || at->second.is_null()) return value.is_null();
    return !value.is_null() && AgreesWithoutTimes(value, at->second);
  });
}

}  // namespace tutti::dialects::kueue
