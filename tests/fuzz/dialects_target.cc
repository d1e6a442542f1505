// SPDX-License-Identifier: Apache-2.0
// A JSON array of objects, pods and nodes, as all dialects hear of them; then every pod's gang is reported.

#include "base/check.h"
#include "base/json.h"
#include "cluster/json_decode.h"
#include "dialects/dialect.h"
#include "tests/fuzz/target.h"

namespace tutti::dialects {
namespace {

using Json = base::Json;

void Put(const DialectList& dialects, const Json& body) {
  const auto kind_name = body.value("kind", Json());
  for (const auto& dialect : dialects) {
    for (const model::ObjectKind& kind : dialect->Kinds()) {
      if (kind_name != kind.kind) continue;
      Json typed = body;
      typed["apiVersion"] = kind.group + "/" + kind.versions.front();
      const auto object = cluster::DecodeObject(kind, std::make_shared<const Json>(std::move(typed)));
      if (!object) continue;
      Touched touched;
      dialect->Put(std::make_shared<const model::Object>(*object), &touched);
      for (const std::string& queue : touched.queues) {
        if (const auto spec = dialect->DescribeQueue(queue)) {
          std::vector<cluster::CommandBody> writes;
          QueueReport report;
          report.spec = &*spec;
          dialect->ReportQueue(report, &writes);
        }
      }
    }
  }
}

void CheckWrites(const std::vector<cluster::CommandBody>& writes, const std::string& ns) {
  for (const cluster::CommandBody& write : writes) {
    const auto* patch = std::get_if<cluster::Patch>(&write);
    TUTTI_CHECK(patch != nullptr, "a dialect only patches");
    TUTTI_CHECK(patch->object.ns() == ns, "a write to another namespace");
    TUTTI_CHECK(Json::accept(patch->body), "a write that is no JSON");
  }
}

void Report(Dialect& dialect, const model::Pod& pod) {
  const auto membership = dialect.MembershipOf(pod);
  if (!membership) return;
  TUTTI_CHECK(membership->gang.ns == pod.meta.ns, "a gang in another namespace");
  const model::GangSpec spec = membership->declared ? *membership->declared : dialect.Describe(membership->gang);
  TUTTI_CHECK(spec.min_member >= 0, "a minimum below zero");
  TUTTI_CHECK(spec.problem.find('\n') == std::string::npos && spec.problem.size() < 4096, "a reason that is no line");
  GangReport report;
  report.spec = &spec;
  report.state = spec.problem.empty() ? GangState::kWaitingForNodes : GangState::kInvalid;
  report.sentence = spec.problem;
  report.total = report.pending = 1;
  std::vector<cluster::CommandBody> writes;
  dialect.Report(report, &writes);
  CheckWrites(writes, pod.meta.ns);
}

}  // namespace
}  // namespace tutti::dialects

TUTTI_FUZZ_TARGET(dialects) {
  using namespace tutti;
  const auto json = base::Json::parse(input, nullptr, false);
  if (!json.is_array()) return;
  const dialects::DialectList all = dialects::MakeDialects();
  for (const auto& one : json)
    if (one.is_object()) dialects::Put(all, one);
  for (const auto& one : json) {
    if (!one.is_object()) continue;
    std::vector<std::string> problems;
    const std::string kind = one.contains("kind") && one["kind"].is_string() ? one["kind"].get<std::string>() : "Pod";
    if (kind == "Pod") {
      const model::Pod pod = cluster::DecodePodLeniently(one, &problems);
      for (const auto& dialect : all) dialects::Report(*dialect, pod);
    } else if (kind == "Node") {
      model::StringMap labels;
      const model::Node node = cluster::DecodeNodeLeniently(one, &problems);
      for (const auto& dialect : all) dialect->AddNodeLabels(node, &labels);
    }
  }
}
