// SPDX-License-Identifier: Apache-2.0
// ResourceNames: names of resources to dense ids, which are the columns of a Snapshot, and back. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/ids.h"

namespace tutti::cluster {

// The first columns are always these.
inline constexpr model::ResourceId kCpuColumn{0};
inline constexpr model::ResourceId kMemoryColumn{1};
// 2 is ephemeral-storage.
inline constexpr model::ResourceId kPodsColumn{3};

class ResourceNames {
 public:
  ResourceNames();

  // Ids are below it. Not all have a name.
  size_t size() const { return texts_.size(); }
  // Made on first use and never gone.
  model::ResourceId Column(std::string_view resource);
  // The same for what pods ask for, whose names are without end: gone by a sweep once no class has it.
  model::ResourceId ColumnOfPods(std::string_view resource) { return Find(resource).id; }
  model::ResourceId Known(std::string_view resource) const;  // invalid: it was not asked for
  const std::string& Text(model::ResourceId r) const { return texts_[r.index()]; }

  // There are twice as many names as a sweep left, and enough for one to be worth its while.
  bool Grown() const { return by_text_.size() >= grown_; }
  // Lets go of the names that only pods asked for, but for those whose place in `used` is set; the ids of the others
  // will be of other names.
  void Sweep(const std::vector<char>& used);

 private:
  struct Named {
    model::ResourceId id;
    bool stays = false;
  };
  Named& Find(std::string_view resource);

  static constexpr size_t kFew = size_t{1} << 17;  // some 20 MB

  std::deque<std::string> texts_;  // a deque, so that the views in by_text_ stay valid
  std::unordered_map<std::string_view, Named> by_text_;
  std::vector<model::ResourceId> free_;
  size_t grown_ = kFew;
};

}  // namespace tutti::cluster
