// SPDX-License-Identifier: Apache-2.0
// One JSON object, read as everything that is watched, and as a line of a watch.
#include "base/check.h"
#include "base/json.h"
#include "cluster/json_decode.h"
#include "cluster/json_text.h"
#include "cluster/storage_decode.h"
#include "kube/decode.h"
#include "kube/watch_parser.h"
#include "tests/fuzz/target.h"

namespace tutti::cluster {
namespace {

void Decode(const std::shared_ptr<const base::Json>& json) {
  std::vector<std::string> problems;
  const model::Pod pod = DecodePodLeniently(*json, &problems);
  for (const auto& item : pod.spec->requests) TUTTI_CHECK(item.second >= 0, "a negative request");
  TUTTI_CHECK(DecodePod(*json).has_value() == problems.empty(), "a strict reader and a lenient one disagree");
  problems.clear();
  (void)DecodeNodeLeniently(*json, &problems);
  const auto object = DecodeObject({"g", "things", "Thing", {"v1"}}, json);
  if (!object) return;
  (void)DecodeClaim(*object, &problems);
  (void)DecodeVolume(*object, &problems);
  (void)DecodeStorageClass(*object, &problems);
  (void)DecodeCsiNode(*object, &problems);
  (void)DecodeCsiDriver(*object, &problems);
  (void)DecodeStorageCapacity(*object, &problems);
  (void)DecodeVolumeAttachment(*object, &problems);
}

}  // namespace
}  // namespace tutti::cluster

TUTTI_FUZZ_TARGET(json) {
  using tutti::kube::WatchParser;
  WatchParser::Each each = [](tutti::kube::WatchType, const tutti::kube::WireObject& object) {
    if (object.json) tutti::cluster::Decode(object.json);
  };
  WatchParser parser(false);
  (void)parser.Feed(input, each);
  (void)tutti::kube::DecodeStatus(input);
  auto json = std::make_shared<tutti::base::Json>(tutti::cluster::ParseJson(input));
  if (json->is_object()) tutti::cluster::Decode(json);
}
