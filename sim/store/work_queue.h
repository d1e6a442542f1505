// SPDX-License-Identifier: Apache-2.0
// sim/store/work_queue.h - names of objects that want attention, now or at a time.
//
// One thread. A name is in line at most once; the order is that of arrival, for timed ones that of their times.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/clock.h"
#include "sim/objects/object.h"

namespace tutti::sim {

struct ObjectKey {
  std::string ns;
  std::string name;
  auto operator<=>(const ObjectKey&) const = default;
  template <class H>
  friend H AbslHashValue(H hash, const ObjectKey& key) {
    return H::combine(std::move(hash), key.ns, key.name);
  }
};

inline ObjectKey KeyFor(const Json& object) { return {NamespaceOf(object), NameOf(object)}; }

class WorkQueue {
 public:
  void Add(ObjectKey key) {
    if (in_line_.insert(key).second) line_.push_back(std::move(key));
  }

  // The earlier of several times counts. A due time that has come does not cancel an earlier Add.
  void AddAt(ObjectKey key, base::Millis at_ms) {
    const auto known = times_.find(key);
    if (known != times_.end()) {
      if (known->second <= at_ms) return;
      timed_.erase({known->second, key});
    }
    times_[key] = at_ms;
    timed_.insert({at_ms, std::move(key)});
  }

  // The next whose turn it is.
  std::optional<ObjectKey> Take(base::Millis now_ms) {
    while (!timed_.empty() && timed_.begin()->first <= now_ms) {
      ObjectKey key = timed_.begin()->second;
      timed_.erase(timed_.begin());
      times_.erase(key);
      Add(std::move(key));
    }
    if (line_.empty()) return std::nullopt;
    ObjectKey key = std::move(line_.front());
    line_.pop_front();
    in_line_.erase(key);
    return key;
  }

  std::optional<base::Millis> NextTime() const {
    if (timed_.empty()) return std::nullopt;
    return timed_.begin()->first;
  }

 private:
  std::deque<ObjectKey> line_;
  absl::flat_hash_set<ObjectKey> in_line_;
  std::set<std::pair<base::Millis, ObjectKey>> timed_;
  absl::flat_hash_map<ObjectKey, base::Millis> times_;
};

}  // namespace tutti::sim
