// SPDX-License-Identifier: Apache-2.0
#include "sim/kuberay/ray_definitions.h"

namespace tutti::sim {
namespace {

Json Typed(const char* type) { return {{"type", type}}; }
Json Int32() { return {{"type", "integer"}, {"format", "int32"}}; }
Json Int32(int64_t by_default) { return {{"type", "integer"}, {"format", "int32"}, {"default", by_default}}; }
Json OneOf(std::vector<const char*> values) { return {{"type", "string"}, {"enum", values}}; }
Json MapOfStrings() { return {{"type", "object"}, {"additionalProperties", Typed("string")}}; }
Json ListOf(Json items) { return {{"type", "array"}, {"items", std::move(items)}}; }
Json ObjectOf(Json properties) { return {{"type", "object"}, {"properties", std::move(properties)}}; }
Json ObjectOf(Json properties, const std::vector<const char*>& required) {
  Json schema = ObjectOf(std::move(properties));
  schema["required"] = required;
  return schema;
}
Json Anything() { return {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}; }
// Where the operator's own definition writes out a type of Kubernetes.
Json Embedded(const char* type) { return {{"$ref", std::string("#/components/schemas/") + type}}; }

// With the fields of newer releases, which are kept as they are written.
Json HeadGroup(bool stable) {
  std::vector<const char*> required = {"template"};
  if (!stable) required.insert(required.begin(), "rayStartParams");
  Json fields = {{"template", Embedded("PodTemplateSpec")},
                 {"headService", Embedded("Service")},
                 {"enableIngress", Typed("boolean")},
                 {"rayStartParams", MapOfStrings()},
                 {"serviceType", Typed("string")}};
  if (stable) {
    fields["labels"] = Anything();
    fields["resources"] = Anything();
  }
  return ObjectOf(std::move(fields), required);
}

Json WorkerGroup(bool stable) {
  Json fields = {{"groupName", Typed("string")},
                 {"replicas", Int32(0)},
                 {"minReplicas", Int32(0)},
                 {"maxReplicas", Int32(INT32_MAX)},
                 {"rayStartParams", MapOfStrings()},
                 {"scaleStrategy", ObjectOf({{"workersToDelete", ListOf(Typed("string"))}})},
                 {"template", Embedded("PodTemplateSpec")}};
  std::vector<const char*> required = {"groupName", "maxReplicas", "minReplicas", "template"};
  if (stable) {
    fields["numOfHosts"] = Int32(1);
    fields["suspend"] = Typed("boolean");
    fields["idleTimeoutSeconds"] = Int32();
    fields["labels"] = Anything();
    fields["resources"] = Anything();
  } else {
    required.push_back("rayStartParams");
  }
  return ObjectOf(std::move(fields), required);
}

Json AutoscalerOptions(bool stable) {
  Json fields = {{"env", ListOf(Embedded("EnvVar"))},
                 {"envFrom", ListOf(Embedded("EnvFromSource"))},
                 {"idleTimeoutSeconds", Int32()},
                 {"image", Typed("string")},
                 {"imagePullPolicy", Typed("string")},
                 {"resources", Embedded("ResourceRequirements")},
                 {"securityContext", Embedded("SecurityContext")},
                 {"upscalingMode", OneOf({"Default", "Aggressive", "Conservative"})},
                 {"volumeMounts", ListOf(Embedded("VolumeMount"))}};
  if (stable) fields["version"] = OneOf({"v1", "v2"});
  return ObjectOf(std::move(fields));
}

Json FaultToleranceOptions() {
  const Json credential = ObjectOf({{"value", Typed("string")}, {"valueFrom", Embedded("EnvVarSource")}});
  return ObjectOf({{"externalStorageNamespace", Typed("string")},
                   {"redisAddress", Typed("string")},
                   {"redisPassword", credential},
                   {"redisUsername", credential}},
                  {"redisAddress"});
}

Json ClusterSpec(bool stable) {
  Json fields = {{"autoscalerOptions", AutoscalerOptions(stable)},
                 {"enableInTreeAutoscaling", Typed("boolean")},
                 {"headGroupSpec", HeadGroup(stable)},
                 {"headServiceAnnotations", MapOfStrings()},
                 {"rayVersion", Typed("string")},
                 {"suspend", Typed("boolean")},
                 {"workerGroupSpecs", ListOf(WorkerGroup(stable))}};
  if (stable) {
    for (const char* newer : {"authOptions", "networkPolicy", "upgradeStrategy"}) fields[newer] = Anything();
    fields["gcsFaultToleranceOptions"] = FaultToleranceOptions();
    fields["managedBy"] = OneOf({"ray.io/kuberay-operator", "kueue.x-k8s.io/multikueue"});
  }
  return ObjectOf(std::move(fields), {"headGroupSpec"});
}

Json JobSpec(bool stable) {
  Json fields = {{"clusterSelector", MapOfStrings()},
                 {"entrypoint", Typed("string")},
                 {"entrypointNumCpus", Typed("number")},
                 {"entrypointNumGpus", Typed("number")},
                 {"entrypointResources", Typed("string")},
                 {"jobId", Typed("string")},
                 {"metadata", MapOfStrings()},
                 {"rayClusterSpec", ClusterSpec(stable)},
                 {"runtimeEnvYAML", Typed("string")},
                 {"shutdownAfterJobFinishes", Typed("boolean")},
                 {"submitterPodTemplate", Embedded("PodTemplateSpec")},
                 {"suspend", Typed("boolean")},
                 {"ttlSecondsAfterFinished", Int32(0)}};
  if (stable) {
    fields["activeDeadlineSeconds"] = Int32();
    fields["backoffLimit"] = Int32(0);
    fields["deletionStrategy"] = Anything();
    fields["preRunningDeadlineSeconds"] = Int32();
    fields["deletionPolicy"] = OneOf({"DeleteCluster", "DeleteWorkers", "DeleteSelf", "DeleteNone"});
    fields["managedBy"] = OneOf({"ray.io/kuberay-operator", "kueue.x-k8s.io/multikueue"});
    fields["submissionMode"] = {{"type", "string"}, {"default", "K8sJobMode"}};
    fields["submitterConfig"] = ObjectOf({{"backoffLimit", Int32()}});
  }
  return ObjectOf(std::move(fields));
}

Json Column(const char* name, const char* type, const char* path, int priority = 0) {
  Json column = {{"name", name}, {"type", type}, {"jsonPath", path}};
  if (priority > 0) column["priority"] = priority;
  return column;
}

Json Version(const char* name, bool stored, Json spec, const std::vector<Json>& columns) {
  Json root = ObjectOf({{"apiVersion", Typed("string")},
                        {"kind", Typed("string")},
                        {"metadata", Typed("object")},
                        {"spec", std::move(spec)},
                        {"status", Anything()}});
  return {{"name", name},
          {"served", true},
          {"storage", stored},
          {"schema", {{"openAPIV3Schema", std::move(root)}}},
          {"subresources", {{"status", Json::object()}}},
          {"additionalPrinterColumns", columns}};
}

Json Definition(const char* kind, const char* singular, std::vector<Json> versions) {
  const std::string plural = std::string(singular) + "s";
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", plural + ".ray.io"}}},
          {"spec",
           {{"group", "ray.io"},
            {"scope", "Namespaced"},
            {"names",
             {{"categories", Json::array({"all"})},
              {"kind", kind},
              {"listKind", std::string(kind) + "List"},
              {"plural", plural},
              {"singular", singular}}},
            {"versions", std::move(versions)}}}};
}

}  // namespace

std::vector<Json> RayDefinitions() {
  const std::vector<Json> cluster_columns = {Column("desired workers", "integer", ".status.desiredWorkerReplicas"),
                                             Column("available workers", "integer", ".status.availableWorkerReplicas"),
                                             Column("cpus", "string", ".status.desiredCPU"),
                                             Column("memory", "string", ".status.desiredMemory"),
                                             Column("gpus", "string", ".status.desiredGPU"),
                                             Column("tpus", "string", ".status.desiredTPU", 1),
                                             Column("status", "string", ".status.state"),
                                             Column("age", "date", ".metadata.creationTimestamp"),
                                             Column("head pod IP", "string", ".status.head.podIP", 1),
                                             Column("head service IP", "string", ".status.head.serviceIP", 1)};
  const std::vector<Json> job_columns = {Column("job status", "string", ".status.jobStatus"),
                                         Column("deployment status", "string", ".status.jobDeploymentStatus"),
                                         Column("ray cluster name", "string", ".status.rayClusterName"),
                                         Column("start time", "string", ".status.startTime"),
                                         Column("end time", "string", ".status.endTime"),
                                         Column("age", "date", ".metadata.creationTimestamp")};
  return {
      Definition("RayCluster", "raycluster",
                 {Version("v1", true, ClusterSpec(true), cluster_columns),
                  Version("v1alpha1", false, ClusterSpec(false), cluster_columns)}),
      Definition("RayJob", "rayjob",
                 {Version("v1", true, JobSpec(true), job_columns), Version("v1alpha1", false, JobSpec(false), {})})};
}

}  // namespace tutti::sim
