// SPDX-License-Identifier: Apache-2.0
#include "sim/kuberay/ray_pod.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "sim/kuberay/ray_names.h"
#include "sim/kuberay/ray_sizes.h"
#include "sim/kuberay/ray_start.h"
#include "sim/objects/quantity_text.h"

namespace tutti::sim::ray {
namespace {

constexpr const char* kOperatorVersion = "v1.4.2";

bool HasNamed(const Json& list, const char* field, const std::string& value) {
  return std::any_of(list.begin(), list.end(), [&](const Json& each) { return DigString(each, field) == value; });
}
bool HasEnv(const Json& container, const std::string& name) { return HasNamed(Child(container, "env"), "name", name); }

void AddEnv(Json& container, const char* name, const std::string& value) {
  container["env"].push_back({{"name", name}, {"value", value}});
}
void AddMissingEnv(Json& container, const char* name, const std::string& value) {
  if (!HasEnv(container, name)) AddEnv(container, name, value);
}
void AddFieldEnv(Json& container, const char* name, const std::string& path) {
  container["env"].push_back({{"name", name}, {"valueFrom", {{"fieldRef", {{"fieldPath", path}}}}}});
}
std::string LabelPath(const char* label) { return fmt::format("metadata.labels['{}']", label); }

Json Fixed(const char* cpu, const char* memory) {
  const Json amounts = {{"cpu", cpu}, {"memory", memory}};
  return {{"limits", amounts}, {"requests", amounts}};
}

bool OverwritesCommand(const Json& object) {
  return base::LowerCase(AnnotationOf(object, kOverwriteCmdAnnotation)) == "true";
}

// What made the RayCluster: "RayCluster" (a person), "RayJob", "RayService".
std::string CreatorKind(const Json& cluster) {
  const std::string& kind = LabelOf(cluster, kOriginKindLabel);
  return kind == "RayJob" || kind == "RayService" ? kind : "RayCluster";
}

// One pod in the making.
struct Builder {
  const Json& cluster;
  const Json& group;
  const std::string node_type;
  StartParams params;
  std::string port;  // of the head's GCS
  Json pod = Json::object();

  Builder(const Json& of, const Json& from, const char* type) : cluster(of), group(from), node_type(type) {
    params = ReadStartParams(group);
    const StartParams head = ReadStartParams(Dig(cluster, "spec", "headGroupSpec"));
    const auto given = head.find("port");
    port = given == head.end() ? std::to_string(kGcsPort) : given->second;
  }

  bool is_head() const { return node_type == kHead; }
  bool autoscaled() const { return IsAutoscaled(Child(cluster, "spec")); }
  Json& spec() { return pod["spec"]; }
  Json& ray() { return pod["spec"]["containers"][0]; }

  void Begin(const std::string& group_name, const std::string& name_prefix);
  void AddWaitForGcs();
  void AddAutoscaler();
  void AddFaultTolerance();
  void AddMetricsPort();
  void AddEmptyDir(Json& container, const char* name, const char* path, const Json& source);
  void AddSharedMemory();
  std::string SetCommand();
  void SetEnv(const std::string& command);
  void SetProbes();
};

void Builder::Begin(const std::string& group_name, const std::string& name_prefix) {
  const Json& given = Child(group, "template");
  Json meta = {{"generateName", name_prefix},
               {"namespace", NamespaceOf(cluster)},
               {"ownerReferences", Json::array({ControllerReference(cluster)})},
               {"labels",
                {{kIsRayNodeLabel, "yes"},
                 {kClusterLabel, NameOf(cluster)},
                 {kNodeTypeLabel, node_type},
                 {kGroupLabel, group_name},
                 {kIdentifierLabel, HeadIdentifier(NameOf(cluster), node_type)},
                 {kAppNameLabel, kAppName},
                 {kCreatedByLabel, kOperatorName}}}};
  for (const auto& [key, value] : Dig(given, "metadata", "labels").items()) {
    if (key != kNodeTypeLabel && key != kGroupLabel && key != kClusterLabel) meta["labels"][key] = value;
  }
  meta["annotations"] = Dig(given, "metadata", "annotations");
  if (!meta["annotations"].is_object()) meta["annotations"] = Json::object();
  if (OverwritesCommand(cluster)) meta["annotations"][kOverwriteCmdAnnotation] = "true";
  if (const Json& finalizers = Dig(given, "metadata", "finalizers"); !finalizers.empty())
    meta["finalizers"] = finalizers;
  if (const std::string& name = DigString(given, "metadata", "name"); is_head() && !name.empty()) meta["name"] = name;
  pod = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", std::move(meta)}, {"spec", Child(given, "spec")}};
}

void Builder::AddWaitForGcs() {
  const std::string address = HeadAddress(cluster);
  const std::string check = fmt::format("ray health-check --address {}:{}", address, port);
  const std::string script = fmt::format(R"(
					SECONDS=0
					while true; do
						if (( SECONDS <= 120 )); then
							if {0} > /dev/null 2>&1; then
								echo "GCS is ready."
								break
							fi
							echo "$SECONDS seconds elapsed: Waiting for GCS to be ready."
						else
							if {0}; then
								echo "GCS is ready. Any error messages above can be safely ignored."
								break
							fi
							echo "$SECONDS seconds elapsed: Still waiting for GCS to be ready. For troubleshooting, refer to the FAQ at https://github.com/ray-project/kuberay/blob/master/docs/guidance/FAQ.md."
						fi
						sleep 5
					done
				)",
                                         check);
  Json init = {{"name", "wait-gcs-ready"},
               {"image", Child(ray(), "image")},
               {"command", {"/bin/bash", "-c", "--"}},
               {"args", Json::array({script})},
               {"resources", Fixed("200m", "256Mi")}};
  for (const char* field : {"imagePullPolicy", "securityContext", "env", "volumeMounts"}) {
    if (const Json& value = Child(ray(), field); !value.is_null()) init[field] = value;
  }
  spec()["initContainers"].push_back(std::move(init));
}

void Builder::AddAutoscaler() {
  params["no-monitor"] = "true";
  const std::string& account = DigString(group, "template", "spec", "serviceAccountName");
  spec()["serviceAccountName"] = ClipName(account.empty() ? NameOf(cluster) : account);
  Json sidecar = {{"name", "autoscaler"},
                  {"image", Child(ray(), "image")},
                  {"imagePullPolicy", "IfNotPresent"},
                  {"command", {"/bin/bash", "-c", "--"}},
                  {"args", Json::array({"ray kuberay-autoscaler --cluster-name $(RAY_CLUSTER_NAME) --cluster-namespace "
                                        "$(RAY_CLUSTER_NAMESPACE)"})},
                  {"resources", Fixed("500m", "512Mi")}};
  AddFieldEnv(sidecar, "RAY_CLUSTER_NAME", LabelPath(kClusterLabel));
  AddFieldEnv(sidecar, "RAY_CLUSTER_NAMESPACE", "metadata.namespace");
  AddFieldEnv(sidecar, "RAY_HEAD_POD_NAME", "metadata.name");
  AddEnv(sidecar, "KUBERAY_CRD_VER", "v1");
  const Json& options = Dig(cluster, "spec", "autoscalerOptions");
  for (const char* field : {"resources", "image", "imagePullPolicy", "securityContext"}) {
    if (const Json& value = Child(options, field); !value.is_null()) sidecar[field] = value;
  }
  for (const char* list : {"env", "envFrom", "volumeMounts"}) {
    for (const Json& each : Child(options, list)) sidecar[list].push_back(each);
  }
  spec()["containers"].push_back(std::move(sidecar));
  if (!IsAutoscalerV2(Child(cluster, "spec"))) return;
  AddEnv(ray(), "RAY_enable_autoscaler_v2", "true");
  spec()["restartPolicy"] = "Never";
}

void Builder::AddFaultTolerance() {
  const bool enabled = HasFaultTolerance(cluster);
  Json& annotations = pod["metadata"]["annotations"];
  if (is_head()) annotations[kFtAnnotation] = enabled ? "true" : "false";
  if (!enabled) return;
  if (!is_head()) return AddMissingEnv(ray(), "RAY_gcs_rpc_server_reconnect_timeout_s", "600");
  const Json& options = Dig(cluster, "spec", "gcsFaultToleranceOptions");
  std::string storage = UidOf(cluster);
  if (const std::string& given = AnnotationOf(cluster, kStorageNamespaceAnnotation); !given.empty()) storage = given;
  if (const std::string& given = DigString(options, "externalStorageNamespace"); !given.empty()) storage = given;
  annotations[kStorageNamespaceAnnotation] = storage;
  AddMissingEnv(ray(), "RAY_external_storage_namespace", storage);
  if (options.is_null()) {
    const auto password = params.find("redis-password");
    if (password != params.end()) AddMissingEnv(ray(), "REDIS_PASSWORD", password->second);
    return;
  }
  AddEnv(ray(), "RAY_REDIS_ADDRESS", DigString(options, "redisAddress"));
  const auto add_credential = [&](const char* field, const char* param, const char* env) {
    const Json& credential = Child(options, field);
    if (credential.is_null()) return;
    params[param] = fmt::format("${}", env);
    Json variable = {{"name", env}};
    for (const char* each : {"value", "valueFrom"}) {
      if (credential.contains(each)) variable[each] = credential[each];
    }
    ray()["env"].push_back(std::move(variable));
  };
  add_credential("redisUsername", "redis-username", "REDIS_USERNAME");
  add_credential("redisPassword", "redis-password", "REDIS_PASSWORD");
}

void Builder::AddMetricsPort() {
  if (HasNamed(Child(ray(), "ports"), "name", "metrics")) return;
  ray()["ports"].push_back({{"name", "metrics"}, {"containerPort", kMetricsPort}});
}

void Builder::AddEmptyDir(Json& container, const char* name, const char* path, const Json& source) {
  if (HasNamed(Child(container, "volumeMounts"), "mountPath", path)) return;
  if (!HasNamed(Child(spec(), "volumes"), "name", name)) {
    spec()["volumes"].push_back({{"name", name}, {"emptyDir", source}});
  }
  container["volumeMounts"].push_back({{"name", name}, {"mountPath", path}});
}

void Builder::AddSharedMemory() {
  Json source = {{"medium", "Memory"}};
  for (const char* list : {"limits", "requests"}) {
    const auto memory = CanonicalQuantity(Dig(ray(), "resources", list, "memory"));
    if (!memory) continue;
    source["sizeLimit"] = *memory;
    break;
  }
  AddEmptyDir(ray(), "shared-mem", "/dev/shm", source);
  if (!is_head() || !autoscaled()) return;
  for (Json& container : spec()["containers"]) {
    if (&container == &ray() || DigString(container, "name") == "autoscaler") {
      AddEmptyDir(container, "ray-logs", "/tmp/ray", Json::object());
    }
  }
}

std::string Builder::SetCommand() {
  std::string own;
  for (const char* list : {"command", "args"}) {
    for (const Json& word : Child(ray(), list)) own += fmt::format(" {} ", StringOf(word));
  }
  const std::string command = StartCommand(node_type, params, Child(ray(), "resources"));
  if (OverwritesCommand(pod) || own.find("ray start") != std::string::npos) return command;
  const std::string generated = "ulimit -n 65536; " + command;
  ray()["command"] = {"/bin/bash", "-c", "--"};
  ray()["args"] = Json::array({own.empty() ? generated : fmt::format("{} && {}", own, generated)});
  return command;
}

void Builder::SetEnv(const std::string& command) {
  const std::string address = HeadAddress(cluster);
  const std::string service = address.substr(0, address.find('.'));
  if (spec().contains("initContainers")) {
    for (Json& init : spec()["initContainers"]) {
      AddEnv(init, "FQ_RAY_IP", address);
      AddEnv(init, "RAY_IP", service);
    }
  }
  Json& container = ray();
  if (!is_head()) {
    AddEnv(container, "FQ_RAY_IP", address);
    AddEnv(container, "RAY_IP", service);
  }
  AddFieldEnv(container, "RAY_CLUSTER_NAME", LabelPath(kClusterLabel));
  AddFieldEnv(container, "RAY_CLOUD_INSTANCE_ID", "metadata.name");
  AddFieldEnv(container, "RAY_NODE_TYPE_NAME", LabelPath(kGroupLabel));
  AddEnv(container, "KUBERAY_GEN_RAY_START_CMD", command);
  AddMissingEnv(container, "RAY_PORT", port);
  const std::string creator = CreatorKind(cluster);
  if (creator == "RayService") {
    AddMissingEnv(container, "RAY_timeout_ms_task_wait_for_death_info", "0");
    AddMissingEnv(container, "RAY_gcs_server_request_timeout_seconds", "5");
    AddMissingEnv(container, "RAY_SERVE_KV_TIMEOUT_S", "5");
  }
  AddMissingEnv(container, "RAY_ADDRESS", fmt::format("{}:{}", is_head() ? "127.0.0.1" : address, port));
  AddMissingEnv(container, "RAY_USAGE_STATS_KUBERAY_IN_USE", "1");
  if (is_head()) {
    AddEnv(container, "RAY_USAGE_STATS_EXTRA_TAGS",
           fmt::format("kuberay_version={};kuberay_crd={}", kOperatorVersion, creator));
  }
  AddMissingEnv(container, "RAY_DASHBOARD_ENABLE_K8S_DISK_USAGE", "1");
}

void Builder::SetProbes() {
  const auto health = [](int timeout_s, int at_port, const char* path) {
    return fmt::format("wget --tries 1 -T {} -q -O- http://localhost:{}/{} | grep success", timeout_s, at_port, path);
  };
  std::string check = health(2, kAgentPort, "api/local_raylet_healthz");
  if (is_head()) check += " && " + health(10, kDashboardPort, "api/gcs_healthz");
  const int timeout_s = is_head() ? 5 : 2;
  const auto probe = [&](int delay_s, int failures) {
    return Json{{"exec", {{"command", {"bash", "-c", check}}}},
                {"initialDelaySeconds", delay_s},
                {"timeoutSeconds", timeout_s},
                {"periodSeconds", 5},
                {"successThreshold", 1},
                {"failureThreshold", failures}};
  };
  if (Child(ray(), "livenessProbe").is_null()) ray()["livenessProbe"] = probe(30, 120);
  if (!Child(ray(), "readinessProbe").is_null()) return;
  ray()["readinessProbe"] = probe(10, 10);
  if (is_head() || CreatorKind(cluster) != "RayService") return;
  int serve_port = kServePort;
  for (const Json& each : Child(ray(), "ports")) {
    if (DigString(each, "name") == "serve") serve_port = int(IntOf(Child(each, "containerPort"), kServePort));
  }
  check += " && " + health(10, serve_port, "-/healthz");
  ray()["readinessProbe"] = probe(10, 1);
}

}  // namespace

Json BuildHeadPod(const Json& cluster) {
  Builder build(cluster, Dig(cluster, "spec", "headGroupSpec"), kHead);
  build.Begin(kHeadGroup, PodNamePrefix(NameOf(cluster), kHead));
  CompleteHeadParams(build.params);
  if (build.autoscaled()) build.AddAutoscaler();
  build.AddFaultTolerance();
  build.AddMetricsPort();
  if (CreatorKind(cluster) == "RayService") build.pod["metadata"]["labels"][kServeLabel] = "false";
  build.AddSharedMemory();
  build.SetEnv(build.SetCommand());
  build.SetProbes();
  return std::move(build.pod);
}

Json BuildWorkerPod(const Json& cluster, const Json& group) {
  const std::string& name = DigString(group, "groupName");
  Builder build(cluster, group, kWorker);
  build.Begin(name, PodNamePrefix(fmt::format("{}-{}", NameOf(cluster), name), kWorker));
  build.AddWaitForGcs();
  CompleteWorkerParams(build.params, HeadAddress(cluster), build.port);
  build.AddFaultTolerance();
  build.AddMetricsPort();
  if (build.autoscaled() && IsAutoscalerV2(Child(cluster, "spec"))) build.spec()["restartPolicy"] = "Never";
  if (CreatorKind(cluster) == "RayService") build.pod["metadata"]["labels"][kServeLabel] = "true";
  build.AddSharedMemory();
  build.SetEnv(build.SetCommand());
  build.SetProbes();
  return std::move(build.pod);
}

}  // namespace tutti::sim::ray
