// SPDX-License-Identifier: Apache-2.0
// base/base64.h - bytes as JSON carries them.
#pragma once

#include <string>
#include <string_view>

namespace tutti::base {

std::string EncodeBase64(std::string_view bytes);

}  // namespace tutti::base
