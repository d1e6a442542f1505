// SPDX-License-Identifier: Apache-2.0
#include "kube/api_path.h"

#include "tests/support/catch.h"

namespace tutti::kube {
namespace {

TEST_CASE("paths are as the Kubernetes API has them") {
  CHECK(ObjectPath("", "v1", "pods", "ns", "p") == "/api/v1/namespaces/ns/pods/p");
  CHECK(ObjectPath("apps", "v1", "replicasets", "ns", "r") == "/apis/apps/v1/namespaces/ns/replicasets/r");
  CHECK(CollectionPath("", "v1", "nodes") == "/api/v1/nodes");
  CHECK(ObjectPath("rbac.authorization.k8s.io", "v1", "clusterroles", "", "system:node") ==
        "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node");
}

TEST_CASE("no name leads out of its place in a path") {
  for (const char* name : {".", "..", "../x", "..%2fx", "a/b", "a?b=c", "a#b", "a b", "a\r\nX: y", "%2e%2e", "\xff"}) {
    INFO("name " << name);
    const std::string path = ObjectPath("", "v1", "pods", "ns", name);
    const std::string last = path.substr(std::string("/api/v1/namespaces/ns/pods/").size());
    CHECK(path.starts_with("/api/v1/namespaces/ns/pods/"));
    CHECK(last.find_first_of("/?# \r\n") == std::string::npos);
    CHECK(last != ".");
    CHECK(last != "..");
  }
}

}  // namespace
}  // namespace tutti::kube
