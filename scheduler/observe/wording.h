// SPDX-License-Identifier: Apache-2.0
// Wording: Reasons as what people read.
#pragma once

#include <string>
#include <string_view>

#include "observe/reason.h"

namespace tutti::observe {

// One CamelCase word: "NotEnoughMembers", "QueueFull", "NoPlacement", ...
std::string_view Word(const Reason& reason);

struct Words {
  std::string sentence;        // about the gang; empty of a lone pod that finds no node
  std::string nodes_sentence;  // "0/4 nodes are available: …", about the first pod that finds none, or empty
  std::string Full() const;    // both
  friend bool operator==(const Words&, const Words&) = default;
};
Words Say(const Reason& reason);

// The whole text of a member's condition and Event: the nodes' sentence is about this pod, or it is said that the pod
// fits, and what it waits for. `words`: the reason's.
std::string SayTo(Listener member, const Reason& reason, const Words& words);

}  // namespace tutti::observe
