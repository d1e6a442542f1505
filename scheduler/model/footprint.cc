// SPDX-License-Identifier: Apache-2.0
#include "model/footprint.h"

#include "model/field_counts.h"

namespace tutti::model {
namespace {

// What a value holds beside itself.
struct Held {
  template <typename T>
    requires std::is_integral_v<T> || std::is_enum_v<T>
  size_t operator()(T) const {
    return 0;
  }
  size_t operator()(const std::string& text) const { return text.size(); }
  size_t operator()(const ResourceList& resources) const { return (*this)(resources.items()); }
  template <typename A, typename B>
  size_t operator()(const std::pair<A, B>& pair) const {
    return (*this)(pair.first) + (*this)(pair.second);
  }
  template <typename T>
  size_t operator()(const std::optional<T>& value) const {
    return value ? (*this)(*value) : 0;
  }
  template <typename T>
  size_t operator()(const std::vector<T>& list) const {
    size_t bytes = list.capacity() * sizeof(T);
    for (const T& item : list) bytes += (*this)(item);
    return bytes;
  }
  template <HasFields T>
  size_t operator()(const T& value) const {
    return std::apply([this](const auto&... member) { return ((*this)(member) + ...); }, Fields(value));
  }
};

}  // namespace

size_t Footprint(const PodSpec& spec) { return sizeof(spec) + Held()(spec); }

}  // namespace tutti::model
