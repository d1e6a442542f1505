// SPDX-License-Identifier: Apache-2.0
#include "rpc/client_ca.h"

#include <utility>

namespace tutti::rpc {
namespace {

constexpr base::Millis kMaxAgeMs = 60'000, kUnknownMaxAgeMs = 1'000;

}  // namespace

std::string ClientCa::Known() {
  if (!read_) return "";
  const base::MutexLock lock(mutex_);
  if (!reading_ && clock_.MonotonicMs() >= next_ms_) {
    reading_ = true;
    workers_.Post([this] { Read(); });
  }
  return known_;
}

void ClientCa::Read() {
  auto trust = read_();
  const base::MutexLock lock(mutex_);
  // The library takes no text without a certificate.
  if (trust && trust->client_ca.find("-----BEGIN CERTIFICATE-----") != std::string::npos)
    known_ = std::move(trust->client_ca);
  next_ms_ = clock_.MonotonicMs() + (known_.empty() ? kUnknownMaxAgeMs : kMaxAgeMs);
  reading_ = false;
}

}  // namespace tutti::rpc
