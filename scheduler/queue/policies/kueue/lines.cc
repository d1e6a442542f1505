// SPDX-License-Identifier: Apache-2.0
#include "queue/policies/kueue/lines.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace tutti::queue {

std::string ShapeOf(const model::GangAsk& ask) {
  std::string shape = fmt::format("{}|{}|{}", ask.priority, ask.replaces, ask.problem);
  for (const model::RoleAsk& role : ask.roles)
    fmt::format_to(std::back_inserter(shape), "|{}:{}:{}:{}:{}:{}", role.name, role.count, role.min_count.value_or(-1),
                   role.in_topology, role.group, model::Hash(*role.pod));
  return shape;
}

void Lines::Put(model::GangId gang, QueueId leaf, LineRank rank, std::string text, std::string local, bool by_usage) {
  Erase(gang);
  if (!by_usage) local.clear();
  const auto at = shapes_.try_emplace(ShapeKey(leaf, local, std::move(text))).first;
  Shape& shape = at->second;
  shape.leaf = leaf;
  shape.local = std::move(local);
  if (!shape.aside) Leave(shape);
  shape.members.emplace(rank, gang);
  if (!shape.aside) {
    Join(shape);
    shape.newcomers.insert(gang);
  }
  places_.emplace(gang, Place{at, std::move(rank)});
}

void Lines::Join(Shape& shape) {
  if (!shape.members.empty()) lines_[shape.leaf].ready[shape.local].insert({*shape.members.begin(), &shape});
}

void Lines::Leave(Shape& shape) {
  if (shape.members.empty()) return;
  const auto line = lines_.find(shape.leaf);
  const auto ready = line->second.ready.find(shape.local);
  ready->second.erase({*shape.members.begin(), &shape});
  if (ready->second.empty()) line->second.ready.erase(ready);
}

void Lines::Tidy(QueueId leaf) {
  if (const auto line = lines_.find(leaf); line != lines_.end() && line->second.ready.empty()) lines_.erase(line);
}

void Lines::Erase(model::GangId gang) {
  const auto at = places_.find(gang);
  if (at == places_.end()) return;
  const Place place = std::move(at->second);
  places_.erase(at);
  Shape& shape = place.shape->second;
  if (const auto line = lines_.find(shape.leaf); line != lines_.end() && line->second.first == gang)
    line->second.first.reset();
  if (!shape.aside) Leave(shape);
  shape.members.erase({place.rank, gang});
  shape.newcomers.erase(gang);
  if (!shape.aside) Join(shape);
  Tidy(shape.leaf);
  if (!shape.members.empty()) return;
  Return(shape);
  shapes_.erase(place.shape);
}

std::optional<model::GangId> Lines::First(QueueId leaf, const UsageOf& usage) const {
  const auto line = lines_.find(leaf);
  if (line == lines_.end() || line->second.ready.empty()) return std::nullopt;
  const auto& ready = line->second.ready;
  if (line->second.first && ready.size() == 1) return line->second.first;
  const Member* best = nullptr;
  double least = 0;
  for (const auto& [local, shapes] : ready) {
    const double used = ready.size() == 1 ? 0 : usage(local);
    const Member& first = shapes.begin()->first;
    if (best && (used > least || (used == least && !(first < *best)))) continue;
    best = &first;
    least = used;
  }
  return best->second;
}

std::optional<model::GangId> Lines::Ahead(QueueId leaf, const LineRank& rank, const std::string& local,
                                          const UsageOf& usage) const {
  const auto first = First(leaf, usage);
  if (!first) return std::nullopt;
  const Place& place = places_.at(*first);
  const std::string& its = place.shape->second.local;
  const bool takes_turns = !its.empty() && its != local;
  if (!takes_turns && lines_.at(leaf).first == first) return first;
  if (takes_turns)
    if (const double has = usage(its), own = usage(local); has != own) return has < own ? first : std::nullopt;
  return place.rank < rank ? first : std::nullopt;
}

void Lines::PutFirst(model::GangId gang) { lines_.at(places_.at(gang).shape->second.leaf).first = gang; }

std::set<model::GangId> Lines::StandAside(model::GangId gang, std::span<const CellId> lacks, WaitExplanation why) {
  Shape& shape = places_.at(gang).shape->second;
  lines_.at(shape.leaf).first.reset();
  Leave(shape);
  Tidy(shape.leaf);
  shape.aside = std::move(why);
  shape.lacks.assign(lacks.begin(), lacks.end());
  for (const CellId cell : lacks) lacking_[cell].insert(&shape);
  return std::exchange(shape.newcomers, {});
}

void Lines::Return(model::GangId gang) {
  if (const auto at = places_.find(gang); at != places_.end()) Return(at->second.shape->second);
}

const WaitExplanation* Lines::WhyAside(model::GangId gang) const {
  const auto at = places_.find(gang);
  return at == places_.end() || !at->second.shape->second.aside ? nullptr : &*at->second.shape->second.aside;
}

void Lines::Return(Shape& shape) {
  if (!shape.aside) return;
  for (const CellId cell : std::exchange(shape.lacks, {})) {
    const auto lacking = lacking_.find(cell);
    lacking->second.erase(&shape);
    if (lacking->second.empty()) lacking_.erase(lacking);
  }
  shape.aside.reset();
  Join(shape);
}

void Lines::Wake(std::span<const CellId> cells, const std::function<bool(QueueId)>& concerns) {
  for (const CellId cell : cells) {
    const auto at = lacking_.find(cell);
    if (at == lacking_.end()) continue;
    const std::set<Shape*> lacking = at->second;
    for (Shape* shape : lacking)
      if (concerns(shape->leaf)) Return(*shape);
  }
}

std::set<QueueId> Lines::WakeAll() {
  std::set<QueueId> leaves;
  for (auto& [key, shape] : shapes_) {
    Return(shape);
    leaves.insert(shape.leaf);
  }
  return leaves;
}

}  // namespace tutti::queue
