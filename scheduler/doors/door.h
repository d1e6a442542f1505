// SPDX-License-Identifier: Apache-2.0
// Door: the paths below /apis/tutti/v1/, which show gangs, queues and nodes, and answer what-if, as JSON, the messages
// of proto/tutti/v1. Thread-safe.
#pragma once

#include <memory>

#include "doors/desk.h"
#include "server/folder.h"

namespace tutti::doors {

class Door {
 public:
  static constexpr const char* kPrefix = "/apis/tutti/v1/";
  static constexpr const char* kWhatIf = "/apis/tutti/v1/whatif";  // takes a POST

  // `desk` outlives this.
  explicit Door(Desk& desk);
  ~Door();

  // Answers a GET, or a POST of a question. The answer's stream may outlive the call, but not the desk.
  server::FolderAnswer Show(const server::FolderRequest& request);

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace tutti::doors
