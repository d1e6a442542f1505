// SPDX-License-Identifier: Apache-2.0
#include "sim/kuberay/ray_job_objects.h"

#include <fmt/format.h>

#include "base/json_string.h"
#include "sim/kuberay/ray_batch_scheduler.h"
#include "sim/kuberay/ray_names.h"
#include "sim/kuberay/ray_sizes.h"
#include "sim/objects/lifetime.h"
#include "sim/objects/yaml.h"

namespace tutti::sim::ray {
namespace {

// As Go's strconv.Quote, for text that is JSON.
std::string Quote(const std::string& text) { return base::PrintJson(Json(text)); }

std::string Trim(const std::string& text) {
  constexpr const char* kSpace = " \t\r\n";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// runtimeEnvYAML as JSON; "" when there is none, nothing when it is no YAML.
std::optional<std::string> RuntimeEnv(const Json& ray_job) {
  const std::string& text = DigString(ray_job, "spec", "runtimeEnvYAML");
  if (text.empty()) return "";
  const auto parsed = ParseYaml(text);
  if (!parsed) return std::nullopt;
  return GoJson(base::PrintJson(parsed->value));
}

std::string SubmitCommand(const Json& ray_job) {
  std::string address = DigString(ray_job, "status", "dashboardURL");
  if (!address.starts_with("http://")) address = "http://" + address;
  const std::string& id = DigString(ray_job, "status", "jobId");
  const Json& spec = Child(ray_job, "spec");
  std::string submit = fmt::format("ray job submit --address {} --no-wait", address);
  if (const std::string env = RuntimeEnv(ray_job).value_or(""); !env.empty())
    submit += " --runtime-env-json " + Quote(env);
  if (const Json& metadata = Child(spec, "metadata"); !metadata.empty())
    submit += " --metadata-json " + Quote(GoJson(base::PrintJson(metadata)));
  if (!id.empty()) submit += " --submission-id " + id;
  for (const auto& [field, flag] : {std::pair{"entrypointNumCpus", "--entrypoint-num-cpus"},
                                    std::pair{"entrypointNumGpus", "--entrypoint-num-gpus"}}) {
    const Json& amount = Child(spec, field);
    if (amount.is_number() && amount.get<double>() > 0) submit += fmt::format(" {} {:f}", flag, amount.get<double>());
  }
  if (const std::string& custom = DigString(spec, "entrypointResources"); !custom.empty()) {
    submit += " --entrypoint-resources " + Quote(custom);
  }
  return fmt::format(
      "if ! ray job status --address {0} {1} >/dev/null 2>&1 ; then {2} -- {3} ; fi ; ray job logs --address {0} "
      "--follow {1}",
      address, id, submit, Trim(DigString(spec, "entrypoint")));
}

Json DefaultSubmitterTemplate(const Json& cluster) {
  const Json& head = FirstContainer(Dig(cluster, "spec", "headGroupSpec", "template"));
  const Json container = {
      {"name", "ray-job-submitter"},
      {"image", Child(head, "image")},
      {"resources",
       {{"limits", {{"cpu", "1"}, {"memory", "1Gi"}}}, {"requests", {{"cpu", "500m"}, {"memory", "200Mi"}}}}}};
  return {{"spec", {{"containers", Json::array({container})}, {"restartPolicy", "Never"}}}};
}

Json SubmitterTemplate(const Json& ray_job, const Json& cluster) {
  const Json& given = Dig(ray_job, "spec", "submitterPodTemplate");
  Json pod = given.is_null() ? DefaultSubmitterTemplate(cluster) : given;
  Json& container = pod["spec"]["containers"][0];
  if (Child(container, "command").empty()) {
    container["command"] = {"/bin/bash", "-ce", "--"};
    container["args"] = Json::array({SubmitCommand(ray_job)});
  }
  container["env"].push_back({{"name", "PYTHONUNBUFFERED"}, {"value", "1"}});
  container["env"].push_back(
      {{"name", "RAY_DASHBOARD_ADDRESS"}, {"value", DigString(ray_job, "status", "dashboardURL")}});
  container["env"].push_back({{"name", "RAY_JOB_SUBMISSION_ID"}, {"value", DigString(ray_job, "status", "jobId")}});
  return pod;
}

}  // namespace

Json BuildJobCluster(const Json& ray_job, const std::string& name) {
  Json labels = Dig(ray_job, "metadata", "labels");
  labels[kOriginNameLabel] = NameOf(ray_job);
  labels[kOriginKindLabel] = "RayJob";
  Json meta = {{"name", name},
               {"namespace", NamespaceOf(ray_job)},
               {"labels", std::move(labels)},
               {"ownerReferences", Json::array({ControllerReference(ray_job)})}};
  if (const Json& annotations = Dig(ray_job, "metadata", "annotations"); !annotations.empty())
    meta["annotations"] = annotations;
  return {{"apiVersion", "ray.io/v1"},
          {"kind", "RayCluster"},
          {"metadata", std::move(meta)},
          {"spec", Dig(ray_job, "spec", "rayClusterSpec")}};
}

Json BuildSubmitterJob(const Json& ray_job, const Json& cluster, const KubeRayOptions& options) {
  Json pod = SubmitterTemplate(ray_job, cluster);
  // The operator adds nothing to the submitter's pod in release 1.4.
  if (options.release != KubeRayRelease::k1_4) AddBatchMetadata(options, ray_job, kSubmitterGroup, pod);
  // How long the entrypoint takes is said on the RayJob; here it is the submitter that waits for it.
  for (const char* annotation : {kRunForAnnotation, kExitCodeAnnotation}) {
    const std::string& value = AnnotationOf(ray_job, annotation);
    if (!value.empty()) pod["metadata"]["annotations"][annotation] = value;
  }
  const Json& limit = Dig(ray_job, "spec", "submitterConfig", "backoffLimit");
  return {{"apiVersion", "batch/v1"},
          {"kind", "Job"},
          {"metadata",
           {{"name", NameOf(ray_job)},
            {"namespace", NamespaceOf(ray_job)},
            {"labels",
             {{kOriginNameLabel, NameOf(ray_job)}, {kOriginKindLabel, "RayJob"}, {kCreatedByLabel, kOperatorName}}},
            {"ownerReferences", Json::array({ControllerReference(ray_job)})}}},
          {"spec", {{"backoffLimit", IntOf(limit, 2)}, {"template", std::move(pod)}}}};
}

std::optional<std::string> JobSpecProblem(const Json& ray_job) {
  const Json& spec = Child(ray_job, "spec");
  const bool suspend = BoolOf(Child(spec, "suspend"));
  const bool shuts_down = BoolOf(Child(spec, "shutdownAfterJobFinishes"));
  const bool selects = !Child(spec, "clusterSelector").empty();
  const int64_t ttl = IntOf(Child(spec, "ttlSecondsAfterFinished"));
  if (suspend && !shuts_down)
    return "a RayJob with shutdownAfterJobFinishes set to false is not allowed to be suspended";
  if (ttl < 0) return "TTLSecondsAfterFinished must be a non-negative integer";
  if (!shuts_down && ttl > 0)
    return "a RayJob with shutdownAfterJobFinishes set to false cannot have TTLSecondsAfterFinished";
  if (suspend && selects) return "the ClusterSelector mode doesn't support the suspend operation";
  if (Child(spec, "rayClusterSpec").is_null() && !selects)
    return "one of RayClusterSpec or ClusterSelector must be set";
  const int64_t backoff = IntOf(Child(spec, "backoffLimit"));
  if (DigString(spec, "submissionMode") == "InteractiveMode" && backoff > 0) {
    return "BackoffLimit is incompatible with InteractiveMode";
  }
  if (!Child(spec, "rayClusterSpec").is_null()) {
    if (auto problem = SpecProblem(Child(spec, "rayClusterSpec"), Dig(ray_job, "metadata", "annotations")))
      return problem;
  }
  if (!RuntimeEnv(ray_job)) return "failed to unmarshal RuntimeEnvYAML";
  const Json& deadline = Child(spec, "activeDeadlineSeconds");
  if (deadline.is_number() && IntOf(deadline) <= 0) return "activeDeadlineSeconds must be a positive integer";
  if (backoff < 0) return "backoffLimit must be a positive integer";
  if (!Child(spec, "deletionPolicy").is_null()) {
    return "RayJobDeletionPolicy feature gate must be enabled to use the DeletionPolicy feature";
  }
  return std::nullopt;
}

}  // namespace tutti::sim::ray
