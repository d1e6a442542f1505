// SPDX-License-Identifier: Apache-2.0
// Pem: certificates and keys as text.
#pragma once

#include <openssl/bio.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

namespace tutti::kube {

using BioPtr = std::unique_ptr<BIO, decltype(&BIO_free)>;
using X509Ptr = std::unique_ptr<X509, decltype(&X509_free)>;
// Makes a BIO that reads `text`, which must outlive it.
BioPtr Memory(const std::string& text);

// Tells whether the text holds a readable certificate, or private key.
bool HoldsCertificate(const std::string& pem);
bool HoldsPrivateKey(const std::string& pem);

}  // namespace tutti::kube
