// SPDX-License-Identifier: Apache-2.0
// DoorClient: asks a scheduler's door /apis/tutti/v1/ from outside: at an address, or through the API server's proxy of
// the Service.
//
// The proxy keeps the header Authorization to itself. So the user's token goes in X-Tutti-Authorization, too, and the
// scheduler asks the API server whose it is. A client certificate does not come through the proxy. Nothing that
// authenticates a user is sent over http://, as kubectl does not send it either.
#pragma once

#include <memory>
#include <string>

#include "kube/client.h"

namespace tutti::app {

class DoorClient {
 public:
  struct Options {
    std::string server;               // "https://127.0.0.1:10259"; empty: through the API server
    std::string kubeconfig, context;  // as kubectl's flags
    std::string ns = "tutti-system", service = "tutti";
    bool insecure = false;  // with `server`: its certificate is not checked
  };
  // Errors: kInvalid, naming the file or flag. A kubeconfig that asks to act as another user (`as`) is refused, for the
  // scheduler knows the user by the token alone.
  static base::Result<std::unique_ptr<DoorClient>> Connect(const Options& options);
  ~DoorClient();

  // Returns the answer to a GET of this path below the door, which may have a query. Asks again for up to ten
  // seconds while a standby answers. Error: what the scheduler says, or why there is no answer.
  base::Result<std::string> Get(const std::string& path);
  // The same for a POST of JSON.
  base::Result<std::string> Post(const std::string& path, const std::string& json);
  // The same as Get for a page of the scheduler, such as "/configz".
  base::Result<std::string> GetPage(const std::string& path);
  // The namespace that the kubeconfig names; "default" if it names none.
  const std::string& default_namespace() const { return default_namespace_; }

 private:
  struct Parts;
  explicit DoorClient(std::unique_ptr<Parts> parts);
  template <typename Send>
  base::Result<std::string> AskUntilLed(Send send);
  std::unique_ptr<Parts> parts_;
  // `prefix_`: of the pages.
  std::string prefix_, default_namespace_ = "default";
};

// Returns `text` as a part of a path or query.
std::string Escaped(const std::string& text);

}  // namespace tutti::app
