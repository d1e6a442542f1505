// SPDX-License-Identifier: Apache-2.0
#include "doors/visibility.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/json_string.h"
#include "doors/cluster.h"
#include "doors/text.h"

namespace tutti::doors {
namespace {

using base::Json;
using observe::QueueView;
using server::FolderAnswer;
using server::FolderRequest;

constexpr const char* kGroup = "visibility.kueue.x-k8s.io";
constexpr const char* kKueue = "kueue";
constexpr const char* kSubresource = "pendingworkloads";
constexpr const char* kSummary = Visibility::kSummary;
constexpr auto& kVersions = Visibility::kVersions;

// A queue whose line is asked for.
struct AskedLine {
  std::string version, ns, name;  // no namespace: a ClusterQueue
  int64_t offset = 0, limit = 0;

  std::string resource() const { return ns.empty() ? "clusterqueues" : "localqueues"; }
};

FolderAnswer ShownObject(const Json& object) { return {200, base::PrintJson(object) + "\n"}; }

const char* StatusReason(Failure::Kind kind) {
  switch (kind) {
    case Failure::Kind::kInvalid: return "BadRequest";
    case Failure::Kind::kAnonymous: return "Unauthorized";
    case Failure::Kind::kForbidden: return "Forbidden";
    case Failure::Kind::kNotFound: return "NotFound";
    case Failure::Kind::kTooMany: return "TooManyRequests";
    case Failure::Kind::kUnavailable: return "ServiceUnavailable";
  }
  return "InternalError";
}

FolderAnswer RefusedWith(const Failure& failure) {
  const int code = StatusOf(failure.kind);
  const Json status = {{"kind", "Status"},
                       {"apiVersion", "v1"},
                       {"metadata", Json::object()},
                       {"status", "Failure"},
                       {"message", failure.message},
                       {"reason", StatusReason(failure.kind)},
                       {"code", code}};
  return {code, base::PrintJson(status) + "\n"};
}

std::string GroupVersion(std::string_view version) { return fmt::format("{}/{}", kGroup, version); }

Json GroupObject() {
  Json versions = Json::array();
  for (const std::string_view version : kVersions)
    versions.push_back({{"groupVersion", GroupVersion(version)}, {"version", version}});
  const Json preferred = versions.front();
  return {{"name", kGroup}, {"versions", std::move(versions)}, {"preferredVersion", preferred}};
}

Json ThisGroup() {
  Json group = GroupObject();
  group["kind"] = "APIGroup";
  group["apiVersion"] = "v1";
  return group;
}

// Queues themselves cannot be got, as in Kueue: only what waits in them.
Json Resources(const std::string& version) {
  Json resources = Json::array();
  for (const auto& [name, singular, namespaced] :
       {std::tuple("clusterqueues", "clusterqueue", false), std::tuple("localqueues", "localqueue", true)}) {
    resources.push_back({{"name", name},
                         {"singularName", singular},
                         {"namespaced", namespaced},
                         {"kind", kSummary},
                         {"verbs", Json::array()}});
    resources.push_back({{"name", fmt::format("{}/{}", name, kSubresource)},
                         {"singularName", ""},
                         {"namespaced", namespaced},
                         {"kind", kSummary},
                         {"verbs", {"get"}}});
  }
  return {{"kind", "APIResourceList"},
          {"apiVersion", "v1"},
          {"groupVersion", GroupVersion(version)},
          {"resources", std::move(resources)}};
}

// Reads a parameter that is a whole number; 0: it is not given.
DoorResult<int64_t> NumberIn(const FolderRequest& request, const char* name) {
  const std::string text = server::ValueOf(request.query, name);
  int64_t number = 0;
  if (text.empty() || absl::SimpleAtoi(text, &number)) return std::max<int64_t>(0, number);
  return Fail(Failure::Kind::kInvalid, fmt::format("{} must be a whole number", name));
}

// Returns the queue that the path names; nullopt: it names none.
std::optional<AskedLine> QueueIn(const std::vector<std::string>& path) {
  const bool local = path.size() == 6 && path[1] == "namespaces" && path[3] == "localqueues" && !path[2].empty();
  const bool leaf = path.size() == 4 && path[1] == "clusterqueues";
  if ((!local && !leaf) || path.back() != kSubresource || path[path.size() - 2].empty()) return std::nullopt;
  return AskedLine{path[0], local ? path[2] : "", path[path.size() - 2]};
}

// `refusal` is what is said to a user that may not.
DoorResult<void> Check(const base::Result<bool>& may, std::string refusal) {
  if (!may) return Fail(Failure::Kind::kUnavailable, "the API server could not say what the user may see; try again");
  if (*may) return {};
  return Fail(Failure::Kind::kForbidden, std::move(refusal));
}

DoorResult<void> CheckDiscovery(const FolderRequest& request) {
  return Check(request.rights->MayGet(request.path), fmt::format("forbidden: User \"{}\" cannot get path \"{}\"",
                                                                 Utf8(request.rights->user()), Utf8(request.path)));
}

DoorResult<void> CheckLine(const FolderRequest& request, const AskedLine& asked) {
  const std::string where =
      asked.ns.empty() ? "at the cluster scope" : fmt::format("in the namespace \"{}\"", Utf8(asked.ns));
  return Check(
      request.rights->MayAccess({"get", kGroup, asked.version, asked.resource(), kSubresource, asked.ns, asked.name}),
      fmt::format("{}.{} \"{}\" is forbidden: User \"{}\" cannot get resource \"{}/{}\" in API group \"{}\" {}",
                  asked.resource(), kGroup, Utf8(asked.name), Utf8(request.rights->user()), asked.resource(),
                  kSubresource, kGroup, where));
}

// Returns the name of the ClusterQueue; nullopt: there is no such queue.
std::optional<std::string> LeafOf(const QueueViews& queues, const AskedLine& asked) {
  const auto kind = asked.ns.empty() ? QueueView::Kind::kLeaf : QueueView::Kind::kLocal;
  for (const QueueView& view : queues)
    if (view.dialect == kKueue && view.kind == kind && view.ns == asked.ns && view.name == asked.name)
      return kind == QueueView::Kind::kLeaf ? view.name : view.parent;
  return std::nullopt;
}

// Returns the gangs that wait for quota of the ClusterQueue, the first one first.
std::vector<const observe::Decision*> LineOf(const Cluster::Lines& all, const std::string& leaf) {
  std::set<std::pair<std::string, std::string>> leads_there;
  for (const QueueView& view : *all.queues)
    if (view.dialect == kKueue && view.kind == QueueView::Kind::kLocal && view.parent == leaf)
      leads_there.emplace(view.ns, view.name);
  std::vector<const observe::Decision*> line;
  for (const Row& row : all.gangs->rows) {
    const observe::Decision& decision = *row.decision;
    if (decision.quota && decision.quota->queued_ms != 0 && decision.queue_dialect == kKueue &&
        leads_there.contains({decision.gang.ns, decision.quota->local_queue}))
      line.push_back(&decision);
  }
  std::ranges::stable_sort(line, {}, [&](const auto* decision) { return PlaceInLine(*decision, all.gangs->at_ms); });
  return line;
}

Json ItemOf(const observe::Decision& decision, int64_t in_leaf, int64_t in_local) {
  return {{"metadata",
           {{"name", Utf8(decision.gang.name)},
            {"namespace", Utf8(decision.gang.ns)},
            {"creationTimestamp", base::FormatTime(decision.created_ms)}}},
          {"priority", decision.priority},
          {"localQueueName", Utf8(decision.quota->local_queue)},
          {"positionInClusterQueue", in_leaf},
          {"positionInLocalQueue", in_local}};
}

DoorResult<Json> SummaryOf(const Cluster::Lines& all, const AskedLine& asked) {
  const std::optional<std::string> leaf = LeafOf(*all.queues, asked);
  if (!leaf)
    return Fail(Failure::Kind::kNotFound,
                fmt::format("{}.{} \"{}\" not found", asked.resource(), kGroup, Utf8(asked.name)));
  Json items = Json::array();
  std::map<std::pair<std::string, std::string>, int64_t> local_lengths;
  int64_t in_leaf = 0;
  for (const observe::Decision* decision : LineOf(all, *leaf)) {
    if (std::ssize(items) >= asked.limit) break;
    const std::pair local(decision->gang.ns, decision->quota->local_queue);
    const int64_t in_local = local_lengths[local]++;
    const bool meant = asked.ns.empty() || local == std::pair(asked.ns, asked.name);
    if (meant && (asked.ns.empty() ? in_leaf : in_local) >= asked.offset)
      items.push_back(ItemOf(*decision, in_leaf, in_local));
    ++in_leaf;
  }
  return Json{{"kind", kSummary},
              {"apiVersion", GroupVersion(asked.version)},
              {"metadata", Json::object()},
              {"items", std::move(items)}};
}

}  // namespace

std::string Visibility::Groups() {
  const Json groups = {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", {GroupObject()}}};
  return base::PrintJson(groups) + "\n";
}

FolderAnswer Visibility::Show(const FolderRequest& request) const {
  std::vector<std::string> path = absl::StrSplit(request.path.substr(std::string_view(kPrefix).size()), '/');
  const bool known = path.front().empty() &&
                     (path.size() < 2 || std::ranges::find(kVersions, path[1]) != std::end(kVersions));
  if (!known) return RefusedWith({Failure::Kind::kNotFound, "the server could not find the requested resource"});
  path.erase(path.begin());
  if (path.size() < 2) {
    if (const DoorResult<void> may = CheckDiscovery(request); !may) return RefusedWith(may.error());
    return ShownObject(path.empty() ? ThisGroup() : Resources(path[0]));
  }
  std::optional<AskedLine> asked = QueueIn(path);
  if (!asked) return RefusedWith({Failure::Kind::kNotFound, "the server could not find the requested resource"});
  if (const DoorResult<void> may = CheckLine(request, *asked); !may) return RefusedWith(may.error());
  const DoorResult<int64_t> offset = NumberIn(request, "offset"), limit = NumberIn(request, "limit");
  for (const auto* number : {&offset, &limit})
    if (!*number) return RefusedWith(number->error());
  asked->offset = *offset;
  asked->limit = std::min(*limit == 0 ? kUsualLimit : *limit, kMostLimit);
  const DoorResult<Cluster::Lines> all = desk_.cluster().AllLines();
  if (!all) return RefusedWith(all.error());
  const DoorResult<Json> summary = SummaryOf(*all, *asked);
  return summary ? ShownObject(*summary) : RefusedWith(summary.error());
}

}  // namespace tutti::doors
