// SPDX-License-Identifier: Apache-2.0
#include "observe/figures.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "model/quantity.h"

namespace tutti::observe {

int64_t Figures::Short::AskedBy(int64_t times) const {
  return model::SaturatingAdd(asked, model::SaturatingMul(asked, times - 1));
}

int64_t Figures::Short::MissingBy(int64_t times) const {
  return model::SaturatingAdd(missing, model::SaturatingMul(asked, times - 1));
}

const Figures::Line* Figures::Find(model::ClassId pod_class, std::string_view role) const {
  const auto key = [](const Line& line) { return std::tuple(line.pod_class, std::string_view(line.role)); };
  const std::tuple wanted(pod_class, role);
  auto at = std::ranges::lower_bound(lines, wanted, {}, key);
  if (at != lines.end() && key(*at) == wanted) return &*at;
  at = std::ranges::lower_bound(lines, pod_class, {}, &Line::pod_class);
  if (at != lines.end() && at->pod_class == pod_class) return &*at;
  const Line* of_role = nullptr;
  for (const Line& line : lines) {
    if (line.role != role) continue;
    if (of_role && (line.fits != of_role->fits || line.refused != of_role->refused)) return nullptr;
    of_role = &line;
  }
  return of_role;
}

}  // namespace tutti::observe
