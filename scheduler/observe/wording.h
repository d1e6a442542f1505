// SPDX-License-Identifier: Apache-2.0
// Wording: renders Reasons for people.
#pragma once

#include <string>
#include <string_view>

#include "observe/reason.h"

namespace tutti::observe {

// Returns the reason as one CamelCase word: "NotEnoughMembers", "QueueFull", "NoPlacement", ...
std::string_view Word(const Reason& reason);

struct Words {
  std::string sentence;        // about the gang; empty for a lone pod that finds no node
  std::string nodes_sentence;  // "0/4 nodes are available: …", about the first pod that finds no node, or empty
  std::string Full() const;    // both sentences
  friend bool operator==(const Words&, const Words&) = default;
};
Words Say(const Reason& reason);

// Returns what kube-scheduler adds to the nodes' sentence: "preemption: 0/4 nodes are available: …".
std::string Say(const PreemptionRefused& preemption);

// Returns the whole text of a member's condition and Event. It says why this pod finds no node, or that it fits and
// what it waits for. `words` are the reason's.
std::string SayTo(Listener member, const Reason& reason, const Words& words);

}  // namespace tutti::observe
