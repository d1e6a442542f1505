// SPDX-License-Identifier: Apache-2.0
#include "dialects/appwrapper_demand.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "base/json.h"
#include "dialects/declaration.h"
#include "dialects/pod_sets.h"
#include "dialects/wording.h"
#include "model/pod.h"
#include "model/quantity.h"

namespace tutti::dialects {
namespace {

constexpr std::string_view kGpu = "nvidia.com/gpu";

// Without what is zero: a pod that asks for no GPU is one that asks for 0.
model::ResourceList NonZero(const model::ResourceList& list) {
  model::ResourceList left;
  for (const auto& [name, amount] : list)
    if (amount != 0) left.Set(name, amount);
  return left;
}

// Those alike are one entry; of `only` the resources that it has, where it has some.
std::map<std::vector<model::ResourceList::Item>, int64_t> ByShape(const Demand& demand,
                                                                  const model::ResourceList& only) {
  std::map<std::vector<model::ResourceList::Item>, int64_t> shapes;
  for (const PodsAlike& pods : demand) {
    if (pods.count == 0) continue;
    model::ResourceList each;
    for (const auto& [name, amount] : pods.each)
      if (amount != 0 && only.Has(name)) each.Set(name, amount);
    int64_t& count = shapes[each.items()];
    count = model::SaturatingAdd(count, pods.count);
  }
  return shapes;
}

std::string Said(const Demand& demand) {
  std::string text;
  for (const PodsAlike& pods : demand) {
    if (pods.count == 0) continue;
    std::string each;
    for (const auto& [name, amount] : NonZero(pods.each))
      each += fmt::format("{}{} {}", each.empty() ? "" : ", ", Named(name), model::FormatAmount(name, amount));
    text += fmt::format("{}{} of {}", text.empty() ? "" : " and ", pods.count, each.empty() ? "nothing" : each);
  }
  return text.empty() ? "none" : text;
}

}  // namespace

Demand ReadDemand(cluster::JsonReader& read, const cluster::JsonField& list) {
  Demand demand;
  if (!FewEnough(read, list, kMostRoles)) return demand;
  read.Items(list, [&](const cluster::JsonField& item) {
    PodsAlike pods;
    pods.count = ReadCount(read, item["replicas"], 1, 0);
    const auto requests = ReadRequests(read, item["requests"]), limits = ReadRequests(read, item["limits"]);
    if (limits) pods.each = *limits;
    if (requests)
      for (const auto& [name, amount] : *requests) pods.each.Set(name, amount);
    demand.push_back(std::move(pods));
  });
  return demand;
}

Demand DemandOf(const std::vector<model::PromisedMembers>& promised) {
  Demand demand;
  for (const model::PromisedMembers& members : promised) demand.push_back({members.count, members.pod->spec->requests});
  return demand;
}

Total TotalOf(const Demand& demand) {
  Total total;
  const auto add = [](int64_t* to, int64_t count, int64_t amount) {
    *to = model::SaturatingAdd(*to, model::SaturatingMul(count, amount));
  };
  for (const PodsAlike& pods : demand) {
    add(&total.cpu_milli, pods.count, pods.each.Get(model::kCpu));
    add(&total.memory, pods.count, pods.each.Get(model::kMemory));
    add(&total.gpus, pods.count, pods.each.Get(kGpu));
  }
  return total;
}

base::Result<std::vector<model::PromisedMembers>> PromiseDeclared(const Demand& demand, std::string_view ns,
                                                                  std::string_view scheduler_name) {
  std::vector<model::PromisedMembers> promised;
  for (size_t i = 0; i < demand.size(); ++i) {
    base::Json requests = base::Json::object();
    for (const auto& [name, amount] : demand[i].each) requests[name] = model::FormatAmount(name, amount);
    const base::Json made = {
        {"spec",
         {{"schedulerName", scheduler_name},
          {"containers", {{{"name", "declared"}, {"resources", {{"requests", std::move(requests)}}}}}}}}};
    auto pod = PodFromTemplate(made, ns, "");
    if (!pod) return tl::make_unexpected(pod.error());
    promised.push_back({.role = fmt::format("pods-{}", i),
                        .count = demand[i].count,
                        .pod = std::make_shared<const model::Pod>(*std::move(pod))});
  }
  return promised;
}

std::string Difference(const Demand& declared, const Demand& pods, const std::string& item) {
  if (declared.empty() || pods.empty()) return {};
  model::ResourceList named;
  for (const PodsAlike& each : declared)
    for (const auto& [name, amount] : each.each) named.Set(name, 1);
  if (ByShape(declared, named) == ByShape(pods, named)) return {};
  return fmt::format("custompodresources declare pods: {}; those of {} are: {}; the latter count.", Said(declared),
                     item, Said(pods));
}

}  // namespace tutti::dialects
