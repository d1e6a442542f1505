// SPDX-License-Identifier: Apache-2.0
// A writer under a virtual clock, and the commands that its tests give it.
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "fakes.h"
#include "kube/writer.h"
#include "tests/support/catch.h"

namespace tutti::kube {

inline constexpr base::Millis kForever = std::numeric_limits<base::Millis>::max();

struct ServedKinds final : KindResolver {
  std::string VersionOf(const std::string& group, const std::string&) const override {
    return group.empty() ? "v1" : group == "g" ? "v1beta1" : "";
  }
  bool HasStatus(const std::string&, const std::string&, const std::string& resource) const override {
    return resource != "plain";
  }
};

struct WriterRig {
  FakeLoop loop;
  FakeTransport server;
  base::Random random{1};
  FakeSink sink;
  ServedKinds kinds;
  KubeWriter writer;

  explicit WriterRig(KubeWriter::Options options = {}) : writer(Named(options), loop, server, random, kinds, sink) {
    writer.SetWritable(kForever, kForever);
  }
  static KubeWriter::Options Named(KubeWriter::Options options) {
    options.instance = "tutti-host";
    return options;
  }
  base::Millis In(base::Millis ms) const { return loop.Now() + ms; }
  void Submit(std::vector<cluster::Command> commands) {
    writer.Submit(std::move(commands));
    loop.RunPosted();
  }
  cluster::Command Bind(uint64_t id, base::Millis deadline_in = 30'000, const std::string& name = "p") const {
    return {
        id, cluster::Lane::kBind, In(deadline_in),
        cluster::Bind{
            cluster::NewRef("", "v1", "pods", "Pod", "ns", name, "uid-" + name, "7"), "n1", {{"tutti.dev/plan", "x"}}}};
  }
  cluster::Command Other(cluster::Lane lane, const char* resource, const std::string& name) const {
    return {0, lane, In(60'000),
            cluster::Patch{cluster::NewRef("", "v1", resource, "Kind", "ns", name, "", ""), false,
                           cluster::Patch::Type::kMerge, "{}"}};
  }
  cluster::Command Event(uint64_t id, const std::string& note) const {
    return {id, cluster::Lane::kEvent, In(30'000),
            cluster::EmitEvent{cluster::NewRef("", "v1", "pods", "Pod", "ns", "p", "u1", ""), true, "FailedScheduling",
                               "Scheduling", note, "volcano"}};
  }
  cluster::CommandReply Only() {
    const auto answers = sink.Take<cluster::CommandReply>();
    REQUIRE(answers.size() == 1);
    return answers.front();
  }
  bool Silent() { return sink.Take<cluster::CommandReply>().empty(); }
  // Answers the read with which the writer looks at the pod again.
  void AnswerPod(const std::string& uid, const std::string& node, const std::string& plan = "x",
                 const std::string& version = "7") {
    base::Json pod = {{"kind", "Pod"},
                      {"metadata", {{"name", "p"}, {"namespace", "ns"}, {"uid", uid}, {"resourceVersion", version}}},
                      {"spec", {{"containers", base::Json::array()}}}};
    if (!node.empty()) pod["spec"]["nodeName"] = node;
    if (!plan.empty()) pod["metadata"]["annotations"] = {{"tutti.dev/plan", plan}};
    const auto call = server.open.front();
    REQUIRE(call->request.method == Method::kGet);
    server.AnswerJson(call, 200, pod.dump());
  }
};

}  // namespace tutti::kube
