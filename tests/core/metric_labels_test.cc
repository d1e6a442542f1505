// SPDX-License-Identifier: Apache-2.0
// docs/threat-model.md: what /metrics shows is named by the configuration and by this program, never by a tenant's
// objects, however odd and however many.
#include <re2/re2.h>

#include <map>
#include <set>
#include <sstream>

#include "observe/metrics.h"
#include "tests/core/rig.h"

namespace tutti::core {
namespace {

using Values = std::map<std::string, std::set<std::string>>;

// All that the text's labels say, as escaped. Anything that is no line of the format fails.
Values LabelsOf(const std::string& text) {
  static const re2::RE2 line_form(
      R"re([a-z_]+(\{[a-z_]+="([^"\\]|\\["\\n])*"(,[a-z_]+="([^"\\]|\\["\\n])*")*\})? \S+)re");
  static const re2::RE2 label_form(R"re(([a-z_]+)="((?:[^"\\]|\\["\\n])*)")re");
  Values values;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# HELP ") || line.starts_with("# TYPE ")) continue;
    INFO(line);
    REQUIRE(re2::RE2::FullMatch(line, line_form));
    re2::StringPiece rest(line);
    for (std::string label, value; re2::RE2::FindAndConsume(&rest, label_form, &label, &value);)
      values[label].insert(value);
  }
  return values;
}

// All labels, each with all that it may say: a new one is added here. `le` is the program's own.
const Values kMaySay = {
    {"attempts", {"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15+"}},
    {"name", {"lease"}},
    {"profile", {"tutti", "volcano"}},
    {"queue", {"active", "backoff", "gated", "unschedulable"}},
    {"result", {"scheduled", "unschedulable"}},
    {"state", {"binding", "waiting", "whole"}},
    {"type", {"assumed_pods", "nodes", "pods"}},
    {"version", {"1.2.3"}},
};

// What could break out of a label, or make a line of its own.
const std::vector<std::string> kOdd = {"\"} 1\ntutti_forged{a=\"", "\\", "\n", "a{b=\"c\"}", "é", "# HELP x"};

// Annotation "odd" is what the pod calls its gang, its role and, where it names one, its queue.
class OddDialect final : public LabelDialect {
 public:
  OddDialect() : LabelDialect(nullptr) {}
  std::optional<dialects::Membership> MembershipOf(const model::Pod& pod) const override {
    auto membership = LabelDialect::MembershipOf(pod);
    const std::string* odd = model::Find(pod.meta.annotations, "odd");
    if (!membership || !odd) return membership;
    auto spec = std::make_shared<model::GangSpec>(*membership->declared);
    membership->gang.name += *odd;
    membership->role = *odd;
    spec->key = membership->gang;
    if (!spec->queue.empty()) spec->queue = *odd;
    membership->declared = std::move(spec);
    return membership;
  }
};

struct MeasuredRig : Rig {
  MeasuredRig() {
    observer = &metrics;
    scheduler_names = {"tutti", "volcano"};
    make_dialects = [] {
      dialects::DialectList dialects;
      dialects.push_back(std::make_unique<OddDialect>());
      return dialects;
    };
    Restart();
    AddNode("n1", 64);
    // Of these gangs one member is never bound, so that the other is undone.
    fate = [](const cluster::Command& command) {
      const auto* bind = std::get_if<cluster::Bind>(&command.body);
      return bind && bind->pod.name().starts_with("fails-b") ? Refused() : sim::Fate{};
    };
  }
  // A gang that starts, one that has no room, one that is undone, one in a queue, a lone pod and one of another
  // scheduler: all with odd names, as an attacker chooses them. So many of each.
  void Tenants(int from, int to) {
    for (int i = from; i < to; ++i) {
      const std::string odd = fmt::format("{}-{}", kOdd[i % kOdd.size()], i);
      const auto put = [&](const std::string& what, const std::string& member, PodArgs args,
                           const std::string& scheduler) {
        args.annotations["odd"] = odd;
        args.spec["schedulerName"] = scheduler;
        args.owner_uid = odd;
        args.gang = what;
        AddPod(fmt::format("{}-{}-{}", what, member, i), args);
      };
      for (const char* member : {"a", "b"}) {
        put("starts", member, {.min = "2", .cpu = "10m"}, "tutti");
        put("waits", member, {.min = "2", .cpu = "900"}, "volcano");
        put("fails", member, {.min = "2", .cpu = "10m"}, "tutti");
      }
      put("queued", "a", {.queue = "q", .cpu = "10m"}, "volcano");
      put("elsewhere", "a", {.cpu = "10m"}, odd);
      AddPod(fmt::format("lone-{}", i), {.cpu = "10m"});
      Settle();
    }
  }

  observe::Metrics metrics{"1.2.3", "lease", "api:6443"};
};

TEST_CASE_METHOD(MeasuredRig, "No label of a metric comes from a tenant's object, whatever it is called") {
  Tenants(0, 2 * static_cast<int>(kOdd.size()));
  Pass(100'000);
  const std::string text = metrics.Text();
  for (const char* none : {"tutti_gangs_undone_total 0\n", "tutti_gang_members_started_total 0\n"})
    REQUIRE_THAT(text, !Catch::Contains(none));
  Values labels = LabelsOf(text);
  labels.erase("le");
  for (const auto& [label, values] : labels) {
    CAPTURE(label);
    REQUIRE(kMaySay.contains(label));
    for (const std::string& value : values) {
      CAPTURE(value);
      CHECK(kMaySay.at(label).contains(value));
    }
  }
  CHECK(labels["profile"] == kMaySay.at("profile"));
  CHECK(labels["result"] == kMaySay.at("result"));
}

TEST_CASE_METHOD(MeasuredRig, "What is shown does not grow with the number of tenants") {
  const auto series = [&] {
    std::istringstream text(metrics.Text());
    size_t count = 0;
    for (std::string line; std::getline(text, line);) count += line.find("attempts=\"") == std::string::npos;
    return count;
  };
  Tenants(0, 2);
  Pass(10'000);
  const size_t few = series();
  Tenants(2, 30);
  Pass(10'000);
  CHECK(series() == few);
}

}  // namespace
}  // namespace tutti::core
