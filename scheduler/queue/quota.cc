// SPDX-License-Identifier: Apache-2.0
#include "queue/quota.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/check.h"
#include "model/quantity.h"

namespace tutti::queue {

std::string Admission::Sentence() const {
  if (!problem.empty()) return problem;
  std::string text;
  const std::string* last_queue = nullptr;
  for (const Shortage& s : shortages) {
    if (last_queue && *last_queue == s.queue) text += "; ";
    else text += fmt::format("{}queue \"{}\" is full: ", text.empty() ? "" : "; ", s.queue);
    last_queue = &s.queue;
    const int64_t over = model::SaturatingSub(model::SaturatingAdd(s.used, s.asked), s.capability);
    const auto amount = [&](int64_t n) { return model::FormatAmount(s.resource, n); };
    text += fmt::format("{} capability {}, used {}, asked {} (short by {})", s.resource, amount(s.capability), amount(s.used),
                        amount(s.asked), amount(over));
  }
  return text;
}

void Quota::Put(model::QueueSpec spec) {
  const QueueKey key{spec.dialect, spec.name};
  Drop(key);
  if (!spec.parent.empty()) children_[{spec.dialect, spec.parent}].push_back(key);
  specs_.emplace(key, std::move(spec));
}

void Quota::Drop(const QueueKey& key) {
  const auto at = specs_.find(key);
  if (at == specs_.end()) return;
  if (!at->second.parent.empty()) std::erase(children_[{key.dialect, at->second.parent}], key);
  specs_.erase(at);
}

const model::QueueSpec* Quota::Find(const QueueKey& key) const {
  const auto at = specs_.find(key);
  return at == specs_.end() ? nullptr : &at->second;
}

void Quota::Charge(const QueueKey& key, const model::ResourceList& amount, int sign) {
  model::ResourceList& sum = own_[key];
  for (const auto& [name, value] : amount) {
    const int64_t next = sum.Get(name) + sign * value;
    TUTTI_CHECK(next >= 0, "a charge is taken back once: " + key.name);
    sum.Set(name, next);
  }
}

model::ResourceList Quota::Used(const QueueKey& key) const {
  model::ResourceList used;
  std::set<QueueKey> seen;
  std::vector<QueueKey> open{key};
  while (!open.empty()) {
    const QueueKey at = open.back();
    open.pop_back();
    if (!seen.insert(at).second) continue;  // a cycle of parents is a user's mistake, not ours
    if (const auto own = own_.find(at); own != own_.end()) used.AddAll(own->second);
    if (const auto below = children_.find(at); below != children_.end())
      open.insert(open.end(), below->second.begin(), below->second.end());
  }
  return used;
}

std::vector<QueueKey> Quota::Path(const QueueKey& key) const {
  std::vector<QueueKey> path;
  for (QueueKey at = key; specs_.contains(at) && std::ranges::find(path, at) == path.end();) {
    path.push_back(at);
    const std::string& parent = specs_.at(at).parent;
    if (parent.empty()) break;
    at = {key.dialect, parent};
  }
  return path;
}

Admission Quota::Admit(const QueueKey& key, const model::ResourceList& ask) const {
  Admission admission;
  if (key.name.empty()) {
    admission.admitted = true;
    return admission;
  }
  const std::vector<QueueKey> path = Path(key);
  if (path.empty()) {
    admission.problem = fmt::format("queue \"{}\" does not exist; create it, or name another queue", key.name.substr(0, 253));
    return admission;
  }
  for (const QueueKey& at : path) {
    const model::QueueSpec& spec = specs_.at(at);
    if (!spec.problem.empty()) admission.problem = spec.problem;
    else if (!spec.open) admission.problem = fmt::format("queue \"{}\" is not open; it starts nothing until it is", at.name);
    if (!admission.problem.empty()) return admission;
    const model::ResourceList used = Used(at);
    for (const auto& [name, capability] : spec.capability)
      if (const int64_t asked = ask.Get(name); asked > 0 && model::SaturatingAdd(used.Get(name), asked) > capability)
        admission.shortages.push_back({at.name, name, capability, used.Get(name), asked});
  }
  admission.admitted = admission.shortages.empty();
  return admission;
}

}  // namespace tutti::queue
