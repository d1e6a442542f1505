// SPDX-License-Identifier: Apache-2.0
#include "sim/store/decoded.h"

#include "base/log.h"
#include "cluster/json_decode.h"

namespace tutti::sim {
namespace {

void LogProblems(std::string_view kind, const Json& object, const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) {
    base::LogWarn("object has a field that cannot be read",
                  {{"kind", kind}, {"object", KeyOf(object)}, {"problem", problem}});
  }
}

}  // namespace

std::shared_ptr<const model::Pod> Decoded::Pod(const Object& object) {
  auto& [of, pod] = pods_[UidOf(*object)];
  if (of == object) return pod;
  std::vector<std::string> problems;
  // Members of one template come one after another, and most changes are of the status.
  auto& last = last_[DigString(*object, "spec", "nodeName").empty()           ? 0
                     : Child(*object, "status").contains("containerStatuses") ? 2
                                                                              : 1];
  std::shared_ptr<const model::PodSpec> spec;
  if (pod && !pod->spec->saturated && cluster::SameSpec(*of, *object))
    spec = pod->spec;
  else if (last.first && !last.second->saturated && cluster::SameSpec(*last.first, *object))
    spec = last.second;
  auto next = std::make_shared<model::Pod>(spec ? cluster::DecodePodLeniently(*object, spec, &problems)
                                                : cluster::DecodePodLeniently(*object, &problems));
  LogProblems("pods", *object, problems);
  if (pod && *pod->spec == *next->spec) next->spec = pod->spec;
  last = {object, next->spec};
  of = object;
  return pod = std::move(next);
}

std::shared_ptr<const model::Node> Decoded::Node(const Object& object) {
  auto& [of, node] = nodes_[UidOf(*object)];
  if (of == object) return node;
  std::vector<std::string> problems;
  node = std::make_shared<const model::Node>(cluster::DecodeNodeLeniently(*object, &problems));
  LogProblems("nodes", *object, problems);
  of = object;
  return node;
}

std::shared_ptr<const model::Object> Decoded::Other(const model::ObjectKind& kind, const Object& served) {
  auto& [of, known] = others_[UidOf(*served)];
  if (of == served) return known;
  auto decoded = cluster::DecodeObject(kind, served);
  if (!decoded) {
    LogProblems(kind.Name(), *served, {decoded.error().message});
    return nullptr;
  }
  known = std::make_shared<const model::Object>(std::move(*decoded));
  of = served;
  return known;
}

std::shared_ptr<const model::Selection> Decoded::Selection(model::Selection::Kind kind, std::string_view resource,
                                                           const Json& object) {
  std::vector<std::string> problems;
  auto selection = std::make_shared<const model::Selection>(cluster::DecodeSelection(kind, object, &problems));
  LogProblems(resource, object, problems);
  return selection;
}

void Decoded::Drop(const std::string& uid) {
  pods_.erase(uid);
  nodes_.erase(uid);
  others_.erase(uid);
}

}  // namespace tutti::sim
