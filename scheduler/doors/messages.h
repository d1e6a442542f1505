// SPDX-License-Identifier: Apache-2.0
// Messages: what the scheduler shows, as messages of proto/tutti/v1.
#pragma once

#include <tutti/v1/cluster.pb.h>
#include <tutti/v1/decisions.pb.h>
#include <tutti/v1/queues.pb.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "doors/table.h"
#include "observe/cluster_view.h"
#include "observe/decision.h"
#include "observe/history.h"

namespace tutti::doors {

void Fill(const model::GangKey& gang, v1::GangName* to);
// All but the members, the position and the holders.
void Fill(const observe::Decision& decision, v1::Gang* to);
void FillMembers(const observe::Decision& decision, v1::Gang* to);
void Fill(const Holding& holding, v1::Holder* to);
void Fill(const observe::Reason& reason, v1::Reason* to);
void Fill(const observe::QueueView& queue, v1::Queue* to);
void Fill(const observe::HistoryEvent& event, v1::GangEvent* to);

// Whether a reader may know what pods the namespace has.
using SeesNamespace = std::function<bool(const std::string& ns)>;
// Leaves out the names of pods that the gang waits for and the reader may not know, and tells how many they are. False:
// there are none.
bool HideVictims(const observe::Decision& decision, const SeesNamespace& sees, v1::Gang* to);
// The same in a sentence that ends in such names. nullopt: it has none of them.
std::optional<std::string> HideVictims(std::string_view sentence, const SeesNamespace& sees);

// What a member asks of its node, with one of "pods".
model::ResourceList WeightOf(const observe::MemberDecision& member);
// Tells whether it takes room on a node, or has it reserved.
bool HoldsRoom(const observe::MemberDecision& member);

using Amounts = google::protobuf::Map<std::string, int64_t>;
void Fill(const model::ResourceList& amounts, Amounts* to);

}  // namespace tutti::doors
