// SPDX-License-Identifier: Apache-2.0

#include "base/json.h"
#include "cluster/json_text.h"
#include "kube/decode.h"
#include "kube/field_numbers.h"
#include "kube/transport.h"

namespace tutti::kube {
namespace {

template <typename T>
T Get(const base::Json& object, const char* key, T fallback) {
  if (!object.is_object()) return fallback;
  const auto at = object.find(key);
  if (at == object.end()) return fallback;
  if constexpr (std::is_same_v<T, std::string>) {
    return at->is_string() ? at->template get<std::string>() : fallback;
  } else {
    return at->is_number_integer() ? at->template get<T>() : fallback;
  }
}

// Returns the wait in ms, or -1 for none, which is 0 on the wire.
base::Millis RetryAfterMs(int64_t seconds) { return seconds > 0 ? WaitMs(seconds) : -1; }

}  // namespace

ApiStatus DecodeStatusMessage(std::string_view message) {
  using F = field::Status;
  ApiStatus status;
  for (WireReader r(message); r.Next();) switch (r.field()) {
      case F::kMessage: status.message = r.text(); break;
      case F::kReason: status.reason = r.text(); break;
      case F::kDetails:
        for (WireReader details(r.bytes()); details.Next();)
          if (details.field() == field::StatusDetails::kRetryAfterSeconds)
            status.retry_after_ms = RetryAfterMs(details.number());
        break;
      case F::kCode: status.code = static_cast<int>(r.number()); break;
    }
  return status;
}

ApiStatus DecodeStatusObject(const base::Json& json) {
  ApiStatus status;
  if (Get<std::string>(json, "kind", "") != "Status") return status;
  status.code = Get<int>(json, "code", 0);
  status.reason = Get<std::string>(json, "reason", "");
  status.message = Get<std::string>(json, "message", "");
  if (const auto details = json.find("details"); details != json.end())
    status.retry_after_ms = RetryAfterMs(Get<int64_t>(*details, "retryAfterSeconds", 0));
  return status;
}

ApiStatus DecodeStatus(std::string_view body) {
  if (const auto envelope = OpenEnvelope(body)) {
    return envelope->kind == "Status" ? DecodeStatusMessage(envelope->raw) : ApiStatus{};
  }
  return DecodeStatusObject(cluster::ParseJson(body));
}

}  // namespace tutti::kube
