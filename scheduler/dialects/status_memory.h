// SPDX-License-Identifier: Apache-2.0
// StatusMemory: whether the status of one object has to be written, so that an unchanged one costs no write and none is
// lost while an earlier write is on its way.
#pragma once

#include <string>

#include "base/json_fwd.h"

namespace tutti::dialects {

class StatusMemory {
 public:
  // `wanted` and `observed` are the fields that are ours, without times; `version` is the observed object's
  // resourceVersion. True: write it, and that it was written is remembered.
  bool MustWrite(const base::Json& wanted, const base::Json& observed, const std::string& version);
  // A newer version of the object has come, with this in it.
  void Observed(const base::Json& observed);
  // What was written may not have arrived.
  void Forget() { pending_.clear(); }
  // Something was written that has not been observed.
  bool pending() const { return !pending_.empty(); }

 private:
  std::string pending_;     // written and not yet observed; empty: none
  std::string at_version_;  // what was observed when it was written
};

}  // namespace tutti::dialects
