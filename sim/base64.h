// SPDX-License-Identifier: Apache-2.0
// sim/base64.h - bytes as JSON carries them.
#pragma once

#include <string>
#include <string_view>

namespace tutti::sim {

std::string EncodeBase64(std::string_view bytes);

}  // namespace tutti::sim
