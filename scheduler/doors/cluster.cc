// SPDX-License-Identifier: Apache-2.0
#include "doors/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "doors/messages.h"
#include "doors/queue_metrics.h"
#include "doors/text.h"

namespace tutti::doors {
namespace {

using observe::NodeView;
using observe::QueueView;

constexpr std::chrono::seconds kShared{1};
constexpr int kLine = 20;  // gangs that are told of a queue's line

// Texts in the keys of labels that say where a node stands, or what it is.
constexpr std::array<std::string_view, 8> kTelling = {"topology",      "rack",        "block",       "zone",
                                                      "instance-type", "accelerator", "gpu.product", "nodepool"};

bool IsTold(const std::string& key, const std::set<std::string>& asked) {
  if (!asked.empty()) return asked.contains(key);
  return std::ranges::any_of(kTelling, [&](std::string_view text) { return key.find(text) != std::string::npos; });
}

// Tells of those that the caller sees, and what is left of the node's requests without them.
DoorResult<void> FillHolders(const NodeView& view, const HoldersByNode& all, Sight& sight, v1::Node* to) {
  static const std::vector<Holding> none;
  const auto here = all.find(view.node->meta.name);
  model::ResourceList others = view.requested;
  for (const Holding& holding : here == all.end() ? none : here->second) {
    const DoorResult<bool> sees = sight.SeesIfAsked(holding.decision->gang.ns);
    if (!sees) return tl::make_unexpected(sees.error());
    if (!*sees) continue;
    Fill(holding, to->add_holders());
    for (const auto& [resource, amount] : holding.amounts)
      if (others.Has(resource)) others.Set(resource, std::max<int64_t>(0, others.Get(resource) - amount));
  }
  Fill(others, to->mutable_others());
  return {};
}

void FillNode(const NodeView& view, const std::set<std::string>& labels, v1::Node* to) {
  const model::Node& node = *view.node;
  to->set_name(Utf8(node.meta.name));
  Fill(node.allocatable, to->mutable_allocatable());
  Fill(view.requested, to->mutable_requested());
  model::ResourceList free;
  for (const auto& [resource, amount] : node.allocatable)
    free.Set(resource, std::max<int64_t>(0, amount - view.requested.Get(resource)));
  Fill(free, to->mutable_free());
  to->set_ready(node.ready);
  to->set_unschedulable(node.unschedulable);
  for (const model::Taint& taint : node.taints) {
    v1::Taint& line = *to->add_taints();
    line.set_key(Utf8(taint.key));
    line.set_value(Utf8(taint.value));
    line.set_effect(Utf8(taint.effect));
  }
  for (const auto& [key, value] : node.meta.labels)
    if (IsTold(key, labels)) (*to->mutable_labels())[Utf8(key)] = Utf8(value);
}

// Adds the label keys that have fewer values than there are nodes, those with the fewest first.
void FillLevels(v1::ListNodesResponse* to) {
  std::map<std::string, std::set<std::string>> values;
  for (const v1::Node& node : to->nodes())
    for (const auto& [key, value] : node.labels()) values[key].insert(value);
  std::vector<std::pair<size_t, std::string>> levels;
  for (const auto& [key, of_key] : values)
    if (std::ssize(of_key) < to->nodes_size()) levels.emplace_back(of_key.size(), key);
  std::ranges::sort(levels);
  for (auto& [count, key] : levels) to->add_levels(std::move(key));
}

DoorResult<void> CheckPath(Sight& sight, const char* what) {
  const DoorResult<bool> may = sight.SeesPath(fmt::format("/apis/tutti/v1/{}", what));
  if (!may) return tl::make_unexpected(may.error());
  if (*may) return {};
  return Fail(Failure::Kind::kForbidden,
              fmt::format("to see {0}, a user must be allowed to get the path /apis/tutti/v1/{0}", what));
}

}  // namespace

template <typename T, typename Make>
std::shared_ptr<const T> Cluster::Recent(Shared<T>* shared, Make make) {
  {
    const base::MutexLock lock(mutex_);
    if (shared->list && std::chrono::steady_clock::now() - shared->made < kShared) return shared->list;
  }
  std::shared_ptr<const T> list = make();
  const base::MutexLock lock(mutex_);
  if (list) *shared = {list, std::chrono::steady_clock::now()};
  return list;
}

DoorResult<v1::ListNodesResponse> Cluster::ListNodes(const v1::ListNodesRequest& request, Sight& sight) {
  if (const DoorResult<void> may = CheckPath(sight, "nodes"); !may) return tl::make_unexpected(may.error());
  const auto table = gangs_.All();
  if (!table) return tl::make_unexpected(table.error());
  const auto nodes = Recent(&nodes_, [this] { return source_.ListNodes(); });
  if (!nodes) return Fail(Failure::Kind::kUnavailable, "the scheduler is too busy to answer; try again");
  const std::set<std::string> labels(request.labels().begin(), request.labels().end());
  std::vector<const NodeView*> shown;
  for (const NodeView& view : *nodes)
    if (request.name().empty() || view.node->meta.name == request.name()) shown.push_back(&view);
  if (shown.empty() && !request.name().empty())
    return Fail(Failure::Kind::kNotFound, fmt::format("there is no node {}", Utf8(request.name())));
  std::ranges::sort(shown, {}, [](const NodeView* view) -> const std::string& { return view->node->meta.name; });
  v1::ListNodesResponse response;
  for (const NodeView* view : shown) {
    v1::Node& node = *response.add_nodes();
    FillNode(*view, labels, &node);
    if (request.without_holders()) continue;
    if (const DoorResult<void> told = FillHolders(*view, (*table)->holders(), sight, &node); !told)
      return tl::make_unexpected(told.error());
  }
  FillLevels(&response);
  return response;
}

std::string Cluster::QueueMetrics(base::Millis now_ms) {
  const DoorResult<Lines> lines = AllLines();
  return lines ? QueueMetricsText(*lines->gangs, *lines->queues, now_ms) : "";
}

DoorResult<Cluster::Lines> Cluster::AllLines() {
  const auto table = gangs_.All();
  if (!table) return tl::make_unexpected(table.error());
  const auto queues = Recent(&queues_, [this] { return source_.ListQueues(); });
  if (!queues) return Fail(Failure::Kind::kUnavailable, "the scheduler is too busy to answer; try again");
  return Lines{*table, queues};
}

DoorResult<v1::ListQueuesResponse> Cluster::ListQueues(const v1::ListQueuesRequest& request, Sight& sight) {
  if (const DoorResult<void> may = CheckPath(sight, "queues"); !may) return tl::make_unexpected(may.error());
  const DoorResult<Lines> all = AllLines();
  if (!all) return tl::make_unexpected(all.error());
  std::map<QueueKey, std::vector<const Row*>> lines;
  for (const Row& row : all->gangs->rows)
    if (row.position > 0 && row.position <= kLine) lines[QueueKeyOf(*row.decision)].push_back(&row);
  v1::ListQueuesResponse response;
  std::vector<const QueueView*> shown;
  for (const QueueView& view : *all->queues)
    if (request.name().empty() || view.name == request.name()) shown.push_back(&view);
  std::ranges::sort(shown, {},
                    [](const QueueView* view) { return std::tie(view->dialect, view->kind, view->ns, view->name); });
  for (const QueueView* view : shown) {
    v1::Queue& queue = *response.add_queues();
    Fill(*view, &queue);
    if (view->kind == QueueView::Kind::kCohort || view->kind == QueueView::Kind::kLocal) continue;
    std::vector<const Row*>& line = lines[{view->dialect, view->name}];
    std::ranges::sort(line, {}, &Row::position);
    for (const Row* row : line) {
      const DoorResult<bool> sees = sight.SeesIfAsked(row->decision->gang.ns);
      if (!sees) return tl::make_unexpected(sees.error());
      if (!*sees) continue;
      v1::QueuedGang& gang = *queue.add_line();
      gang.set_position(row->position);
      Fill(row->decision->gang, gang.mutable_gang());
      gang.set_priority(row->decision->priority);
      gang.set_reason(Utf8(row->decision->reason));
    }
  }
  return response;
}

}  // namespace tutti::doors
