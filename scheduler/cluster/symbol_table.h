// SPDX-License-Identifier: Apache-2.0
// SymbolTable: strings to dense ids and back. Ids are never reused, so a compiled selector stays right for as long as
// the process runs. One thread.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "model/ids.h"

namespace tutti::cluster {

class SymbolTable {
 public:
  // The id of `text`, made if it is new.
  model::Symbol Intern(std::string_view text) {
    if (const auto at = ids_.find(text); at != ids_.end()) return at->second;
    const model::Symbol id(static_cast<uint32_t>(texts_.size()));
    texts_.emplace_back(text);
    ids_.emplace(texts_.back(), id);
    return id;
  }
  const std::string& Text(model::Symbol id) const { return texts_[id.index()]; }
  size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // a deque, so that the views in ids_ stay valid
  std::unordered_map<std::string_view, model::Symbol> ids_;
};

}  // namespace tutti::cluster
