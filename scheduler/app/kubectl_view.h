// SPDX-License-Identifier: Apache-2.0
// KubectlView: prints what kubectl would print about the embedded cluster, for verbs that run without kubectl.
//
// Reads and writes go through the same API handler that serves the real kubectl.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "sim/api/api_handler.h"
#include "sim/store/door.h"

namespace tutti::app {

class KubectlView {
 public:
  explicit KubectlView(sim::Door& door) : handler_(door) {}  // `door` must outlive it

  // Paths are those of the API: "/api/v1/namespaces/default/pods".
  // Prints as `kubectl get` does: the Table that the API server makes.
  base::Result<std::string> GetTable(const std::string& path);
  // Read as `kubectl get -o json` and `-o yaml` do.
  base::Result<sim::Json> Get(const std::string& path);
  base::Result<std::string> GetYaml(const std::string& path);
  // Creates the object as `kubectl create -f` does: "raycluster.ray.io/test-cluster-0 created".
  base::Result<std::string> Create(const std::string& path, std::string_view yaml);
  // Deletes the object as `kubectl delete` does: "raycluster.ray.io \"test-cluster-0\" deleted".
  base::Result<std::string> Delete(const std::string& path, const std::string& what);
  // Prints the Events that stand at the end of `kubectl describe`.
  base::Result<std::string> Events(const std::string& ns, const std::string& uid, base::Millis now_ms);

 private:
  base::Result<sim::Json> Ask(const char* method, const std::string& path, const char* accept, std::string body = "",
                              const char* content_type = "application/json");

  sim::ApiHandler handler_;
};

// Writes an age as kubectl does: "5s", "4m5s", "12m", "3h".
std::string ShortAge(base::Millis age_ms);

}  // namespace tutti::app
