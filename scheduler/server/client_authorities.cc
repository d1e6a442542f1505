// SPDX-License-Identifier: Apache-2.0
#include "server/client_authorities.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/log.h"

namespace tutti::server {
namespace {

constexpr base::Millis kMaxAgeMs = 60'000, kNoneMaxAgeMs = 1'000;

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

void FreeAll(STACK_OF(X509) * certificates) { sk_X509_pop_free(certificates, X509_free); }
using Certificates = std::unique_ptr<STACK_OF(X509), decltype(&FreeAll)>;

Certificates CertificatesIn(const std::string& pem) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())),
                                                       BIO_free);
  Certificates found(sk_X509_new_null(), FreeAll);
  while (X509* next = PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr)) sk_X509_push(found.get(), next);
  ERR_clear_error();
  return found;
}

// Makes a store of the certificates in `pem`; null if it has none.
std::shared_ptr<X509_STORE> StoreOf(const std::string& pem) {
  const Certificates certificates = CertificatesIn(pem);
  std::shared_ptr<X509_STORE> store(X509_STORE_new(), X509_STORE_free);
  // An intermediate authority in the file is trusted by itself, as in Go's certificate pools.
  X509_STORE_set_flags(store.get(), X509_V_FLAG_PARTIAL_CHAIN);
  bool any = false;
  for (int i = 0; i < sk_X509_num(certificates.get()); ++i)
    any = X509_STORE_add_cert(store.get(), sk_X509_value(certificates.get(), i)) == 1 || any;
  ERR_clear_error();
  return any ? store : nullptr;
}

std::string Utf8(const ASN1_STRING* string) {
  unsigned char* text = nullptr;
  const int size = ASN1_STRING_to_UTF8(&text, string);
  if (size < 0) return {};
  std::string out(reinterpret_cast<const char*>(text), static_cast<size_t>(size));
  OPENSSL_free(text);
  return out;
}

std::vector<std::string> Entries(const X509_NAME* name, int nid) {
  std::vector<std::string> found;
  for (int at = -1; (at = X509_NAME_get_index_by_NID(name, nid, at)) >= 0;)
    found.push_back(Utf8(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at))));
  return found;
}

bool Trusted(X509_STORE* store, X509* leaf, STACK_OF(X509) * others) {
  const std::unique_ptr<X509_STORE_CTX, decltype(&X509_STORE_CTX_free)> check(X509_STORE_CTX_new(),
                                                                              X509_STORE_CTX_free);
  const bool good = X509_STORE_CTX_init(check.get(), store, leaf, others) == 1 &&
                    X509_STORE_CTX_set_purpose(check.get(), X509_PURPOSE_SSL_CLIENT) == 1 &&
                    X509_verify_cert(check.get()) == 1;
  ERR_clear_error();
  return good;
}

}  // namespace

void ClientAuthorities::Install(SSL_CTX& context) const {
  // A resumed session would bring a certificate from a handshake that was not seen here.
  SSL_CTX_set_session_cache_mode(&context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(&context, SSL_OP_NO_TICKET);
  if (!read_) return;
  SSL_CTX_set_verify(&context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_cert_verify_callback(&context, [](X509_STORE_CTX*, void*) { return 1; }, nullptr);
}

bool ClientAuthorities::IsFresh(const Known* known) const {
  return known != nullptr && clock_.MonotonicMs() - known->read_ms < (known->clients ? kMaxAgeMs : kNoneMaxAgeMs);
}

std::shared_ptr<const ClientAuthorities::Known> ClientAuthorities::Current() {
  auto current = known_.Latest();
  if (IsFresh(current.get())) return current;
  if (!current) {
    reading_.acquire();  // before the first read no certificate can be judged
  } else if (!reading_.try_acquire()) {
    return current;
  }
  current = known_.Latest();  // another thread may have read it meanwhile
  if (!IsFresh(current.get())) current = Read(current.get());
  reading_.release();
  return current;
}

std::shared_ptr<const ClientAuthorities::Known> ClientAuthorities::Read(const Known* known) {
  auto fresh = std::make_shared<Known>(known != nullptr ? *known : Known{});
  auto trust = read_();
  fresh->read_ms = clock_.MonotonicMs();  // taken at the end: a failing read may last longer than its result is valid
  auto clients = trust ? StoreOf(trust->client_ca) : nullptr;
  if (clients) {
    fresh->clients = std::move(clients);
  } else {
    base::LogWarn("the cluster's client CA cannot be read; what was known of it stays in use",
                  {{"error", trust ? "it holds no PEM certificate" : trust.error().message}});
  }
  if (trust) fresh->unknown = false;
  if (trust && trust->proxy) {
    fresh->proxies = StoreOf(trust->proxy->ca);
    fresh->proxy = *std::move(trust->proxy);
  }
  known_.Publish(fresh);
  return fresh;
}

base::Result<std::optional<User>> ClientAuthorities::UserOf(const SSL* ssl, const HeaderFields& headers) {
  if (!read_ || ssl == nullptr) return std::nullopt;
  const Certificate leaf(SSL_get1_peer_certificate(ssl), X509_free);
  if (!leaf) return std::nullopt;
  return Judge(leaf.get(), SSL_get_peer_cert_chain(ssl), headers);
}

base::Result<std::optional<User>> ClientAuthorities::UserOf(const std::string& certificate, const std::string& chain) {
  if (!read_ || certificate.empty()) return std::nullopt;
  const Certificates leaf = CertificatesIn(certificate);
  if (sk_X509_num(leaf.get()) == 0) return base::Invalid("the client certificate cannot be read");
  return Judge(sk_X509_value(leaf.get(), 0), CertificatesIn(chain).get(), {});
}

base::Result<std::optional<User>> ClientAuthorities::Judge(X509* leaf, STACK_OF(X509) * others,
                                                           const HeaderFields& headers) {
  const auto known = Current();
  if (known->unknown) return base::Fail(base::ErrorCode::kUnavailable, "the cluster's client CA is not known yet");
  const X509_NAME* subject = X509_get_subject_name(leaf);
  const std::vector<std::string> names = Entries(subject, NID_commonName);
  if (known->proxies && known->proxy.HasName(names.empty() ? "" : names.back()) &&
      Trusted(known->proxies.get(), leaf, others))
    if (auto user = UserIn(headers, known->proxy)) return user;
  if (!known->clients || !Trusted(known->clients.get(), leaf, others))
    return base::Invalid("the client certificate is not trusted");
  if (names.empty() || names.back().empty()) return base::Invalid("the client certificate has no common name");
  return User{names.back(), "", Entries(subject, NID_organizationName), {}};
}

}  // namespace tutti::server
