// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/limits/pod_wire.h"

#include <map>
#include <string_view>

#include "base/check.h"
#include "base/json.h"
#include "kube/wire.h"

namespace tutti::bench {
namespace {

using base::Json;
using kube::WireWriter;

struct Field;
using Message = std::map<std::string_view, Field>;

// A field of a message. A list is written as its items, one after the other.
struct Field {
  uint32_t number = 0;
  enum class As { kPlain, kMessage, kTexts, kAmounts, kTime, kNothing } as = As::kPlain;
  const Message* message = nullptr;
  uint32_t within = 0;  // an enclosing message that JSON does not have
};
using As = Field::As;

Field Of(uint32_t number, const Message& message) { return {number, As::kMessage, &message}; }
Field Texts(uint32_t number) { return {number, As::kTexts}; }

const Message kRequirement = {{"key", {1}}, {"operator", {2}}, {"values", {3}}};
const Message kSelector = {{"matchLabels", Texts(1)}, {"matchExpressions", Of(2, kRequirement)}};
const Message kNodeTerm = {{"matchExpressions", Of(1, kRequirement)}, {"matchFields", Of(2, kRequirement)}};
const Message kNodeTerms = {{"nodeSelectorTerms", Of(1, kNodeTerm)}};
const Message kPreferredNodeTerm = {{"weight", {1}}, {"preference", Of(2, kNodeTerm)}};
const Message kNodeAffinity = {{"requiredDuringSchedulingIgnoredDuringExecution", Of(1, kNodeTerms)},
                               {"preferredDuringSchedulingIgnoredDuringExecution", Of(2, kPreferredNodeTerm)}};
const Message kPodTerm = {{"labelSelector", Of(1, kSelector)},
                          {"namespaces", {2}},
                          {"topologyKey", {3}},
                          {"namespaceSelector", Of(4, kSelector)}};
const Message kPreferredPodTerm = {{"weight", {1}}, {"podAffinityTerm", Of(2, kPodTerm)}};
const Message kPodAffinity = {{"requiredDuringSchedulingIgnoredDuringExecution", Of(1, kPodTerm)},
                              {"preferredDuringSchedulingIgnoredDuringExecution", Of(2, kPreferredPodTerm)}};
const Message kAffinity = {{"nodeAffinity", Of(1, kNodeAffinity)},
                           {"podAffinity", Of(2, kPodAffinity)},
                           {"podAntiAffinity", Of(3, kPodAffinity)}};
const Message kResources = {{"limits", {1, As::kAmounts}}, {"requests", {2, As::kAmounts}}};
const Message kPort = {{"hostPort", {2}}, {"containerPort", {3}}, {"hostIP", {5}}};
const Message kContainer = {
    {"name", {1}}, {"image", {2}}, {"ports", Of(6, kPort)}, {"resources", Of(8, kResources)}, {"restartPolicy", {24}}};
const Message kToleration = {{"key", {1}}, {"operator", {2}}};
const Message kSpread = {
    {"maxSkew", {1}}, {"topologyKey", {2}}, {"whenUnsatisfiable", {3}}, {"labelSelector", Of(4, kSelector)}};
const Message kClaim = {{"claimName", {1}}}, kDisk = {{"pdName", {1}}};
const Message kVolume = {{"name", {1}},
                         {"persistentVolumeClaim", {10, As::kMessage, &kClaim, 2}},
                         {"gcePersistentDisk", {3, As::kMessage, &kDisk, 2}}};
const Message kSpec = {{"volumes", Of(1, kVolume)},
                       {"containers", Of(2, kContainer)},
                       {"nodeSelector", Texts(7)},
                       {"nodeName", {10}},
                       {"affinity", Of(18, kAffinity)},
                       {"schedulerName", {19}},
                       {"initContainers", Of(20, kContainer)},
                       {"tolerations", Of(22, kToleration)},
                       {"priority", {25}},
                       {"topologySpreadConstraints", Of(33, kSpread)}};
const Message kMeta = {{"name", {1}},         {"namespace", {3}},
                       {"uid", {5}},          {"creationTimestamp", {8, As::kTime}},
                       {"labels", Texts(11)}, {"annotations", Texts(12)}};
const Message kPod = {{"kind", {0, As::kNothing}}, {"metadata", Of(1, kMeta)}, {"spec", Of(2, kSpec)}};

void Write(const Json& object, const Message& message, WireWriter& w);

void WriteOne(const Json& value, const Field& field, WireWriter& w) {
  switch (field.as) {
    case As::kPlain:
      if (value.is_number())
        w.Number(field.number, value.get<int64_t>());
      else
        w.Bytes(field.number, value.get_ref<const std::string&>());
      break;
    case As::kMessage: w.Message(field.number, [&](WireWriter& inner) { Write(value, *field.message, inner); }); break;
    case As::kTexts:
    case As::kAmounts:
      for (const auto& [key, item] : value.items())
        w.Message(field.number, [&, &key = key, &item = item](WireWriter& entry) {
          entry.Bytes(1, key);
          const auto& text = item.template get_ref<const std::string&>();
          if (field.as == As::kTexts)
            entry.Bytes(2, text);
          else
            entry.Message(2, [&](WireWriter& quantity) { quantity.Bytes(1, text); });
        });
      break;
    case As::kTime: w.Message(field.number, [](WireWriter& time) { time.Number(1, 1'767'323'045); }); break;
    case As::kNothing: break;
  }
}

void WriteField(const Json& value, const Field& field, WireWriter& w) {
  if (!value.is_array()) return WriteOne(value, field, w);
  for (const Json& item : value) WriteOne(item, field, w);
}

void Write(const Json& object, const Message& message, WireWriter& w) {
  for (const auto& [key, value] : object.items()) {
    const auto at = message.find(key);
    TUTTI_CHECK(at != message.end(), "no field of a pod that is known here: " + key);
    if (at->second.within == 0)
      WriteField(value, at->second, w);
    else
      w.Message(at->second.within, [&, &value = value](WireWriter& inner) { WriteField(value, at->second, inner); });
  }
}

}  // namespace

std::string PodMessage(const Json& pod) {
  std::string message;
  WireWriter w(&message);
  Write(pod, kPod, w);
  return message;
}

}  // namespace tutti::bench
