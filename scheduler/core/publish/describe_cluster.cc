// SPDX-License-Identifier: Apache-2.0
#include "core/publish/describe_cluster.h"

#include <algorithm>
#include <utility>

#include "model/quantity.h"

namespace tutti::core {

using observe::QueueView;

namespace {

constexpr uint32_t kNodesAtOnce = 256, kQueueSlotsAtOnce = 256, kQuotaQueuesAtOnce = 64;

QueueView::State StateOf(model::QueueState state) {
  switch (state) {
    case model::QueueState::kOpen: return QueueView::State::kOpen;
    case model::QueueState::kClosing: return QueueView::State::kClosing;
    case model::QueueState::kClosed: return QueueView::State::kClosed;
  }
  return QueueView::State::kOpen;
}

QueueView::State StateOf(model::StopPolicy stop) {
  switch (stop) {
    case model::StopPolicy::kNone: return QueueView::State::kOpen;
    case model::StopPolicy::kHold: return QueueView::State::kHold;
    case model::StopPolicy::kHoldAndDrain: return QueueView::State::kHoldAndDrain;
  }
  return QueueView::State::kOpen;
}

std::optional<int64_t> Declared(const model::ResourceList& amounts, const std::string& resource) {
  return amounts.Has(resource) ? std::optional(amounts.Get(resource)) : std::nullopt;
}

}  // namespace

bool ClusterDescriber::AddNodes(uint32_t* place, std::deque<observe::NodeView>* nodes) const {
  const cluster::Snapshot& all = state_.snapshot();
  const auto slots = static_cast<uint32_t>(all.slots());
  for (uint32_t n = 0; *place < slots && n < kNodesAtOnce; ++*place, ++n) {
    const model::NodeId id(*place);
    if (!all.present(id)) continue;
    observe::NodeView view{all.node(id).node, {}};
    for (uint32_t r = 0; r < all.resources().size(); ++r) {
      const model::ResourceId resource(r);
      if (!all.Exists(resource)) continue;
      const std::span<const int64_t> requested = all.requested(resource);
      if (id.index() < requested.size() && requested[id.index()] > 0)
        view.requested.Set(all.resources().Text(resource), requested[id.index()]);
    }
    nodes->push_back(std::move(view));
  }
  return *place >= slots;
}

bool ClusterDescriber::AddQueues(observe::QueuesPlace* place, std::deque<QueueView>* queues) const {
  const queue::QueueTree& tree = queues_.tree();
  const auto slots = static_cast<uint32_t>(tree.end());
  uint32_t looked = 0;
  for (; place->slot < slots && looked < kQueueSlotsAtOnce; ++place->slot, ++looked)
    if (const queue::QueueId id(place->slot); tree.in_use(id) && tree.declared(id)) queues->push_back(Describe(id));
  if (place->slot < slots) return false;
  const auto& of_quota = quota_.queues();
  auto next = of_quota.upper_bound(place->after);
  for (uint32_t n = 0; next != of_quota.end() && n < kQuotaQueuesAtOnce; ++next, ++n) {
    place->after = next->first;
    AddSharing(next->first, *next->second, place, queues);
  }
  return next == of_quota.end();
}

QueueView ClusterDescriber::Describe(queue::QueueId id) const {
  const queue::QueueTree& tree = queues_.tree();
  const model::QueueSpec& spec = tree.spec(id);
  QueueView view;
  view.state = StateOf(spec.state);
  view.dialect = spec.dialect;
  view.name = spec.name;
  view.parent = spec.parent;
  view.problem = tree.Problem(id);
  view.weight = static_cast<double>(spec.weight);
  view.priority = spec.priority;
  view.reclaimable = spec.reclaimable;
  view.share = queues_.rules().Share(id);
  const queue::Cells& cells = tree.cells();
  for (uint32_t c = 0; c < cells.end(); ++c) {
    const queue::CellId cell(c);
    const std::string& resource = cells.resource(cell);
    if (resource.empty()) continue;
    QueueView::Cell line;
    line.flavor = cells.flavor(cell);
    line.resource = resource;
    line.limit = Declared(spec.capability, resource);
    line.nominal = Declared(spec.deserved, resource);
    line.guarantee = Declared(spec.guarantee, resource);
    if (const int64_t deserved = queues_.rules().Deserved(id, cell); deserved > 0) line.deserved = deserved;
    line.used = queues_.used().Used(id, cell);
    line.pending = queues_.pending().Used(id, cell);
    if (line.limit || line.nominal || line.guarantee || line.deserved || line.used > 0 || line.pending > 0)
      view.cells.push_back(std::move(line));
  }
  const GangCounts counts = tallies_.OfQueue({spec.dialect, spec.name});
  view.pending = counts.pending;
  view.starting = counts.starting;
  view.incomplete = counts.incomplete;
  view.running = counts.running;
  view.finished = counts.finished;
  return view;
}

void ClusterDescriber::AddSharing(const QueueName& name, const dialects::Dialect& dialect, observe::QueuesPlace* place,
                                  std::deque<QueueView>* queues) const {
  QueueView view = DescribeLeaf(name);
  view.dialect = dialect.name();
  queues->push_back(std::move(view));
  const queue::ShareTree& shares = quota_.shares();
  if (!name.first.empty()) return;
  const queue::QueueId leaf = shares.Leaf(name.second);
  if (!leaf.valid() || shares.HasCircle(leaf)) return;
  for (queue::QueueId up = shares.parent(leaf); up.valid(); up = shares.parent(up)) {
    if (!place->cohorts.insert(shares.name(up)).second) return;  // and so were those above it
    QueueView cohort = DescribeCohort(up);
    cohort.dialect = dialect.name();
    queues->push_back(std::move(cohort));
  }
}

QueueView ClusterDescriber::DescribeLeaf(const QueueName& name) const {
  QueueView view;
  view.kind = name.first.empty() ? QueueView::Kind::kLeaf : QueueView::Kind::kLocal;
  view.ns = name.first;
  view.name = name.second;
  const QuotaCounts::Sums sums = quota_.counts().Of(name);
  view.pending = sums.pending;
  view.reserving = sums.reserving;
  view.admitted = sums.admitted;
  const model::LeafQueueSpec* leaf = quota_.Leaf(name);
  if (const model::LocalQueueSpec* local = name.first.empty() ? nullptr : quota_.Local(name)) {
    view.parent = local->queue;
    view.weight = local->weight;
    view.state = StateOf(local->stop);
    if (!leaf)
      view.problem = "the queue that it leads to does not exist";
    else if (!local->admits)
      view.problem = "the queue that it leads to takes no gangs of this namespace";
  } else if (leaf) {
    view.parent = leaf->cohort;
    view.weight = leaf->weight;
    view.state = StateOf(leaf->stop);
    view.share = quota_.WeightedShare(name.second) / 1000;
    const queue::QueueId id = quota_.shares().Leaf(name.second);
    if (id.valid() && quota_.shares().HasCircle(id)) view.problem = "its cohorts lead back to themselves";
  }
  if (leaf) AddCells(*leaf, sums, &view);
  return view;
}

void ClusterDescriber::AddCells(const model::LeafQueueSpec& leaf, const QuotaCounts::Sums& sums, QueueView* view) {
  for (const model::ResourceGroup& group : leaf.groups)
    for (const model::FlavorQuota& flavor : group.flavors)
      for (const auto& [resource, quota] : flavor.resources) {
        QueueView::Cell line;
        line.flavor = flavor.flavor;
        line.resource = resource;
        line.nominal = quota.nominal;
        if (leaf.cohort.empty())
          line.limit = quota.nominal;
        else if (quota.borrowing_limit)
          line.limit = model::SaturatingAdd(quota.nominal, *quota.borrowing_limit);
        line.reserved = QuotaCounts::AmountOf(sums.reserved, {flavor.flavor, resource});
        line.used = QuotaCounts::AmountOf(sums.used, {flavor.flavor, resource});
        if (view->kind == QueueView::Kind::kLeaf && !leaf.cohort.empty())
          line.borrowed = std::max<int64_t>(0, line.reserved - quota.nominal);
        view->cells.push_back(std::move(line));
      }
}

QueueView ClusterDescriber::DescribeCohort(queue::QueueId id) const {
  const queue::ShareTree& shares = quota_.shares();
  QueueView view;
  view.kind = QueueView::Kind::kCohort;
  view.name = shares.name(id);
  if (const queue::QueueId up = shares.parent(id); up.valid()) view.parent = shares.name(up);
  const queue::Cells& cells = shares.cells();
  for (uint32_t c = 0; c < cells.end(); ++c) {
    const queue::CellId cell(c);
    if (cells.resource(cell).empty()) continue;
    const int64_t nominal = shares.Subtree(id, cell), used = shares.Used(id, cell);
    if (nominal == 0 && used == 0) continue;
    QueueView::Cell line;
    line.flavor = cells.flavor(cell);
    line.resource = cells.resource(cell);
    line.nominal = nominal;
    line.limit = shares.Potential(id, cell);
    line.reserved = line.used = used;
    view.cells.push_back(std::move(line));
  }
  return view;
}

}  // namespace tutti::core
