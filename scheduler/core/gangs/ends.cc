// SPDX-License-Identifier: Apache-2.0
#include "core/gangs/ends.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "core/gangs/node_pods.h"

namespace tutti::core {

using base::Millis;
using model::GangId;
using model::PodId;

namespace {

constexpr size_t kMostUnknown = 100;

// What a gang has on nodes, or a lone pod.
struct Run {
  PodId first;
  GangId gang;  // invalid: a lone pod
  std::vector<std::pair<Millis, PodId>> ends = {};
  int64_t endless = 0;             // pods
  RunLengths::Guess like_it = {};  // by which some of it ends
};

// What is guessed of pods that have no limit, each class of a queue once.
class Guesses {
 public:
  Guesses(const cluster::ClusterState& state, const GangBook& book, const RunLengths& lengths)
      : state_(state), book_(book), lengths_(lengths) {}

  // Returns when the pod ends, which runs from that instant. 0: nothing like it has ended of late, or it runs for
  // longer than all that did.
  Millis EndOf(PodId id, Millis from_ms, Millis now_ms, RunLengths::Guess* like_it) {
    if (lengths_.empty()) return 0;
    const std::optional<RunLengths::Guess>& guess = Of(id);
    if (!guess || now_ms - from_ms > guess->longest_ms) return 0;
    *like_it = *guess;
    return std::max<Millis>(1, from_ms + guess->median_ms);
  }

 private:
  const std::optional<RunLengths::Guess>& Of(PodId id) {
    const cluster::PodEntry& entry = state_.pod(id);
    const GangId of = book_.GangOf(id);
    const auto [at, is_new] = known_.try_emplace({entry.pod_class->id, of});
    if (is_new && of) {
      const Gang& gang = book_.at(of);
      const std::string& role = book_.at(book_.member_of(id)).role;
      at->second = lengths_.Of(ShapeOf(gang.key.dialect, &gang.spec, role, *entry.pod));
    } else if (is_new && book_.Settled(id)) {
      at->second = lengths_.Of(ShapeOf(book_.KeyOfSettled(id).dialect, nullptr, "", *entry.pod));
    }
    return at->second;
  }

  const cluster::ClusterState& state_;
  const GangBook& book_;
  const RunLengths& lengths_;
  absl::flat_hash_map<std::pair<model::ClassId, GangId>, std::optional<RunLengths::Guess>> known_;
};

model::GangKey KeyOf(const cluster::ClusterState& state, const GangBook& book, const Run& run) {
  if (run.gang) return book.at(run.gang).key;
  if (book.Settled(run.first)) return book.KeyOfSettled(run.first);
  const model::ObjectMeta& meta = state.pod(run.first).pod->meta;
  return {"", meta.ns, meta.name};
}

// Adds the ends of a gang, those at one time as one.
void AddEnds(const model::GangKey& key, Run run, std::vector<End>* to) {
  std::ranges::stable_sort(run.ends, {}, &std::pair<Millis, PodId>::first);
  for (size_t i = 0; i < run.ends.size(); ++i) {
    const auto& [at_ms, pod] = run.ends[i];
    if (i == 0 || at_ms != run.ends[i - 1].first) to->push_back({at_ms, key, {}, {}, run.like_it});
    to->back().pods.push_back(pod);
  }
  if (run.endless == 0) to->back().gang = run.gang;
}

}  // namespace

Millis LimitOf(const model::GangSpec* gang, const model::Pod& pod, Millis from_ms) {
  Millis end = 0;
  const auto bring = [&end](Millis at_ms) {
    if (at_ms > 0 && (end == 0 || at_ms < end)) end = at_ms;
  };
  if (pod.run_limit_ms > 0) bring(from_ms + pod.run_limit_ms);
  if (gang == nullptr) return end;
  if (gang->run_limit_ms > 0) bring(from_ms + gang->run_limit_ms);
  bring(gang->ends_ms);
  return end;
}

const std::string& NamedQueue(const model::GangSpec& gang) {
  return gang.quota ? gang.quota->ask.local_queue : gang.queue;
}

RunLengths::Shape ShapeOf(const std::string& dialect, const model::GangSpec* gang, const std::string& role,
                          const model::Pod& pod) {
  RunLengths::Shape shape{dialect, "", role};
  if (gang != nullptr) {
    shape.queue = NamedQueue(*gang);
    shape.min_member = gang->min_member;
  }
  shape.requests = pod.spec->requests.items();
  return shape;
}

Ends FindEnds(const cluster::ClusterState& state, const GangBook& book, const RunLengths& lengths, Millis now_ms,
              const std::function<bool(GangId)>& asks) {
  Ends ends;
  std::vector<Run> runs;
  absl::flat_hash_map<GangId, size_t> run_of;
  Guesses guesses(state, book, lengths);
  const cluster::Snapshot& nodes = state.snapshot();
  for (uint32_t slot = 0; slot < nodes.slots(); ++slot) {
    if (!nodes.present(model::NodeId(slot))) continue;
    for (const PodId id : state.pods_on(model::NodeId(slot))) {
      ++ends.pods;
      const model::Pod& pod = *state.pod(id).pod;
      if (IsOnEachNode(pod)) continue;
      const GangId of = book.GangOf(id);
      size_t at = runs.size();
      if (of) at = run_of.try_emplace(of, at).first->second;
      if (at == runs.size()) runs.push_back({id, of});
      Run& run = runs[at];
      const bool over = pod.meta.deleting() || (of && asks(of));
      const Millis from_ms = pod.started_ms > 0 ? pod.started_ms : now_ms;
      Millis end_ms = over ? now_ms : LimitOf(of ? &book.at(of).spec : nullptr, pod, from_ms);
      if (end_ms == 0) end_ms = guesses.EndOf(id, from_ms, now_ms, &run.like_it);
      if (end_ms > 0)
        run.ends.emplace_back(std::max(end_ms, now_ms), id);
      else
        ++run.endless;
    }
  }
  std::ranges::stable_sort(runs, std::ranges::greater(), &Run::endless);
  for (Run& run : runs) {
    const bool tells = run.endless > 0 && ends.unknown.size() < kMostUnknown;
    if (!tells && run.ends.empty()) continue;
    const model::GangKey key = KeyOf(state, book, run);
    if (tells) ends.unknown.push_back(key);
    if (!run.ends.empty()) AddEnds(key, std::move(run), &ends.known);
  }
  std::ranges::sort(ends.known, {}, [](const End& end) { return std::tie(end.at_ms, end.of); });
  return ends;
}

}  // namespace tutti::core
