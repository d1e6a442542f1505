// SPDX-License-Identifier: Apache-2.0
#include "app/ctl_queue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "kube/api_path.h"
#include "sim/objects/object.h"

namespace tutti::app {
namespace {

using base::Json;
using sim::DigString;

struct QueueKind {
  std::string_view group, kind, word, short_word;
  bool namespaced = false;

  bool is_volcano() const { return kind == "Queue"; }
  std::string resource() const { return std::string(word) + "s"; }
};
constexpr QueueKind kKinds[] = {{"scheduling.volcano.sh", "Queue", "queue", "q"},
                                {"kueue.x-k8s.io", "ClusterQueue", "clusterqueue", "cq"},
                                {"kueue.x-k8s.io", "LocalQueue", "localqueue", "lq", true}};

// Whether a user names the kind so: "cq", "ClusterQueue", "clusterqueues.kueue.x-k8s.io".
bool IsNamed(const QueueKind& kind, std::string_view by) {
  const size_t dot = by.find('.');
  if (dot != std::string_view::npos && by.substr(dot + 1) != kind.group) return false;
  const std::string word = base::LowerCase(by.substr(0, dot));
  return word == kind.word || word == kind.resource() || word == kind.short_word;
}

struct FoundQueue {
  const QueueKind* kind;
  std::string path;  // in the API
  Json object;

  std::string Name() const {
    return fmt::format("{}.{}/{}", kind->word, kind->group, DigString(object, "metadata", "name"));
  }
};

// Nothing: there is none, or the kind is not served.
base::Result<std::optional<FoundQueue>> FindQueue(ApiClient& api, const QueueKind& kind, const std::string& name,
                                                  const std::string& ns) {
  const auto missing = [](const base::Error& error) -> base::Result<std::optional<FoundQueue>> {
    if (error.code == base::ErrorCode::kNotFound) return std::nullopt;
    return tl::make_unexpected(error);
  };
  const auto group = api.Get(fmt::format("/apis/{}", kind.group));
  if (!group) return missing(group.error());
  std::string path = kube::ObjectPath(kind.group, DigString(*group, "preferredVersion", "version"), kind.resource(),
                                      kind.namespaced ? ns : "", name);
  auto object = api.Get(path);
  if (!object) return missing(object.error());
  return FoundQueue{&kind, std::move(path), *std::move(object)};
}

// The queue of this name. `by`: the kind, as the user names it; empty: of any kind.
base::Result<FoundQueue> FindTheQueue(ApiClient& api, const std::string& by, const std::string& name,
                                      const std::string& ns) {
  std::vector<FoundQueue> found;
  std::vector<std::string_view> asked;
  for (const QueueKind& kind : kKinds) {
    if (!by.empty() && !IsNamed(kind, by)) continue;
    asked.push_back(kind.kind);
    auto queue = FindQueue(api, kind, name, ns);
    if (!queue && by.empty())
      return base::Fail(queue.error().code,
                        fmt::format("{}; write the kind, as localqueue/{}", queue.error().message, name));
    if (!queue) return tl::make_unexpected(queue.error());
    if (*queue) found.push_back(**std::move(queue));
  }
  if (asked.empty())
    return base::Invalid(fmt::format("{} is no kind of queue; write queue, clusterqueue or localqueue", by));
  if (found.empty())
    return base::Fail(base::ErrorCode::kNotFound, fmt::format("there is no {} {}", fmt::join(asked, " and no "), name));
  if (found.size() == 1) return std::move(found[0]);
  std::vector<std::string> names;
  for (const FoundQueue& queue : found) names.push_back(queue.Name());
  return base::Invalid(fmt::format("{} may be {}; write the kind before its name", name, fmt::join(names, " or ")));
}

base::Result<std::string> Command(ApiClient& api, QueueAction action, const FoundQueue& queue) {
  if (action == QueueAction::kHold)
    return base::Invalid(fmt::format(
        "{} is a queue of Volcano, which cannot be held; a closed one starts no gangs, and what runs goes on",
        queue.Name()));
  const bool opens = action == QueueAction::kOpen;
  const std::string given = DigString(queue.object, "status", "state");
  const std::string state = given.empty() ? "Open" : given;
  if (opens ? state == "Open" : state == "Closed" || state == "Closing")
    return fmt::format("{} is {} already", queue.Name(), state);
  const std::string name = DigString(queue.object, "metadata", "name");
  const std::string_view word = opens ? "OpenQueue" : "CloseQueue";
  const Json target = {{"apiVersion", DigString(queue.object, "apiVersion")},
                       {"kind", "Queue"},
                       {"name", name},
                       {"uid", DigString(queue.object, "metadata", "uid")}};
  const auto made = api.Post("/apis/bus.volcano.sh/v1alpha1/namespaces/default/commands",
                             {{"apiVersion", "bus.volcano.sh/v1alpha1"},
                              {"kind", "Command"},
                              {"metadata",
                               {{"generateName", fmt::format("{}-{}-", name, base::LowerCase(word))},
                                {"namespace", "default"},
                                {"ownerReferences", Json::array({target})}}},
                              {"target", target},
                              {"action", word}});
  if (!made) return tl::make_unexpected(made.error());
  return fmt::format("{} was {}; Command default/{} asks to {} it", queue.Name(), state,
                     DigString(*made, "metadata", "name"), opens ? "open" : "close");
}

base::Result<std::string> SetStopPolicy(ApiClient& api, QueueAction action, const FoundQueue& queue) {
  const std::string_view wanted = action == QueueAction::kOpen    ? "None"
                                  : action == QueueAction::kClose ? "HoldAndDrain"
                                                                  : "Hold";
  const std::string given = DigString(queue.object, "spec", "stopPolicy");
  const std::string policy = given.empty() ? "None" : given;
  if (policy == wanted) return fmt::format("{}: its stopPolicy is {} already", queue.Name(), wanted);
  const auto patched = api.Patch(queue.path, {{"spec", {{"stopPolicy", wanted}}}});
  if (!patched) return tl::make_unexpected(patched.error());
  return fmt::format("{}: its stopPolicy was {}, and is {}", queue.Name(), policy, wanted);
}

}  // namespace

base::Result<std::string> OperateQueue(ApiClient& api, QueueAction action, const std::string& name,
                                       const std::string& ns) {
  const size_t slash = name.find('/');
  const bool has_kind = slash != std::string::npos;
  const std::string bare = has_kind ? name.substr(slash + 1) : name;
  if (bare.empty()) return base::Invalid("the name of the queue is empty");
  const auto queue = FindTheQueue(api, has_kind ? name.substr(0, slash) : "", bare, ns);
  if (!queue) return tl::make_unexpected(queue.error());
  return queue->kind->is_volcano() ? Command(api, action, *queue) : SetStopPolicy(api, action, *queue);
}

}  // namespace tutti::app
