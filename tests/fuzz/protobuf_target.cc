// SPDX-License-Identifier: Apache-2.0
// The first byte chooses what the rest is: an API server's body, a bare pod or node, metadata, a watch in two pieces,
// or a JSON list of objects that are sent as protobuf. What the protobuf of a pod, a node or a selection says must be
// what its JSON says, and what a SpecCache remembers what a new one reads.
#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/json.h"
#include "cluster/json_decode.h"
#include "cluster/json_text.h"
#include "cluster/selections.h"
#include "kube/decode.h"
#include "kube/watch_parser.h"
#include "model/field_counts.h"
#include "model/quantity.h"
#include "sim/api/protobuf_body.h"
#include "sim/store/strategy.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/to_protobuf.h"

namespace tutti::kube {
namespace {

using base::Json;

// --- Equal ---

// What fits nowhere, for an amount that is too large or cannot be read, may ask for whatever else.
model::PodSpec Comparable(model::PodSpec spec) {
  if (spec.saturated) spec.requests = {}, spec.nonzero_cpu = spec.nonzero_memory = 0;
  return spec;
}

void CheckSame(const model::Pod& a, const model::Pod& b) {
  TUTTI_CHECK(model::SameBut(a.meta, b.meta), "two readers disagree about a pod's metadata");
  TUTTI_CHECK(a.spec->saturated == b.spec->saturated, "an amount is readable for one reader only");
  TUTTI_CHECK(Comparable(*a.spec) == Comparable(*b.spec), "two readers disagree about a pod's spec");
  TUTTI_CHECK(model::SameBut(a, b, &model::Pod::meta, &model::Pod::spec), "two readers disagree about a pod");
}

void CheckSame(const model::Node& a, const model::Node& b) {
  TUTTI_CHECK(model::SameBut(a.meta, b.meta), "two readers disagree about a node's metadata");
  TUTTI_CHECK(model::SameBut(a, b, &model::Node::meta), "two readers disagree about a node");
}

// --- What an API server would send ---

void EraseIf(Json* object, const std::function<bool(const std::string& key, const Json& value)>& out) {
  auto& map = object->get_ref<Json::object_t&>();
  const auto gone =
      std::remove_if(map.begin(), map.end(), [&](const auto& item) { return out(item.first, item.second); });
  map.erase(gone, map.end());
}

void KeepOneSource(Json* volume) {
  bool found = false;
  EraseIf(volume, [&](const std::string& key, const Json&) { return key != "name" && std::exchange(found, true); });
}

void KeepReadable(Json* amounts) {
  EraseIf(amounts, [](const std::string&, const Json& amount) {
    const auto read = model::ParseMilli(sim::StringOf(amount));
    return !read || read->value < 0;
  });
}

// A kubelet writes amounts that can be read, and of each container and each condition one.
void CleanList(Json* status, const char* list, const char* key, std::set<std::string>* seen) {
  if (!status->contains(list)) return;
  std::erase_if(*(*status)[list].get_ptr<Json::array_t*>(),
                [&](const Json& item) { return !seen->insert(sim::DigString(item, key)).second; });
  for (Json& item : (*status)[list]) {
    if (item.contains("allocatedResources")) KeepReadable(&item["allocatedResources"]);
    for (const char* amounts : {"requests", "limits"})
      if (sim::Dig(item, "resources", amounts).is_object()) KeepReadable(&item["resources"][amounts]);
  }
}

// `object` is of the types of its kind.
Json Stored(const std::string& kind, Json object) {
  Json& meta = sim::ObjectAt(object, "metadata");
  sim::SetDefault(meta, "name", "x");
  if (meta.contains("annotations")) meta["annotations"].erase("kubectl.kubernetes.io/last-applied-configuration");
  if (kind != "Pod") return object;
  sim::DefaultPod(object);
  sim::ObjectAt(object, "status");
  Json &spec = object["spec"], &status = object["status"];
  if (spec.contains("volumes"))
    for (Json& volume : spec["volumes"]) KeepOneSource(&volume);
  if (spec.contains("topologySpreadConstraints"))
    for (Json& constraint : spec["topologySpreadConstraints"]) sim::SetDefault(constraint, "maxSkew", 1);
  std::set<std::string> containers, conditions;
  CleanList(&status, "initContainerStatuses", "name", &containers);
  CleanList(&status, "containerStatuses", "name", &containers);
  CleanList(&status, "conditions", "type", &conditions);
  return object;
}

// --- Reading ---

std::shared_ptr<const model::Pod> ReadPod(std::string_view message, SpecCache* specs) {
  auto pod = DecodePod(message, specs);
  TUTTI_CHECK(pod->spec != nullptr, "a pod without a spec");
  for (const auto& item : pod->spec->requests) TUTTI_CHECK(item.second >= 0, "a negative request");
  SpecCache none;
  CheckSame(*pod, *DecodePod(message, &none));
  return pod;
}

std::optional<model::Selection::Kind> SelectionKind(const std::string& kind) {
  for (const model::ObjectKind& one : cluster::SelectionKinds())
    if (one.kind == kind) return cluster::FindSelectionKind(one.Name());
  return std::nullopt;
}

// The message of some object of that kind: read by sim, completed as an API server does, and written again.
void CheckReaders(const std::string& kind, std::string_view message, SpecCache* specs) {
  const auto body = [&](std::string_view text) { return sim::ParseProtobufBody(fuzz::InEnvelope("v1", kind, text)); };
  auto sent = body(message);
  if (!sent) return;
  const Json object = Stored(kind, *std::move(sent));
  const std::string written = fuzz::ToProtobuf(kind, object);
  const auto again = body(written);
  TUTTI_CHECK(again && fuzz::ToProtobuf(kind, *again) == written, "what sim reads is not what was written");

  std::vector<std::string> problems;
  if (kind == "Pod")
    CheckSame(*ReadPod(written, specs), cluster::DecodePodLeniently(object, &problems));
  else if (kind == "Node")
    CheckSame(*DecodeNode(written), cluster::DecodeNodeLeniently(object, &problems));
  else if (const auto selection = SelectionKind(kind))
    TUTTI_CHECK(DecodeSelection(*selection, written) == cluster::DecodeSelection(*selection, object, &problems),
                "two readers disagree about a selection");
}

void FromJson(std::string_view text, SpecCache* specs) {
  const Json list = cluster::ParseJson(text);
  for (const Json& object : sim::ArrayOf(list)) {
    const std::string& kind = sim::DigString(object, "kind");
    if (kind == "Pod" || kind == "Node" || SelectionKind(kind))
      CheckReaders(kind, fuzz::ToProtobuf(kind, object), specs);
  }
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
  switch (input[0] % 6) {
    case 0:
      if (const auto envelope = OpenEnvelope(rest)) {
        ListMeta meta;
        ForEachItem(envelope->raw, &meta, [&](std::string_view item) { ReadPod(item, &specs); });
      }
      (void)DecodeStatus(rest);
      break;
    case 1: ReadPod(rest, &specs), CheckReaders("Pod", rest, &specs); break;
    case 2: (void)DecodeNode(rest), CheckReaders("Node", rest, &specs); break;
    case 3: (void)DecodeMetaView(rest), (void)DecodeStatusMessage(rest); break;
    case 4: Feed(WatchParser(true), rest); break;
    default: FromJson(rest, &specs);
  }
}
