// SPDX-License-Identifier: Apache-2.0
#include "app/upstream_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "app/feature_gate_names.h"
#include "app/yaml_fields.h"
#include "base/duration.h"
#include "base/text.h"

namespace tutti::app {
namespace {

using Type = UpstreamFlag::Type;

constexpr std::string_view kNoPprof = "there is no /debug/pprof";
constexpr std::string_view kWrites =
    "maxInFlight of TuttiConfiguration and the API server's own flow control bound our writes";
constexpr std::string_view kHttp1 = "the pages are served by HTTP/1.1";
constexpr std::string_view kHeaders =
    "the front proxy is the one of the ConfigMap kube-system/extension-apiserver-authentication";
constexpr std::string_view kMetrics = "every metric is shown as it is";
constexpr std::string_view kUnbuffered = "each line is written to stderr at once";
constexpr std::string_view kVersions = "there is one behaviour, and it is not tied to a release of Kubernetes";

constexpr UpstreamFlag kFlags[] = {
    {"profiling", Type::kBool, "false", kNoPprof},
    {"contention-profiling", Type::kBool, "false", kNoPprof},
    {"kube-api-qps", Type::kNumber, "", kWrites},
    {"kube-api-burst", Type::kInteger, "", kWrites},
    {"kube-api-content-type", Type::kText, "application/vnd.kubernetes.protobuf",
     "protobuf is spoken wherever the API server knows it"},
    {"pod-max-in-unschedulable-pods-duration", Type::kDuration, "5m0s",
     "a pod that waits is looked at again when something happens that could help it"},
    {"cert-dir", Type::kText, "", "without --tls-cert-file the certificate is made in memory"},
    {"tls-sni-cert-key", Type::kText, "", "one certificate is served, that of --tls-cert-file"},
    {"tls-curve-preferences", Type::kText, "", "OpenSSL's own order of curves is used"},
    {"disable-http2-serving", Type::kBool, "true", kHttp1},
    {"http2-max-streams-per-connection", Type::kInteger, "0", kHttp1},
    {"permit-address-sharing", Type::kBool, "true", "SO_REUSEADDR is always set"},
    {"requestheader-client-ca-file", Type::kText, "", kHeaders},
    {"requestheader-allowed-names", Type::kText, "", kHeaders},
    {"requestheader-username-headers", Type::kText, "", kHeaders},
    {"requestheader-uid-headers", Type::kText, "", kHeaders},
    {"requestheader-group-headers", Type::kText, "", kHeaders},
    {"requestheader-extra-headers-prefix", Type::kText, "", kHeaders},
    {"emulated-version", Type::kText, "", kVersions},
    {"min-compatibility-version", Type::kText, "", kVersions},
    {"emulation-forward-compatible", Type::kBool, "false", kVersions},
    {"allow-metric-labels", Type::kText, "", kMetrics},
    {"allow-metric-labels-manifest", Type::kText, "", kMetrics},
    {"disabled-metrics", Type::kText, "", kMetrics},
    {"show-hidden-metrics-for-version", Type::kText, "", kMetrics},
    {"log-flush-frequency", Type::kDuration, "5s", kUnbuffered},
    {"log-json-info-buffer-size", Type::kText, "0", kUnbuffered},
    {"log-json-split-stream", Type::kBool, "false", kUnbuffered},
    {"log-text-info-buffer-size", Type::kText, "0", kUnbuffered},
    {"log-text-split-stream", Type::kBool, "false", kUnbuffered},
    {"vmodule", Type::kText, "", "-v is of the whole program"},
};

template <typename Number>
bool IsNumber(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// Says what a value of this type looks like; empty if `text` is one.
std::string_view Expected(Type type, std::string_view text) {
  switch (type) {
    case Type::kBool: return ParseGoBool(text) ? "" : "write true or false";
    case Type::kInteger: return IsNumber<int64_t>(text) ? "" : "write a whole number";
    case Type::kNumber: return IsNumber<double>(text) ? "" : "write a number";
    case Type::kDuration: return base::ParseDuration(std::string(text)) ? "" : "write a duration such as 5m30s";
    case Type::kText: break;
  }
  return "";
}

bool Same(Type type, std::string_view a, std::string_view b) {
  if (type == Type::kBool) return *ParseGoBool(a) == *ParseGoBool(b);
  if (type == Type::kDuration) return *base::ParseDuration(std::string(a)) == *base::ParseDuration(std::string(b));
  return a == b;
}

}  // namespace

std::span<const UpstreamFlag> UpstreamFlags() { return kFlags; }

base::Result<bool> ParseGoBool(std::string_view text) {
  if (const auto value = base::ParseGoBool(text)) return *value;
  return base::Invalid(fmt::format("\"{}\" is neither true nor false", text));
}

base::Result<std::vector<std::string>> NotesOnFlags(const std::map<std::string, std::string>& given) {
  std::vector<std::string> notes;
  for (const UpstreamFlag& flag : kFlags) {
    const auto at = given.find(std::string(flag.name));
    if (at == given.end()) continue;
    const std::string& value = at->second;
    if (const std::string_view expected = Expected(flag.type, value); !expected.empty())
      return base::Invalid(fmt::format("--{}: \"{}\": {}", flag.name, value, expected));
    const bool quiet = flag.quiet.empty() ? value.empty() : Same(flag.type, value, flag.quiet);
    if (!quiet) notes.push_back(fmt::format("--{} has no effect: {}", flag.name, flag.why));
  }
  return notes;
}

base::Result<std::vector<std::string>> NotesOnFeatureGates(const std::vector<std::string>& gates) {
  std::vector<std::string> notes, known;
  for (const std::string& gate : gates) {
    if (gate.empty()) continue;
    const size_t equals = gate.find('=');
    if (equals == std::string::npos)
      return base::Invalid(
          fmt::format("--feature-gates: {} has no value; write {}=true or {}=false", gate, gate, gate));
    if (const auto value = ParseGoBool(gate.substr(equals + 1)); !value)
      return base::Invalid(fmt::format("--feature-gates: {}: {}", gate.substr(0, equals), value.error().message));
    const size_t colon = gate.rfind(':', equals);
    const std::string name =
        gate.substr(colon == std::string::npos ? 0 : colon + 1, equals - (colon == std::string::npos ? 0 : colon + 1));
    if (std::ranges::binary_search(kFeatureGateNames, name)) {
      known.push_back(gate);
      continue;
    }
    const std::string_view meant = Closest(name, {std::begin(kFeatureGateNames), std::end(kFeatureGateNames)});
    notes.push_back(fmt::format("--feature-gates: {} is no feature gate of kube-scheduler {}{}", name,
                                kFeatureGatesRelease, meant.empty() ? "" : fmt::format("; did you mean {}?", meant)));
  }
  if (!known.empty())
    notes.push_back(fmt::format("--feature-gates {} has no effect: nothing in Tutti is behind a gate of Kubernetes",
                                fmt::join(known, ",")));
  return notes;
}

}  // namespace tutti::app
