// SPDX-License-Identifier: Apache-2.0
// ApiClient: asks an API server as the user of a kubeconfig, as kubectl does, with that user's rights.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "kube/client.h"

namespace tutti::app {

struct ApiOptions {
  std::string server;               // "http://127.0.0.1:8080"; empty: the kubeconfig's
  std::string kubeconfig, context;  // as kubectl's flags
  bool insecure = false;            // with `server`: its certificate is not checked
};

// Reads the configuration. A server that is named can be asked without a kubeconfig. Nothing that authenticates a user
// is sent over http://, as kubectl does not send it either. Error: kInvalid, naming the file or flag.
base::Result<kube::Config> LoadUserConfig(const ApiOptions& options);

// Says why an answer is no success: the sentence in it, or the message of the API server's Status.
std::string WhyRefused(const kube::KubeClient::Reply& reply);

// A KubeClient of which no feed, writer or Lease is used.
class UserClient {
 public:
  explicit UserClient(const kube::Config& config);
  ~UserClient();
  UserClient(const UserClient&) = delete;
  UserClient& operator=(const UserClient&) = delete;

  kube::KubeClient* operator->() { return client_.get(); }
  // The namespace that the kubeconfig names; "default" if it names none.
  const std::string& default_namespace() const { return default_namespace_; }

 private:
  class Ignored final : public cluster::EventSink {
    void Post(cluster::FeedEvent) override {}
  };
  const std::string default_namespace_;
  base::SystemClock clock_;
  Ignored sink_;
  std::unique_ptr<kube::KubeClient> client_;
};

class ApiClient {
 public:
  // Error: that of LoadUserConfig.
  static base::Result<std::unique_ptr<ApiClient>> Connect(const ApiOptions& options);

  // Return the object in the answer. Errors: kNotFound if there is none, else kUnavailable; with what the API server
  // says.
  base::Result<base::Json> Get(const std::string& path);
  // All objects of a collection, page by page.
  base::Result<std::vector<base::Json>> List(const std::string& path);
  base::Result<base::Json> Post(const std::string& path, const base::Json& object);
  // A merge patch.
  base::Result<base::Json> Patch(const std::string& path, const base::Json& object);

  const std::string& default_namespace() const { return client_.default_namespace(); }

 private:
  explicit ApiClient(const kube::Config& config) : client_(config) {}

  UserClient client_;
};

}  // namespace tutti::app
