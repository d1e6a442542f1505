// SPDX-License-Identifier: Apache-2.0
#include "cluster/label_keys.h"

namespace tutti::cluster {
namespace {

template <typename F>
void ForEachKey(const model::LabelSelector& selector, const F& f) {
  for (const auto& [key, value] : selector.match_labels) f(key);
  for (const model::Requirement& requirement : selector.match_expressions) f(requirement.key);
}

// Calls f(key, namespace) for what the term reads; nullptr: in all namespaces. What a label key matches is read of the
// pod itself as well.
template <typename F>
void ForEachKey(const model::PodAffinityTerm& term, const std::string& own, const F& f) {
  const auto there = [&](const std::string& key) {
    if (term.namespace_selector) return f(key, nullptr);
    for (const std::string& ns : term.namespaces) f(key, &ns);
    if (term.namespaces.empty()) f(key, &own);
  };
  if (term.selector) ForEachKey(*term.selector, there);
  for (const auto* keys : {&term.match_label_keys, &term.mismatch_label_keys})
    for (const std::string& key : *keys) {
      there(key);
      f(key, &own);
    }
}

bool Reads(const PodClass& pod_class) {
  const model::PodSpec& spec = *pod_class.spec;
  return pod_class.selected_by || !spec.spread.empty() || !spec.pod_affinity.empty() || !spec.pod_anti_affinity.empty();
}

}  // namespace

void LabelKeys::Add(const PodClass& pod_class, const std::string& ns) {
  if (Reads(pod_class) && ++pods_[&pod_class] == 1) Count(pod_class, ns, 1);
}

void LabelKeys::Remove(const PodClass& pod_class, const std::string& ns) {
  if (!Reads(pod_class)) return;
  const auto at = pods_.find(&pod_class);
  if (--at->second > 0) return;
  pods_.erase(at);
  Count(pod_class, ns, -1);
}

bool LabelKeys::IsRead(const std::string& key, const std::string& ns) const {
  const auto at = readers_.find(key);
  return at != readers_.end() && (at->second.everywhere > 0 || at->second.in.contains(ns));
}

void LabelKeys::Count(const PodClass& pod_class, const std::string& ns, int32_t sign) {
  const auto count = [&](const std::string& key, const std::string* in) { Count(key, in, sign); };
  const auto count_own = [&](const std::string& key) { Count(key, &ns, sign); };
  const model::PodSpec& spec = *pod_class.spec;
  for (const model::PodAffinity* affinity : {&spec.pod_affinity, &spec.pod_anti_affinity}) {
    for (const model::PodAffinityTerm& term : affinity->required) ForEachKey(term, ns, count);
    for (const model::WeightedPodAffinityTerm& weighted : affinity->preferred) ForEachKey(weighted.term, ns, count);
  }
  for (const model::TopologySpread& spread : spec.spread) {
    if (spread.selector) ForEachKey(*spread.selector, count_own);
    for (const std::string& key : spread.match_label_keys) count_own(key);
  }
  if (pod_class.selected_by) ForEachKey(*pod_class.selected_by, count_own);
}

void LabelKeys::Count(const std::string& key, const std::string* ns, int32_t sign) {
  Readers& readers = readers_[key];
  int32_t& count = ns ? readers.in[*ns] : readers.everywhere;
  if (count == 0 || count + sign == 0) {  // it begins, or ends
    if (ns)
      changed_.namespaces.insert(*ns);
    else
      changed_.everywhere = true;
  }
  count += sign;
  if (ns && count == 0) readers.in.erase(*ns);
  if (readers.none()) readers_.erase(key);
}

}  // namespace tutti::cluster
