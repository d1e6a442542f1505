// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "base/json.h"
#include "kube/credentials.h"
#include "tests/support/catch.h"

namespace tutti::kube {
namespace {

constexpr const char* kExecV1 = "client.authentication.k8s.io/v1";

// A plugin whose token is what `script` leaves in $T.
ExecPlugin Script(const std::string& script) {
  ExecPlugin plugin;
  plugin.api_version = kExecV1;
  plugin.command = "/bin/sh";
  plugin.args = {"-c", script + R"(; printf '{"apiVersion":"%s","kind":"ExecCredential","status":{"token":"%s"}}' )" +
                           kExecV1 + R"( "$T")"};
  return plugin;
}

TEST_CASE("an exec plugin that has printed and does not end is ended") {
  ExecPlugin plugin = Script("T=t");
  plugin.args[1] += "; exec >&-; exec sleep 5";
  const auto credential = RunExecPlugin(plugin, Config{}, 200);
  REQUIRE_FALSE(credential);
  CHECK_THAT(credential.error().message, Catch::Contains("within 200 ms"));
}

TEST_CASE("an exec plugin has no signal blocked or ignored because this process has") {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigaddset(&blocked, SIGINT);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const auto ignored = std::signal(SIGPIPE, SIG_IGN);
  const auto credential =
      RunExecPlugin(Script(R"(T=$(grep -E 'SigBlk|SigIgn' /proc/$$/status | tr -d '\n\t'))"), Config{});
  std::signal(SIGPIPE, ignored);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  REQUIRE(credential);
  CHECK_THAT(credential->token, Catch::StartsWith("SigBlk:0000000000000000SigIgn:"));
  const uint64_t ignores = std::stoull(credential->token.substr(credential->token.rfind(':') + 1), nullptr, 16);
  CHECK((ignores & uint64_t{1} << (SIGPIPE - 1)) == 0);
}

TEST_CASE("a plugin that fails is quoted with its last line, without what may be a secret") {
  ExecPlugin plugin = Script("T=t");
  plugin.args[1] =
      R"(echo first >&2; echo "no session for $P with key AKIA0123456789ABCDEFGH in /home/user1234/.aws/credentials" >&2; exit 3)";
  plugin.env = {{"P", "hunter2"}};
  plugin.install_hint = "log in first";
  Config cluster;
  cluster.user = "dev";
  cluster.source = "config (context c)";
  const auto failed = RunExecPlugin(plugin, cluster);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message ==
        "exec plugin /bin/sh (user dev in config (context c)): exit status 3; it wrote: no session for [redacted] with "
        "key [redacted] in /home/user1234/.aws/credentials; log in first");
}

TEST_CASE("a plugin that is no program is found out before it is run") {
  Config config;
  CHECK(FindExecPlugin(config));
  config.exec = Script("T=t");
  CHECK(FindExecPlugin(config));
  config.exec->command = "sh";
  CHECK(FindExecPlugin(config));
  for (const char* command : {"/no/such/plugin", "no-such-plugin"}) {
    config.exec->command = command;
    CHECK_THAT(FindExecPlugin(config).error().message, Catch::Contains("there is no such program"));
  }
}

TEST_CASE("what an exec plugin prints may be nested as deeply as it likes") {
  ExecPlugin plugin;
  plugin.api_version = kExecV1;
  constexpr size_t kDeep = 400'000;
  const std::string deep = std::string(kDeep, '[') + std::string(kDeep, ']');
  const auto credential = ParseExecCredential(
      plugin, fmt::format(R"({{"apiVersion":"{}","kind":"ExecCredential","status":{{"token":"t"}},"more":{}}})",
                          kExecV1, deep));
  REQUIRE(credential);
  CHECK(credential->token == "t");
  Config cluster;
  cluster.exec_config = deep;
  plugin = Script(R"(T=$(printf '%s' "$KUBERNETES_EXEC_INFO" | wc -c))");
  plugin.provide_cluster_info = true;
  const auto told = RunExecPlugin(plugin, cluster);
  REQUIRE(told);
  CHECK(std::stoi(told->token) < 10'000);
}

TEST_CASE("an exec plugin has none of the files that this process has open") {
  const int ours = fcntl(1, F_DUPFD, 100);  // as libraries open theirs: not to be closed in a child
  REQUIRE(ours >= 0);
  const auto credential = RunExecPlugin(Script(fmt::format("test -e /proc/$$/fd/{}; T=$?", ours)), Config{});
  close(ours);
  REQUIRE(credential);
  CHECK(credential->token == "1");
}

TEST_CASE("an exec plugin is told all of the cluster that it may need") {
  Config cluster;
  cluster.server = "https://k";
  cluster.ca_pem = "CA-BYTES";
  cluster.exec_config = R"({"audience":"a"})";
  ExecPlugin plugin = Script(R"(T=$(printf %s "$KUBERNETES_EXEC_INFO" | od -An -v -tx1 | tr -d ' \n'))");
  plugin.provide_cluster_info = true;
  const auto credential = RunExecPlugin(plugin, cluster);
  REQUIRE(credential);
  std::string info;
  for (size_t i = 0; i < credential->token.size(); i += 2)
    info.push_back(static_cast<char>(std::stoi(credential->token.substr(i, 2), nullptr, 16)));
  const base::Json told = base::Json::parse(info)["spec"]["cluster"];
  CHECK(told["server"] == "https://k");
  CHECK(told["certificate-authority-data"] == "Q0EtQllURVM=");
  CHECK(told["config"]["audience"] == "a");
}

}  // namespace
}  // namespace tutti::kube
