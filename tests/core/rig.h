// SPDX-License-Identifier: Apache-2.0
// Rig: the real core on the embedded cluster's store, under a virtual clock. There are no kubelets and no controllers:
// the test itself says what happens to pods.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

#include "core/scheduler.h"
#include "plugins/registry.h"
#include "sim/port/feed.h"
#include "sim/port/writer.h"
#include "sim/store/store.h"
#include "tests/support/catch.h"

namespace tutti::core {

// Desires a status of an object of test.tutti.dev that does not have it.
inline cluster::DesiredObject SaysSo(const std::string& resource, const std::string& kind, const std::string& name) {
  auto object = std::make_shared<model::Object>();
  object->group = "test.tutti.dev", object->version = "v1", object->resource = resource, object->kind = kind;
  object->meta.name = name;
  object->body = std::make_shared<const base::Json>(base::Json::object());
  const std::shared_ptr<const model::Object> seen = std::move(object);
  return {.ref = cluster::RefOf(seen), .fields = {{"said", true}}, .seen = seen};
}

// Reads gangs from the labels and annotations of their pods. Label "gang" is the gang's name, "role" the pod's role,
// "queue" the queue; annotation "min" is the minimum. A pod with none of these is a lone pod.
// Label "unit" is the pod's unit. Annotations "unit-size" and "unit-min" say how large units are and how many are
// needed, and "unit-role" in which role. Members of role "pairs" start two at a time. Annotation "role" is a role with
// any text as its name, of "role-min" members, or else two. Annotation "problem" makes the declaration unreadable.
// There is one queue, "four", of 4 cpu.
class LabelDialect : public dialects::Dialect {
 public:
  // `reports`: gets what is reported of gangs; null: that is not kept.
  explicit LabelDialect(std::vector<dialects::GangState>* reports) : reports_(reports) {
    if (reports) kinds_.push_back({"test.tutti.dev", "gangs", "Gang", {"v1"}});
  }
  std::string_view name() const override { return "label"; }
  const std::vector<model::ObjectKind>& Kinds() const override { return kinds_; }
  base::Millis Desire(const dialects::GangReport& report, const cluster::Unseen&,
                      std::vector<cluster::DesiredObject>*) const override {
    reports_->push_back(report.state);
    return 0;
  }
  void DesireOfQueue(const dialects::QueueReport&, const cluster::Unseen&,
                     std::vector<cluster::DesiredObject>* out) const override {
    if (reports_) out->push_back(SaysSo("queues", "Queue", "four"));
  }
  void Put(std::shared_ptr<const model::Object>, dialects::Touched*) override {}
  void Drop(std::string_view, std::string_view, std::string_view, dialects::Touched*) override {}
  void Served(std::string_view, bool, dialects::Touched* touched) override { touched->queues.insert("four"); }
  std::optional<model::QueueSpec> DescribeQueue(std::string_view name) const override {
    model::QueueSpec queue;
    queue.dialect = "label";
    queue.name = name;
    queue.capability.Set(model::kCpu, 4'000);
    return queue;
  }
  model::GangSpec Describe(const model::GangKey& key) const override {
    model::GangSpec spec;
    spec.key = key;
    return spec;
  }
  std::optional<dialects::Membership> MembershipOf(const model::Pod& pod) const override {
    const std::string* gang = model::Find(pod.meta.labels, "gang");
    const std::string* role = model::Find(pod.meta.labels, "role");
    dialects::Membership membership;
    membership.gang = {"label", pod.meta.ns, gang ? *gang : pod.meta.name};
    membership.role = role ? *role : "";
    membership.head = membership.role == "head";
    model::GangSpec spec;
    spec.key = membership.gang;
    if (const std::string* any = model::Find(pod.meta.annotations, "role")) {
      membership.role = *any;
      const std::string* least = model::Find(pod.meta.annotations, "role-min");
      spec.roles.push_back({*any, least ? std::stoll(*least) : 2, 1});
    }
    if (const std::string* queue = model::Find(pod.meta.labels, "queue")) spec.queue = *queue;
    if (const std::string* min = model::Find(pod.meta.annotations, "min")) spec.min_member = std::stoll(*min);
    if (gang) spec.roles.push_back({"pairs", 0, 2});
    if (const std::string* unit = model::Find(pod.meta.labels, "unit"))
      membership.unit = std::make_shared<const model::Unit>(model::Unit{0, *unit});
    if (model::Find(pod.meta.annotations, "unit-size")) {
      const auto number = [&](const char* name) { return std::stoll(*model::Find(pod.meta.annotations, name)); };
      const std::string* of = model::Find(pod.meta.annotations, "unit-role");
      spec.units.push_back({"units", number("unit-size"), number("unit-min"), of ? *of : ""});
    }
    if (const std::string* problem = model::Find(pod.meta.annotations, "problem")) {
      spec = {};
      spec.key = membership.gang;
      spec.problem = *problem;
    }
    membership.lone = !gang && spec.queue.empty() && spec.min_member == 1 && spec.problem.empty();
    membership.declared = std::make_shared<model::GangSpec>(std::move(spec));
    return membership;
  }

 private:
  std::vector<dialects::GangState>* const reports_;
  std::vector<model::ObjectKind> kinds_;
};

// Returns the fate of a command that the API server refuses for good.
inline sim::Fate Refused() { return {.kind = sim::Fate::Kind::kRefuse, .http_status = 422, .message = "no"}; }
inline bool IsBindTo(const cluster::Command& command, std::string_view node) {
  const auto* bind = std::get_if<cluster::Bind>(&command.body);
  return bind && bind->node == node;
}

class Rig : public cluster::EventSink, public sim::Interceptor {
 public:
  explicit Rig(Options::HalfBound half_bound = Options::HalfBound::kRepair,
               std::vector<dialects::GangState>* reports = nullptr)
      : half_bound_(half_bound), reports_(reports) {
    Restart();
  }

  // Starts a scheduler that remembers nothing, on the same cluster. What the old one has sent may still arrive.
  void Restart() { Replace(); }
  // Does the same as Restart. Returns the writer of the scheduler that died, with what is still on its way.
  std::unique_ptr<sim::Writer> Replace() {
    if (writer) writer->OrphanInFlight();
    std::unique_ptr<sim::Writer> dead = std::move(writer);
    events_.clear();
    scheduler.reset();
    feed = std::make_unique<sim::Feed>(store, *this);
    writer = std::make_unique<sim::Writer>(store, *this, clock, this);
    Options options;
    options.half_bound = half_bound_;
    for (const std::string& name : scheduler_names) options.profiles.push_back(plugins::DefaultProfile(name));
    if (configure) configure(&options);
    scheduler = std::make_unique<Scheduler>(std::move(options), make_dialects(), *writer, clock, observer, extenders);
    feed->Start(scheduler->Kinds());
    events_.push_back(cluster::Leadership{true, clock.MonotonicMs()});
    return dead;
  }

  void Post(cluster::FeedEvent event) override { events_.push_back(std::move(event)); }
  sim::Fate Decide(const cluster::Command& command) override { return fate ? fate(command) : sim::Fate{}; }

  // Gives everything one turn. False: nothing moved.
  bool Step() {
    feed->Pump();
    writer->PumpAnswers();
    const bool news = !events_.empty();
    scheduler->RunOnce(std::exchange(events_, {}));
    scheduler->Audit();
    const bool wrote = writer->PumpCommands() > 0;
    for (const sim::Object& pod : store.All(sim::kPods))  // the kubelet's part of a graceful deletion
      if (!lingers && !sim::Dig(*pod, "metadata", "deletionTimestamp").is_null()) Delete(sim::NameOf(*pod));
    const auto due = scheduler->NextDeadline();
    return wrote || news || feed->HasNews() || (due && *due <= clock.MonotonicMs());
  }
  void Settle() {
    for (int i = 0; i < 10'000; ++i)
      if (!Step()) return;
    FAIL("the world does not settle");
  }
  // Lets `by_ms` pass, and everything happen that is due in that time.
  void Pass(base::Millis by_ms) {
    const base::Millis end = clock.MonotonicMs() + by_ms;
    for (Settle(); clock.MonotonicMs() < end; Settle()) {
      base::Millis next = end;
      if (const auto at = scheduler->NextDeadline()) next = std::min(next, *at);
      if (const auto at = writer->NextDeadline()) next = std::min(next, *at);
      clock.AdvanceTo(std::max(next, clock.MonotonicMs() + 1));
    }
  }

  void AddNode(const std::string& name, int cpu, int gpu = 0, const sim::Json& labels = sim::Json::object()) {
    REQUIRE(store.Create({{"apiVersion", "v1"},
                          {"kind", "Node"},
                          {"metadata", {{"name", name}, {"labels", labels}}},
                          {"status",
                           {{"allocatable",
                             {{"cpu", std::to_string(cpu)},
                              {"memory", "64Gi"},
                              {"pods", "110"},
                              {"nvidia.com/gpu", std::to_string(gpu)}}}}}}));
  }
  struct PodArgs {
    std::string gang = {}, role = {}, min = {}, queue = {}, unit = {};
    std::string cpu = "1";
    int gpu = 0;
    std::string owner = "ReplicaSet";  // kind of the controller; empty: none
    std::string owner_uid = "owner-uid";
    std::string priority_class = {};
    std::string gate = {};
    sim::Json annotations = sim::Json::object(), spec = sim::Json::object();  // are put into the pod's own
  };
  void AddPod(const std::string& name, const PodArgs& args) {
    sim::Json requests = {{"cpu", args.cpu}};
    if (args.gpu) requests["nvidia.com/gpu"] = std::to_string(args.gpu);
    sim::Json pod = {
        {"apiVersion", "v1"},
        {"kind", "Pod"},
        {"metadata", {{"name", name}, {"namespace", "default"}}},
        {"spec",
         {{"schedulerName", "tutti"},
          {"priorityClassName", args.priority_class},
          {"containers",
           {{{"name", "c"}, {"image", "i"}, {"resources", {{"requests", requests}, {"limits", requests}}}}}}}}};
    pod["metadata"]["annotations"] = args.annotations;
    pod["spec"].update(args.spec);
    if (!args.gang.empty()) pod["metadata"]["labels"]["gang"] = args.gang;
    if (!args.role.empty()) pod["metadata"]["labels"]["role"] = args.role;
    if (!args.unit.empty()) pod["metadata"]["labels"]["unit"] = args.unit;
    if (!args.queue.empty()) pod["metadata"]["labels"]["queue"] = args.queue;
    if (!args.min.empty()) pod["metadata"]["annotations"]["min"] = args.min;
    if (!args.gate.empty()) pod["spec"]["schedulingGates"] = {{{"name", args.gate}}};
    if (!args.owner.empty())
      pod["metadata"]["ownerReferences"] = {{{"apiVersion", "apps/v1"},
                                             {"kind", args.owner},
                                             {"name", "owner"},
                                             {"uid", args.owner_uid},
                                             {"controller", true}}};
    const auto created = store.Create(pod, {.restore = false});
    if (!created) FAIL(created.error().message);
  }
  // Adds pods GANG-0, GANG-1, ...
  void AddGang(const std::string& gang, int members, int min, int gpu = 0, const std::string& owner = "ReplicaSet") {
    for (int i = 0; i < members; ++i)
      AddPod(fmt::format("{}-{}", gang, i), {.gang = gang, .min = std::to_string(min), .gpu = gpu, .owner = owner});
  }
  void AddPriorityClass(const std::string& name, int value) {
    REQUIRE(store.Create({{"apiVersion", "scheduling.k8s.io/v1"},
                          {"kind", "PriorityClass"},
                          {"metadata", {{"name", name}}},
                          {"value", value}}));
  }
  void Delete(const std::string& name) { REQUIRE(store.Delete(sim::kPods, "default", name, {.grace_seconds = 0})); }
  // Lets only so many binds arrive. The others are lost, as when their sender is killed.
  void LoseBindsAfter(size_t most) {
    fate = [most, binds = size_t{0}](const cluster::Command& command) mutable {
      if (std::holds_alternative<cluster::Bind>(command.body) && ++binds > most)
        return sim::Fate{.kind = sim::Fate::Kind::kDrop};
      return sim::Fate{};
    };
  }
  // Counts the patches that are sent from now on.
  void CountPatches() {
    patches = 0;
    fate = [this](const cluster::Command& command) {
      patches += std::holds_alternative<cluster::Patch>(command.body);
      return sim::Fate{};
    };
  }
  void RefuseBindsTo(const std::string& node) {
    fate = [node](const cluster::Command& command) { return IsBindTo(command, node) ? Refused() : sim::Fate(); };
  }
  void DeleteNode(const std::string& name) { REQUIRE(store.Delete(sim::kNodes, "", name)); }
  void SetPhase(const std::string& name, const std::string& phase) {
    REQUIRE(store.Modify(
        sim::kPods, "default", name, [&](sim::Json& pod) { pod["status"]["phase"] = phase; }, sim::Part::kStatus));
  }

  void Annotate(const std::string& pod, const std::string& name, const std::string& value) {
    REQUIRE(store.Modify(sim::kPods, "default", pod,
                         [&](sim::Json& object) { object["metadata"]["annotations"][name] = value; }));
  }
  // Replaces the scheduler by one that `watcher` observes.
  void Observe(observe::Observer* watcher) {
    observer = watcher;
    Restart();
  }

  std::string NodeOf(const std::string& name) const {
    const sim::Object pod = store.Find(sim::kPods, "default", name);
    return pod ? sim::DigString(*pod, "spec", "nodeName") : "<gone>";
  }
  // Returns "Unschedulable: message" of the PodScheduled condition; empty: the pod does not wait.
  std::string Waits(const std::string& name) const {
    const sim::Object pod = store.Find(sim::kPods, "default", name);
    if (!pod) return "<gone>";
    const sim::Json& said = sim::ConditionOf(*pod, "PodScheduled");
    return sim::DigString(said, "status") == "False"
               ? sim::DigString(said, "reason") + ": " + sim::DigString(said, "message")
               : "";
  }
  size_t Bound() const {
    size_t bound = 0;
    for (const sim::Object& pod : store.All(sim::kPods)) bound += !sim::DigString(*pod, "spec", "nodeName").empty();
    return bound;
  }

  // For schedulers that are started from now on.
  observe::Observer* observer = nullptr;
  cluster::Extenders* extenders = nullptr;
  std::function<void(Options*)> configure;  // changes the options
  std::vector<std::string> scheduler_names{"tutti"};
  std::function<dialects::DialectList()> make_dialects = [this] {
    dialects::DialectList dialects;
    dialects.push_back(std::make_unique<LabelDialect>(reports_));
    return dialects;
  };
  base::VirtualClock clock{1'800'000'000'000};
  sim::Store store{clock};
  std::function<sim::Fate(const cluster::Command&)> fate;
  int patches = 0;       // see CountPatches
  bool lingers = false;  // pods that terminate do not end
  std::unique_ptr<sim::Feed> feed;
  std::unique_ptr<sim::Writer> writer;
  std::unique_ptr<Scheduler> scheduler;

 private:
  Options::HalfBound half_bound_;
  std::vector<dialects::GangState>* reports_;
  std::vector<cluster::FeedEvent> events_;
};

}  // namespace tutti::core
