// SPDX-License-Identifier: Apache-2.0
// ClientCa: the cluster's client CA, as far as it is known. Handshakes name it, so that a client knows which of its
// certificates to present; server::ClientAuthorities judges what is presented. Thread-safe.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "rpc/workers.h"
#include "server/client_authorities.h"

namespace tutti::rpc {

class ClientCa {
 public:
  // Without `read` there is none. `workers` and `clock` outlive this.
  ClientCa(server::ClientAuthorities::ReadTrust read, Workers& workers, const base::Clock& clock)
      : read_(std::move(read)), workers_(workers), clock_(clock) {}

  bool exists() const { return read_ != nullptr; }
  // Returns it in PEM; empty: it is not known yet. Does not wait, but has a worker read it again when it is a minute
  // old, and once a second until it is known.
  std::string Known();

 private:
  void Read();

  const server::ClientAuthorities::ReadTrust read_;
  Workers& workers_;
  const base::Clock& clock_;
  base::Mutex mutex_;
  std::string known_ ABSL_GUARDED_BY(mutex_);
  base::Millis next_ms_ ABSL_GUARDED_BY(mutex_) = 0;  // monotonic; when it is to be read again
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace tutti::rpc
