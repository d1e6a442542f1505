// SPDX-License-Identifier: Apache-2.0
// Credentials: what proves to the API server who we are, kept fresh.
//
// Token and certificate files are read again once a minute, as rotation replaces them; a certificate that is not of the
// key next to it is not used, and looked at again in a second. An exec plugin runs on a thread of its own: before the
// first request, shortly before its credential expires, and after a 401; with growing pauses while what it gives is of
// no use. The loop's thread only.
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

// What an exec plugin printed.
struct ExecCredential {
  std::string token, client_cert_pem, client_key_pem;
  base::Millis expires_wall_ms = -1;  // -1: never
};

inline constexpr base::Millis kExecPatienceMs = 60'000;

// Runs the plugin and waits for its end; it is killed when its time is over, or soon after `*unwanted` is set. Errors
// carry the plugin's name, its exit, its last line on stderr without what may be a secret, and the install hint; never
// what it printed to stdout.
base::Result<ExecCredential> RunExecPlugin(const ExecPlugin& plugin, const Config& cluster,
                                           base::Millis patience_ms = kExecPatienceMs,
                                           const std::atomic<bool>* unwanted = nullptr);
base::Result<ExecCredential> ParseExecCredential(const ExecPlugin& plugin, const std::string& printed);

inline constexpr std::string_view kRedacted = "[redacted]";
// Puts kRedacted in the place of each `secret` in the text. REQUIRES: it is not empty.
void RedactAll(std::string_view secret, std::string* text);

class Credentials {
 public:
  Credentials(const Config& config, Loop& loop);
  ~Credentials();

  // False while an exec plugin has not answered yet: see WhenReady.
  bool ready() const { return ready_; }
  // REQUIRES: ready().
  std::shared_ptr<const Credential> Current();

  // `stale` was refused with 401. Runs `then` once something newer is there, or has been tried for: true if
  // it is worth asking again. False at once where nothing could change.
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
  std::atomic<bool> ending_ = false;                            // nobody wants its result any more
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for tasks posted by exec_thread_
};

}  // namespace tutti::kube
