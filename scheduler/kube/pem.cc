// SPDX-License-Identifier: Apache-2.0
#include "kube/pem.h"

#include <openssl/err.h>
#include <openssl/pem.h>

namespace tutti::kube {

BioPtr Memory(const std::string& text) {
  return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free};
}

bool HoldsCertificate(const std::string& pem) {
  const BioPtr text = Memory(pem);
  const X509Ptr read{PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr), &X509_free};
  ERR_clear_error();
  return read != nullptr;
}

bool HoldsPrivateKey(const std::string& pem) {
  const BioPtr text = Memory(pem);
  // The pass phrase is empty; without one OpenSSL would ask at the terminal.
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> read{
      PEM_read_bio_PrivateKey(text.get(), nullptr, nullptr, const_cast<char*>("")), &EVP_PKEY_free};
  ERR_clear_error();
  return read != nullptr;
}

}  // namespace tutti::kube
