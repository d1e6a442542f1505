// SPDX-License-Identifier: Apache-2.0
#include "app/config_extenders.h"

#include <absl/strings/escaping.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/file.h"
#include "kube/pem.h"
#include "kube/transport.h"

namespace tutti::app {
namespace {

constexpr int64_t kMostWeight = 10'000;  // with a score of 100 the sum stays far below 32 bits

// Reads PEM text from the field `data` (base64), or from the file that the field `file` names. `data` wins, as in
// kube-scheduler.
void ReadPem(Fields& tls, const char* data, const char* file, std::string* pem) {
  std::string encoded, path;
  tls.String(data, &encoded);
  tls.String(file, &path);
  if (!encoded.empty()) {
    if (!absl::Base64Unescape(encoded, pem)) tls.Complain(data, "is not base64");
    return;
  }
  if (path.empty()) return;
  auto text = base::ReadFile(path);
  if (text)
    *pem = *std::move(text);
  else
    tls.Complain(file, text.error().message);
}

void ReadTls(Fields tls, kube::ExtenderSpec* extender) {
  tls.Bool("insecure", &extender->insecure);
  tls.String("serverName", &extender->server_name);
  ReadPem(tls, "caData", "caFile", &extender->ca_pem);
  ReadPem(tls, "certData", "certFile", &extender->cert_pem);
  ReadPem(tls, "keyData", "keyFile", &extender->key_pem);
  if (!extender->ca_pem.empty() && !kube::HoldsCertificate(extender->ca_pem))
    tls.Complain("caData", "holds no certificate that can be read");
  if (extender->cert_pem.empty() != extender->key_pem.empty())
    tls.Complain("certData", "a certificate and its key are given together, or neither");
  else if (!extender->cert_pem.empty() &&
           (!kube::HoldsCertificate(extender->cert_pem) || !kube::HoldsPrivateKey(extender->key_pem)))
    tls.Complain("certData", "the certificate or its key cannot be read");
  if (extender->insecure && !extender->ca_pem.empty())
    tls.Complain("insecure", "a root certificate and insecure together make no sense; give one of them");
  tls.Done();
}

void ReadManagedResources(Fields& fields, kube::ExtenderSpec* extender, Config* config,
                          std::set<std::string>* managed) {
  fields.Sequence("managedResources", [&](Fields& one) {
    std::string name;
    bool ignored = false;
    one.String("name", &name);
    one.Bool("ignoredByScheduler", &ignored);
    one.Done();
    if (name.find('/') == std::string::npos) {
      one.Complain("name", fmt::format("\"{}\" is no extended resource; write it as DOMAIN/NAME", name));
    } else if (!managed->insert(name).second) {
      one.Complain("name", fmt::format("{} is managed by two extenders, or named twice", name));
    }
    extender->managed_resources.push_back(name);
    if (ignored) config->ignored_resources.push_back(name);
  });
}

kube::ExtenderSpec ReadExtender(Fields& fields, Config* config, std::set<std::string>* managed) {
  kube::ExtenderSpec extender;
  fields.String("urlPrefix", &extender.url_prefix);
  fields.String("filterVerb", &extender.filter_verb);
  fields.String("prioritizeVerb", &extender.prioritize_verb);
  fields.String("bindVerb", &extender.bind_verb);
  fields.String("preemptVerb", &extender.preempt_verb);
  fields.Integer("weight", extender.prioritize_verb.empty() ? 0 : 1, kMostWeight, &extender.weight);
  fields.Bool("enableHTTPS", &extender.https);
  fields.Bool("nodeCacheCapable", &extender.node_cache_capable);
  fields.Bool("ignorable", &extender.ignorable);
  fields.Duration("httpTimeout", &extender.http_timeout_ms);
  if (extender.http_timeout_ms <= 0) extender.http_timeout_ms = kube::ExtenderSpec().http_timeout_ms;
  ReadTls(fields.Map("tlsConfig"), &extender);
  if (extender.https && extender.ca_pem.empty()) extender.insecure = true;  // as in kube-scheduler
  ReadManagedResources(fields, &extender, config, managed);
  while (extender.url_prefix.ends_with('/')) extender.url_prefix.pop_back();
  const kube::Url url = kube::SplitUrl(extender.url_prefix);
  if ((url.scheme != "http" && url.scheme != "https") || !url.sound())
    fields.Complain("urlPrefix", fmt::format("\"{}\" is no http or https URL", extender.url_prefix));
  fields.Done();
  return extender;
}

}  // namespace

void ReadExtenders(Fields& fields, Config* config) {
  std::set<std::string> managed;
  fields.Sequence("extenders", [&](Fields& one) { config->extenders.push_back(ReadExtender(one, config, &managed)); });
  if (std::ranges::count_if(config->extenders, [](const auto& extender) { return !extender.bind_verb.empty(); }) > 1)
    fields.Complain("extenders", "only one of them may have a bindVerb");
}

void NoteExtendersAreNotAsked(Config* config) {
  if (!config->extenders.empty())
    config->notes.push_back("extenders are not asked: this verb sends nothing to other services");
}

}  // namespace tutti::app
