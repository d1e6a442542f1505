// SPDX-License-Identifier: Apache-2.0
#include "kube/credentials.h"

#include <chrono>

#include "base/file.h"
#include "base/mailbox.h"
#include "certificates.h"
#include "fakes.h"
#include "tests/support/catch.h"

namespace tutti::kube {
namespace {

TEST_CASE("a renewed client certificate is not used before its key is there") {
  const Folder folder;
  MakeCertificate(folder, "old");
  MakeCertificate(folder, "new");
  const auto content = [&](const char* name) { return *base::ReadFile(folder.At(name)); };
  Config config;
  config.client_cert_pem = content("old.crt");
  config.client_key_pem = content("old.key");
  config.client_cert_file = folder.Write("tls.crt", config.client_cert_pem);
  config.client_key_file = folder.Write("tls.key", config.client_key_pem);
  FakeLoop loop;
  Credentials credentials(config, loop);
  CHECK(credentials.Current()->client_cert_pem == content("old.crt"));

  folder.Write("tls.crt", content("new.crt"));
  loop.Advance(61'000);
  CHECK(credentials.Current()->client_cert_pem == content("old.crt"));
  CHECK(credentials.Current()->client_key_pem == content("old.key"));
  folder.Write("tls.key", content("new.key"));
  loop.Advance(1'000);
  CHECK(credentials.Current()->client_cert_pem == content("new.crt"));
  CHECK(credentials.Current()->client_key_pem == content("new.key"));
}

TEST_CASE("a process started between a new client certificate and its key has both soon") {
  const Folder folder;
  MakeCertificate(folder, "old");
  MakeCertificate(folder, "new");
  Config config;
  config.client_cert_pem = *base::ReadFile(folder.At("new.crt"));
  config.client_key_pem = *base::ReadFile(folder.At("old.key"));
  config.client_cert_file = folder.Write("tls.crt", config.client_cert_pem);
  config.client_key_file = folder.Write("tls.key", config.client_key_pem);
  FakeLoop loop;
  Credentials credentials(config, loop);
  folder.Write("tls.key", *base::ReadFile(folder.At("new.key")));
  loop.Advance(1'000);
  CHECK(credentials.Current()->client_key_pem == *base::ReadFile(folder.At("new.key")));
}

// A FakeLoop whose turn comes when an exec plugin's thread has posted.
class PluginLoop final : public Loop {
 public:
  void Post(Task task) override { posted_.Put(std::move(task)); }
  const base::Clock& clock() const override { return loop_.clock(); }
  TimerId After(base::Millis delay_ms, Task task) override {
    last_delay_ms = delay_ms;
    return loop_.After(delay_ms, std::move(task));
  }
  void CancelTimer(TimerId id) override { loop_.CancelTimer(id); }

  void RunPosted() {
    for (Task& task : posted_.TakeAll(std::chrono::seconds(60))) task();
  }
  void Advance(base::Millis by_ms) { loop_.Advance(by_ms); }

  base::Millis last_delay_ms = 0;

 private:
  FakeLoop loop_;
  base::Mailbox<Task> posted_;
};

TEST_CASE("an exec plugin whose credential has expired on arrival is started with growing pauses") {
  const Folder folder;
  Config config;
  config.exec.emplace();
  config.exec->api_version = "client.authentication.k8s.io/v1";
  config.exec->command = "/bin/cat";
  config.exec->args = {folder.Write("credential", R"({"apiVersion":"client.authentication.k8s.io/v1",
      "kind":"ExecCredential","status":{"token":"t","expirationTimestamp":"2020-01-01T00:00:00Z"}})")};
  PluginLoop loop;
  int not_worth_it = 0;
  Credentials credentials(config, loop);
  std::vector<base::Millis> pauses;
  for (int i = 0; i < 8; ++i) {
    loop.RunPosted();
    REQUIRE(credentials.ready());  // our clock may be what is wrong
    pauses.push_back(loop.last_delay_ms);
    credentials.Renew(1, [&](bool worth_retrying) { not_worth_it += worth_retrying ? 0 : 1; });
    CHECK(not_worth_it == i + 1);  // said at once: no plugin is started for it
    loop.Advance(loop.last_delay_ms);
  }
  CHECK(pauses == std::vector<base::Millis>{1'000, 2'000, 4'000, 8'000, 16'000, 32'000, 60'000, 60'000});
  loop.RunPosted();
}

TEST_CASE("an exec plugin that does not end is not waited for at the end") {
  Config config;
  config.exec.emplace();
  config.exec->command = "/bin/sleep";
  config.exec->args = {"20"};
  PluginLoop loop;
  const auto begun = std::chrono::steady_clock::now();
  {
    const Credentials credentials(config, loop);
  }
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(10));
}

}  // namespace
}  // namespace tutti::kube
