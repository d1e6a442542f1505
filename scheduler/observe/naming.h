// SPDX-License-Identifier: Apache-2.0
// Puts text from the cluster into our sentences. Names in annotations and keys of maps may hold any bytes. Our
// sentences go to conditions, Events and logs, so they must be one line of valid UTF-8 and of bounded length.
#pragma once

#include <string>
#include <string_view>

namespace tutti::observe {

// Returns an ordinary name unchanged. Quotes any other, replaces characters that cannot be printed, and cuts it at 80
// bytes.
std::string Named(std::string_view name);
// Returns "PodGroup ns/name", without "ns/" for cluster-scoped objects.
std::string Named(std::string_view kind, std::string_view ns, std::string_view name);

// Returns `text` on one line, cut at 512 bytes.
std::string OneLine(std::string_view text);

// Joins two sentences; either may be empty.
std::string Join(const std::string& first, const std::string& second);

}  // namespace tutti::observe
