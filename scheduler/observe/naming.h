// SPDX-License-Identifier: Apache-2.0
// Text from the cluster inside sentences of ours. Names in annotations and keys of maps may hold anything, and what we
// say ends in conditions, Events and logs: one line, valid UTF-8, of bounded length.
#pragma once

#include <string>
#include <string_view>

namespace tutti::observe {

// A name as it stands if it is an ordinary one, else quoted, with what cannot be printed replaced, cut at 80 bytes.
std::string Named(std::string_view name);
// "PodGroup ns/name"; without "ns/" for cluster-scoped objects.
std::string Named(std::string_view kind, std::string_view ns, std::string_view name);

// `text` on one line, cut at 512 bytes.
std::string OneLine(std::string_view text);

// Both sentences, one after the other; either may be empty.
std::string Join(const std::string& first, const std::string& second);

}  // namespace tutti::observe
