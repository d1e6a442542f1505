// SPDX-License-Identifier: Apache-2.0
#include "kube/api_path.h"

#include <cctype>

namespace tutti::kube {

std::string Escape(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  // Proxies and libcurl would follow these two segments as steps in the path.
  if (text == "." || text == "..") return text.size() == 1 ? "%2E" : "%2E%2E";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '-' || c == '.' || c == '_' || c == '~' || c == ':') {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

std::string GroupPath(std::string_view group, std::string_view version) {
  std::string path = group.empty() ? "/api/" : "/apis/" + Escape(group) + "/";
  return path += Escape(version);
}

std::string CollectionPath(std::string_view group, std::string_view version, std::string_view resource,
                           std::string_view ns) {
  std::string path = GroupPath(group, version);
  if (!ns.empty()) path += "/namespaces/" + Escape(ns);
  return path += "/" + Escape(resource);
}

std::string ObjectPath(std::string_view group, std::string_view version, std::string_view resource, std::string_view ns,
                       std::string_view name) {
  return CollectionPath(group, version, resource, ns) + "/" + Escape(name);
}

}  // namespace tutti::kube
