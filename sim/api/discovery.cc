// SPDX-License-Identifier: Apache-2.0
#include "sim/api/discovery.h"

#include <algorithm>
#include <map>

#include "sim/api/subresources.h"
#include "sim/schema/crd.h"

namespace tutti::sim {
namespace {

const Json kVerbs = {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
const Json kStatusVerbs = {"get", "patch", "update"};

// The core group first, then the preferred one, then by name.
struct InOrder {
  std::string preferred;
  bool operator()(const std::string& a, const std::string& b) const {
    const auto rank = [&](const std::string& group) { return group.empty() ? 0 : group == preferred ? 1 : 2; };
    return rank(a) != rank(b) ? rank(a) < rank(b) : a < b;
  }
};
using Groups = std::map<std::string, std::vector<std::string>, InOrder>;

Groups VersionsByGroup(const ResourceTable& resources) {
  Groups groups(InOrder{resources.preferred_group()});
  for (const auto& [id, resource] : resources.All()) {
    std::vector<std::string>& versions = groups[id.group];
    for (const ApiVersion& version : resource.versions) {
      const bool known = std::find(versions.begin(), versions.end(), version.name) != versions.end();
      if (version.served && !known) versions.push_back(version.name);
    }
  }
  for (auto& [_, versions] : groups) {
    std::sort(versions.begin(), versions.end(), PrefersVersion);
  }
  std::erase_if(groups, [](const auto& group) { return group.second.empty(); });
  return groups;
}

const ApiVersion* Served(const ApiResource& resource, std::string_view version) {
  const ApiVersion* found = resource.FindVersion(version);
  return found && found->served ? found : nullptr;
}

Json Kind(const GroupVersion& gv, const std::string& kind) {
  return {{"group", gv.group}, {"version", gv.version}, {"kind", kind}};
}

// --- Aggregated ---

Json AggregatedResource(const ApiResource& resource, const ApiVersion& version) {
  const GroupVersion gv{resource.id.group, version.name};
  Json out = {{"resource", resource.id.resource},
              {"responseKind", Kind(gv, resource.kind)},
              {"scope", resource.namespaced ? "Namespaced" : "Cluster"},
              {"singularResource", resource.singular},
              {"verbs", kVerbs}};
  if (!resource.short_names.empty()) out["shortNames"] = resource.short_names;
  if (!resource.categories.empty()) out["categories"] = resource.categories;
  Json subs = Json::array();
  for (const SubresourceInfo& sub : SubresourcesOf(resource, version)) {
    subs.push_back(
        {{"subresource", sub.name}, {"responseKind", Kind(sub.group_version, sub.kind)}, {"verbs", sub.verbs}});
  }
  if (version.has_status) {
    subs.push_back({{"subresource", "status"}, {"responseKind", Kind(gv, resource.kind)}, {"verbs", kStatusVerbs}});
  }
  if (!subs.empty()) out["subresources"] = std::move(subs);
  return out;
}

Json AggregatedGroup(const ResourceTable& resources, const std::string& group,
                     const std::vector<std::string>& versions) {
  Json items = Json::array();
  for (const std::string& name : versions) {
    Json list = Json::array();
    for (const auto& [id, resource] : resources.All()) {
      const ApiVersion* version = id.group == group ? Served(resource, name) : nullptr;
      if (version) list.push_back(AggregatedResource(resource, *version));
    }
    items.push_back({{"version", name}, {"freshness", "Current"}, {"resources", std::move(list)}});
  }
  Json meta = Json::object();
  if (!group.empty()) meta["name"] = group;
  return {{"metadata", std::move(meta)}, {"versions", std::move(items)}};
}

std::string AggregatedType(const std::string& discovery_version) {
  return "application/json;g=apidiscovery.k8s.io;v=" + discovery_version + ";as=APIGroupDiscoveryList";
}

HttpResponse Aggregated(const ResourceTable& resources, bool core, const std::string& discovery_version) {
  Json items = Json::array();
  for (const auto& [group, versions] : VersionsByGroup(resources)) {
    if (group.empty() == core) items.push_back(AggregatedGroup(resources, group, versions));
  }
  HttpResponse response = JsonResponse({{"kind", "APIGroupDiscoveryList"},
                                        {"apiVersion", "apidiscovery.k8s.io/" + discovery_version},
                                        {"metadata", Json::object()},
                                        {"items", std::move(items)}});
  response.content_type = AggregatedType(discovery_version);
  return response;
}

// --- One by one ---

Json GroupDocument(const std::string& group, const std::vector<std::string>& versions) {
  Json list = Json::array();
  for (const std::string& version : versions) {
    list.push_back({{"groupVersion", JoinApiVersion(group, version)}, {"version", version}});
  }
  Json preferred = list[0];
  return {{"name", group}, {"versions", std::move(list)}, {"preferredVersion", std::move(preferred)}};
}

Json ResourceEntry(const ApiResource& resource) {
  Json entry = {{"name", resource.id.resource},
                {"singularName", resource.singular},
                {"namespaced", resource.namespaced},
                {"kind", resource.kind},
                {"verbs", kVerbs}};
  if (!resource.short_names.empty()) entry["shortNames"] = resource.short_names;
  if (!resource.categories.empty()) entry["categories"] = resource.categories;
  return entry;
}

std::optional<HttpResponse> ResourceList(const ResourceTable& resources, const std::string& group,
                                         const std::string& name) {
  Json list = Json::array();
  for (const auto& [id, resource] : resources.All()) {
    const ApiVersion* version = id.group == group ? Served(resource, name) : nullptr;
    if (!version) continue;
    list.push_back(ResourceEntry(resource));
    for (const SubresourceInfo& sub : SubresourcesOf(resource, *version)) {
      list.push_back({{"name", id.resource + "/" + sub.name},
                      {"singularName", ""},
                      {"namespaced", resource.namespaced},
                      {"group", sub.group_version.group},
                      {"version", sub.group_version.version},
                      {"kind", sub.kind},
                      {"verbs", sub.verbs}});
    }
    if (version->has_status) {
      list.push_back({{"name", id.resource + "/status"},
                      {"singularName", ""},
                      {"namespaced", resource.namespaced},
                      {"kind", resource.kind},
                      {"verbs", kStatusVerbs}});
    }
  }
  if (list.empty()) return std::nullopt;
  return JsonResponse({{"kind", "APIResourceList"},
                       {"apiVersion", "v1"},
                       {"groupVersion", JoinApiVersion(group, name)},
                       {"resources", std::move(list)}});
}

HttpResponse GroupList(const ResourceTable& resources) {
  Json groups = Json::array();
  for (const auto& [group, versions] : VersionsByGroup(resources)) {
    if (!group.empty()) groups.push_back(GroupDocument(group, versions));
  }
  return JsonResponse({{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}});
}

std::optional<HttpResponse> OneGroup(const ResourceTable& resources, const std::string& group) {
  const auto groups = VersionsByGroup(resources);
  const auto it = groups.find(group);
  if (it == groups.end() || group.empty()) return std::nullopt;
  Json document = GroupDocument(group, it->second);
  document["kind"] = "APIGroup";
  document["apiVersion"] = "v1";
  return JsonResponse(document);
}

}  // namespace

std::vector<GroupVersion> ServedGroupVersions(const ResourceTable& resources) {
  std::vector<GroupVersion> all;
  for (const auto& [group, versions] : VersionsByGroup(resources)) {
    for (const std::string& version : versions) all.push_back({group, version});
  }
  return all;
}

std::optional<HttpResponse> Discover(const ResourceTable& resources, const std::string& tag,
                                     const HttpRequest& request) {
  std::string path = request.path;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  if (path == "/api" || path == "/apis") {
    const bool core = path == "/api";
    if (request.accept.find("as=APIGroupDiscoveryList") != std::string::npos) {
      const std::string version = request.accept.find("v=v2;") != std::string::npos ? "v2" : "v2beta1";
      // A cache takes the headers of this for those of what it has.
      if (request.if_none_match == tag)
        return HttpResponse{.code = 304, .content_type = AggregatedType(version), .body = {}, .etag = tag};
      HttpResponse response = Aggregated(resources, core, version);
      response.etag = tag;
      return response;
    }
    if (!core) return GroupList(resources);
    return JsonResponse({{"kind", "APIVersions"}, {"versions", {"v1"}}, {"serverAddressByClientCIDRs", Json::array()}});
  }
  if (path.starts_with("/api/")) {
    const std::string version = path.substr(5);
    return version.find('/') == std::string::npos ? ResourceList(resources, "", version) : std::nullopt;
  }
  if (!path.starts_with("/apis/")) return std::nullopt;
  const std::string rest = path.substr(6);
  const size_t slash = rest.find('/');
  if (slash == std::string::npos) return OneGroup(resources, rest);
  const std::string version = rest.substr(slash + 1);
  return version.find('/') == std::string::npos ? ResourceList(resources, rest.substr(0, slash), version)
                                                : std::nullopt;
}

}  // namespace tutti::sim
