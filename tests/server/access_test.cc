// SPDX-License-Identifier: Apache-2.0
#include "server/access.h"

#include "tests/support/catch.h"

namespace tutti::server {
namespace {

TEST_CASE("always allowed paths are exact, or prefixes that end in a star") {
  const AlwaysAllowed allowed({"/healthz", "/debug/*"});
  CHECK(allowed.Covers("/healthz"));
  CHECK_FALSE(allowed.Covers("/healthz/more"));
  CHECK_FALSE(allowed.Covers("/health"));
  CHECK(allowed.Covers("/debug/decisions"));
  CHECK_FALSE(allowed.Covers("/debugger"));
  CHECK_FALSE(AlwaysAllowed({}).Covers("/healthz"));
  CHECK(AlwaysAllowed(DefaultAlwaysAllowedPaths()).Covers("/livez"));
  CHECK_FALSE(AlwaysAllowed(DefaultAlwaysAllowedPaths()).Covers("/metrics"));
}

TEST_CASE("only a bearer token is a token") {
  CHECK(BearerToken("Bearer abc") == "abc");
  CHECK(BearerToken("bearer abc") == "abc");
  CHECK(BearerToken("Basic abc").empty());
  CHECK(BearerToken("Bearer ").empty());
  CHECK(BearerToken("").empty());
}

TEST_CASE("this machine's own addresses are told from others'") {
  for (const char* own : {"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"}) CHECK(IsLoopback(own));
  for (const char* other : {"", "10.0.0.1", "128.0.0.1", "::2", "::", "::ffff:10.0.0.1", "1127.0.0.1"})
    CHECK_FALSE(IsLoopback(other));
}

}  // namespace
}  // namespace tutti::server
