// SPDX-License-Identifier: Apache-2.0
// Door: the paths below /apis/tutti/v1/, which show gangs, queues and nodes as JSON, the messages of proto/tutti/v1.
// Thread-safe.
#pragma once

#include <memory>

#include "doors/desk.h"
#include "server/folder.h"

namespace tutti::doors {

class Door {
 public:
  static constexpr const char* kPrefix = "/apis/tutti/v1/";

  // `desk` outlives this.
  explicit Door(Desk& desk);
  ~Door();

  // Answers a GET. The answer's stream may outlive the call, but not the desk.
  server::FolderAnswer Show(const server::FolderRequest& request);

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace tutti::doors
