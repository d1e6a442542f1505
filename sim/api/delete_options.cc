// SPDX-License-Identifier: Apache-2.0
#include "sim/api/delete_options.h"

#include "sim/api/representation.h"

namespace tutti::sim {

ApiResult<DeleteOptions> DeleteOptionsOf(const HttpRequest& request) {
  Json body = Json::object();
  if (!request.body.empty()) {
    auto parsed = ParseBody(request);
    if (!parsed) return tl::make_unexpected(parsed.error());
    body = std::move(*parsed);
  }
  DeleteOptions options;
  const std::string grace = request.Param("gracePeriodSeconds");
  if (const Json& seconds = Child(body, "gracePeriodSeconds"); seconds.is_number_integer()) {
    options.grace_seconds = seconds.get<int64_t>();
  } else if (!grace.empty()) {
    options.grace_seconds = std::atoll(grace.c_str());
  }
  const std::string& in_body = DigString(body, "propagationPolicy");
  const std::string policy = in_body.empty() ? request.Param("propagationPolicy") : in_body;
  if (policy == "Orphan" || BoolOf(Child(body, "orphanDependents")) || request.Param("orphanDependents") == "true") {
    options.propagation = Propagation::kOrphan;
  } else if (policy == "Foreground") {
    options.propagation = Propagation::kForeground;
  } else if (!policy.empty() && policy != "Background") {
    return tl::make_unexpected(
        Invalid("meta.k8s.io", "DeleteOptions", "",
                {UnsupportedField("propagationPolicy", policy, {"Foreground", "Background", "Orphan", "nil"})}));
  }
  options.uid = DigString(body, "preconditions", "uid");
  options.resource_version = DigString(body, "preconditions", "resourceVersion");
  options.dry_run = request.Param("dryRun") == "All" || Child(body, "dryRun") == Json::array({"All"});
  return options;
}

}  // namespace tutti::sim
