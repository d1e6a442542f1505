// SPDX-License-Identifier: Apache-2.0
// Acceptor: listens on a port and hands each connection on, to a library that sets no bound to their number. At most so
// many are open at a time; the others wait in the system's backlog.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "base/result.h"

namespace tutti::server {

class Acceptor {
 public:
  struct Options {
    std::string address = "0.0.0.0";  // as ServerOptions::bind_address
    int port = 0;                     // 0: any free one
    bool share_port = false;
    int most = 256;  // open at a time
  };
  // Takes a connected socket, which it owns. A connection counts as open until both directions of it are shut down.
  // Called on the acceptor's thread.
  using Take = std::function<void(int socket)>;

  // Listens; connections are taken from Begin() on. Error: kUnavailable, the reason.
  static base::Result<std::unique_ptr<Acceptor>> Listen(const Options& options);
  // Called once.
  void Begin(Take take);
  // Stops taking connections, and forgets those that are open. Begin's `take` is not called any more.
  ~Acceptor();

  int port() const { return port_; }

 private:
  Acceptor(int listener, int port, int most);
  void Run();
  bool HasRoom() const { return open_.size() < static_cast<size_t>(most_); }
  // Takes what waits in the backlog, as far as there is room.
  void TakeAll();
  // Looks for new connections only while there is room for them.
  void LookIfRoom();

  // Constant once Begin() was called.
  const int listener_, poll_, wake_;  // descriptors
  const int port_, most_;
  Take take_;
  // The thread only.
  std::set<int> open_;  // a descriptor of ours for each connection
  bool looks_ = false;
  std::thread thread_;
};

}  // namespace tutti::server
