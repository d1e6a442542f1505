// SPDX-License-Identifier: Apache-2.0
// Credentials: keeps the current credential for the API server.
//
// Token and certificate files are read again once a minute, because they are rotated. A certificate that does not fit
// its key is not used, and is read again after a second. An exec plugin runs on a thread of its own: before the first
// request, shortly before its credential expires, and after a 401. While its credentials are refused, the pauses
// between runs grow. The loop's thread only.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kube/config.h"
#include "kube/credential.h"
#include "kube/loop.h"

namespace tutti::kube {

// The credential that an exec plugin printed.
struct ExecCredential {
  std::string token, client_cert_pem, client_key_pem;
  base::Millis expires_wall_ms = -1;  // -1: never
};

inline constexpr base::Millis kExecPatienceMs = 60'000;

// Runs the plugin and waits for its end. Kills it after `patience_ms`, or soon after `*unwanted` is set. Errors have
// the plugin's name, its exit, its last line on stderr without possible secrets, and the install hint. They never have
// its stdout.
base::Result<ExecCredential> RunExecPlugin(const ExecPlugin& plugin, const Config& cluster,
                                           base::Millis patience_ms = kExecPatienceMs,
                                           const std::atomic<bool>* unwanted = nullptr);
base::Result<ExecCredential> ParseExecCredential(const ExecPlugin& plugin, const std::string& printed);

// Replaces each `secret` in the text by "[redacted]". REQUIRES: `secret` is not empty.
void RedactAll(std::string_view secret, std::string* text);

class Credentials {
 public:
  Credentials(const Config& config, Loop& loop);
  ~Credentials();

  // False until an exec plugin has answered for the first time; see WhenReady.
  bool ready() const { return ready_; }
  // REQUIRES: ready().
  std::shared_ptr<const Credential> Current();

  // Renews the credential after one of `stale_generation` was refused with 401. Then runs `then`, with true if there is
  // a newer credential. Runs it at once with false where nothing can change.
  void Renew(uint64_t stale_generation, absl::AnyInvocable<void(bool worth_retrying)> then);
  // Runs `then` when ready; at once if so.
  void WhenReady(Task then);

 private:
  void ReadFiles();
  void ReadPair(Credential* next);
  void StartExec();
  void ExecDone(base::Result<ExecCredential> result);
  void Apply(Credential next);

  Config config_;
  Loop& loop_;
  bool ready_ = false;
  bool exec_running_ = false;
  base::Millis files_due_ms_ = 0;
  bool torn_pair_ = false;  // when the files were last read
  std::shared_ptr<const Credential> current_ = std::make_shared<const Credential>();
  std::vector<Task> waiting_;
  TimerId refresh_timer_ = 0;
  base::Millis exec_retry_ms_ = 0;
  std::thread exec_thread_;
  std::atomic<bool> ending_ = false;                            // the plugin's result is not needed any more
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for tasks posted by exec_thread_
};

}  // namespace tutti::kube
