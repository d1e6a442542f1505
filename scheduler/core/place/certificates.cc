// SPDX-License-Identifier: Apache-2.0
#include "core/place/certificates.h"

#include <algorithm>
#include <tuple>

#include "cluster/as_if_nominated.h"
#include "model/quantity.h"

namespace tutti::core {

using framework::Wake;
using model::NodeId;

namespace {

// What happens to a node alone.
constexpr Wake kOfOneNode =
    Wake::kNodeAdded | Wake::kNodeCapacity | Wake::kNodeLabels | Wake::kNodeTaints | Wake::kPodGone;

constexpr Wake kMoreRoom = Wake::kNodeAdded | Wake::kNodeCapacity | Wake::kPodGone;

bool CountsTheSame(const PlanResult& a, const PlanResult& b) {
  const bool figures = a.figures && b.figures ? *a.figures == *b.figures : !a.figures == !b.figures;
  return figures && a.verdict == b.verdict && a.refusals == b.refusals && a.nearest == b.nearest;
}

// What nodes are judged by, for each of the classes; empty: nodes alone do not decide. A class that follows other pods
// is judged so as well where every node refuses it for want of amounts. Whatever happens to other pods then, no node
// takes a member before it has the amounts, and there the certificate ends (RoomFor).
std::vector<framework::Ranking::Needs> NeedsOf(std::span<const std::shared_ptr<const cluster::PodClass>> classes,
                                               Wake wakes, Rankings& rankings) {
  std::vector<framework::Ranking::Needs> needs;
  bool alone = true, for_amounts = true;
  Wake of_amounts = Wake::kNodeAdded;
  for (const auto& pod_class : classes) {
    framework::Ranking& ranking = rankings.For(pod_class);
    needs.push_back(ranking.FreeNeeded());
    of_amounts = of_amounts | needs.back().wakes;
    if (ranking.AloneForNow()) continue;
    alone = false;
    ranking.Rooms();
    for_amounts = for_amounts && ranking.total_room() == 0 && !needs.back().amounts.empty();
  }
  if (!alone && (!for_amounts || framework::Any(wakes & ~of_amounts))) needs.clear();
  return needs;
}

}  // namespace

std::shared_ptr<Certificate> Certificates::Find(const std::string& shape, base::Millis not_before_ms) {
  const auto at = by_shape_.find(shape);
  if (at == by_shape_.end() || at->second->made_ms < not_before_ms || !Holds(*at->second)) return nullptr;
  return at->second;
}

std::shared_ptr<Certificate> Certificates::Keep(const std::string& shape, PlanResult result, base::Millis now_ms) {
  if (by_shape_.size() >= sweep_at_) {
    absl::erase_if(by_shape_, [](const auto& item) { return item.second.use_count() == 1; });
    sweep_at_ = std::max<size_t>(64, 2 * by_shape_.size());
    std::vector<Watch> kept;
    for (auto& [known, certificate] : by_shape_) {
      kept.push_back(watches_[certificate->watch]);
      certificate->watch = kept.size() - 1;
    }
    watches_ = std::move(kept);
  }
  std::shared_ptr<Certificate>& certificate = by_shape_[shape];
  if (!certificate) {
    certificate = std::make_shared<Certificate>();
    certificate->watch = watches_.size();
    watches_.emplace_back();
  }
  const size_t place = certificate->watch;
  const bool same = certificate->figures_id != 0 && CountsTheSame(certificate->result, result);
  const uint64_t figures_id = same ? certificate->figures_id : ++last_figures_id_;
  std::optional<observe::PreemptionRefused> refused_before = std::move(certificate->refused_before);
  *certificate = {};
  certificate->refused_before = std::move(refused_before);
  certificate->watch = place;
  certificate->figures_id = figures_id;
  certificate->made_ms = now_ms;
  certificate->affine_pods = snapshot_.pod_log().end(cluster::PodLog::Of::kAffine);
  const auto select = [&certificate](const cluster::PodClass& one) {
    if (one.selected_by) certificate->selected_in.push_back(one.ns);
  };
  for (const auto& one : result.short_classes) select(*one);
  for (const auto& [one, count] : result.unplaced) select(*one);
  watches_[place] = {certificate.get(), result.wakes, Wake::kNothing, {}, 0};
  auto& classes = result.short_classes;
  certificate->volumes =
      classes.empty() || std::ranges::any_of(classes, [](const auto& one) { return !one->spec->volumes.empty(); });
  certificate->needs = NeedsOf(classes, result.wakes, rankings_);
  if (certificate->needs.empty()) classes.clear();
  // The last: extended resources, which are the scarce ones.
  if (classes.size() == 1 && !certificate->needs[0].amounts.empty()) {
    std::tie(watches_[place].column, watches_[place].amount) = certificate->needs[0].amounts.back();
    watches_[place].scarce = certificate->needs[0].wakes;
  }
  certificate->result = std::move(result);
  return certificate;
}

void Certificates::IgnoreKeptRoom(Certificate& certificate) {
  certificate.beside_nominated = std::ranges::all_of(
      certificate.result.short_classes, [this](const auto& one) { return rankings_.For(one).AloneForNow(); });
}

void Certificates::RefusePreemption(Certificate& certificate, const observe::PreemptionRefused& refused,
                                    int32_t preempts_below) {
  if (certificate.refused_before != refused) certificate.figures_id = ++last_figures_id_;
  certificate.preemption_refused = certificate.refused_before = refused;
  certificate.preempts_below = preempts_below;
  // With pods gone the amounts would be there, and then other pods count.
  const bool alone = std::ranges::all_of(certificate.result.short_classes,
                                         [this](const auto& one) { return rankings_.For(one).AloneForNow(); });
  if (alone) return;
  certificate.result.short_classes.clear();
  certificate.needs.clear();
}

void Certificates::End(Certificate& certificate) {
  certificate.over = true;
  watches_[certificate.watch].wakes = Wake::kNothing;
}

void Certificates::Happened(Wake happened, std::span<const NodeId> improved) {
  const uint64_t affine_pods = snapshot_.pod_log().end(cluster::PodLog::Of::kAffine);
  const bool of_more = framework::Any(happened & ~kOfOneNode);
  for (Watch& watch : watches_) {
    const Wake concerning = watch.wakes & happened & ~Wake::kSelection;
    if (!framework::Any(concerning)) continue;
    if (const Certificate& one = *watch.certificate;
        one.result.short_classes.empty() || one.affine_pods != affine_pods ||
        (one.result.by_labels && framework::Any(concerning & Wake::kNodeLabels)) ||
        (of_more && framework::Any(concerning & ~kOfOneNode)))
      End(*watch.certificate);
    else
      for (const NodeId n : improved) Improve(watch, n);
  }
}

void Certificates::EndThoseWithVolumes() {
  for (auto& [shape, certificate] : by_shape_)
    if (certificate->volumes) End(*certificate);
}

void Certificates::EndThoseSelectedIn(model::Symbol ns) {
  for (auto& [shape, certificate] : by_shape_)
    if (std::ranges::find(certificate->selected_in, ns) != certificate->selected_in.end()) End(*certificate);
}

size_t Certificates::in_use() const {
  return static_cast<size_t>(
      std::ranges::count_if(by_shape_, [](const auto& item) { return item.second.use_count() > 1; }));
}

bool Certificates::MayPreemptOn(const Certificate& certificate, NodeId n) {
  if (!certificate.preemption_refused || certificate.needs.empty() || !snapshot_.present(n)) return false;
  const std::span<const PossibleVictim> lower = victims_.Below(n, certificate.preempts_below);
  return !lower.empty() && std::ranges::all_of(certificate.needs[0].amounts, [&](const auto& need) {
    int64_t room = snapshot_.Free(n, need.first);
    for (const PossibleVictim& one : lower) room = model::SaturatingAdd(room, AmountOf(*one.pod_class, need.first));
    return room >= need.second;
  });
}

void Certificates::Improve(Watch& watch, NodeId n) {
  if (MayPreemptOn(*watch.certificate, n)) return End(*watch.certificate);
  if (watch.amount > 0 && watch.amount > snapshot_.Free(n, watch.column)) {
    watch.wakes = watch.wakes | watch.scarce;
    return;
  }
  Certificate& certificate = *watch.certificate;
  if (certificate.over) return;
  const int64_t room = RoomFor(certificate, n);
  const auto known = std::ranges::find(certificate.improved, n, &Certificate::Improved::node);
  if (known != certificate.improved.end()) {
    known->room = room;
  } else if (room > 0) {
    certificate.improved.push_back({n, room});
    watch.wakes = watch.wakes | kMoreRoom;  // it may come to have more
  }
  if (room == 0) return;
  int64_t sum = 0;
  for (const Certificate::Improved& one : certificate.improved) sum = model::SaturatingAdd(sum, one.room);
  if (certificate.over || sum >= certificate.result.short_by) Holds(certificate);
}

// What the node refuses a class by is an event to wait for from now on: the node may have been another when the
// certificate was made.
int64_t Certificates::RoomFor(Certificate& certificate, NodeId n) {
  Wake wakes = Wake::kNothing;
  bool over = false;
  int64_t sum = 0;
  for (size_t i = 0; i < certificate.needs.size(); ++i) {
    const framework::Ranking::Needs& needs = certificate.needs[i];
    const int32_t priority = certificate.result.short_classes[i]->spec->priority;
    const bool enough = std::all_of(needs.amounts.rbegin(), needs.amounts.rend(), [&](const auto& need) {
      return need.second <= snapshot_.Free(n, need.first) &&
             (!certificate.beside_nominated || need.second <= FreeBeside(n, need.first, priority));
    });
    if (!enough) {
      wakes = wakes | needs.wakes;
      continue;
    }
    const auto room = rankings_.RoomNow(*certificate.result.short_classes[i], n, &wakes);
    over = over || !room;
    sum = model::SaturatingAdd(sum, room.value_or(0));
  }
  watches_[certificate.watch].wakes = watches_[certificate.watch].wakes | wakes;
  if (over || certificate.over) End(certificate);
  return sum;
}

int64_t Certificates::FreeBeside(NodeId n, model::ResourceId column, int32_t priority) const {
  int64_t free = snapshot_.Free(n, column);
  if (state_.nominations().empty()) return free;
  const cluster::NominatedFor asked{priority, [](model::PodId) { return false; }};
  for (const model::PodId pod : state_.nominations().For(snapshot_.node(n).name))
    if (cluster::CountsFor(state_, pod, asked)) free -= AmountOf(*state_.pod(pod).pod_class, column);
  return free;
}

bool Certificates::Holds(Certificate& certificate) {
  int64_t room = 0;
  for (Certificate::Improved& one : certificate.improved) {
    one.room = RoomFor(certificate, one.node);
    room = model::SaturatingAdd(room, one.room);
  }
  certificate.doubtful = room >= certificate.result.short_by;
  return !certificate.over && !certificate.doubtful;
}

}  // namespace tutti::core
