// SPDX-License-Identifier: Apache-2.0
#include "kube/credentials.h"

#include "base/file.h"
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

}  // namespace
}  // namespace tutti::kube
