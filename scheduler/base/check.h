// SPDX-License-Identifier: Apache-2.0
// CHECK: a promise of ours that must hold, on in every build. A crash is cheap: all truth is in the API server,
// and a restart lists it again; a wrong decision is not.
#pragma once

#include <source_location>
#include <string_view>

namespace tutti::base {

[[noreturn]] void CheckFailed(std::string_view condition, std::string_view detail, std::source_location where);

}  // namespace tutti::base

#define TUTTI_CHECK(condition, detail)                                                   \
  do {                                                                                   \
    if (!(condition)) [[unlikely]]                                                       \
      ::tutti::base::CheckFailed(#condition, (detail), std::source_location::current()); \
  } while (false)
