// SPDX-License-Identifier: Apache-2.0
// The first byte chooses what the rest is: an API server's body, a bare message, or a watch in two pieces.
#include "base/check.h"
#include "kube/decode.h"
#include "kube/watch_parser.h"
#include "tests/fuzz/target.h"

namespace tutti::kube {
namespace {

void CheckPod(const model::Pod& pod) {
  TUTTI_CHECK(pod.spec != nullptr, "a pod without a spec");
  for (const auto& item : pod.spec->requests) TUTTI_CHECK(item.second >= 0, "a negative request");
}

void Feed(WatchParser parser, std::string_view input) {
  WatchParser::Each each = [](WatchType, WireObject object) {
    if (!object.protobuf.empty()) (void)DecodeMetaView(object.protobuf);
  };
  if (parser.Feed(input.substr(0, input.size() / 2), each)) (void)parser.Feed(input.substr(input.size() / 2), each);
}

}  // namespace
}  // namespace tutti::kube

TUTTI_FUZZ_TARGET(protobuf) {
  using namespace tutti::kube;
  if (input.empty()) return;
  const std::string_view rest = input.substr(1);
  SpecCache specs;
  switch (input[0] % 5) {
    case 0:
      if (const auto envelope = OpenEnvelope(rest)) {
        ListMeta meta;
        ForEachItem(envelope->raw, &meta, [&](std::string_view item) { CheckPod(*DecodePod(item, &specs)); });
      }
      (void)DecodeStatus(rest);
      break;
    case 1: CheckPod(*DecodePod(rest, &specs)); break;
    case 2: (void)DecodeNode(rest); break;
    case 3: (void)DecodeMetaView(rest), (void)DecodeStatusMessage(rest); break;
    default: Feed(WatchParser(true), rest);
  }
}
