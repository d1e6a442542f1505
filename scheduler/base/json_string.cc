// SPDX-License-Identifier: Apache-2.0
#include "base/json_string.h"

#include "base/json.h"

namespace tutti::base {

// Names, UIDs and most sentences need no more than the quotes.
void AppendQuoted(std::string_view text, std::string* to) {
  int special = 0;  // summed up, so that many are looked at at once
  for (const char c : text) special |= (c < ' ') | (c > '~') | (c == '"') | (c == '\\');
  if (special == 0)
    to->append(1, '"').append(text).append(1, '"');
  else
    *to += base::Json(text).dump(-1, ' ', false, base::Json::error_handler_t::replace);
}

}  // namespace tutti::base
