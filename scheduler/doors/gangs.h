// SPDX-License-Identifier: Apache-2.0
// Gangs: answers the questions of the service Decisions, as far as the caller may see. Thread-safe.
#pragma once

#include <tutti/v1/decisions.pb.h>

#include "doors/hub.h"
#include "doors/prospects.h"
#include "doors/sight.h"

namespace tutti::doors {

class Gangs {
 public:
  // All outlive this.
  Gangs(Source& source, Hub& hub, Prospects& prospects) : source_(source), hub_(hub), prospects_(prospects) {}

  // `sight` is of the namespace that is asked for. Failures of each: kForbidden, the user does not see it; kUnavailable,
  // this process does not lead, or is too busy, or the API server does not say what the user sees. List: kInvalid, there
  // is no such state; kForbidden also for more namespaces than may be asked about. Get and History: kNotFound.
  DoorResult<v1::ListGangsResponse> List(const v1::ListGangsRequest& request, Sight& sight);
  DoorResult<v1::Gang> Get(const v1::GetGangRequest& request, Sight& sight);
  DoorResult<v1::GangHistory> History(const v1::GetGangRequest& request, Sight& sight);

  // Returns all gangs. Failure: kUnavailable, this process does not lead, or is too busy.
  DoorResult<std::shared_ptr<const Table>> All();

 private:
  Source& source_;
  Hub& hub_;
  Prospects& prospects_;
};

// Failure: kUnavailable, this process has no decisions to show.
DoorResult<void> CheckLeading(const Source& source);

}  // namespace tutti::doors
