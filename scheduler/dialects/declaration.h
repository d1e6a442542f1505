// SPDX-License-Identifier: Apache-2.0
// Reading what people declare: counts and amounts that may be anything, and what to say when they are wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/json_fwd.h"
#include "cluster/command.h"
#include "cluster/json_reader.h"
#include "model/gang.h"
#include "model/object.h"

namespace tutti::dialects {

inline constexpr int64_t kLargestCount = 2147483647;  // Kubernetes counts in int32

// A whole number in [least, most], or `fallback` when absent or a problem.
int64_t ReadCount(cluster::JsonReader& read, const cluster::JsonField& field, int64_t fallback, int64_t least,
                  int64_t most = kLargestCount);

// Amounts that are asked for: one beyond all counting is a problem, for nothing could ever grant it. nullopt: absent.
std::optional<model::ResourceList> ReadRequests(cluster::JsonReader& read, const cluster::JsonField& field);

// Key, UID and age from the object, and what its annotations say about topology.
model::GangSpec GangOf(std::string_view dialect, const model::Object& object);

// "PodGroup ns/name: spec.minMember: -1 is ...", or empty when all was readable.
std::string ProblemIn(const model::Object& object, cluster::JsonReader& read);

// Its status, or an empty object.
const base::Json& StatusOf(const model::Object& object);

}  // namespace tutti::dialects
