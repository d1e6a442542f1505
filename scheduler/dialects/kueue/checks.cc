// SPDX-License-Identifier: Apache-2.0
#include "dialects/kueue/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/sha1.h"
#include "dialects/declaration.h"
#include "dialects/fields.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/queue_status.h"
#include "dialects/pause.h"
#include "dialects/wording.h"

namespace tutti::dialects::kueue {

using base::Json;
using cluster::DesiredObject;

namespace {

constexpr std::string_view kConsume = "autoscaling.x-k8s.io/consume-provisioning-request",
                           kClass = "autoscaling.x-k8s.io/provisioning-class-name",
                           kParameterPrefix = "provreq.kueue.x-k8s.io/";

// Kueue's way to shorten a name.
std::string Shortened(std::string name) {
  constexpr size_t kLongest = 253, kKept = 247;
  if (name.size() <= kLongest) return name;
  return fmt::format("{}-{}", name.substr(0, kKept), base::Sha1Hex(name).substr(0, 5));
}

std::string TemplateName(const std::string& request, const std::string& set) {
  return Shortened(fmt::format("ppt-{}-{}", request, set));
}

const Json& CheckIn(const Json& status, const std::string& name) {
  static const Json none;
  for (const Json& check : ListIn(status, "admissionChecks"))
    if (TextIn(check, "name") == name) return check;
  return none;
}

struct RetryStrategy {
  int64_t limit = 3, base_seconds = 60, max_seconds = 1800;

  // After so many failures.
  base::Millis PauseMs(int64_t failures) const {
    return std::min(DoubledPause(base_seconds * 1'000, failures - 1), max_seconds * 1'000);
  }
};

RetryStrategy StrategyOf(const Json& config) {
  RetryStrategy strategy;
  const Json& written = Field(Field(config, "spec"), "retryStrategy");
  const auto take = [&](std::string_view key, int64_t* into) {
    if (const Json& value = Field(written, key); value.is_number_integer())
      *into = std::clamp<int64_t>(value.get<int64_t>(), 0, 86'400);
  };
  take("backoffLimitCount", &strategy.limit);
  take("backoffBaseSeconds", &strategy.base_seconds);
  take("backoffMaxSeconds", &strategy.max_seconds);
  return strategy;
}

// Its pods ask for one of the resources that the requests are for.
bool IsManaged(const RoleRead& role, const Json& config) {
  const Json& managed = ListIn(Field(config, "spec"), "managedResources");
  if (!role.pod || managed.empty()) return role.pod != nullptr;
  return std::ranges::any_of(managed, [&](const Json& name) {
    return name.is_string() && role.pod->spec->requests.Get(name.get<std::string>()) > 0;
  });
}

// Of each set, what the request that was answered asks for in its pods.
Json UpdatesFor(const Provisioning& provisioning, const Json& request) {
  const std::string provisioning_class = TextIn(Field(request, "spec"), "provisioningClassName");
  Json selector = Json::object();
  for (const Json& row : ListIn(Field(Field(*provisioning.config->body, "spec"), "podSetUpdates"), "nodeSelector")) {
    const std::string detail =
        TextIn(Field(StatusIn(request), "provisioningClassDetails"), TextIn(row, "valueFromProvisioningClassDetail"));
    if (!detail.empty()) selector[TextIn(row, "key")] = detail;
  }
  Json updates = Json::array();
  for (const std::string& set : provisioning.sets) {
    Json update = {
        {"name", set},
        {"annotations", {{std::string(kConsume), provisioning.request}, {std::string(kClass), provisioning_class}}}};
    if (!selector.empty()) update["nodeSelector"] = selector;
    updates.push_back(std::move(update));
  }
  return updates;
}

Json OwnerOf(const model::Object& workload) {
  return Json::array({{{"apiVersion", fmt::format("{}/{}", workload.group, workload.version)},
                       {"kind", workload.kind},
                       {"name", workload.meta.name},
                       {"uid", workload.meta.uid},
                       {"controller", true}}});
}

Json MetaOf(const std::string& name, const model::Object& workload) {
  return {{"name", name},
          {"namespace", workload.meta.ns},
          {"labels", {{std::string(kManaged), "true"}}},
          {"ownerReferences", OwnerOf(workload)}};
}

// The template of the set's pods, with what its flavors ask for.
Json TemplateFor(const std::string& set, const Entry& entry, const Queues& queues, const Json& status) {
  Json pod_template = Json::object();
  for (const Json& each : AsList(entry.of_workload.json))
    if (TextIn(each, "name") == set) pod_template = Field(each, "template");
  for (const Json& assigned : ListIn(Field(status, "admission"), "podSetAssignments")) {
    if (TextIn(assigned, "name") != set) continue;
    const Queues::FlavorTerms terms = queues.TermsOf(assigned);
    for (const auto& [key, value] : terms.node_selector) pod_template["spec"]["nodeSelector"][key] = value;
    for (const Json& each : terms.tolerations) pod_template["spec"]["tolerations"].push_back(each);
  }
  return pod_template;
}

int64_t CountOf(const std::string& set, const Json& status) {
  for (const Json& assigned : ListIn(Field(status, "admission"), "podSetAssignments"))
    if (TextIn(assigned, "name") == set) return std::max<int64_t>(1, CountIn(assigned, "count"));
  return 1;
}

Json RequestFor(const Provisioning& wanted, const Entry& entry, const model::Object& workload, const Json& status) {
  const Json& config = Field(*wanted.config->body, "spec");
  Json parameters = Field(config, "parameters").is_object() ? Field(config, "parameters") : Json::object();
  if (entry.job)
    for (const auto& [key, value] : entry.job->meta.annotations)
      if (key.starts_with(kParameterPrefix)) parameters[key.substr(kParameterPrefix.size())] = value;
  Json sets = Json::array();
  for (const std::string& set : wanted.sets)
    sets.push_back(
        {{"podTemplateRef", {{"name", TemplateName(wanted.request, set)}}}, {"count", CountOf(set, status)}});
  return {{"apiVersion", fmt::format("{}/{}", RequestKind().group, RequestKind().versions.front())},
          {"kind", RequestKind().kind},
          {"metadata", MetaOf(wanted.request, workload)},
          {"spec",
           {{"provisioningClassName", TextIn(config, "provisioningClassName")},
            {"parameters", std::move(parameters)},
            {"podSets", std::move(sets)}}}};
}

cluster::ObjectRef RefTo(const model::ObjectKind& kind, const std::string& ns, const std::string& name) {
  return cluster::NewRef(kind.group, kind.versions.front(), kind.resource, kind.kind, ns, name);
}

}  // namespace

const model::ObjectKind& RequestKind() {
  static const model::ObjectKind kind{
      "autoscaling.x-k8s.io", "provisioningrequests", "ProvisioningRequest", {"v1", "v1beta1"}};
  return kind;
}

const model::ObjectKind& TemplateKind() {
  static const model::ObjectKind kind{"", "podtemplates", "PodTemplate", {"v1"}};
  return kind;
}

std::vector<Provisioning> ProvisioningOf(const Entry& entry, const Queues& queues,
                                         const std::vector<std::string>& checks, const Json& status) {
  std::vector<Provisioning> out;
  for (const std::string& name : checks) {
    const Check* check = queues.FindCheck(name);
    if (!check || check->controller != kProvisioning) continue;
    std::shared_ptr<const model::Object> config = queues.FindConfig(check->parameters);
    if (!config) continue;
    Provisioning one;
    one.check = name;
    one.retry_count = CountIn(CheckIn(status, name), "retryCount");
    const std::string& of = entry.workload ? entry.workload->meta.name : entry.key.name;
    one.request = Shortened(fmt::format("{}-{}-{}", of, name, one.retry_count + 1));
    for (const RoleRead& role : entry.counted().roles)
      if (role.ask.count > 0 && IsManaged(role, *config->body)) one.sets.push_back(role.ask.name);
    one.config = std::move(config);
    out.push_back(std::move(one));
  }
  return out;
}

CheckUpdate UpdateOf(const Provisioning& provisioning, const Owned& owned, bool admitted, base::Millis now_wall_ms) {
  CheckUpdate update{provisioning.check, "Pending", "", provisioning.retry_count, nullptr, 0};
  if (provisioning.sets.empty()) {
    update.state = "Ready";
    update.message = "the provisioning request is not needed";
    return update;
  }
  const auto at = owned.requests.find(provisioning.request);
  if (at == owned.requests.end()) return update;
  const Json& body = *at->second->body;
  const Json& conditions = Field(StatusIn(body), "conditions");
  const auto message_of = [&](const char* type) {
    const Json* condition = FindCondition(conditions, type);
    return condition ? OneLine(TextIn(*condition, "message")) : std::string();
  };
  const auto retry = [&](const std::string& why, const std::string& message) {
    const RetryStrategy strategy = StrategyOf(*provisioning.config->body);
    if (provisioning.retry_count >= strategy.limit) {
      update.state = "Rejected";
      update.message = message;
      return;
    }
    update.state = "Retry";
    update.message = fmt::format("Retrying after {}: {}", why, message);
    update.retry_count = provisioning.retry_count + 1;
    update.requeue_at_ms = now_wall_ms + strategy.PauseMs(update.retry_count);
  };
  if (IsTrue(conditions, "Failed")) {
    retry("failure", message_of("Failed"));
  } else if (IsTrue(conditions, "CapacityRevoked")) {
    update.state = "Rejected";
    update.message = message_of("CapacityRevoked");
  } else if (IsTrue(conditions, "BookingExpired") && !admitted) {
    retry("booking expired", message_of("BookingExpired"));
  } else if (IsTrue(conditions, "Provisioned")) {
    update.state = "Ready";
    update.message = message_of("Provisioned");
    update.pod_set_updates = UpdatesFor(provisioning, body);
  } else if (IsTrue(conditions, "Accepted")) {
    update.message = message_of("Provisioned");
  }
  return update;
}

void DesireRequests(const std::vector<Provisioning>& wanted, const Entry& entry, const Owned& owned,
                    const Queues& queues, const std::shared_ptr<const model::Object>& workload, const Json& status,
                    const cluster::Unseen& unseen, std::vector<DesiredObject>* out) {
  std::set<std::string> requests, templates;
  for (const Provisioning& one : wanted) {
    if (one.sets.empty()) continue;
    requests.insert(one.request);
    for (const std::string& set : one.sets) templates.insert(TemplateName(one.request, set));
    if (TextIn(CheckIn(status, one.check), "state") != "Pending") continue;
    bool all = true;
    for (const std::string& set : one.sets) {
      const std::string name = TemplateName(one.request, set);
      const cluster::ObjectRef ref = RefTo(TemplateKind(), workload->meta.ns, name);
      all = all && (owned.templates.contains(name) || unseen.Created(ref));
      Json body = {{"apiVersion", "v1"}, {"kind", "PodTemplate"}, {"metadata", MetaOf(name, *workload)}};
      body["template"] = TemplateFor(set, entry, queues, status);
      out->push_back({.ref = ref, .mode = DesiredObject::Mode::kExists, .fields = std::move(body)});
    }
    if (!all) continue;
    const cluster::ObjectRef ref = RefTo(RequestKind(), workload->meta.ns, one.request);
    out->push_back(
        {.ref = ref, .mode = DesiredObject::Mode::kExists, .fields = RequestFor(one, entry, *workload, status)});
  }
  const auto end_others = [&](const auto& there, const std::set<std::string>& kept) {
    for (const auto& [name, object] : there)
      if (!kept.contains(name))
        out->push_back({.ref = cluster::RefOf(object), .mode = DesiredObject::Mode::kGone, .seen = object});
  };
  end_others(owned.requests, requests);
  end_others(owned.templates, templates);
}

}  // namespace tutti::dialects::kueue
