// SPDX-License-Identifier: Apache-2.0
// An AppWrapper as a dialect is shown it, and what becomes of it.
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dialects/appwrapper.h"
#include "tests/dialects/objects.h"
#include "tests/support/catch.h"

namespace tutti::dialects {

using Mode = cluster::DesiredObject::Mode;

inline constexpr const char* kCluster = R"({"apiVersion":"ray.io/v1","kind":"RayCluster",
  "metadata":{"name":"rc","finalizers":["a/b"],"ownerReferences":[{"kind":"Node","name":"n","uid":"x"}],
              "labels":{"own":"label"}},
  "status":{"state":"ready"},
  "spec":{"headGroupSpec":{"template":{"spec":{"containers":[{"name":"h","resources":{"requests":{"cpu":"2"}}}]}}},
          "workerGroupSpecs":[{"groupName":"small","replicas":2,"minReplicas":2,"maxReplicas":2,"template":{"spec":{
            "containers":[{"name":"w","resources":{"requests":{"cpu":"4","nvidia.com/gpu":"1"}}}]}}}]}})";
inline constexpr const char* kJob =
    R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"parallelism":2,
  "template":{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}}}})";
inline constexpr const char* kBarePod = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{
  "containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}})";
inline constexpr const char* kMap = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"}})";

// What the core knows of desired objects.
struct Known final : cluster::Unseen {
  const Json* Written(const cluster::ObjectRef& ref) const override {
    const auto at = written.find(ref.name());
    return at == written.end() ? nullptr : &at->second;
  }
  std::shared_ptr<const model::Object> Created(const cluster::ObjectRef& ref) const override {
    const auto at = created.find(ref.name());
    return at == created.end() ? nullptr : at->second;
  }
  std::vector<std::shared_ptr<const model::Object>> AllCreated() const override {
    std::vector<std::shared_ptr<const model::Object>> all;
    for (const auto& [name, object] : created) all.push_back(object);
    return all;
  }
  const cluster::WriteRefusal* Refused(const cluster::ObjectRef& ref) const override {
    const auto at = refused.find(ref.name());
    return at == refused.end() ? nullptr : &at->second;
  }
  std::map<std::string, Json> written;
  std::map<std::string, std::shared_ptr<const model::Object>> created;
  std::map<std::string, cluster::WriteRefusal> refused;
};

// An AppWrapper "aw", as the feed shows it, and what is reported of its gang.
struct WrapperFixture {
  const bool mcad;
  AppWrappers dialect;
  model::GangKey key;
  Known known;
  GangReport report;
  model::GangSpec spec;
  Json object;

  explicit WrapperFixture(const std::string& spec_text, bool is_mcad = true)
      : mcad(is_mcad),
        dialect(is_mcad ? AppWrappers::Group::kMcad : AppWrappers::Group::kCodeflare, {}),
        key{is_mcad ? "mcad" : "appwrapper", "ns", "aw"} {
    object = {{"kind", "AppWrapper"},
              {"metadata", {{"name", "aw"}, {"namespace", "ns"}, {"uid", "u-aw"}}},
              {"spec", Json::parse(spec_text)}};
    report.now_wall_ms = kNow;
    Show();
  }
  void Show() {
    Put(dialect,
        ObjectFrom(mcad ? "mcad.ibm.com/v1beta1" : "workload.codeflare.dev/v1beta2", "appwrappers", object.dump()));
    spec = dialect.Describe(key);
    report.spec = &spec;
  }
  void ShowItem(const char* text, const std::string& owner, const Json& status = Json::object()) {
    Json item = Json::parse(text);
    item["metadata"]["namespace"] = "ns";
    item["metadata"]["uid"] = "u-" + item["metadata"]["name"].get<std::string>();
    item["metadata"]["ownerReferences"] = {
        {{"kind", "AppWrapper"}, {"name", "aw"}, {"uid", owner}, {"controller", true}}};
    item["status"] = status;
    Show(item);
  }
  void Show(const Json& item) {
    const std::string kind = item["kind"].get<std::string>(), name = item["metadata"]["name"].get<std::string>();
    const std::string resource = kind == "Job" ? "jobs" : kind == "ConfigMap" ? "configmaps" : "rayclusters";
    if (resource == "configmaps")
      known.created[name] = ObjectFrom("/v1", resource, item.dump());
    else
      Put(dialect, ObjectFrom(item["apiVersion"].get<std::string>(), resource, item.dump()));
  }
  // The last item that is desired to exist comes to be.
  void Create() {
    Json item = Desires().back().fields;
    item["metadata"]["uid"] = "u-" + item["metadata"]["name"].get<std::string>();
    Show(item);
  }
  // The template of an item, as the AppWrapper has it.
  Json& Template(size_t item) {
    Json& spec = object["spec"];
    return mcad ? spec["resources"]["GenericItems"][item]["generictemplate"] : spec["components"][item]["template"];
  }
  void Gone(const char* kind, const char* name) {
    Touched touched;
    dialect.Drop(kind, "ns", name, &touched);
  }
  std::vector<cluster::DesiredObject> Desires() {
    std::vector<cluster::DesiredObject> out;
    dialect.Desire(report, known, &out);
    return out;
  }
  base::Millis ChangesAt() {
    std::vector<cluster::DesiredObject> out;
    return dialect.Desire(report, known, &out);
  }
  // The status that is desired, merged into the one that is there; and shown from then on.
  Json Status() {
    for (const cluster::DesiredObject& each : Desires())
      if (each.mode == Mode::kFields)
        for (const auto& [field, value] : each.fields["status"].items()) object["status"][field] = value;
    Show();
    return object.value("status", Json::object());
  }
  std::vector<std::string> Named(Mode mode) {
    std::vector<std::string> names;
    for (const cluster::DesiredObject& each : Desires())
      if (each.mode == mode) names.push_back(each.ref.name());
    return names;
  }
  std::string ConditionTypes() {
    std::string types;
    const Json status = Status();
    for (const Json& condition : status.at("conditions"))
      types += (types.empty() ? "" : " ") + condition.at("type").get<std::string>();
    return types;
  }
  Json Condition(const std::string& type) {
    for (const Json& condition : object.at("status").at("conditions"))
      if (condition.at("type") == type) return condition;
    return {};
  }
  void Admitted() { report.state = GangState::kAdmitted; }
  // It is admitted, and its creation begins.
  void Begin() {
    Status();
    Admitted();
    Status();
  }
  // The AppWrapper, of v1beta2, is let go, and runs once these items of it are there.
  void RunWith(std::initializer_list<const char*> items) {
    Status();
    Admitted();
    for (const char* item : items) ShowItem(item, "u-aw");
    REQUIRE(Status()["phase"] == "Running");
  }
  void Runs(int64_t running) {
    report.state = GangState::kWhole;
    report.total = report.running = running;
  }
};

inline std::string Mcad(const std::string& items, const std::string& more = "") {
  return R"({"priority":9,)" + more + R"("resources":{"GenericItems":[)" + items + "]}}";
}
inline std::string Item(const std::string& made, const std::string& more = "") {
  return "{" + more + "\"generictemplate\":" + made + "}";
}
inline std::string Components(const std::string& first, const std::string& more = "") {
  return R"({"components":[{"template":)" + first + "}" + more + "]}";
}

}  // namespace tutti::dialects
