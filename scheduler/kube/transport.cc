// SPDX-License-Identifier: Apache-2.0
#include "kube/transport.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <utility>

namespace tutti::kube {

namespace {

constexpr size_t kMostErrorBody = 64 * 1024;

}  // namespace

const char* Name(Method method) {
  switch (method) {
    case Method::kGet: return "GET";
    case Method::kPost: return "POST";
    case Method::kPut: return "PUT";
    case Method::kPatch: return "PATCH";
    case Method::kDelete: return "DELETE";
  }
  return "GET";
}

base::Millis WaitMs(int64_t seconds) {
  return std::clamp<int64_t>(seconds, 0, std::numeric_limits<int32_t>::max()) * 1000;
}

void Response::ReadHeader(std::string_view name, std::string_view value) {
  if (name == "content-type") {
    content_type = value;
  } else if (name == "etag") {
    etag = value;
  } else if (name == "retry-after") {
    int64_t seconds = 0;  // a date is not supported and counts as absent
    if (std::from_chars(value.data(), value.data() + value.size(), seconds).ec == std::errc())
      retry_after_ms = WaitMs(seconds);
  }
}

void Response::AppendBody(std::string_view piece) {
  if (ok() || body.size() < kMostErrorBody) body.append(piece);
}

void Response::Break(Failure how, std::string why) {
  failure = how;
  error = std::move(why);
  if (status < 200) status = 0;  // an interim answer is no answer
}

Url SplitUrl(const std::string& url) {
  Url parts;
  const size_t colon = url.find("://");
  parts.scheme = url.substr(0, colon);
  std::string rest = colon == url.npos ? "" : url.substr(colon + 3);
  if (const size_t slash = rest.find('/'); slash != std::string::npos) {
    parts.prefix = rest.substr(slash);
    rest.resize(slash);
  }
  parts.authority = rest;
  const size_t bracket = rest.rfind(']');
  const size_t last_colon = rest.rfind(':');
  if (last_colon != std::string::npos && (bracket == std::string::npos || last_colon > bracket)) {
    parts.port = rest.substr(last_colon + 1);
    rest.resize(last_colon);
  }
  if (rest.starts_with('[') && rest.ends_with(']')) rest = rest.substr(1, rest.size() - 2);
  parts.host = rest;
  if (parts.port.empty()) parts.port = parts.scheme == "http" ? "80" : "443";
  return parts;
}

bool Url::sound() const {
  const auto of_name = [](unsigned char c) {
    return std::isalnum(c) || c == '.' || c == '-' || c == '_' || c == ':' || c == '%';
  };
  if (host.empty() || !std::ranges::all_of(host, of_name)) return false;
  uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  return error == std::errc() && end == port.data() + port.size() && number > 0;
}

bool Url::loopback() const { return host == "localhost" || host == "::1" || host.starts_with("127."); }

}  // namespace tutti::kube
