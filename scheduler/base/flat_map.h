// SPDX-License-Identifier: Apache-2.0
// base/flat_map.h - a map that is one sorted array, for the few and small keys of JSON objects.
//
// To copy, compare or free it is one walk over one allocation; std::map has one for every entry. In exchange, to insert
// or erase moves all that sorts behind, and no reference into the map outlives either.
//
// It has what nlohmann::basic_json asks of its ObjectType, and lookup by anything that compares with a key.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace tutti::base {

// `Allocator` is named for nlohmann's sake; the array has the default one. T may still be incomplete.
template <class Key, class T, class Compare, class Allocator>
class FlatMap {
 public:
  using key_type = Key;
  using mapped_type = T;
  using key_compare = Compare;
  using value_type = std::pair<Key, T>;
  using size_type = size_t;
  using difference_type = std::ptrdiff_t;
  using iterator = typename std::vector<value_type>::iterator;
  using const_iterator = typename std::vector<value_type>::const_iterator;

  FlatMap() = default;
  FlatMap(std::initializer_list<value_type> items) { insert(items.begin(), items.end()); }
  template <class Iterator>
  FlatMap(Iterator first, Iterator last) {
    insert(first, last);
  }

  // Of items in any order; of equal keys the last counts.
  static FlatMap Of(std::vector<value_type> items) {
    const auto before = [](const value_type& a, const value_type& b) { return Compare()(a.first, b.first); };
    const auto misplaced = [&](const value_type& a, const value_type& b) { return !before(a, b); };
    FlatMap map;
    map.items_ = std::move(items);
    if (std::adjacent_find(map.items_.begin(), map.items_.end(), misplaced) == map.items_.end()) return map;
    std::stable_sort(map.items_.begin(), map.items_.end(), before);
    const auto same = [&](const value_type& a, const value_type& b) { return !before(b, a); };  // from behind
    map.items_.erase(map.items_.begin(), std::unique(map.items_.rbegin(), map.items_.rend(), same).base());
    return map;
  }

  iterator begin() { return items_.begin(); }
  iterator end() { return items_.end(); }
  const_iterator begin() const { return items_.begin(); }
  const_iterator end() const { return items_.end(); }
  const_iterator cbegin() const { return items_.begin(); }
  const_iterator cend() const { return items_.end(); }
  size_t size() const { return items_.size(); }
  size_t max_size() const { return items_.max_size(); }
  bool empty() const { return items_.empty(); }
  void clear() { items_.clear(); }

  template <class K>
  iterator find(const K& key) {
    return items_.begin() + (std::as_const(*this).find(key) - items_.cbegin());
  }
  template <class K>
  const_iterator find(const K& key) const {
    if constexpr (std::is_convertible_v<const K&, std::string_view> &&
                  std::is_convertible_v<const Key&, std::string_view>)
      return FindText(key);
    else
      return FindByOrder(key);
  }
  template <class K>
  size_t count(const K& key) const {
    return find(key) != end();
  }
  template <class K>
  T& at(const K& key) {
    return const_cast<T&>(std::as_const(*this).at(key));
  }
  template <class K>
  const T& at(const K& key) const {
    const const_iterator at = find(key);
    if (at == end()) throw std::out_of_range("no such key");
    return at->second;
  }
  template <class K>
  T& operator[](K&& key) {
    if (const auto at = find(key); at != end()) return at->second;
    return emplace(std::forward<K>(key), nullptr).first->second;
  }

  // What is there already stays as it is.
  template <class K, class V>
  std::pair<iterator, bool> emplace(K&& key, V&& value) {
    // Keys often come in order: from a parser, or from another map.
    const bool last = items_.empty() || Compare()(items_.back().first, key);
    const iterator at = last ? items_.end() : Place(items_, key);
    if (!last && !Compare()(key, at->first)) return {at, false};
    const auto index = at - items_.begin();
    items_.emplace(at, std::forward<K>(key), std::forward<V>(value));
    Relocate();
    return {items_.begin() + index, true};
  }
  std::pair<iterator, bool> insert(const value_type& item) { return emplace(item.first, item.second); }
  std::pair<iterator, bool> insert(value_type&& item) { return emplace(std::move(item.first), std::move(item.second)); }
  template <class Iterator>
  void insert(Iterator first, Iterator last) {
    for (; first != last; ++first) emplace(first->first, first->second);
  }

  iterator erase(iterator at) { return items_.erase(at); }
  iterator erase(iterator first, iterator last) { return items_.erase(first, last); }
  template <class K>
    requires(!std::is_convertible_v<K, iterator>)
  size_t erase(const K& key) {
    const iterator at = find(key);
    if (at == end()) return 0;
    items_.erase(at);
    return 1;
  }

  friend bool operator==(const FlatMap& a, const FlatMap& b) { return a.items_ == b.items_; }
  friend std::partial_ordering operator<=>(const FlatMap& a, const FlatMap& b) {
    return std::lexicographical_compare_three_way(
        a.begin(), a.end(), b.begin(), b.end(), [](const value_type& x, const value_type& y) -> std::partial_ordering {
          if (const auto keys = x.first <=> y.first; keys != 0) return keys;
          return x.second <=> y.second;
        });
  }

 private:
  template <class Items, class K>
  static auto Place(Items& items, const K& key) {
    return std::lower_bound(items.begin(), items.end(), key,
                            [](const value_type& item, const K& wanted) { return Compare()(item.first, wanted); });
  }
  template <class K>
  const_iterator FindByOrder(const K& key) const {
    const const_iterator at = Place(items_, key);
    return at != end() && !Compare()(key, at->first) ? at : end();
  }
  // Of few keys, most differ in length: to ask for equality is cheaper than to ask for order.
  const_iterator FindText(std::string_view key) const {
    constexpr size_t kFew = 16;
    if (size() > kFew) return FindByOrder(key);
    return std::find_if(begin(), end(), [key](const value_type& item) { return Same(item.first, key); });
  }
  // Short keys without a call: two loads that may overlap.
  static bool Same(std::string_view a, std::string_view b) {
    const size_t size = a.size();
    if (size != b.size()) return false;
    if (size > 16) return std::memcmp(a.data(), b.data(), size) == 0;
    if (size >= 8) return SameEnds<uint64_t>(a, b);
    if (size >= 4) return SameEnds<uint32_t>(a, b);
    return size == 0 || (a[0] == b[0] && a[size / 2] == b[size / 2] && a[size - 1] == b[size - 1]);
  }
  template <class Word>
  static bool SameEnds(std::string_view a, std::string_view b) {
    const auto differ = [&](size_t at) {
      Word x, y;
      std::memcpy(&x, a.data() + at, sizeof x);
      std::memcpy(&y, b.data() + at, sizeof y);
      return x ^ y;
    };
    return (differ(0) | differ(a.size() - sizeof(Word))) == 0;
  }

  // Under AddressSanitizer every reference goes stale at once, not just now and then.
  void Relocate() {
#ifdef __SANITIZE_ADDRESS__
    items_ = std::vector<value_type>(std::make_move_iterator(items_.begin()), std::make_move_iterator(items_.end()));
#endif
  }

  std::vector<value_type> items_;  // sorted by key, each once
};

}  // namespace tutti::base
