// SPDX-License-Identifier: Apache-2.0
// The exec plugin half of credentials.h (client-go credential plugins, v1 and v1beta1).
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/base64.h"
#include "base/json.h"
#include "base/json_string.h"
#include "cluster/json_text.h"
#include "kube/credentials.h"
#include "kube/text_at.h"

extern char** environ;

namespace tutti::kube {
namespace {

using Json = base::Json;

using SteadyClock = std::chrono::steady_clock;

constexpr size_t kMostOutput = 1 << 20;
constexpr int kLookMs = 10;  // how often the time is checked

// Makes KUBERNETES_EXEC_INFO, the plugin's input.
std::string ExecInfo(const ExecPlugin& plugin, const Config& cluster) {
  Json spec = {{"interactive", false}};
  if (plugin.provide_cluster_info) {
    spec["cluster"] = {{"server", cluster.server}, {"insecure-skip-tls-verify", cluster.insecure_skip_tls_verify}};
    if (!cluster.tls_server_name.empty()) spec["cluster"]["tls-server-name"] = cluster.tls_server_name;
    if (!cluster.proxy_url.empty()) spec["cluster"]["proxy-url"] = cluster.proxy_url;
    if (!cluster.ca_pem.empty()) spec["cluster"]["certificate-authority-data"] = base::EncodeBase64(cluster.ca_pem);
    if (!cluster.exec_config.empty()) spec["cluster"]["config"] = cluster::ParseJson(cluster.exec_config);
  }
  return base::PrintJson({{"apiVersion", plugin.api_version}, {"kind", "ExecCredential"}, {"spec", spec}});
}

std::vector<std::string> Split(std::string_view text, char by) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == by)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

std::vector<std::string> Environment(const ExecPlugin& plugin, const Config& cluster) {
  std::vector<std::string> result;
  for (char** variable = environ; *variable != nullptr; ++variable) result.emplace_back(*variable);
  const auto set = [&](const std::string& name, const std::string& value) {
    std::erase_if(result, [&](const std::string& v) { return v.starts_with(name + "="); });
    result.push_back(name + "=" + value);
  };
  for (const auto& [name, value] : plugin.env) set(name, value);
  set("KUBERNETES_EXEC_INFO", ExecInfo(plugin, cluster));
  return result;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& s : strings) pointers.push_back(s.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Says when a plugin must end.
struct Patience {
  SteadyClock::time_point deadline;
  const std::atomic<bool>* unwanted;  // may be null
  bool over() const { return SteadyClock::now() >= deadline || (unwanted != nullptr && *unwanted); }
};

// Reads until the process closes `fd`. False if that takes too long, or if the process writes too much.
bool ReadAll(int fd, const Patience& patience, std::string* out) {
  std::array<char, 4096> buffer;
  while (out->size() < kMostOutput) {
    if (patience.over()) return false;
    pollfd wait{fd, POLLIN, 0};
    const int ready = poll(&wait, 1, kLookMs);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    if (ready < 0) return false;
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0;
    out->append(buffer.data(), static_cast<size_t>(got));
  }
  return false;
}

// Waits for the end of the process. False if it still runs when the time is over.
bool AwaitEnd(pid_t pid, const Patience& patience, int* status) {
  while (waitpid(pid, status, WNOHANG) == 0) {
    if (patience.over()) return false;
    poll(nullptr, 0, kLookMs);
  }
  return true;
}

// Resets the signals of the child. Otherwise it would inherit blocked and ignored signals, and no signal could end it.
void ResetSignals(posix_spawnattr_t* attributes) {
  sigset_t none, ours;
  sigemptyset(&none);
  sigemptyset(&ours);
  for (const int signal : {SIGTERM, SIGINT, SIGPIPE}) sigaddset(&ours, signal);
  posix_spawnattr_setsigmask(attributes, &none);
  posix_spawnattr_setsigdefault(attributes, &ours);
  posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

// Starts the plugin, which writes to `out` and `err`. Returns an errno; 0: it runs.
int Spawn(const ExecPlugin& plugin, const Config& cluster, int out, int err, pid_t* pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  posix_spawn_file_actions_adddup2(&actions, err, 2);
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);  // libcurl does not mark its sockets close-on-exec
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  ResetSignals(&attributes);
  std::vector<std::string> args = {plugin.command};
  args.insert(args.end(), plugin.args.begin(), plugin.args.end());
  std::vector<std::string> env = Environment(plugin, cluster);
  const int error =
      posix_spawnp(pid, plugin.command.c_str(), &actions, &attributes, Pointers(args).data(), Pointers(env).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

std::string Hint(const ExecPlugin& plugin) { return plugin.install_hint.empty() ? "" : "; " + plugin.install_hint; }

// Says which kubeconfig and user named the plugin, for messages.
std::string AskedBy(const Config& cluster) {
  return cluster.user.empty() ? "" : fmt::format(" (user {} in {})", cluster.user, cluster.source);
}

// Removes possible secrets: values of the plugin's environment in the kubeconfig, and long words of letters and digits,
// such as tokens.
std::string Redacted(std::string line, const ExecPlugin& plugin) {
  constexpr size_t kLongWord = 20;
  for (const auto& [name, value] : plugin.env)
    if (value.size() > 3) RedactAll(value, &line);
  std::string out, word;
  for (const char c : line + ' ') {
    if (std::isalnum(static_cast<unsigned char>(c)) || std::strchr("+_=-.", c) != nullptr) {
      word += c;
      continue;
    }
    const bool secret = word.size() >= kLongWord && word.find_first_of("0123456789") != std::string::npos;
    out += secret ? "[redacted]" : word;
    out += c;
    word.clear();
  }
  out.pop_back();
  return out;
}

// Returns the plugin's last line on stderr, without secrets: "; it wrote: …".
std::string LastWords(int file, const ExecPlugin& plugin) {
  constexpr off_t kMost = 1024;
  const off_t size = lseek(file, 0, SEEK_END);
  std::string text(static_cast<size_t>(std::clamp<off_t>(size, 0, kMost)), '\0');
  if (text.empty() || pread(file, text.data(), text.size(), size - static_cast<off_t>(text.size())) <= 0) return "";
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
  const std::string line = text.substr(text.rfind('\n') + 1);
  return line.empty() ? "" : "; it wrote: " + Redacted(line, plugin);
}

}  // namespace

base::Status FindExecPlugin(const Config& config) {
  if (!config.exec) return {};
  const ExecPlugin& plugin = *config.exec;
  const char* path = std::getenv("PATH");
  const auto runs = [](const std::string& file) { return access(file.c_str(), X_OK) == 0; };
  bool found = plugin.command.find('/') != std::string::npos && runs(plugin.command);
  if (plugin.command.find('/') == std::string::npos)
    for (const std::string& folder : Split(path ? path : "/bin:/usr/bin", ':'))
      found = found || runs((folder.empty() ? "." : folder) + "/" + plugin.command);
  if (found) return {};
  return base::Invalid(
      fmt::format("exec plugin {}{}: there is no such program{}", plugin.command, AskedBy(config), Hint(plugin)));
}

base::Result<ExecCredential> ParseExecCredential(const ExecPlugin& plugin, const std::string& printed) {
  const auto wrong = [&](std::string_view what) {
    return base::Invalid(fmt::format("exec plugin {}: {}", plugin.command, what));
  };
  const Json json = cluster::ParseJson(printed);
  if (!json.is_object()) return wrong("did not print an ExecCredential");
  if (json.value("kind", Json()) != "ExecCredential") return wrong("printed a kind other than ExecCredential");
  if (json.value("apiVersion", Json()) != plugin.api_version)
    return wrong(fmt::format("printed an apiVersion other than {}, which the kubeconfig asks for", plugin.api_version));
  const Json status = json.value("status", Json());
  if (!status.is_object()) return wrong("printed no status");
  const auto text = [&](const char* key) { return TextAt(status, key); };
  ExecCredential credential{text("token"), text("clientCertificateData"), text("clientKeyData"), -1};
  if (credential.client_cert_pem.empty() != credential.client_key_pem.empty())
    return wrong("printed only one of status.clientCertificateData and status.clientKeyData");
  if (credential.token.empty() && credential.client_cert_pem.empty())
    return wrong("printed neither status.token nor status.clientCertificateData");
  if (const std::string expires = text("expirationTimestamp"); !expires.empty()) {
    const auto time = base::ParseTime(expires);
    if (!time) return wrong("printed a status.expirationTimestamp that is not a time");
    credential.expires_wall_ms = *time;
  }
  return credential;
}

base::Result<ExecCredential> RunExecPlugin(const ExecPlugin& plugin, const Config& cluster, base::Millis patience_ms,
                                           const std::atomic<bool>* unwanted) {
  // A file takes any amount, so a plugin that writes much does not block, and no thread has to read meanwhile.
  const int err = memfd_create("exec-plugin-stderr", MFD_CLOEXEC);
  const auto close_err = std::unique_ptr<const int, void (*)(const int*)>(&err, [](const int* fd) { close(*fd); });
  int out[2];
  if (pipe2(out, O_CLOEXEC) != 0) return base::Fail(base::ErrorCode::kInternal, "exec plugin: no pipe");
  pid_t pid = 0;
  const int error = Spawn(plugin, cluster, out[1], err, &pid);
  close(out[1]);
  if (error != 0) {
    close(out[0]);
    return base::Fail(base::ErrorCode::kUnavailable, fmt::format("exec plugin {}{}: {}{}", plugin.command,
                                                                 AskedBy(cluster), std::strerror(error), Hint(plugin)));
  }
  const Patience patience{SteadyClock::now() + std::chrono::milliseconds(patience_ms), unwanted};
  std::string printed;
  int status = 0;
  const bool in_time = ReadAll(out[0], patience, &printed) && AwaitEnd(pid, patience, &status);
  close(out[0]);
  if (!in_time) {
    kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return base::Fail(base::ErrorCode::kUnavailable,
                      fmt::format("exec plugin {}: did not answer and end within {} ms", plugin.command, patience_ms));
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return base::Fail(base::ErrorCode::kUnavailable,
                      fmt::format("exec plugin {}{}: exit status {}{}{}", plugin.command, AskedBy(cluster),
                                  WIFEXITED(status) ? WEXITSTATUS(status) : -1, LastWords(err, plugin), Hint(plugin)));
  return ParseExecCredential(plugin, printed);
}

}  // namespace tutti::kube
