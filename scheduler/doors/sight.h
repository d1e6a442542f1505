// SPDX-License-Identifier: Apache-2.0
// Sight: which namespaces a user sees. The API server is asked once for each namespace, and again after a minute.
//
// One thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "doors/source.h"
#include "server/folder.h"

namespace tutti::doors {

class Sight {
 public:
  // A user that may not see all namespaces may see so many; one that sees more has to name one. Each is a question to
  // the API server.
  static constexpr size_t kMostNamespaces = 128;

  // `only`: the one namespace that is asked for; empty: all. `clock` outlives this.
  Sight(std::shared_ptr<const server::Rights> rights, std::string only, const base::Clock& clock)
      : rights_(std::move(rights)), only_(std::move(only)), clock_(clock) {}

  // Tells whether the user sees the namespace, and it is asked for. Failures: kUnavailable, the API server does not
  // answer; kForbidden, there are more namespaces than may be asked about.
  DoorResult<bool> Sees(const std::string& ns);
  // The same where a namespace more or less does not matter: one that cannot be asked about any more is not seen.
  DoorResult<bool> SeesIfAsked(const std::string& ns);
  // The same where a failure is a no as well: whether a name may be told.
  bool MayName(const std::string& ns) { return SeesIfAsked(ns).value_or(false); }
  // Tells whether the user sees all namespaces.
  DoorResult<bool> SeesAll();
  // Tells whether the user may get the path, or sees all namespaces.
  DoorResult<bool> SeesPath(const std::string& path);
  std::string user() const { return rights_->user(); }
  // Fails with kForbidden unless the user sees the namespace that is asked for.
  DoorResult<void> CheckOnly();
  const std::string& only() const { return only_; }
  // The same user, asking for all namespaces.
  Sight Widened() const { return Sight(rights_, "", clock_); }

 private:
  struct Seen {
    bool may = false;
    base::Millis asked_ms = 0;
  };
  DoorResult<bool> Ask(const std::string& ns);

  const std::shared_ptr<const server::Rights> rights_;
  const std::string only_;
  const base::Clock& clock_;
  std::map<std::string, Seen> seen_;  // by namespace; "" is for all
};

}  // namespace tutti::doors
