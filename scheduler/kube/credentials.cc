// SPDX-License-Identifier: Apache-2.0
#include "kube/credentials.h"

#include <algorithm>
#include <utility>

#include "base/base64.h"
#include "base/check.h"
#include "base/file.h"
#include "base/log.h"
#include "kube/tls_socket.h"

namespace tutti::kube {
namespace {

constexpr base::Millis kFileMaxAgeMs = 60'000;
constexpr base::Millis kTornPairMaxAgeMs = 1'000;
constexpr base::Millis kRefreshBeforeExpiryMs = 60'000;
constexpr base::Millis kFirstRetryMs = 1'000;
constexpr base::Millis kLongestRetryMs = 60'000;

std::string Trimmed(std::string text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
  return text;
}

// Reads the file; returns the last content if it cannot be read now.
std::string ReadOrKeep(const std::string& path, const std::string& last) {
  if (path.empty()) return last;
  auto content = base::ReadFile(path);
  if (!content) base::LogWarn("a credential file cannot be read; its last content stays in use", {{"file", path}});
  return content ? *std::move(content) : last;
}

}  // namespace

void RedactAll(std::string_view secret, std::string* text) {
  constexpr std::string_view kRedacted = "[redacted]";
  for (size_t at = 0; (at = text->find(secret, at)) != std::string::npos; at += kRedacted.size())
    text->replace(at, secret.size(), kRedacted);
}

Credentials::Credentials(const Config& config, Loop& loop) : config_(config), loop_(loop) {
  if (config_.exec) {
    StartExec();
  } else {
    ReadFiles();
    ready_ = true;
  }
}

Credentials::~Credentials() {
  *alive_ = false;
  ending_ = true;
  loop_.CancelTimer(refresh_timer_);
  if (exec_thread_.joinable()) exec_thread_.join();
}

void Credentials::Apply(Credential next) {
  const bool same = next.authorization == current_->authorization &&
                    next.client_cert_pem == current_->client_cert_pem &&
                    next.client_key_pem == current_->client_key_pem;
  if (same && current_->generation > 0) return;
  next.impersonation = config_.impersonation;
  next.generation = current_->generation + 1;
  current_ = std::make_shared<const Credential>(std::move(next));
}

// Reads certificate and key. A rotation replaces both files, and one of them may still be old.
void Credentials::ReadPair(Credential* next) {
  const bool first = current_->generation == 0;
  const std::string last_cert = first ? config_.client_cert_pem : current_->client_cert_pem;
  const std::string last_key = first ? config_.client_key_pem : current_->client_key_pem;
  next->client_cert_pem = ReadOrKeep(config_.client_cert_file, last_cert);
  next->client_key_pem = ReadOrKeep(config_.client_key_file, last_key);
  const bool from_files = !config_.client_cert_file.empty() || !config_.client_key_file.empty();
  const bool torn_before = std::exchange(torn_pair_, from_files && !ClientPairWorks(*next));
  if (!torn_pair_) return;
  if (!torn_before)
    base::LogWarn("the client certificate cannot be used with the key next to it; the last pair stays in use",
                  {{"file", config_.client_cert_file.empty() ? config_.client_key_file : config_.client_cert_file}});
  next->client_cert_pem = last_cert;
  next->client_key_pem = last_key;
}

void Credentials::ReadFiles() {
  Credential next;
  ReadPair(&next);
  files_due_ms_ = loop_.Now() + (torn_pair_ ? kTornPairMaxAgeMs : kFileMaxAgeMs);
  if (!config_.token_file.empty()) {
    const std::string token = Trimmed(ReadOrKeep(config_.token_file, ""));
    next.authorization = token.empty() ? current_->authorization : "Bearer " + token;
  } else if (!config_.token.empty()) {
    next.authorization = "Bearer " + config_.token;
  } else if (!config_.username.empty()) {
    next.authorization = "Basic " + base::EncodeBase64(config_.username + ":" + config_.password);
  }
  Apply(std::move(next));
}

std::shared_ptr<const Credential> Credentials::Current() {
  TUTTI_CHECK(ready_, "a request before the first credential");
  const bool from_files =
      !config_.token_file.empty() || !config_.client_cert_file.empty() || !config_.client_key_file.empty();
  if (!config_.exec && from_files && loop_.Now() >= files_due_ms_) ReadFiles();
  return current_;
}

void Credentials::WhenReady(Task then) {
  if (ready_) return then();
  waiting_.push_back(std::move(then));
}

void Credentials::Renew(uint64_t stale_generation, absl::AnyInvocable<void(bool)> then) {
  if (current_->generation != stale_generation) return then(true);
  if (!config_.exec) {
    ReadFiles();
    return then(current_->generation != stale_generation);
  }
  if (exec_retry_ms_ > 0 && !exec_running_) return then(false);  // it failed a moment ago
  waiting_.push_back(
      [this, stale_generation, then = std::move(then)]() mutable { then(current_->generation != stale_generation); });
  StartExec();
}

void Credentials::StartExec() {
  if (exec_running_) return;
  exec_running_ = true;
  RereadAuthorities(&config_);                       // the plugin may get the authorities
  if (exec_thread_.joinable()) exec_thread_.join();  // it has posted its result, so it ends at once
  exec_thread_ = std::thread([this, plugin = *config_.exec, cluster = config_, alive = alive_, &loop = loop_] {
    auto result = RunExecPlugin(plugin, cluster, kExecPatienceMs, &ending_);
    loop.Post([this, alive, result = std::move(result)]() mutable {
      if (*alive) ExecDone(std::move(result));
    });
  });
}

void Credentials::ExecDone(base::Result<ExecCredential> result) {
  exec_running_ = false;
  base::Millis again_ms = -1;
  bool useful = false;
  if (result) {
    Credential next;
    if (!result->token.empty()) next.authorization = "Bearer " + result->token;
    next.client_cert_pem = result->client_cert_pem.empty() ? config_.client_cert_pem : result->client_cert_pem;
    next.client_key_pem = result->client_key_pem.empty() ? config_.client_key_pem : result->client_key_pem;
    Apply(std::move(next));
    ready_ = true;
    const base::Millis left = result->expires_wall_ms - loop_.clock().WallMs();
    const bool expires = result->expires_wall_ms >= 0;
    if (expires) again_ms = std::max(left - kRefreshBeforeExpiryMs, left / 2);
    useful = !expires || again_ms >= kFirstRetryMs;
    if (!useful) base::LogWarn("an exec plugin's credential has expired on arrival, by this machine's clock");
  } else {
    base::LogError("no credential", {{"error", result.error().message}});
  }
  exec_retry_ms_ = useful ? 0 : std::min(std::max(2 * exec_retry_ms_, kFirstRetryMs), kLongestRetryMs);
  if (!useful) again_ms = exec_retry_ms_;
  loop_.CancelTimer(refresh_timer_);
  refresh_timer_ = again_ms < 0 ? 0 : loop_.After(again_ms, [this] { StartExec(); });
  if (!ready_) return;
  for (Task& task : std::exchange(waiting_, {})) task();
}

}  // namespace tutti::kube
