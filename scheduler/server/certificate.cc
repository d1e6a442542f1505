// SPDX-License-Identifier: Apache-2.0
#include "server/certificate.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <cstdio>

#include "base/log.h"

namespace tutti::server {
namespace {

constexpr long kYearSeconds = 365L * 24 * 3600;

// Returns a text that changes with the file. Kubernetes replaces a Secret's files through a symbolic link, so it has
// inode and time of the link's target.
std::string StampOf(const std::string& file) {
  struct stat status{};
  if (stat(file.c_str(), &status) != 0) return "";
  return fmt::format("{}:{}.{}:{}", status.st_ino, status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_size);
}

std::string StampOf(const CertificateFiles& files) { return StampOf(files.cert) + StampOf(files.key); }

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
File Open(const std::string& path) { return File(std::fopen(path.c_str(), "r"), &std::fclose); }

// Refuses to give a pass phrase; by default OpenSSL would ask at the terminal.
int NoPassphrase(char*, int, int, void*) { return -1; }

void FreeChain(STACK_OF(X509) * chain) { sk_X509_pop_free(chain, X509_free); }

bool AddExtension(X509* cert, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, cert, cert, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  const bool added = extension != nullptr && X509_add_ext(cert, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

std::string SubjectAltNames(const std::string& host) {
  std::string names = "DNS:localhost,IP:127.0.0.1,IP:::1";
  in6_addr ignored;
  const bool address =
      inet_pton(AF_INET, host.c_str(), &ignored) == 1 || inet_pton(AF_INET6, host.c_str(), &ignored) == 1;
  if (!host.empty() && host != "localhost") names += fmt::format(",{}:{}", address ? "IP" : "DNS", host);
  return names;
}

bool Fill(X509* cert, EVP_PKEY* key, const std::string& host) {
  unsigned char serial[8];
  if (RAND_bytes(serial, sizeof serial) != 1) return false;
  serial[0] &= 0x7f;
  BIGNUM* number = BN_bin2bn(serial, sizeof serial, nullptr);
  const bool numbered = BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert)) != nullptr;
  BN_free(number);
  const std::string name = host.empty() ? "localhost" : host;
  X509_NAME* subject = X509_get_subject_name(cert);
  return numbered && X509_set_version(cert, X509_VERSION_3) == 1 &&
         X509_gmtime_adj(X509_getm_notBefore(cert), -60) != nullptr &&
         X509_gmtime_adj(X509_getm_notAfter(cert), kYearSeconds) != nullptr &&
         X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(name.c_str()),
                                    -1, -1, 0) == 1 &&
         X509_set_issuer_name(cert, subject) == 1 && X509_set_pubkey(cert, key) == 1 &&
         AddExtension(cert, NID_subject_alt_name, SubjectAltNames(host)) &&
         AddExtension(cert, NID_basic_constraints, "critical,CA:TRUE") &&
         AddExtension(cert, NID_ext_key_usage, "serverAuth") && X509_sign(cert, key, EVP_sha256()) > 0;
}

std::string TextOf(BIO* memory) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  return size > 0 ? std::string(data, static_cast<size_t>(size)) : std::string();
}

}  // namespace

base::Result<std::shared_ptr<const Certificate::Pair>> Certificate::Read(const CertificateFiles& files) {
  const std::string stamp = StampOf(files);
  const File cert_file = Open(files.cert);
  if (!cert_file) return base::Invalid(fmt::format("{}: cannot be read; is --tls-cert-file right?", files.cert));
  auto pair = std::make_shared<Pair>();
  pair->stamp = stamp;
  pair->cert.reset(PEM_read_X509(cert_file.get(), nullptr, nullptr, nullptr), X509_free);
  if (!pair->cert) return base::Invalid(fmt::format("{}: holds no PEM certificate", files.cert));
  pair->chain.reset(sk_X509_new_null(), FreeChain);
  while (X509* next = PEM_read_X509(cert_file.get(), nullptr, nullptr, nullptr)) sk_X509_push(pair->chain.get(), next);
  ERR_clear_error();  // the error of reading to the end; a handshake on this thread would take it for its own
  const File key_file = Open(files.key);
  if (!key_file) return base::Invalid(fmt::format("{}: cannot be read; is --tls-private-key-file right?", files.key));
  pair->key.reset(PEM_read_PrivateKey(key_file.get(), nullptr, &NoPassphrase, nullptr), EVP_PKEY_free);
  if (!pair->key) return base::Invalid(fmt::format("{}: holds no PEM private key without a passphrase", files.key));
  if (X509_check_private_key(pair->cert.get(), pair->key.get()) != 1) {
    return base::Invalid(fmt::format("{}: is not the key of {}", files.key, files.cert));
  }
  return pair;
}

base::Result<std::shared_ptr<Certificate>> Certificate::Load(CertificateFiles files) {
  auto pair = Read(files);
  if (!pair) return tl::make_unexpected(pair.error());
  std::shared_ptr<Certificate> made(new Certificate(std::move(files)));
  made->pair_.Publish(*std::move(pair));
  return made;
}

base::Result<std::shared_ptr<Certificate>> Certificate::SelfSigned(const std::string& host) {
  auto pair = std::make_shared<Pair>();
  pair->key.reset(EVP_EC_gen("P-256"), EVP_PKEY_free);
  pair->cert.reset(X509_new(), X509_free);
  pair->chain.reset(sk_X509_new_null(), FreeChain);
  if (!pair->key || !pair->cert || !Fill(pair->cert.get(), pair->key.get(), host)) {
    return base::Fail(base::ErrorCode::kInternal, "OpenSSL could not make a self-signed certificate");
  }
  std::shared_ptr<Certificate> made(new Certificate({}));
  made->pair_.Publish(std::move(pair));
  return made;
}

std::shared_ptr<const Certificate::Pair> Certificate::Current() {
  std::shared_ptr<const Pair> current = pair_.Latest();
  if (files_.cert.empty()) return current;
  const std::string stamp = StampOf(files_);
  if (stamp == current->stamp) return current;
  auto fresh = Read(files_);
  if (!fresh) {  // each handshake tries again, because the stamp does not change with the file's permissions
    if (const size_t hash = std::hash<std::string>()(stamp); refused_.exchange(hash) != hash)
      base::LogWarn("the new serving certificate is not usable; the old one stays", {{"error", fresh.error().message}});
    return current;
  }
  refused_ = 0;
  base::LogInfo("serving certificate read again", {{"file", files_.cert}});
  pair_.Publish(*fresh);
  return *fresh;
}

int Certificate::OnHandshake(SSL* ssl, void* self) {
  const std::shared_ptr<const Pair> pair = static_cast<Certificate*>(self)->Current();
  return SSL_use_cert_and_key(ssl, pair->cert.get(), pair->key.get(), pair->chain.get(), 1);
}

base::Result<Certificate::Pem> Certificate::CurrentPem() {
  const std::shared_ptr<const Pair> pair = Current();
  const std::unique_ptr<BIO, decltype(&BIO_free)> certificates(BIO_new(BIO_s_mem()), BIO_free);
  // Memory that OpenSSL wipes when it is freed.
  const std::unique_ptr<BIO, decltype(&BIO_free)> key(BIO_new(BIO_s_secmem()), BIO_free);
  bool written = PEM_write_bio_X509(certificates.get(), pair->cert.get()) == 1;
  for (int i = 0; i < sk_X509_num(pair->chain.get()); ++i)
    written = PEM_write_bio_X509(certificates.get(), sk_X509_value(pair->chain.get(), i)) == 1 && written;
  written = PEM_write_bio_PrivateKey(key.get(), pair->key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1 && written;
  if (!written) return base::Fail(base::ErrorCode::kInternal, "OpenSSL could not write the serving certificate");
  return Pem{TextOf(certificates.get()), TextOf(key.get())};
}

bool Certificate::Install(SSL_CTX& context) {
  SSL_CTX_set_cert_cb(&context, &Certificate::OnHandshake, this);
  return true;
}

}  // namespace tutti::server
