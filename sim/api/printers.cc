// SPDX-License-Identifier: Apache-2.0
// Columns and cells of the built-in kinds. A kind without an entry prints its name and when it was made.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/json_string.h"
#include "base/text.h"
#include "sim/api/table.h"

namespace tutti::sim {
namespace {

std::string OrUnset(const std::string& text) { return text.empty() ? "<unset>" : text; }

std::string Age(const Json& object, base::Millis now_ms) {
  return AgeOf(Dig(object, "metadata", "creationTimestamp"), now_ms);
}

std::string Joined(const std::vector<std::string>& parts) { return OrNone(fmt::format("{}", fmt::join(parts, ","))); }

std::string MapText(const Json& map) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : MapOf(map).items()) parts.push_back(key + "=" + StringOf(value));
  return Joined(parts);
}

std::string SelectorText(const Json& selector) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : MapOf(Child(selector, "matchLabels")).items())
    parts.push_back(key + "=" + StringOf(value));
  for (const Json& term : ArrayOf(Child(selector, "matchExpressions"))) {
    std::vector<std::string> values;
    for (const Json& value : ArrayOf(Child(term, "values"))) values.push_back(StringOf(value));
    const std::string& op = DigString(term, "operator");
    const std::string& key = DigString(term, "key");
    if (op == "Exists") {
      parts.push_back(key);
    } else if (op == "DoesNotExist") {
      parts.push_back("!" + key);
    } else {
      parts.push_back(fmt::format("{} {} ({})", key, op == "In" ? "in" : "notin", fmt::join(values, ",")));
    }
  }
  return Joined(parts);
}

std::string OfContainers(const Json& workload, const char* field) {
  std::vector<std::string> parts;
  for (const Json& container : ArrayOf(Dig(workload, "spec", "template", "spec", "containers"))) {
    parts.push_back(DigString(container, field));
  }
  return Joined(parts);
}

int64_t Status(const Json& object, const char* field) { return IntOf(Dig(object, "status", field)); }
int64_t Spec(const Json& object, const char* field, int64_t fallback = 0) {
  return IntOf(Dig(object, "spec", field), fallback);
}

// --- Nodes ---

std::string NodeStatus(const Json& node) {
  const Json& ready = ConditionOf(node, "Ready");
  std::string status = ready.is_null() ? "Unknown" : DigString(ready, "status") == "True" ? "Ready" : "NotReady";
  if (BoolOf(Dig(node, "spec", "unschedulable"))) status += ",SchedulingDisabled";
  return status;
}

std::string NodeRoles(const Json& node) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::set<std::string> roles;
  for (const auto& [key, value] : MapOf(Dig(node, "metadata", "labels")).items()) {
    if (key.starts_with(kPrefix) && key.size() > kPrefix.size()) roles.insert(key.substr(kPrefix.size()));
    if (key == "kubernetes.io/role" && !StringOf(value).empty()) roles.insert(StringOf(value));
  }
  return OrNone(fmt::format("{}", fmt::join(roles, ",")));
}

std::string NodeAddress(const Json& node, const char* type) {
  for (const Json& address : ArrayOf(Dig(node, "status", "addresses"))) {
    if (DigString(address, "type") == type) return DigString(address, "address");
  }
  return "<none>";
}

Json NodeCells(const Json& node, base::Millis now_ms) {
  const auto info = [&](const char* field) {
    const std::string& text = DigString(node, "status", "nodeInfo", field);
    return text.empty() ? "<unknown>" : text;
  };
  return {NameOf(node),
          NodeStatus(node),
          NodeRoles(node),
          Age(node, now_ms),
          DigString(node, "status", "nodeInfo", "kubeletVersion"),
          NodeAddress(node, "InternalIP"),
          NodeAddress(node, "ExternalIP"),
          info("osImage"),
          info("kernelVersion"),
          info("containerRuntimeVersion")};
}

// --- Workloads ---

std::string JobCompletions(const Json& job) {
  const Json& completions = Dig(job, "spec", "completions");
  const int64_t done = Status(job, "succeeded");
  if (completions.is_number_integer()) return fmt::format("{}/{}", done, completions.get<int64_t>());
  const int64_t parallelism = Spec(job, "parallelism");
  return parallelism > 1 ? fmt::format("{}/1 of {}", done, parallelism) : fmt::format("{}/1", done);
}

std::string JobStatus(const Json& job) {
  if (IsTrue(job, "Complete")) return "Complete";
  if (IsTrue(job, "Failed")) return "Failed";
  if (IsTerminating(job)) return "Terminating";
  if (IsTrue(job, "Suspended")) return "Suspended";
  if (IsTrue(job, "FailureTarget")) return "FailureTarget";
  if (IsTrue(job, "SuccessCriteriaMet")) return "SuccessCriteriaMet";
  return "Running";
}

Json JobCells(const Json& job, base::Millis now_ms) {
  const auto start = base::ParseTime(DigString(job, "status", "startTime"));
  const auto end = base::ParseTime(DigString(job, "status", "completionTime"));
  std::string duration;
  if (start) duration = HumanDuration((end ? *end : now_ms) - *start);
  return {NameOf(job),
          JobStatus(job),
          JobCompletions(job),
          duration,
          Age(job, now_ms),
          OfContainers(job, "name"),
          OfContainers(job, "image"),
          SelectorText(Dig(job, "spec", "selector"))};
}

Json ReplicaCells(const Json& rs, base::Millis now_ms) {
  const Json& selector = Dig(rs, "spec", "selector");
  const bool plain = !selector.contains("matchLabels") && !selector.contains("matchExpressions");
  return {NameOf(rs),
          Spec(rs, "replicas"),
          Status(rs, "replicas"),
          Status(rs, "readyReplicas"),
          Age(rs, now_ms),
          OfContainers(rs, "name"),
          OfContainers(rs, "image"),
          plain ? MapText(selector) : SelectorText(selector)};
}

Json DeploymentCells(const Json& object, base::Millis now_ms) {
  return {NameOf(object),
          fmt::format("{}/{}", Status(object, "readyReplicas"), Spec(object, "replicas")),
          Status(object, "updatedReplicas"),
          Status(object, "availableReplicas"),
          Age(object, now_ms),
          OfContainers(object, "name"),
          OfContainers(object, "image"),
          SelectorText(Dig(object, "spec", "selector"))};
}

Json StatefulSetCells(const Json& object, base::Millis now_ms) {
  return {NameOf(object), fmt::format("{}/{}", Status(object, "readyReplicas"), Spec(object, "replicas")),
          Age(object, now_ms), OfContainers(object, "name"), OfContainers(object, "image")};
}

Json DaemonSetCells(const Json& object, base::Millis now_ms) {
  return {NameOf(object),
          Status(object, "desiredNumberScheduled"),
          Status(object, "currentNumberScheduled"),
          Status(object, "numberReady"),
          Status(object, "updatedNumberScheduled"),
          Status(object, "numberAvailable"),
          MapText(Dig(object, "spec", "template", "spec", "nodeSelector")),
          Age(object, now_ms),
          OfContainers(object, "name"),
          OfContainers(object, "image"),
          SelectorText(Dig(object, "spec", "selector"))};
}

// --- Events ---

Json EventCells(const Json& event, base::Millis now_ms) {
  const Json& series = Child(event, "series");
  const Json& at = Child(event, "eventTime");
  const Json& first = Child(event, "firstTimestamp");
  const Json& last = Child(event, "lastTimestamp");
  const std::string first_seen = AgeOf(first.is_string() ? first : at, now_ms);
  std::string last_seen = last.is_string() ? AgeOf(last, now_ms) : first_seen;
  int64_t count = IntOf(Child(event, "count"), 1);
  if (series.is_object()) {
    last_seen = AgeOf(Child(series, "lastObservedTime"), now_ms);
    count = IntOf(Child(series, "count"), 1);
  }
  const Json& involved = Child(event, "involvedObject");
  const std::string kind = base::LowerCase(DigString(involved, "kind"));
  const std::string& component = DigString(event, "source", "component");
  const std::string& host = DigString(event, "source", "host");
  std::string source = component.empty() ? DigString(event, "reportingComponent") : component;
  if (!host.empty()) source += ", " + host;
  std::string message = DigString(event, "message");
  while (!message.empty() && isspace(static_cast<unsigned char>(message.back()))) message.pop_back();
  return {last_seen,
          DigString(event, "type"),
          DigString(event, "reason"),
          kind + "/" + DigString(involved, "name"),
          DigString(involved, "fieldPath"),
          source,
          message,
          first_seen,
          count,
          NameOf(event)};
}

// --- Services, storage, the rest ---

std::string ServicePorts(const Json& service) {
  std::vector<std::string> parts;
  for (const Json& port : ArrayOf(Dig(service, "spec", "ports"))) {
    const int64_t node_port = IntOf(Child(port, "nodePort"));
    const std::string protocol = DigString(port, "protocol");
    parts.push_back(node_port ? fmt::format("{}:{}/{}", IntOf(Child(port, "port")), node_port, protocol)
                              : fmt::format("{}/{}", IntOf(Child(port, "port")), protocol));
  }
  return Joined(parts);
}

Json ServiceCells(const Json& service, base::Millis now_ms) {
  const std::string& type = DigString(service, "spec", "type");
  const std::string external = type == "ExternalName"   ? DigString(service, "spec", "externalName")
                               : type == "LoadBalancer" ? "<pending>"
                                                        : "<none>";
  return {NameOf(service),
          type,
          OrNone(DigString(service, "spec", "clusterIP")),
          external,
          ServicePorts(service),
          Age(service, now_ms),
          MapText(Dig(service, "spec", "selector"))};
}

std::string AccessModes(const Json& modes) {
  static const std::map<std::string, std::string> shorts = {
      {"ReadWriteOnce", "RWO"}, {"ReadOnlyMany", "ROX"}, {"ReadWriteMany", "RWX"}, {"ReadWriteOncePod", "RWOP"}};
  std::vector<std::string> parts;
  for (const Json& mode : ArrayOf(modes)) {
    const auto it = shorts.find(StringOf(mode));
    if (it != shorts.end()) parts.push_back(it->second);
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

Json ClaimCells(const Json& claim, base::Millis now_ms) {
  const std::string& volume = DigString(claim, "spec", "volumeName");
  const bool bound = !volume.empty();
  return {NameOf(claim),
          IsTerminating(claim) ? "Terminating" : DigString(claim, "status", "phase"),
          volume,
          bound ? DigString(claim, "status", "capacity", "storage") : "",
          bound ? AccessModes(Dig(claim, "status", "accessModes")) : "",
          DigString(claim, "spec", "storageClassName"),
          OrUnset(DigString(claim, "spec", "volumeAttributesClassName")),
          Age(claim, now_ms),
          OrUnset(DigString(claim, "spec", "volumeMode"))};
}

Json VolumeCells(const Json& volume, base::Millis now_ms) {
  const Json& claim = Dig(volume, "spec", "claimRef");
  return {NameOf(volume),
          DigString(volume, "spec", "capacity", "storage"),
          AccessModes(Dig(volume, "spec", "accessModes")),
          DigString(volume, "spec", "persistentVolumeReclaimPolicy"),
          IsTerminating(volume) ? "Terminating" : DigString(volume, "status", "phase"),
          claim.is_null() ? "" : DigString(claim, "namespace") + "/" + DigString(claim, "name"),
          DigString(volume, "spec", "storageClassName"),
          OrUnset(DigString(volume, "spec", "volumeAttributesClassName")),
          DigString(volume, "status", "reason"),
          Age(volume, now_ms),
          OrUnset(DigString(volume, "spec", "volumeMode"))};
}

std::string AmountText(const Json& value) {
  return value.is_null() ? "N/A" : value.is_string() ? value.get<std::string>() : base::PrintJson(value);
}

Json BudgetCells(const Json& budget, base::Millis now_ms) {
  return {NameOf(budget), AmountText(Dig(budget, "spec", "minAvailable")),
          AmountText(Dig(budget, "spec", "maxUnavailable")), Status(budget, "disruptionsAllowed"), Age(budget, now_ms)};
}

std::string GroupPolicy(const Json& group) {
  const Json& gang = Dig(group, "spec", "schedulingPolicy", "gang");
  return gang.is_null() ? "Basic" : "Gang";
}

std::string GroupStatus(const Json& group) {
  const std::string& scheduled = DigString(ConditionOf(group, "PodGroupScheduled"), "status");
  return scheduled == "True" ? "Scheduled" : scheduled == "False" ? "Unschedulable" : "Pending";
}

PrinterColumn Text(const char* name, int priority = 0) { return {name, "string", "", "", "", priority}; }
PrinterColumn Integer(const char* name, int priority = 0) { return {name, "integer", "", "", "", priority}; }

std::map<GroupResource, Printer> MakePrinters() {
  const PrinterColumn name = {"Name", "string", "", "Name must be unique within a namespace.", "name", 0};
  const PrinterColumn age = Text("Age");
  std::map<GroupResource, Printer> all;
  all[kPods] = {{name, Text("Ready"), Text("Status"), Text("Restarts"), age, Text("IP", 1), Text("Node", 1),
                 Text("Nominated Node", 1), Text("Readiness Gates", 1)},
                PodCells};
  all[kNodes] = {{name, Text("Status"), Text("Roles"), age, Text("Version"), Text("Internal-IP", 1),
                  Text("External-IP", 1), Text("OS-Image", 1), Text("Kernel-Version", 1), Text("Container-Runtime", 1)},
                 NodeCells};
  all[kNamespaces] = {{name, Text("Status"), age}, [](const Json& o, base::Millis now) -> Json {
                        return {NameOf(o), DigString(o, "status", "phase"), Age(o, now)};
                      }};
  all[kJobs] = {{name, Text("Status"), Text("Completions"), Text("Duration"), age, Text("Containers", 1),
                 Text("Images", 1), Text("Selector", 1)},
                JobCells};
  all[kReplicaSets] = {{name, Integer("Desired"), Integer("Current"), Integer("Ready"), age, Text("Containers", 1),
                        Text("Images", 1), Text("Selector", 1)},
                       ReplicaCells};
  all[{"", "replicationcontrollers"}] = all[kReplicaSets];
  all[{"apps", "deployments"}] = {{name, Text("Ready"), Text("Up-to-date"), Text("Available"), age,
                                   Text("Containers", 1), Text("Images", 1), Text("Selector", 1)},
                                  DeploymentCells};
  all[{"apps", "statefulsets"}] = {{name, Text("Ready"), age, Text("Containers", 1), Text("Images", 1)},
                                   StatefulSetCells};
  all[{"apps", "daemonsets"}] = {
      {name, Integer("Desired"), Integer("Current"), Integer("Ready"), Integer("Up-to-date"), Integer("Available"),
       Text("Node Selector"), age, Text("Containers", 1), Text("Images", 1), Text("Selector", 1)},
      DaemonSetCells};
  all[kEvents] = {{Text("Last Seen"),
                   Text("Type"),
                   Text("Reason"),
                   Text("Object"),
                   Text("Subobject", 1),
                   Text("Source", 1),
                   Text("Message"),
                   Text("First Seen", 1),
                   Text("Count", 1),
                   {"Name", "string", "", "", "name", 1}},
                  EventCells};
  all[kServices] = {
      {name, Text("Type"), Text("Cluster-IP"), Text("External-IP"), Text("Port(s)"), age, Text("Selector", 1)},
      ServiceCells};
  all[{"", "configmaps"}] = {{name, Text("Data"), age}, [](const Json& o, base::Millis now) -> Json {
                               return {NameOf(o), Child(o, "data").size() + Child(o, "binaryData").size(), Age(o, now)};
                             }};
  all[{"", "secrets"}] = {{name, Text("Type"), Text("Data"), age}, [](const Json& o, base::Millis now) -> Json {
                            return {NameOf(o), DigString(o, "type"), Child(o, "data").size(), Age(o, now)};
                          }};
  const Printer name_and_age = {{name, age},
                                [](const Json& o, base::Millis now) -> Json { return {NameOf(o), Age(o, now)}; }};
  for (const char* plural : {"resourceclaimtemplates", "deviceclasses"})
    all[{"resource.k8s.io", plural}] = name_and_age;
  all[{"", "serviceaccounts"}] = all[{"scheduling.k8s.io", "workloads"}] = name_and_age;
  all[{"", "persistentvolumeclaims"}] = {
      {name, Text("Status"), Text("Volume"), Text("Capacity"), Text("Access Modes"), Text("StorageClass"),
       Text("VolumeAttributesClass"), age, Text("VolumeMode", 1)},
      ClaimCells};
  all[{"", "persistentvolumes"}] = {
      {name, Text("Capacity"), Text("Access Modes"), Text("Reclaim Policy"), Text("Status"), Text("Claim"),
       Text("StorageClass"), Text("VolumeAttributesClass"), Text("Reason"), age, Text("VolumeMode", 1)},
      VolumeCells};
  all[kPriorityClasses] = {
      {name, Integer("Value"), {"Global-Default", "boolean", "", "", "", 0}, age, Text("PreemptionPolicy")},
      [](const Json& o, base::Millis now) -> Json {
        return {NameOf(o), IntOf(Child(o, "value")), BoolOf(Child(o, "globalDefault")), Age(o, now),
                DigString(o, "preemptionPolicy")};
      }};
  all[{"policy", "poddisruptionbudgets"}] = {
      {name, Text("Min Available"), Text("Max Unavailable"), Integer("Allowed Disruptions"), age}, BudgetCells};
  all[{"storage.k8s.io", "storageclasses"}] = {
      {name, Text("Provisioner"), Text("ReclaimPolicy"), Text("VolumeBindingMode"), Text("AllowVolumeExpansion"), age},
      [](const Json& o, base::Millis now) -> Json {
        std::string shown = NameOf(o);
        if (AnnotationOf(o, "storageclass.kubernetes.io/is-default-class") == "true") shown += " (default)";
        return {shown,
                DigString(o, "provisioner"),
                DigString(o, "reclaimPolicy"),
                DigString(o, "volumeBindingMode"),
                BoolOf(Child(o, "allowVolumeExpansion")),
                Age(o, now)};
      }};
  all[{"storage.k8s.io", "csinodes"}] = {{name, Integer("Drivers"), age}, [](const Json& o, base::Millis now) -> Json {
                                           return {NameOf(o), ArrayOf(Dig(o, "spec", "drivers")).size(), Age(o, now)};
                                         }};
  all[kLeases] = {{name, Text("Holder"), age}, [](const Json& o, base::Millis now) -> Json {
                    return {NameOf(o), DigString(o, "spec", "holderIdentity"), Age(o, now)};
                  }};
  all[{"scheduling.k8s.io", "podgroups"}] = {
      {name, Text("Policy"), Text("Workload"), Text("Status"), age}, [](const Json& o, base::Millis now) -> Json {
        return {NameOf(o), GroupPolicy(o),
                OrNone(DigString(o, "spec", "podGroupTemplateRef", "workload", "workloadName")), GroupStatus(o),
                Age(o, now)};
      }};
  all[kCustomResourceDefinitions] = {
      {name, {"Created At", "date", "", "", "", 0}},
      [](const Json& o, base::Millis) -> Json { return {NameOf(o), DigString(o, "metadata", "creationTimestamp")}; }};
  return all;
}

const Printer& Plain() {
  static const Printer printer = {
      {{"Name", "string", "", "Name must be unique within a namespace.", "name", 0},
       {"Created At", "date", "", "", "", 0}},
      [](const Json& o, base::Millis) -> Json { return {NameOf(o), DigString(o, "metadata", "creationTimestamp")}; }};
  return printer;
}

}  // namespace

const Printer& PrinterFor(const GroupResource& resource) {
  static const std::map<GroupResource, Printer> printers = MakePrinters();
  const auto it = printers.find(resource);
  return it == printers.end() ? Plain() : it->second;
}

}  // namespace tutti::sim
