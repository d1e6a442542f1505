// SPDX-License-Identifier: Apache-2.0
#include "dialects/yunikorn.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/json.h"
#include "cluster/json_text.h"
#include "dialects/declaration.h"
#include "dialects/ray_pod.h"
#include "dialects/wording.h"

namespace tutti::dialects {
namespace {

using Json = base::Json;

constexpr std::string_view kApplication = "yunikorn.apache.org/app-id";
constexpr std::string_view kTaskGroup = "yunikorn.apache.org/task-group-name";
constexpr std::string_view kTaskGroups = "yunikorn.apache.org/task-groups";
constexpr std::string_view kParameters = "yunikorn.apache.org/schedulingPolicyParameters";
constexpr base::Millis kPlaceholderTimeoutMs = 900'000;  // YuniKorn's, where none is written
constexpr std::string_view kRaySubmitterGroup = "submittergroup";
// To parse so many takes half a millisecond, and each pod may have its own.
constexpr size_t kMostBytes = 64 * 1024;

void ReadTaskGroups(const std::string& text, model::GangSpec* gang) {
  const auto problem = [&](std::string_view what) {
    gang->problem = OneLine(fmt::format("application {}: annotation {}: {}", Named(gang->key.name), kTaskGroups, what));
  };
  if (text.size() > kMostBytes)
    return problem(fmt::format("{} bytes are more than the {} that are looked at; write fewer task groups", text.size(),
                               kMostBytes));
  const Json groups = cluster::ParseJson(text);
  if (!groups.is_array())
    return problem("is not a JSON list of task groups such as [{\"name\": \"workers\", \"minMember\": 2}]");
  cluster::JsonReader read;
  const cluster::JsonField root(groups);
  if (!FewEnough(read, root, kMostRoles)) return problem(read.problem());
  gang->min_member = 0;
  read.Items(root, [&](const cluster::JsonField& item) {
    const cluster::JsonField name = item["name"], least = item["minMember"];
    model::RoleSpec role{read.Text(name), ReadCount(read, least, 0, 0), 1};
    if (role.name.empty()) read.Problem(name, "is missing; give each task group a name");
    if (!least.present()) read.Problem(least, "is missing; write how many pods of it start together");
    gang->min_member += role.min;
    if (role.min > 0) gang->roles.push_back(std::move(role));
  });
  // KubeRay counts a RayJob's submitter among the task groups of its cluster, and makes it when that is ready.
  const auto named = [gang](std::string_view role) {
    return std::ranges::find(gang->roles, role, &model::RoleSpec::name);
  };
  if (const auto submitter = named(kRaySubmitterGroup);
      submitter != gang->roles.end() && named(kRayHeadGroup) != gang->roles.end()) {
    gang->min_member -= submitter->min;
    gang->roles.erase(submitter);
  }
  std::sort(gang->roles.begin(), gang->roles.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  for (size_t i = 1; i < gang->roles.size(); ++i)
    if (gang->roles[i].name == gang->roles[i - 1].name)
      return problem(
          fmt::format("task group {} is there twice; give each a name of its own", Named(gang->roles[i].name)));
  if (!read.ok()) problem(read.problem());
}

// Reads "placeholderTimeoutInSeconds=30 gangSchedulingStyle=Soft": after so long a wait for room for all, members start
// without waiting for each other. Words that name no parameter count for nothing, as in YuniKorn. Unlike there, Soft
// has to be written, and a value that cannot be is a problem.
void ReadParameters(std::string_view text, model::GangSpec* gang) {
  const auto problem = [gang](std::string_view word, std::string_view write) {
    if (gang->problem.empty())
      gang->problem = OneLine(fmt::format("application {}: annotation {}: {} cannot be; write {}",
                                          Named(gang->key.name), kParameters, Named(word), write));
  };
  base::Millis timeout_ms = 0;
  bool soft = false;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    at = end + 1;
    const size_t equals = word.find('=');
    if (equals == word.npos) continue;
    const std::string_view name = word.substr(0, equals), value = word.substr(equals + 1);
    if (name == "gangSchedulingStyle") soft = value == "Soft";
    if (name == "gangSchedulingStyle" && value != "Soft" && value != "Hard")
      problem(word, "gangSchedulingStyle=Hard or gangSchedulingStyle=Soft");
    int64_t seconds = 0;
    const auto [last, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
    const bool whole = error == std::errc() && last == value.data() + value.size();
    if (name != "placeholderTimeoutInSeconds") continue;
    if (whole && seconds > 0 && seconds <= kLargestCount)
      timeout_ms = seconds * 1000;
    else
      problem(word, fmt::format("a whole number of seconds from 1 to {}", kLargestCount));
  }
  if (!soft) return;
  gang->soft_after_ms = timeout_ms > 0 ? timeout_ms : kPlaceholderTimeoutMs;
  gang->remark =
      fmt::format("By gangSchedulingStyle=Soft its pods start one by one once all have waited {} s for room.",
                  gang->soft_after_ms / 1000);
}

// Null: of none. In YuniKorn's own order (pkg/common/utils, GetApplicationIDFromPod); the older label is what KubeRay
// still writes.
const std::string* ApplicationOf(const model::Pod& pod) {
  for (const std::string* id :
       {model::Find(pod.meta.labels, kApplication), model::Find(pod.meta.annotations, kApplication),
        model::Find(pod.meta.labels, "applicationId")})
    if (id && !id->empty()) return id;
  return nullptr;
}

}  // namespace

std::shared_ptr<const model::GangSpec> YuniKorn::Declared(const model::GangKey& key, const std::string& task_groups,
                                                          const std::string* parameters) const {
  if (said_.size() >= sweep_at_) {
    std::erase_if(said_, [](const auto& entry) { return entry.second.expired(); });
    sweep_at_ = std::max<size_t>(256, 2 * said_.size());
  }
  std::weak_ptr<const Said>& last = said_[{key.ns, key.name}];
  std::shared_ptr<const Said> said = last.lock();
  if (!said || said->task_groups != task_groups || (parameters && said->parameters != *parameters)) {
    auto read = std::make_shared<Said>();
    read->spec.key = key;
    ReadTaskGroups(task_groups, &read->spec);
    read->task_groups = task_groups;
    if (parameters && parameters->size() <= kMostBytes) {
      ReadParameters(*parameters, &read->spec);
      read->parameters = *parameters;
    }
    last = said = std::move(read);
  }
  return {said, &said->spec};
}

std::optional<Membership> YuniKorn::MembershipOf(const model::Pod& pod) const {
  const std::string* app = ApplicationOf(pod);
  if (!app) return std::nullopt;
  const std::string* task_groups = model::Find(pod.meta.annotations, kTaskGroups);
  const std::string* task_group = model::Find(pod.meta.annotations, kTaskGroup);
  if (!task_groups && !task_group) return std::nullopt;

  Membership membership;
  membership.gang = {std::string(name()), pod.meta.ns, *app};
  if (task_group) membership.role = *task_group;
  const RayPod ray = ReadRayPod(pod);
  SetRayRole(ray, &membership);
  if (!task_groups) return membership;
  membership.declared = Declared(membership.gang, *task_groups, model::Find(pod.meta.annotations, kParameters));
  membership.needs_head =
      ray.worker && std::any_of(membership.declared->roles.begin(), membership.declared->roles.end(),
                                [](const model::RoleSpec& role) { return role.name == kRayHeadGroup; });
  return membership;
}

model::GangSpec YuniKorn::Describe(const model::GangKey& key) const {
  model::GangSpec spec;
  spec.key = key;
  spec.problem = fmt::format("application {}: none of its pods has the annotation {}; write it on each of them",
                             Named(key.name), kTaskGroups);
  return spec;
}

}  // namespace tutti::dialects
