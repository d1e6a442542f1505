// SPDX-License-Identifier: Apache-2.0
// sim/objects/manifest_hints.h - what a text is that people give in place of manifests, in words that say what to do.
#pragma once

#include <string>
#include <string_view>

namespace tutti::sim {

// Of a whole text before it is parsed: "is gzip: ..."; empty: it may be manifests.
std::string NotText(std::string_view text, const std::string& file);

// A text that a YAML parser refused at this line (from 0) with `words`: "line 4 begins with a tab ...", counted from
// `first_line`. Helm's braces, a tab and an indentation that fits nothing are known; of all else "line N: words".
std::string WhyNotYaml(std::string_view text, int first_line, int line, const std::string& words);

}  // namespace tutti::sim
