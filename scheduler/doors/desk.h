// SPDX-License-Identifier: Apache-2.0
// Desk: answers the questions of all services, whichever door they come through. Thread-safe.
#pragma once

#include <memory>
#include <string>

#include "doors/hub.h"
#include "doors/sight.h"

namespace tutti::v1 {
class Version;
}

namespace tutti::doors {

class Gangs;
class Cluster;
class Prospects;
class Follower;

class Desk {
 public:
  // Both outlive this.
  Desk(Source& source, const base::Clock& clock);
  ~Desk();

  Gangs& gangs() { return *gangs_; }
  Cluster& cluster() { return *cluster_; }
  Prospects& prospects() { return *prospects_; }
  const base::Clock& clock() const { return clock_; }

  // Fails for a caller without credentials, unless such a one sees all namespaces: there is nothing else that it could
  // see, and each namespace would be a question to the API server.
  DoorResult<void> CheckSignedIn(const std::shared_ptr<const server::Rights>& rights) const;
  // Returns what the caller sees; `ns`: the one namespace that is asked for; empty: all.
  Sight SightOf(std::shared_ptr<const server::Rights> rights, std::string ns) const {
    return Sight(std::move(rights), std::move(ns), clock_);
  }
  // Returns what /metrics/queues shows; empty: this process does not lead, or is too busy.
  std::string QueueMetrics();
  DoorResult<v1::Version> GetVersion(Sight& sight) const;
  // Follows the changes after `since`; 0: from now on. This outlives the follower.
  DoorResult<Follower> Watch(uint64_t since, Sight sight);

 private:
  Source& source_;
  const base::Clock& clock_;
  Hub hub_;
  const std::unique_ptr<Prospects> prospects_;
  const std::unique_ptr<Gangs> gangs_;
  const std::unique_ptr<Cluster> cluster_;
};

}  // namespace tutti::doors
