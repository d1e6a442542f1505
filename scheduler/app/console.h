// SPDX-License-Identifier: Apache-2.0
// Console: the web console, whose files (ui/) are in the binary. They are the same for all users and hold nothing of a
// cluster: what the console shows it asks of /apis/tutti/v1, as the user whose token it was given.
#pragma once

#include <optional>
#include <string_view>

#include "server/server.h"

namespace tutti::app {

inline constexpr const char* kConsolePath = "/ui/";

// Returns the file at `path`, with the headers of ui/headers: "/ui/" is the page, and "/ui" leads there. 404: there is
// no such file; nullopt: the path is not below "/ui". Thread-safe.
std::optional<server::OpenAnswer> ShowConsole(std::string_view path);

}  // namespace tutti::app
