// SPDX-License-Identifier: Apache-2.0
// DoorClient: asks a scheduler's door /apis/tutti/v1/ from outside: at an address, or through the API server's proxy of
// the Service.
//
// The proxy keeps the header Authorization to itself. So the user's token goes in X-Tutti-Authorization, too, and the
// scheduler asks the API server whose it is. A client certificate does not come through the proxy.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "app/api_client.h"

namespace tutti::app {

class DoorClient {
 public:
  struct Options {
    ApiOptions api;  // its server: "https://127.0.0.1:10259"; empty: through the API server
    std::string ns = "tutti-system", service = "tutti";
  };
  // Errors: kInvalid, naming the file or flag. A kubeconfig that asks to act as another user (`as`) is refused, for the
  // scheduler knows the user by the token alone.
  static base::Result<std::unique_ptr<DoorClient>> Connect(const Options& options);

  // Returns the answer to a GET of this path below the door, which may have a query. Asks again for up to ten
  // seconds while a standby answers. Error: what the scheduler says, or why there is no answer.
  base::Result<std::string> Get(const std::string& path);
  // The same for a POST of JSON.
  base::Result<std::string> Post(const std::string& path, const std::string& json);
  // Follows a stream of Server-Sent Events below the door: `read` gets the name and the data of each, and an empty name
  // some times a second. Returns when the stream has ended, or when `read` is false. Error: as of Get.
  using ReadEvent = std::function<bool(std::string_view event, const base::Json& data)>;
  base::Status Follow(const std::string& path, const ReadEvent& read);
  // The same as Get for a page of the scheduler, such as "/configz".
  base::Result<std::string> GetPage(const std::string& path);
  const std::string& default_namespace() const { return client_.default_namespace(); }

 private:
  DoorClient(const kube::Config& config, std::string prefix);
  template <typename Send>
  base::Result<std::string> AskUntilLed(Send send);

  UserClient client_;
  const std::string prefix_;  // of the pages
};

}  // namespace tutti::app
