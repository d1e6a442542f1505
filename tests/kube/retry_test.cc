// SPDX-License-Identifier: Apache-2.0
#include "kube/retry.h"

#include "tests/support/catch.h"

namespace tutti::kube {
namespace {

TEST_CASE("an answer that was cut says why, though the server did what was asked") {
  Response cut;
  cut.status = 200;
  cut.failure = Response::Failure::kLost;
  cut.error = "the stream ended early";
  const Judgement judgement = Judge(cut);
  CHECK(judgement.meaning == Meaning::kDone);
  CHECK(judgement.message == "the stream ended early");
}

}  // namespace
}  // namespace tutti::kube
