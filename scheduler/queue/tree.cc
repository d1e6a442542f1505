// SPDX-License-Identifier: Apache-2.0
#include "queue/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace tutti::queue {
namespace {

constexpr int64_t kLargestWeight = 65'535;
constexpr size_t kShownOfName = 253;

// Names the first resource of which `less` has more than `more`; compares only resources that both list.
std::string Above(std::string_view less_field, const model::ResourceList& less, std::string_view more_field,
                  const model::ResourceList& more) {
  for (const auto& [resource, amount] : less)
    if (more.Has(resource) && amount > more.Get(resource))
      return fmt::format("{} of {} is {}, above its {} {}; lower one or raise the other", less_field, resource,
                         model::FormatAmount(resource, amount), more_field,
                         model::FormatAmount(resource, more.Get(resource)));
  return {};
}

}  // namespace

std::string NoSuchQueue(std::string_view name) {
  return fmt::format("queue \"{}\" does not exist; create it, or name another queue", base::Cut(name, kShownOfName));
}

std::string ProblemOf(const model::QueueSpec& spec) {
  if (!spec.problem.empty()) return spec.problem;
  std::string what;
  if (spec.weight < 1 || spec.weight > kLargestWeight)
    what = fmt::format("weight is {}; write a whole number from 1 to {}", spec.weight, kLargestWeight);
  if (what.empty()) what = Above("deserved", spec.deserved, "capability", spec.capability);
  if (what.empty()) what = Above("guarantee", spec.guarantee, "deserved", spec.deserved);
  if (what.empty()) what = Above("guarantee", spec.guarantee, "capability", spec.capability);
  return what.empty() ? what : fmt::format("queue \"{}\": {}", base::Cut(spec.name, kShownOfName), what);
}

QueueId QueueTree::Find(const QueueKey& key) const {
  const auto at = ids_.find(key);
  return at == ids_.end() ? QueueId() : at->second;
}

QueueId QueueTree::Intern(const QueueKey& key) {
  const auto [at, added] = ids_.try_emplace(key);
  if (!added) return at->second;
  ++version_;
  if (free_.empty()) {
    at->second = QueueId(static_cast<uint32_t>(queues_.size()));
    queues_.emplace_back();
  } else {
    at->second = free_.back();
    free_.pop_back();
  }
  Queue& queue = At(at->second);
  queue = {};
  queue.in_use = true;
  queue.spec.dialect = key.dialect;
  queue.spec.name = key.name;
  return at->second;
}

QueueId QueueTree::Hold(const QueueKey& key) {
  const QueueId id = Intern(key);
  ++At(id).holders;
  return id;
}

void QueueTree::Release(QueueId id) {
  TUTTI_CHECK(in_use(id) && At(id).holders > 0, "a queue is released once for each time it was held");
  --At(id).holders;
  Sweep(id);
}

void QueueTree::Sweep(QueueId id) {
  Queue& queue = At(id);
  if (queue.declared || queue.holders > 0 || !queue.down.empty()) return;
  ++version_;
  ids_.erase({queue.spec.dialect, queue.spec.name});
  queue = {};
  free_.push_back(id);
}

QueueId QueueTree::Put(model::QueueSpec spec) {
  const QueueId id = Intern({spec.dialect, spec.name});
  if (At(id).declared && At(id).spec == spec) return id;
  ++version_;
  At(id).declared = true;  // before it is linked, so that its id is not freed
  Link(id, {spec.dialect, spec.parent});
  model::ResourceList named;  // whatever the amount: a cap of 0 is a cap too
  for (const model::ResourceList* list : {&spec.capability, &spec.deserved, &spec.guarantee})
    for (const auto& [resource, amount] : *list) named.Set(resource, 1);
  At(id).named = Ask(cells_, named);
  At(id).spec = std::move(spec);
  return id;
}

void QueueTree::Drop(const QueueKey& key) {
  const QueueId id = Find(key);
  if (!id.valid() || !At(id).declared) return;
  ++version_;
  Link(id, {key.dialect, {}});
  Queue& queue = At(id);
  queue.spec = {};
  queue.spec.dialect = key.dialect;
  queue.spec.name = key.name;
  queue.named = {};
  queue.declared = false;
  Sweep(id);
}

void QueueTree::Link(QueueId id, const QueueKey& parent) {
  const QueueId old = At(id).up;
  const QueueId now = parent.name.empty() ? QueueId() : Intern(parent);
  if (old == now) return;
  ++links_version_;
  if (At(id).circular) MarkCircle(id, false);
  At(id).up = now;
  if (old.valid()) {
    std::erase(At(old).down, id);
    if (old != id) Sweep(old);
  }
  if (!now.valid()) return;
  At(now).down.push_back(id);
  // There is at most one new circle, and `id` is on it. A circle above it does not contain `id`.
  QueueId above = now;
  while (above.valid() && above != id && !At(above).circular) above = At(above).up;
  if (above == id) MarkCircle(id, true);
}

void QueueTree::MarkCircle(QueueId id, bool circular) {
  QueueId at = id;
  do {
    At(at).circular = circular;
    at = At(at).up;
  } while (at != id);
}

std::vector<QueueId> QueueTree::Children(QueueId queue) const {
  std::vector<QueueId> children;
  for (const QueueId child : At(queue).down)
    if (!At(child).circular) children.push_back(child);
  std::ranges::sort(children, {}, [this](QueueId id) -> const std::string& { return spec(id).name; });
  return children;
}

std::vector<QueueId> QueueTree::Roots() const {
  std::vector<QueueId> roots;
  for (const auto& [key, id] : ids_)
    if (!parent(id).valid()) roots.push_back(id);
  return roots;
}

std::string QueueTree::OwnProblem(QueueId id) const {
  const Queue& queue = At(id);
  const std::string_view name = base::Cut(queue.spec.name, kShownOfName);
  if (!queue.declared) return NoSuchQueue(name);
  if (!queue.spec.problem.empty()) return queue.spec.problem;
  if (queue.circular)
    return fmt::format("queue \"{}\": its parents lead round in a circle; name another parent in one of them", name);
  if (queue.up.valid() && !At(queue.up).declared)
    return fmt::format("queue \"{}\": its parent \"{}\" does not exist; create it or name another", name,
                       base::Cut(At(queue.up).spec.name, kShownOfName));
  return ProblemOf(queue.spec);
}

bool QueueTree::IsOnPath(QueueId queue, QueueId below) const {
  for (QueueId at = below; at.valid(); at = parent(at))
    if (at == queue) return true;
  return false;
}

std::string QueueTree::Problem(QueueId queue) const {
  for (QueueId at = queue; at.valid(); at = parent(at))
    if (std::string problem = OwnProblem(at); !problem.empty()) return problem;
  return {};
}

}  // namespace tutti::queue
