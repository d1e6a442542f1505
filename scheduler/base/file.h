// SPDX-License-Identifier: Apache-2.0
// base/file.h - a whole file as text.
#pragma once

#include <string>

#include "base/result.h"

namespace tutti::base {

// "-" is no file here. Error kNotFound: "PATH: why", also for a folder.
Result<std::string> ReadFile(const std::string& path);

}  // namespace tutti::base
