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

// How much of a declaration is read. It is read on the scheduler's thread, and an object may be 1.5 MiB large: up to
// these it costs a millisecond.
inline constexpr size_t kMostRoles = 1'000;    // tasks, worker groups, task groups
inline constexpr size_t kMostResources = 256;  // as of a pod (plugins/common/size_limits.h)

// A whole number in [least, most], or `fallback` when absent or a problem.
int64_t ReadCount(cluster::JsonReader& read, const cluster::JsonField& field, int64_t fallback, int64_t least,
                  int64_t most = kLargestCount);

// Tells whether a list or a map has no more than `most` items. If it has more that is a problem, and it is not to be
// read.
bool FewEnough(cluster::JsonReader& read, const cluster::JsonField& field, size_t most);
// The same of all values in it, at any depth.
bool SmallEnough(cluster::JsonReader& read, const cluster::JsonField& field, size_t most);

// How much of a status is kept, compared and carried along: its tenant may fill it with a megabyte.
inline constexpr size_t kMostStatusBytes = 16'384;

// Takes the bytes of all text in `value`, and one for each value, from `left`; false when it has fewer.
bool TakeBytes(const base::Json& value, size_t* left);
// Tells whether it is no longer than kMostStatusBytes.
bool IsShort(const base::Json& value);

// Amounts that are asked for, of kMostResources at most: one beyond all counting is a problem, for nothing could ever
// grant it. nullopt: absent.
std::optional<model::ResourceList> ReadRequests(cluster::JsonReader& read, const cluster::JsonField& field);

// Key, UID and age from the object, and what its annotations say about topology.
model::GangSpec GangOf(std::string_view dialect, const model::Object& object);

// What annotation tutti.dev/min-runtime says, of a gang or a queue; nullopt: nothing that can be read.
std::optional<base::Millis> ReadMinRuntime(cluster::JsonReader& read, const model::Object& object);

// What annotation tutti.dev/fit says, of a gang or a queue: nodes, quota, aggregate or auto. nullopt: nothing, or
// another word, which is a problem.
std::optional<model::Fit> ReadFit(cluster::JsonReader& read, const model::Object& object);
std::optional<model::Fit> FitNamed(std::string_view word);
std::string_view NameOf(model::Fit fit);

// "PodGroup ns/name: spec.minMember: -1 is ...", or empty when all was readable.
std::string ProblemIn(const model::Object& object, cluster::JsonReader& read);

// Its status, or an empty object.
const base::Json& StatusIn(const base::Json& body);
inline const base::Json& StatusOf(const model::Object& object) { return StatusIn(*object.body); }

}  // namespace tutti::dialects
