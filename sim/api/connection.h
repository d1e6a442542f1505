// SPDX-License-Identifier: Apache-2.0
// sim/api/connection.h - one client's socket, as the HTTP library wants to see it.
//
// Ours instead of the library's, which looks at each idle connection a hundred times a
// second, cannot be woken to stop, and does not notice a client that has gone while it
// waits for something to send.
#pragma once

#include <httplib.h>

#include <string>

namespace tutti::sim {

class Connection final : public httplib::Stream {
 public:
  // Takes the socket over; closes it at the end.
  explicit Connection(int socket);
  ~Connection() override;

  // True when a request begins within `seconds`; false on the end, an error, or too long a silence.
  bool WaitForRequest(int seconds);

  bool is_readable() const override;
  bool is_writable() const override;  // also false when the client has closed
  ssize_t read(char* to, size_t size) override;
  ssize_t write(const char* from, size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }

 private:
  const int socket_;
  char buffer_[16'384];
  size_t begin_ = 0, end_ = 0;  // what of buffer_ is unread
};

}  // namespace tutti::sim
