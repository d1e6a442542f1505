// SPDX-License-Identifier: Apache-2.0
#include "dialects/status_memory.h"

#include "base/json.h"
#include "base/json_string.h"
#include "dialects/declaration.h"

namespace tutti::dialects {
bool StatusMemory::MustWrite(const base::Json& wanted, const base::Json& observed, const std::string& version) {
  if (pending_.empty()) {
    if (wanted == observed) return false;
  } else if (pending_ == base::PrintJson(wanted)) {
    if (wanted == observed) pending_.clear();
    // Still the version it was written on: its echo is to come. Another one: another writer may have undone ours.
    if (wanted == observed || version == at_version_) return false;
  }
  pending_ = base::PrintJson(wanted);
  at_version_ = version;
  return true;
}

void StatusMemory::Observed(const base::Json& observed) {
  if (!pending_.empty() && pending_ == base::PrintJson(observed)) pending_.clear();
}

}  // namespace tutti::dialects
