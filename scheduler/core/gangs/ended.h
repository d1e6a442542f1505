// SPDX-License-Identifier: Apache-2.0
// What remains of members that have ended well. Pure functions.
#pragma once

#include <string>

#include "core/gangs/gang.h"

namespace tutti::core {

// Returns how many members of the role have ended well and are not followed by others, as the gang's object says.
int64_t DoneIn(const model::QuotaTerms& terms, const std::string& role);

// Tells whether members that have ended may be followed by others: the gang is to start, and its object counts those
// that are not followed.
bool MayBeFollowed(const Gang& gang);

// Returns how many members of the role have ended well and are gone, as the gang's object says that so many have
// (QuotaTerms::done) and `there` are not gone. They count for the minimum like those.
int64_t CountGone(const Gang& gang, const std::string& role, int64_t there);

// Returns how many of `there` members of the role, which have ended well, count for the minimum: those alone that no
// others may follow. A Job with more completions than pods at a time has such that are followed.
int64_t CountEnded(const Gang& gang, const std::string& role, int64_t there);

}  // namespace tutti::core
