// SPDX-License-Identifier: Apache-2.0
#include "observe/prometheus_text.h"

#include "model/resource_list.h"

namespace tutti::observe {

std::string LabelValue(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

double AmountOf(std::string_view resource, int64_t amount) {
  return resource == model::kCpu ? static_cast<double>(amount) / 1000 : static_cast<double>(amount);
}

}  // namespace tutti::observe
