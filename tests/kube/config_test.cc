// SPDX-License-Identifier: Apache-2.0
#include "kube/config.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/base64.h"
#include "base/file.h"
#include "certificates.h"
#include "fakes.h"
#include "folder.h"
#include "kube/credentials.h"
#include "tests/support/catch.h"

namespace tutti::kube {
namespace {

namespace fs = std::filesystem;

// PAIR-CERT and PAIR-KEY stand for a pair made in `folder`.
std::string Filled(const Folder& folder, std::string text) {
  MakeCertificate(folder, "pair");
  for (const auto& [word, file] : {std::pair("PAIR-CERT", "pair.crt"), std::pair("PAIR-KEY", "pair.key")})
    for (size_t at = 0; (at = text.find(word)) != std::string::npos;)
      text.replace(at, std::string_view(word).size(), base::EncodeBase64(*base::ReadFile(folder.At(file))));
  return text;
}

constexpr const char* kWhole = R"(
apiVersion: v1
kind: Config
current-context: prod
clusters:
- name: prod
  cluster:
    server: https://10.0.0.1:6443/
    certificate-authority-data: PAIR-CERT
    tls-server-name: kubernetes.default
    proxy-url: http://proxy:3128
- name: dev
  cluster: {server: "http://127.0.0.1:8080"}
contexts:
- name: prod
  context: {cluster: prod, user: robot, namespace: ml}
- name: dev
  context: {cluster: dev}
users:
- name: robot
  user:
    client-certificate-data: PAIR-CERT
    client-key-data: PAIR-KEY
    tokenFile: token
)";

TEST_CASE("a kubeconfig's current context is read whole") {
  const Folder folder;
  folder.Write("token", "t");
  const auto config = LoadConfig({folder.Write("config", Filled(folder, kWhole)), "", ""});
  REQUIRE(config);
  CHECK(config->server == "https://10.0.0.1:6443");
  CHECK(config->ca_pem == *base::ReadFile(folder.At("pair.crt")));
  CHECK(config->tls_server_name == "kubernetes.default");
  CHECK(config->proxy_url == "http://proxy:3128");
  CHECK(config->client_cert_pem == *base::ReadFile(folder.At("pair.crt")));
  CHECK(config->client_key_pem == *base::ReadFile(folder.At("pair.key")));
  CHECK(config->token_file == folder.At("token"));
  CHECK(config->default_namespace == "ml");
}

TEST_CASE("another context may be asked for, and another server") {
  const Folder folder;
  const auto config = LoadConfig({folder.Write("config", kWhole), "dev", "http://localhost:1"});
  REQUIRE(config);
  CHECK(config->server == "http://localhost:1");
  CHECK(config->token_file.empty());
}

TEST_CASE("of several files the first to name a thing wins, and paths are relative to their own file") {
  const Folder one, two;
  const std::string first = one.Write("a", R"(
current-context: c
contexts: [{name: c, context: {cluster: k, user: u}}]
users: [{name: u, user: {token: first}}]
)");
  const std::string second = two.Write("b", R"(
current-context: other
clusters: [{name: k, cluster: {server: "https://k", certificate-authority: ca.crt}}]
users: [{name: u, user: {token: second}}]
)");
  MakeCertificate(two, "ca");
  const auto config = LoadKubeconfig({first, one.At("missing"), second}, "");
  REQUIRE(config);
  CHECK(config->token == "first");
  CHECK(config->server == "https://k");
  CHECK(config->ca_pem == *base::ReadFile(two.At("ca.crt")));
}

TEST_CASE("errors name the file and the field, and no secret") {
  const Folder folder;
  const auto error = [&](const std::string& text, const std::string& context = "") {
    const auto config = LoadConfig({folder.Write("config", text), context, ""});
    REQUIRE_FALSE(config);
    CHECK(config.error().message.find(folder.At("config")) != std::string::npos);
    CHECK(config.error().message.find("SECRET") == std::string::npos);
    return config.error().message;
  };
  const std::string base = "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n";
  const auto with = [&](const std::string& cluster, const std::string& user) {
    return base + "clusters: [{name: k, cluster: " + cluster + "}]\nusers: [{name: u, user: " + user + "}]\n";
  };
  CHECK(error("a: [b", "").find("line") != std::string::npos);
  CHECK(error("clusters: []").find("current-context") != std::string::npos);
  CHECK(error(kWhole, "nope").find("contexts has no \"nope\"") != std::string::npos);
  CHECK(error(base).find("contexts[c].context.cluster") != std::string::npos);
  CHECK(error(with("{server: 10.0.0.1}", "{}")).find("clusters[k].cluster.server") != std::string::npos);
  CHECK(error(with("{server: 'https://k', certificate-authority: nofile}", "{}")).find("certificate-authority") !=
        std::string::npos);
  CHECK(error(with("{server: 'https://k'}", "{client-key-data: '!!SECRET'}"))
            .find("users[u].user.client-key-data is not base64") != std::string::npos);
  CHECK(error(with("{server: 'https://k'}", "{client-certificate-data: Q0VSVA==}")).find("client-key is missing") !=
        std::string::npos);
  CHECK(error(with("{server: 'https://k'}", "{token: [SECRET]}")).find("users[u].user.token must be a string") !=
        std::string::npos);
  CHECK(error(with("{server: 'https://k'}", "{exec: {command: x, apiVersion: v9}}"))
            .find("users[u].user.exec.apiVersion") != std::string::npos);
  const std::string k = "{server: 'https://k'}";
  CHECK(error(with(k, "{exec: SECRET}")).find("users[u].user.exec must be a map") != std::string::npos);
  const auto exec = [&](const std::string& more) {
    return with(k, "{exec: {apiVersion: client.authentication.k8s.io/v1, command: x, " + more + "}}");
  };
  for (const char* args : {"SECRET", "{A: SECRET}", "[[SECRET]]"})
    CHECK(error(exec(fmt::format("args: {}", args))).find("users[u].user.exec.args must be a list of strings") !=
          std::string::npos);
  for (const char* env : {"SECRET", "{A: SECRET}", "[SECRET]"})
    CHECK(error(exec(fmt::format("env: {}", env))).find("users[u].user.exec.env must be a list of name and value") !=
          std::string::npos);
  CHECK(LoadConfig({folder.Write("config", exec("args: ~, env: ~")), "", ""}));
  CHECK(LoadConfig({folder.Write("config", with(k, "{exec: ~}")), "", ""}));
  const std::string bytes = "U0VDUkVU";  // SECRET
  for (const char* server : {"foo", "https://k:99999", "https://k:0", "https://k:a", "https://", "https://k k"})
    CHECK(error(with(fmt::format("{{server: '{}'}}", server), "{}")).find("clusters[k].cluster.server must be a URL") !=
          std::string::npos);
  CHECK(error(with("{server: 'https://u:SECRET@k'}", "{}")).find("write users[].user") != std::string::npos);
  for (const char* proxy : {"http://u:SE/CRET@p", "http://u:SECRET#@p", "http://u:SECRET@@p", "http://u:SECRET @p",
                            "http://u:SECRET@p:99999", "gopher://u:SECRET@p", "u:SECRET@p"})
    CHECK(error(with(fmt::format("{{server: 'https://k', proxy-url: '{}'}}", proxy), "{}"))
              .find("clusters[k].cluster.proxy-url must be a URL") != std::string::npos);
  CHECK(error(with("{server: 'https://k', certificate-authority-data: " + bytes + "}", "{}"))
            .find("certificate-authority-data holds no certificate") != std::string::npos);
  CHECK(error(with(k, fmt::format("{{client-certificate-data: {}, client-key-data: {}}}", bytes, bytes)))
            .find("client-certificate-data holds no certificate") != std::string::npos);
  CHECK(error(Filled(folder, with(k, "{client-certificate-data: PAIR-CERT, client-key-data: " + bytes + "}")))
            .find("client-key-data holds no private key") != std::string::npos);
  CHECK(error(with(k, "{tokenFile: missing}")).find("users[u].user.tokenFile cannot be read: ") != std::string::npos);
  CHECK(error(with(k, "{as-groups: [g]}")).find("users[u].user.as is missing") != std::string::npos);
  CHECK(error(with(k, "{as: a, as-groups: g}")).find("as-groups must be a list") != std::string::npos);
  CHECK(error(with(k, "{as: a, as-user-extra: {k: v}}")).find("as-user-extra must be a map of lists") !=
        std::string::npos);
  for (const char* flag : {"maybe", "'true'", "1"})
    CHECK(error(with(fmt::format("{{server: 'https://k', insecure-skip-tls-verify: {}}}", flag), "{}"))
              .find("insecure-skip-tls-verify must be true or false") != std::string::npos);
  CHECK(
      error(
          with("{server: 'https://k', extensions: [{name: client.authentication.k8s.io/exec, extension: &e {e: *e}}]}",
               "{}"))
          .find("clusters[k].cluster.extensions is nested too deeply") != std::string::npos);
}

TEST_CASE("a proxy's URL may hold a user, whose password is escaped, and stand for an address of either family") {
  const Folder folder;
  for (const char* proxy :
       {"http://proxy", "https://u:p%40s%2Fs@proxy:3128/", "socks5://[::1]:1080", "http://u@[fd00::1]:1"})
    CHECK(LoadConfig({folder.Write("config", fmt::format(R"(
current-context: c
contexts: [{{name: c, context: {{cluster: k}}}}]
clusters: [{{name: k, cluster: {{server: "https://k", proxy-url: "{}"}}}}]
)",
                                                         proxy)),
                      "", ""}));
}

TEST_CASE("--master is refused as a kubeconfig's server is, under its own name") {
  const Folder folder;
  const std::string file = folder.Write("config", Filled(folder, kWhole));
  folder.Write("token", "t");
  for (const char* master : {"foo", "https://k:99999", "ftp://k"}) {
    const auto config = LoadConfig({file, "", master});
    REQUIRE_FALSE(config);
    CHECK(config.error().message.starts_with("--master must be a URL such as https://10.0.0.1:6443"));
  }
  CHECK(LoadConfig({file, "", "https://u:p@k"}).error().message.starts_with("--master has a user in it"));
}

TEST_CASE("the impersonated user is said in headers") {
  const Folder folder;
  const auto config = LoadConfig({folder.Write("config", R"(
current-context: c
contexts: [{name: c, context: {cluster: k, user: u}}]
clusters: [{name: k, cluster: {server: "https://k"}}]
users:
- name: u
  user:
    as: system:serviceaccount:tutti-system:tutti
    as-uid: "7"
    as-groups: [system:serviceaccounts, "a b"]
    as-user-extra: {example.com/Team%: [one, two]}
)"),
                                  "", ""});
  REQUIRE(config);
  using Headers = std::vector<std::pair<std::string, std::string>>;
  const Headers wanted = {{"impersonate-user", "system:serviceaccount:tutti-system:tutti"},
                          {"impersonate-uid", "7"},
                          {"impersonate-group", "system:serviceaccounts"},
                          {"impersonate-group", "a b"},
                          {"impersonate-extra-example.com%2Fteam%25", "one"},
                          {"impersonate-extra-example.com%2Fteam%25", "two"}};
  CHECK(config->impersonation == wanted);
  FakeLoop loop;
  CHECK(Credentials(*config, loop).Current()->impersonation == wanted);
}

TEST_CASE("what a cluster's entry has for exec plugins is read with its types") {
  const Folder folder;
  const auto config = LoadConfig({folder.Write("config", R"(
current-context: c
contexts: [{name: c, context: {cluster: k}}]
clusters:
- name: k
  cluster:
    server: https://k
    extensions:
    - name: other.example/s
      extension: {audience: other}
    - name: client.authentication.k8s.io/exec
      extension: {audience: "1", port: 443, weights: [0.5, yes, ~], mode: 010}
)"),
                                  "", ""});
  REQUIRE(config);
  CHECK(config->exec_config == R"({"audience":"1","mode":8,"port":443,"weights":[0.5,true,null]})");
}

TEST_CASE("a client certificate and its key are read again wherever they came from a file") {
  const Folder folder;
  MakeCertificate(folder, "pair");
  const auto user = [&](const std::string& fields) {
    const auto config = LoadConfig({folder.Write("config", Filled(folder, R"(
current-context: c
contexts: [{name: c, context: {cluster: k, user: u}}]
clusters: [{name: k, cluster: {server: "https://k"}}]
users: [{name: u, user: {)" + fields + "}}]\n")),
                                    "", ""});
    REQUIRE(config);
    return *config;
  };
  for (const char* nothing : {"''", "~", "' '"}) {
    const Config config = user(fmt::format(
        "client-certificate-data: {0}, client-certificate: pair.crt, client-key-data: {0}, client-key: pair.key",
        nothing));
    CHECK(config.client_cert_file == folder.At("pair.crt"));
    CHECK(config.client_key_file == folder.At("pair.key"));
  }
  const Config config = user("client-certificate-data: PAIR-CERT, client-certificate: none, client-key: pair.key");
  CHECK(config.client_cert_file.empty());
  FakeLoop loop;
  Credentials credentials(config, loop);
  CHECK(credentials.Current()->client_key_pem == *base::ReadFile(folder.At("pair.key")));
  const std::string renewed = *base::ReadFile(folder.At("pair.key")) + "\n";
  folder.Write("pair.key", renewed);
  loop.Advance(61'000);
  CHECK(credentials.Current()->client_key_pem == renewed);
}

TEST_CASE("an API server's authorities are read again where they came from a file that still holds any") {
  const Folder folder;
  MakeCertificate(folder, "ca");
  MakeCertificate(folder, "new");
  const auto cluster = [&](const std::string& fields) {
    const auto config = LoadConfig({folder.Write("config", Filled(folder, R"(
current-context: c
contexts: [{name: c, context: {cluster: k}}]
clusters: [{name: k, cluster: {server: "https://k", )" + fields + "}}]\n")),
                                    "", ""});
    REQUIRE(config);
    return *config;
  };
  CHECK(cluster("certificate-authority-data: PAIR-CERT, certificate-authority: ca.crt").ca_file.empty());
  Config config = cluster("certificate-authority: ca.crt");
  const std::string before = config.ca_pem, after = *base::ReadFile(folder.At("new.crt"));
  CHECK_FALSE(RereadAuthorities(&config));
  folder.Write("ca.crt", "no PEM");
  CHECK_FALSE(RereadAuthorities(&config));
  fs::remove(folder.At("ca.crt"));
  CHECK_FALSE(RereadAuthorities(&config));
  CHECK(config.ca_pem == before);
  folder.Write("ca.crt", after);
  CHECK(RereadAuthorities(&config));
  CHECK(config.ca_pem == after);
  CHECK_FALSE(RereadAuthorities(&config));
}

TEST_CASE("an entry that says nothing is an empty one") {
  const Folder folder;
  const std::string path = folder.Write("config", R"(
current-context: c
clusters: [{name: k, cluster: {server: "https://h"}}]
users: [{name: u}, {name: v, user: null}]
contexts: [{name: c, context: {cluster: k, user: u}}, {name: d, context: {cluster: k, user: v}}, {name: e}]
)");
  CHECK(LoadKubeconfig({path}, "c"));
  CHECK(LoadKubeconfig({path}, "d"));
  CHECK_FALSE(LoadKubeconfig({path}, "e"));
}

TEST_CASE("a directory where a file belongs is an error that names it") {
  const Folder folder;
  const std::string directory = folder.At("");
  const auto config = LoadConfig({directory, "", ""});
  REQUIRE_FALSE(config);
  CHECK(config.error().message == directory + ": Is a directory");
  CHECK_FALSE(base::ReadFile(directory));
}

TEST_CASE("in a pod, the mounted account is used") {
  const Folder folder;
  MakeCertificate(folder, "ca");
  folder.Write("token", "t1\n");
  folder.Write("namespace", "scheduling");
  setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
  setenv("KUBERNETES_SERVICE_PORT", "443", 1);
  const auto config = LoadInCluster(folder.At(""));
  const std::string ca = *base::ReadFile(folder.At("ca.crt"));
  folder.Write("ca.crt", "no PEM");
  const auto without = LoadInCluster(folder.At(""));
  unsetenv("KUBERNETES_SERVICE_HOST");
  unsetenv("KUBERNETES_SERVICE_PORT");
  REQUIRE(config);
  REQUIRE_FALSE(without);
  CHECK(without.error().message.ends_with("ca.crt: holds no certificate in PEM"));
  CHECK(config->server == "https://[fd00::1]:443");
  CHECK(config->default_namespace == "scheduling");
  CHECK(config->ca_pem == ca);
  CHECK(fs::equivalent(config->ca_file, folder.At("ca.crt")));
}

TEST_CASE("a context is not asked for where there is no kubeconfig") {
  const std::optional<std::string> list =
      getenv("KUBECONFIG") ? std::optional<std::string>(getenv("KUBECONFIG")) : std::nullopt;
  unsetenv("KUBECONFIG");
  setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
  const auto config = LoadConfig({"", "prod", ""});
  unsetenv("KUBERNETES_SERVICE_HOST");
  if (list) setenv("KUBECONFIG", list->c_str(), 1);
  REQUIRE_FALSE(config);
  CHECK(config.error().message == "--context: there is no kubeconfig that could have \"prod\"; give --kubeconfig too");
}

TEST_CASE("a rotated token is used within a minute, and at once after a 401") {
  const Folder folder;
  Config config;
  config.token_file = folder.Write("token", "old\n");
  FakeLoop loop;
  Credentials credentials(config, loop);
  REQUIRE(credentials.ready());
  CHECK(credentials.Current()->authorization == "Bearer old");
  folder.Write("token", "new\n");
  CHECK(credentials.Current()->authorization == "Bearer old");
  const uint64_t before = credentials.Current()->generation;
  loop.Advance(61'000);
  CHECK(credentials.Current()->authorization == "Bearer new");
  CHECK(credentials.Current()->generation != before);

  folder.Write("token", "newer\n");
  bool worth_retrying = false;
  credentials.Renew(credentials.Current()->generation, [&](bool worth) { worth_retrying = worth; });
  CHECK(worth_retrying);
  CHECK(credentials.Current()->authorization == "Bearer newer");
  credentials.Renew(credentials.Current()->generation, [&](bool worth) { worth_retrying = worth; });
  CHECK_FALSE(worth_retrying);
  fs::remove(config.token_file);
  loop.Advance(61'000);
  CHECK(credentials.Current()->authorization == "Bearer newer");
}

TEST_CASE("an exec plugin is run with its arguments and environment") {
  const Folder folder;
  ExecPlugin plugin;
  plugin.api_version = "client.authentication.k8s.io/v1";
  plugin.command = "/bin/sh";
  plugin.args = {
      "-c",
      R"(printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s","expirationTimestamp":"2026-01-01T00:00:00Z"}}' "$MARK")"};
  plugin.env = {{"MARK", "m1"}};
  const auto credential = RunExecPlugin(plugin, Config{});
  REQUIRE(credential);
  CHECK(credential->token == "m1");
  CHECK(credential->expires_wall_ms == 1767225600000);

  plugin.args = {"-c", "echo SECRET; exit 3"};
  plugin.install_hint = "install it";
  const auto failed = RunExecPlugin(plugin, Config{});
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message == "exec plugin /bin/sh: exit status 3; install it");
  plugin.command = "/no/such/plugin";
  CHECK_FALSE(RunExecPlugin(plugin, Config{}));
}

TEST_CASE("what an exec plugin prints is checked") {
  const ExecPlugin plugin{"client.authentication.k8s.io/v1beta1", "aws", {}, {}, "", false};
  const auto parse = [&](const std::string& text) { return ParseExecCredential(plugin, text); };
  CHECK_FALSE(parse("nonsense"));
  CHECK_FALSE(parse(R"({"kind":"Pod","apiVersion":"client.authentication.k8s.io/v1beta1","status":{"token":"x"}})"));
  CHECK_FALSE(
      parse(R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"x"}})"));
  CHECK_FALSE(parse(R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","status":{}})"));
  CHECK_FALSE(parse(
      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","status":{"clientCertificateData":"c"}})"));
  CHECK(
      parse(R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","status":{"token":"x"}})"));
}

}  // namespace
}  // namespace tutti::kube
