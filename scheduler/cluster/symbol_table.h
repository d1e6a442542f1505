// SPDX-License-Identifier: Apache-2.0
// SymbolTable: strings to dense ids and back. An id means the same text until a Sweep that finds no user of it; so
// a compiled selector stays right for as long as it is swept with. One thread.
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/ids.h"

namespace tutti::cluster {

class SymbolTable {
 public:
  // The id of `text`, made if it is new.
  model::Symbol Intern(std::string_view text) {
    if (const auto at = ids_.find(text); at != ids_.end()) return at->second;
    model::Symbol id(static_cast<uint32_t>(texts_.size()));
    if (free_.empty()) {
      texts_.emplace_back(text);
    } else {
      id = free_.back();
      free_.pop_back();
      texts_[id.index()] = text;
    }
    ids_.emplace(texts_[id.index()], id);
    return id;
  }
  const std::string& Text(model::Symbol id) const { return texts_[id.index()]; }
  size_t size() const { return ids_.size(); }

  // There are twice as many as a sweep left, and enough for one to be worth its while.
  bool Grown() const { return ids_.size() >= grown_; }
  // Which ids are in use; see Sweep.
  class Used {
   public:
    explicit Used(const SymbolTable& table) : marks_(table.texts_.size()) {}
    void Mark(model::Symbol id) {
      if (id.valid()) marks_[id.index()] = 1;
    }
    // Keys and values of labels.
    void Mark(const std::vector<std::pair<model::Symbol, model::Symbol>>& pairs) {
      for (const auto& [key, value] : pairs) {
        Mark(key);
        Mark(value);
      }
    }
    bool operator[](model::Symbol id) const { return marks_[id.index()] != 0; }

   private:
    std::vector<char> marks_;
  };
  // Lets go of all others, whose ids will be of other texts.
  void Sweep(const Used& used) {
    for (auto at = ids_.begin(); at != ids_.end();) {
      const model::Symbol id = at->second;
      if (used[id]) {
        ++at;
        continue;
      }
      at = ids_.erase(at);
      std::exchange(texts_[id.index()], {});
      free_.push_back(id);
    }
    grown_ = std::max(kFew, 2 * ids_.size());
  }

 private:
  static constexpr size_t kFew = size_t{1} << 18;  // some 60 MB

  std::deque<std::string> texts_;  // a deque, so that the views in ids_ stay valid
  std::vector<model::Symbol> free_;
  std::unordered_map<std::string_view, model::Symbol> ids_;
  size_t grown_ = kFew;
};

}  // namespace tutti::cluster
