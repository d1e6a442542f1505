// SPDX-License-Identifier: Apache-2.0
// HeaderEscaper: makes "%25" of each "%" in the values of a request's header fields, so that who decodes them gets what
// was sent. The request line, the fields' names and the body stay as they are.
//
// As for the library, "\r\n" alone ends the fields: what comes after a line of any other kind is a field still.
#pragma once

#include <string>
#include <string_view>

namespace tutti::server {

class HeaderEscaper {
 public:
  // Returns what is to follow the next byte of the request.
  std::string_view After(char byte) {
    if (part_ == Part::kBody) return {};
    if (byte == '\n') {
      const bool ends = part_ == Part::kName && line_ == "\r";
      part_ = ends ? Part::kBody : Part::kName;
      line_.clear();
      return {};
    }
    if (line_.size() < 2) line_ += byte;
    if (part_ == Part::kName && byte == ':') part_ = Part::kValue;
    return part_ == Part::kValue && byte == '%' ? "25" : std::string_view();
  }
  bool is_done() const { return part_ == Part::kBody; }

 private:
  enum class Part { kRequestLine, kName, kValue, kBody } part_ = Part::kRequestLine;
  std::string line_;  // what it begins with: two bytes at most
};

}  // namespace tutti::server
