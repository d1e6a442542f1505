// SPDX-License-Identifier: Apache-2.0
// URLs of the Kubernetes API.
#pragma once

#include <string>
#include <string_view>

namespace tutti::kube {

// Escapes `text` for one segment of a path, or for a value in a query.
std::string Escape(std::string_view text);

// Returns "/api/v1" or "/apis/GROUP/VERSION".
std::string GroupPath(std::string_view group, std::string_view version);

// Returns ".../pods", or ".../namespaces/NS/pods" with a namespace.
std::string CollectionPath(std::string_view group, std::string_view version, std::string_view resource,
                           std::string_view ns = {});

std::string ObjectPath(std::string_view group, std::string_view version, std::string_view resource, std::string_view ns,
                       std::string_view name);

}  // namespace tutti::kube
