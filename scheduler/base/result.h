// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value, or why the world did not give one. Outcomes of scheduling are Verdicts, never errors;
// our own mistakes are CHECKs (base/check.h).
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace tutti::base {

// What kind of thing went wrong; all that a person needs is in the message.
enum class ErrorCode {
  kInvalid,      // the input is wrong; the message names the field and the remedy
  kNotFound,     // HTTP 404, or a file that cannot be read
  kUnavailable,  // network, 429, 5xx: may succeed later
  kInternal,
};

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = tl::expected<void, Error>;

inline tl::unexpected<Error> Fail(ErrorCode code, std::string message) {
  return tl::make_unexpected(Error{code, std::move(message)});
}
inline tl::unexpected<Error> Invalid(std::string message) { return Fail(ErrorCode::kInvalid, std::move(message)); }

}  // namespace tutti::base
