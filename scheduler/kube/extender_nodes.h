// SPDX-License-Identifier: Apache-2.0
// ExtenderNodes: all nodes as JSON, for extenders that have no cache of nodes. One list serves many questions, because
// that of a large cluster has tens of megabytes, and a gang asks once for each member.
//
// Thread safety: any thread. While one reads, the others wait for what it reads.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"

namespace tutti::kube {

// Reads an object of the API server as JSON text: "/api/v1/nodes".
using ReadObject = std::function<base::Result<std::string>(const std::string& target)>;

class ExtenderNodes {
 public:
  // How old a list may be. It has the nodes that exist, but what it says of them may be older.
  static constexpr base::Millis kFreshMs = 5'000;

  using ByName = std::map<std::string, std::string>;
  using Listed = base::Result<std::shared_ptr<const ByName>>;

  // `clock` must outlive it, and so must what `read` needs.
  ExtenderNodes(ReadObject read, const base::Clock& clock) : read_(std::move(read)), clock_(clock) {}

  // Returns the nodes of a list that was asked for at `at_ms` (monotonic) or later; an error if that list has failed.
  Listed AsOf(base::Millis at_ms);

 private:
  // Constant after construction.
  const ReadObject read_;
  const base::Clock& clock_;

  base::Mutex mutex_;
  Listed last_ ABSL_GUARDED_BY(mutex_);
  base::Millis asked_ms_ ABSL_GUARDED_BY(mutex_) = -1;  // when that was asked for; -1: none was
};

}  // namespace tutti::kube
