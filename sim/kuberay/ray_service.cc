// SPDX-License-Identifier: Apache-2.0
#include "sim/kuberay/ray_service.h"

#include <fmt/format.h>

#include <map>

#include "sim/kuberay/ray_names.h"
#include "sim/kuberay/ray_sizes.h"

namespace tutti::sim::ray {
namespace {

// The head container's ports by name, or Ray's own where it lists none; metrics in any case.
std::map<std::string, int64_t> ServicePorts(const Json& cluster) {
  std::map<std::string, int64_t> ports;
  const Json& head = FirstContainer(Dig(cluster, "spec", "headGroupSpec", "template"));
  for (const Json& port : ArrayOf(Child(head, "ports"))) {
    const int64_t number = IntOf(Child(port, "containerPort"));
    const std::string& name = DigString(port, "name");
    ports[name.empty() ? fmt::format("{}-port", number) : name] = number;
  }
  if (ports.empty()) {
    ports = {{"client", kClientPort}, {"gcs-server", kGcsPort}, {"dashboard", kDashboardPort}, {"serve", kServePort}};
  }
  ports.try_emplace("metrics", kMetricsPort);
  return ports;
}

Json Owned(const Json& cluster, const std::string& name, Json labels) {
  return {{"name", name},
          {"namespace", NamespaceOf(cluster)},
          {"labels", std::move(labels)},
          {"ownerReferences", Json::array({ControllerReference(cluster)})}};
}

Json Service(Json meta, Json spec) {
  return {{"apiVersion", "v1"}, {"kind", "Service"}, {"metadata", std::move(meta)}, {"spec", std::move(spec)}};
}

// The service as the user gave it; ours are the selector, the name, the namespace and our ports and labels.
Json CompleteGivenService(const Json& cluster, Json labels, const Json& annotations, const Json& ports) {
  const Json& given = Dig(cluster, "spec", "headGroupSpec", "headService");
  Json meta = Owned(cluster, HeadServiceName(cluster), Dig(given, "metadata", "labels"));
  for (const auto& [key, value] : labels.items()) meta["labels"][key] = value;
  meta["annotations"] = Dig(given, "metadata", "annotations");
  for (const auto& [key, value] : annotations.items()) meta["annotations"][key] = value;
  Json spec = Child(given, "spec").is_object() ? Child(given, "spec") : Json::object();
  spec["selector"] = std::move(labels);
  for (const Json& port : ports) spec["ports"].push_back(port);
  const std::string& type = DigString(cluster, "spec", "headGroupSpec", "serviceType");
  if (DigString(spec, "type").empty() && !type.empty()) spec["type"] = type;
  return Service(std::move(meta), std::move(spec));
}

// The labels by which the head's service is found again.
Json HeadServiceLabels(const Json& cluster) {
  return {{kClusterLabel, NameOf(cluster)},
          {kNodeTypeLabel, kHead},
          {kIdentifierLabel, HeadIdentifier(NameOf(cluster), kHead)},
          {kAppNameLabel, kAppName},
          {kCreatedByLabel, kOperatorName}};
}

}  // namespace

Json BuildHeadService(const Json& cluster) {
  const Json& head = Dig(cluster, "spec", "headGroupSpec");
  Json labels = HeadServiceLabels(cluster);
  if (const Json& app = Dig(head, "template", "metadata", "labels", kAppNameLabel); !app.is_null())
    labels[kAppNameLabel] = app;
  const Json& annotations = Dig(cluster, "spec", "headServiceAnnotations");
  Json ports = Json::array();
  for (const auto& [name, port] : ServicePorts(cluster)) {
    ports.push_back({{"name", name}, {"port", port}, {"appProtocol", "tcp"}});
  }
  if (!Child(head, "headService").is_null()) return CompleteGivenService(cluster, labels, annotations, ports);
  Json meta = Owned(cluster, HeadServiceName(cluster), labels);
  if (!annotations.empty()) meta["annotations"] = annotations;
  Json spec = {{"selector", labels}, {"ports", std::move(ports)}};
  const std::string& type = DigString(head, "serviceType");
  if (!type.empty()) spec["type"] = type;
  if (type.empty() || type == "ClusterIP") {
    spec["clusterIP"] = "None";
    spec["publishNotReadyAddresses"] = true;
  }
  return Service(std::move(meta), std::move(spec));
}

bool NeedsHeadlessService(const Json& cluster) {
  for (const Json& group : Dig(cluster, "spec", "workerGroupSpecs")) {
    if (IntOf(Child(group, "numOfHosts")) > 1) return true;
  }
  return false;
}

Json BuildHeadlessService(const Json& cluster) {
  return Service(Owned(cluster, NameOf(cluster) + "-headless", {{kHeadlessLabel, NameOf(cluster)}}),
                 {{"clusterIP", "None"},
                  {"selector", {{kClusterLabel, NameOf(cluster)}, {kNodeTypeLabel, kWorker}}},
                  {"type", "ClusterIP"},
                  {"publishNotReadyAddresses", true}});
}

Json BuildServeService(const Json& cluster) {
  const auto ports = ServicePorts(cluster);
  const auto serve = ports.find("serve");
  if (serve == ports.end()) return nullptr;
  const std::string& name = NameOf(cluster);
  Json spec = {{"selector", {{kClusterLabel, name}}},
               {"ports", Json::array({{{"name", "serve"}, {"port", serve->second}}})}};
  if (const std::string& type = DigString(cluster, "spec", "headGroupSpec", "serviceType"); !type.empty())
    spec["type"] = type;
  return Service(Owned(cluster, ServeServiceName(name),
                       {{kOriginNameLabel, name}, {kOriginKindLabel, "RayCluster"}, {kServeLabel, name + "-serve"}}),
                 std::move(spec));
}

std::vector<Json> BuildAutoscalerAccess(const Json& cluster) {
  const std::string& name = NameOf(cluster);
  const Json labels = {{kClusterLabel, name}, {kAppNameLabel, kAppName}, {kCreatedByLabel, kOperatorName}};
  const std::string& given = DigString(cluster, "spec", "headGroupSpec", "template", "spec", "serviceAccountName");
  const std::string account = ClipName(given.empty() ? name : given);
  const std::string role = ClipName(name);
  constexpr const char* kRbac = "rbac.authorization.k8s.io";
  std::vector<Json> objects;
  if (given.empty()) {
    objects.push_back(
        {{"apiVersion", "v1"}, {"kind", "ServiceAccount"}, {"metadata", Owned(cluster, account, labels)}});
  }
  const auto rule = [](const char* group, const char* resource, std::vector<const char*> verbs) {
    return Json{{"apiGroups", Json::array({group})}, {"resources", Json::array({resource})}, {"verbs", verbs}};
  };
  objects.push_back({{"apiVersion", fmt::format("{}/v1", kRbac)},
                     {"kind", "Role"},
                     {"metadata", Owned(cluster, role, labels)},
                     {"rules", Json::array({rule("", "pods", {"get", "list", "watch"}),
                                            rule("ray.io", "rayclusters", {"get", "patch"})})}});
  objects.push_back(
      {{"apiVersion", fmt::format("{}/v1", kRbac)},
       {"kind", "RoleBinding"},
       {"metadata", Owned(cluster, role, labels)},
       {"subjects",
        Json::array({{{"kind", "ServiceAccount"}, {"name", account}, {"namespace", NamespaceOf(cluster)}}})},
       {"roleRef", {{"apiGroup", kRbac}, {"kind", "Role"}, {"name", role}}}});
  return objects;
}

}  // namespace tutti::sim::ray
