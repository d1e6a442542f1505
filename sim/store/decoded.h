// SPDX-License-Identifier: Apache-2.0
// sim/store/decoded.h - objects as decoded, shared by the kubelets and the feeds of all schedulers on one store: each
// version of an object is decoded once, and a pod's spec is kept from one version to the next.
//
// One thread: the store's owner.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "model/node.h"
#include "model/object.h"
#include "model/pod.h"
#include "model/selection.h"
#include "sim/objects/object.h"

namespace tutti::sim {

class Decoded {
 public:
  std::shared_ptr<const model::Pod> Pod(const Object& object);
  std::shared_ptr<const model::Node> Node(const Object& object);
  // Null when it cannot be read. `served` is the object in the version watched.
  std::shared_ptr<const model::Object> Other(const model::ObjectKind& kind, const Object& served);
  // It is not kept. `resource`: for the log.
  static std::shared_ptr<const model::Selection> Selection(model::Selection::Kind kind, std::string_view resource,
                                                           const Json& object);
  void Drop(const std::string& uid);

 private:
  template <class T>
  using Versions = std::unordered_map<std::string, std::pair<Object, std::shared_ptr<const T>>>;  // the last, by uid
  Versions<model::Pod> pods_;
  // The last pods whose specs were read: one that waits, one that is bound, and one that runs.
  static constexpr size_t kStages = 3;
  std::array<std::pair<Object, std::shared_ptr<const model::PodSpec>>, kStages> last_;
  Versions<model::Node> nodes_;
  Versions<model::Object> others_;
};

}  // namespace tutti::sim
