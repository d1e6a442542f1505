// SPDX-License-Identifier: Apache-2.0
// base/flat_map.h - a map that is one sorted array, for the few and small keys of JSON objects.
//
// To compare or free it is one walk over one array; std::map has one allocation for every entry. In exchange, to insert
// or erase moves all that sorts behind, and no reference into the map outlives either.
//
// A map can be frozen. A copy of a frozen map shares its array, and costs no walk; nor does it to compare the two. The
// copy is not frozen: it gets an array of its own as soon as it is looked into by a member that is not const.
//
// It has what nlohmann::basic_json asks of its ObjectType, and lookup by anything that compares with a key. The members
// of basic_json that are const call members of the map that are not: they hold it by a plain pointer. So find, begin
// and end of a frozen map change nothing, and many threads may read one frozen value.
//
// Thread safety: that of a value, but that a frozen map may be read by many threads by all members but those that add
// or remove. Two maps that share an array may be used by two threads.
//
// Invariants
//   (1) an array that two maps share is never written to, and the maps within it are frozen;
//   (2) what find, begin and end of a frozen map return is not written through. Freeze a value where it stays, and keep
//       it const.
#pragma once

#include <algorithm>
#include <atomic>
#include <compare>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <string_view>
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
  FlatMap(const FlatMap& other) : body_(Copy(other.body_)) {}
  FlatMap(FlatMap&& other) noexcept : body_(std::exchange(other.body_, nullptr)) {}
  FlatMap& operator=(FlatMap other) noexcept {
    std::swap(body_, other.body_);
    frozen_ = false;
    return *this;
  }
  ~FlatMap() { Release(body_); }

  // From here on, copies share the array. Calls freeze(value) for each value, which is to do the same for the maps
  // within it; for a copy of a frozen map it was done.
  template <class F>
  void Freeze(F freeze) {
    if (!body_ || frozen_) return;
    if (!body_->frozen)
      for (value_type& item : body_->items) freeze(item.second);
    frozen_ = body_->frozen = true;
  }
  // Tells whether copies share the array: this map is frozen, or a copy of one that is and was not looked into.
  bool IsFrozen() const { return body_ && body_->frozen; }
  // Tells whether the two are one array: then they are equal.
  bool Shares(const FlatMap& other) const { return body_ == other.body_; }

  // Of items in any order; of equal keys the last counts.
  static FlatMap Of(std::vector<value_type> items) {
    const auto before = [](const value_type& a, const value_type& b) { return Compare()(a.first, b.first); };
    const auto misplaced = [&](const value_type& a, const value_type& b) { return !before(a, b); };
    if (std::adjacent_find(items.begin(), items.end(), misplaced) != items.end()) {
      std::stable_sort(items.begin(), items.end(), before);
      const auto same = [&](const value_type& a, const value_type& b) { return !before(b, a); };  // from behind
      items.erase(items.begin(), std::unique(items.rbegin(), items.rend(), same).base());
    }
    FlatMap map;
    if (!items.empty()) map.body_ = new Body(std::move(items));
    return map;
  }

  iterator begin() { return body_ ? Items().begin() : iterator(); }
  iterator end() { return body_ ? Items().end() : iterator(); }
  const_iterator begin() const { return body_ ? body_->items.begin() : const_iterator(); }
  const_iterator end() const { return body_ ? body_->items.end() : const_iterator(); }
  const_iterator cbegin() const { return begin(); }
  const_iterator cend() const { return end(); }
  size_t size() const { return body_ ? body_->items.size() : 0; }
  size_t max_size() const { return std::vector<value_type>().max_size(); }
  bool empty() const { return size() == 0; }
  void clear() { *this = FlatMap(); }

  template <class K>
  iterator find(const K& key) {
    const auto index = std::as_const(*this).find(key) - cbegin();
    return begin() + index;
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
    const iterator at = find(key);
    if (at == end()) throw std::out_of_range("no such key");
    return at->second;
  }
  template <class K>
  const T& at(const K& key) const {
    const const_iterator at = find(key);
    if (at == end()) throw std::out_of_range("no such key");
    return at->second;
  }
  template <class K>
  T& operator[](K&& key) {
    return emplace(std::forward<K>(key), nullptr).first->second;
  }

  // What is there already stays as it is.
  template <class K, class V>
  std::pair<iterator, bool> emplace(K&& key, V&& value) {
    std::vector<value_type>& items = Own();
    // Keys often come in order: from a parser, or from another map.
    const bool last = items.empty() || Compare()(items.back().first, key);
    const iterator at = last ? items.end() : Place(items, key);
    if (!last && !Compare()(key, at->first)) return {at, false};
    const auto index = at - items.begin();
    items.emplace(at, std::forward<K>(key), std::forward<V>(value));
    Relocate();
    return {items.begin() + index, true};
  }
  std::pair<iterator, bool> insert(const value_type& item) { return emplace(item.first, item.second); }
  std::pair<iterator, bool> insert(value_type&& item) { return emplace(std::move(item.first), std::move(item.second)); }
  template <class Iterator>
  void insert(Iterator first, Iterator last) {
    for (; first != last; ++first) emplace(first->first, first->second);
  }

  iterator erase(iterator at) { return erase(at, at + 1); }
  iterator erase(iterator first, iterator last) {
    if (!body_) return last;
    const auto from = first - begin(), count = last - first;  // the array may be another one from here on
    const iterator at = Own().begin() + from;
    return body_->items.erase(at, at + count);
  }
  template <class K>
    requires(!std::is_convertible_v<K, iterator>)
  size_t erase(const K& key) {
    const auto index = std::as_const(*this).find(key) - cbegin();
    if (static_cast<size_t>(index) == size()) return 0;
    erase(begin() + index);
    return 1;
  }

  friend bool operator==(const FlatMap& a, const FlatMap& b) {
    return a.Shares(b) || std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
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
    if (!body_) return end();
    const const_iterator at = Place(std::as_const(body_->items), key);
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
    std::vector<value_type>& items = body_->items;
    items = std::vector<value_type>(std::make_move_iterator(items.begin()), std::make_move_iterator(items.end()));
#endif
  }

  struct Body {
    explicit Body(std::vector<value_type> from) : items(std::move(from)) {}
    std::vector<value_type> items;  // sorted by key, each once
    std::atomic<uint32_t> owners{1};
    bool frozen = false;  // some map that has it is frozen, or was
  };

  static Body* Copy(Body* body) {
    if (!body) return nullptr;
    if (!body->frozen) return new Body(body->items);
    body->owners.fetch_add(1, std::memory_order_relaxed);
    return body;
  }
  static void Release(Body* body) {
    if (!body) return;
    if (body->owners.load(std::memory_order_acquire) == 1 || body->owners.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete body;
  }
  // Returns the array, which is this map's alone, to be written to.
  std::vector<value_type>& Own() {
    if (!body_) {
      body_ = new Body({});
    } else if (body_->frozen) {
      Release(std::exchange(body_, new Body(body_->items)));
      frozen_ = false;
    }
    return body_->items;
  }
  // Returns the array to be read or, if the map is not frozen, written to. REQUIRES: there is one.
  std::vector<value_type>& Items() { return frozen_ ? body_->items : Own(); }

  Body* body_ = nullptr;  // null: there is no item
  bool frozen_ = false;
};

}  // namespace tutti::base
