// SPDX-License-Identifier: Apache-2.0
// Text from the cluster inside sentences of ours. Names in annotations and keys of maps may hold anything, and what we
// say ends in conditions, Events and logs: one line, valid UTF-8, of bounded length.
#pragma once

#include <string>
#include <string_view>

namespace tutti::dialects {

// A name as it stands if it is an ordinary one, else quoted, with what cannot be printed replaced, cut at 80 bytes.
std::string Named(std::string_view name);
// "PodGroup ns/name"; without "ns/" for cluster-scoped objects.
std::string Named(std::string_view kind, std::string_view ns, std::string_view name);

// A level of topology for people: a label's key, or what the dialect has that made the label.
std::string NamedLevel(std::string_view key);
// "no node has the label rack": why no domain of the level holds any pod.
std::string NobodyIn(std::string_view key);

// `text` on one line, cut at 512 bytes.
std::string OneLine(std::string_view text);

// Both sentences, one after the other; either may be empty.
std::string Join(const std::string& first, const std::string& second);

}  // namespace tutti::dialects
