// SPDX-License-Identifier: Apache-2.0
#include "queue/policies/kueue/lines.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace tutti::queue {

std::string ShapeOf(const model::GangAsk& ask) {
  std::string shape = fmt::format("{}|{}|{}", ask.priority, ask.replaces, ask.problem);
  for (const model::RoleAsk& role : ask.roles)
    fmt::format_to(std::back_inserter(shape), "|{}:{}:{}:{}:{}", role.name, role.count, role.min_count.value_or(-1),
                   role.group, model::Hash(*role.pod));
  return shape;
}

void Lines::Put(model::GangId gang, QueueId leaf, LineRank rank, std::string shape, std::string local, bool by_usage) {
  Erase(gang);
  Place place{{leaf, std::move(shape)}, std::move(rank), by_usage ? std::move(local) : std::string(), false};
  ++lines_[leaf].waiting;
  if (const auto aside = aside_.find(place.shape); aside != aside_.end())
    aside->second.members.emplace(place.rank, gang);
  else
    Join(gang, place);
  places_.emplace(gang, std::move(place));
}

void Lines::Join(model::GangId gang, const Place& place) {
  lines_[place.shape.leaf].ready[place.local].emplace(place.rank, gang);
  shapes_[place.shape].insert(gang);
}

void Lines::Leave(model::GangId gang, const Place& place) {
  auto& ready = lines_.at(place.shape.leaf).ready;
  const auto members = ready.find(place.local);
  members->second.erase({place.rank, gang});
  if (members->second.empty()) ready.erase(members);
}

void Lines::Erase(model::GangId gang) {
  const auto at = places_.find(gang);
  if (at == places_.end()) return;
  const Place place = std::move(at->second);
  places_.erase(at);
  Line& line = lines_.at(place.shape.leaf);
  if (line.first == gang) line.first.reset();
  if (place.aside_alone) {
    aside_alone_.erase(gang);
  } else if (const auto aside = aside_.find(place.shape); aside != aside_.end()) {
    aside->second.members.erase({place.rank, gang});
    if (aside->second.members.empty()) Return(place.shape);
  } else {
    Leave(gang, place);
    const auto shape = shapes_.find(place.shape);
    shape->second.erase(gang);
    if (shape->second.empty()) shapes_.erase(shape);
  }
  if (--line.waiting == 0) lines_.erase(place.shape.leaf);
}

std::optional<model::GangId> Lines::First(QueueId leaf, const UsageOf& usage) const {
  const auto line = lines_.find(leaf);
  if (line == lines_.end() || line->second.ready.empty()) return std::nullopt;
  const auto& ready = line->second.ready;
  if (ready.size() == 1 && line->second.first) return line->second.first;
  const std::pair<LineRank, model::GangId>* best = nullptr;
  double least = 0;
  for (const auto& [local, members] : ready) {
    const double used = ready.size() == 1 ? 0 : usage(local);
    const auto& head = *members.begin();
    if (best && (used > least || (used == least && !(head.first < best->first)))) continue;
    best = &head;
    least = used;
  }
  return best->second;
}

void Lines::PutFirst(model::GangId gang) { lines_.at(places_.at(gang).shape.leaf).first = gang; }

void Lines::StandAside(model::GangId gang, std::span<const CellId> lacks) {
  const Shape shape = places_.at(gang).shape;
  Aside& aside = aside_[shape];
  aside.lacks.assign(lacks.begin(), lacks.end());
  for (const CellId cell : lacks) lacking_[cell].insert(shape);
  Line& line = lines_.at(shape.leaf);
  for (const model::GangId member : shapes_.at(shape)) {
    const Place& place = places_.at(member);
    if (line.first == member) line.first.reset();
    Leave(member, place);
    aside.members.emplace(place.rank, member);
  }
  shapes_.erase(shape);
}

void Lines::StandAsideAlone(model::GangId gang) {
  Place& place = places_.at(gang);
  Leave(gang, place);
  const auto shape = shapes_.find(place.shape);
  shape->second.erase(gang);
  if (shape->second.empty()) shapes_.erase(shape);
  Line& line = lines_.at(place.shape.leaf);
  if (line.first == gang) line.first.reset();
  place.aside_alone = true;
  aside_alone_.insert(gang);
}

void Lines::Return(const Shape& of) {
  const Shape shape = of;  // it may be the one that is erased here
  const auto at = aside_.find(shape);
  for (const CellId cell : at->second.lacks) {
    const auto lacking = lacking_.find(cell);
    lacking->second.erase(shape);
    if (lacking->second.empty()) lacking_.erase(lacking);
  }
  const Members members = std::move(at->second.members);
  aside_.erase(at);
  for (const auto& [rank, gang] : members) Join(gang, places_.at(gang));
}

void Lines::Wake(std::span<const CellId> cells, const std::function<bool(QueueId)>& concerns) {
  std::vector<Shape> woken;
  for (const CellId cell : cells)
    if (const auto at = lacking_.find(cell); at != lacking_.end())
      for (const Shape& shape : at->second)
        if (concerns(shape.leaf)) woken.push_back(shape);
  for (const Shape& shape : woken)
    if (aside_.contains(shape)) Return(shape);
}

void Lines::WakeAll() {
  while (!aside_.empty()) Return(aside_.begin()->first);
  for (const model::GangId gang : std::exchange(aside_alone_, {})) {
    Place& place = places_.at(gang);
    place.aside_alone = false;
    if (const auto aside = aside_.find(place.shape); aside != aside_.end())
      aside->second.members.emplace(place.rank, gang);
    else
      Join(gang, place);
  }
}

std::vector<QueueId> Lines::Leaves() const {
  std::vector<QueueId> leaves;
  for (const auto& [leaf, line] : lines_)
    if (!line.ready.empty()) leaves.push_back(leaf);
  return leaves;
}

}  // namespace tutti::queue
