// SPDX-License-Identifier: Apache-2.0
#include "core/certificates.h"

#include <algorithm>

#include "model/quantity.h"

namespace tutti::core {

using framework::Wake;
using model::NodeId;

namespace {

// What happens to a node alone.
constexpr Wake kOfOneNode =
    Wake::kNodeAdded | Wake::kNodeCapacity | Wake::kNodeLabels | Wake::kNodeTaints | Wake::kPodGone;

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
  }
  std::shared_ptr<Certificate>& certificate = by_shape_[shape];
  if (!certificate) certificate = std::make_shared<Certificate>();
  *certificate = {};
  certificate->made_ms = now_ms;
  certificate->wakes = result.wakes;
  certificate->affine_pods = snapshot_.pod_log_end(cluster::Snapshot::PodLog::kAffine);
  auto& classes = result.short_classes;
  certificate->volumes =
      classes.empty() || std::ranges::any_of(classes, [](const auto& one) { return !one->spec->volumes.empty(); });
  for (const auto& pod_class : classes)
    if (const framework::Ranking& ranking = rankings_.For(pod_class); ranking.AloneForNow())
      certificate->needs.push_back(ranking.FreeNeeded());
  if (certificate->needs.size() < classes.size()) classes.clear();
  certificate->result = std::move(result);
  return certificate;
}

void Certificates::Happened(Wake happened, std::span<const NodeId> improved) {
  const uint64_t affine_pods = snapshot_.pod_log_end(cluster::Snapshot::PodLog::kAffine);
  for (auto& [shape, certificate] : by_shape_) {
    Certificate& one = *certificate;
    const Wake concerning = one.wakes & happened;
    if (one.over || !framework::Any(concerning)) continue;
    one.over =
        one.result.short_classes.empty() || framework::Any(concerning & ~kOfOneNode) || one.affine_pods != affine_pods;
    if (one.over) continue;
    bool more = false;
    for (const NodeId n : improved) more = Improve(one, n) || more;
    if (more) Holds(one);
  }
}

void Certificates::EndThoseWithVolumes() {
  for (auto& [shape, certificate] : by_shape_) certificate->over = certificate->over || certificate->volumes;
}

size_t Certificates::in_use() const {
  return static_cast<size_t>(
      std::ranges::count_if(by_shape_, [](const auto& item) { return item.second.use_count() > 1; }));
}

bool Certificates::Improve(Certificate& certificate, NodeId n) {
  if (RoomFor(certificate, n) == 0) return false;
  if (std::ranges::find(certificate.improved, n) == certificate.improved.end()) certificate.improved.push_back(n);
  return true;
}

// What the node refuses a class by is an event to wait for from now on: the node may have been another when the
// certificate was made.
int64_t Certificates::RoomFor(Certificate& certificate, NodeId n) {
  int64_t sum = 0;
  for (size_t i = 0; i < certificate.needs.size(); ++i) {
    const framework::Ranking::Needs& needs = certificate.needs[i];
    // The last first: extended resources, which are the scarce ones.
    const bool enough = std::all_of(needs.amounts.rbegin(), needs.amounts.rend(),
                                    [&](const auto& need) { return need.second <= snapshot_.Free(n, need.first); });
    if (!enough) {
      certificate.wakes = certificate.wakes | needs.wakes;
      continue;
    }
    const auto room = rankings_.RoomNow(*certificate.result.short_classes[i], n, &certificate.wakes);
    certificate.over = certificate.over || !room;
    sum = model::SaturatingAdd(sum, room.value_or(0));
  }
  return sum;
}

bool Certificates::Holds(Certificate& certificate) {
  int64_t room = 0;
  for (const NodeId n : certificate.improved) room = model::SaturatingAdd(room, RoomFor(certificate, n));
  certificate.doubtful = room >= certificate.result.short_by;
  return !certificate.over && !certificate.doubtful;
}

}  // namespace tutti::core
