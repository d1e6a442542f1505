// SPDX-License-Identifier: Apache-2.0
// `kubectl tutti get --watch`: lists, and then prints each row that changes.
#pragma once

#include "app/door_client.h"
#include "app/listing.h"

namespace tutti::app {

// Returns when there is no answer any more, or standard output takes no more. Gangs are told by the door's watch. When
// it tells something, queues and nodes are listed again: once a second at most, and every ten seconds besides.
base::Status WatchListing(DoorClient& door, Listing listing, const base::Clock& clock);

}  // namespace tutti::app
