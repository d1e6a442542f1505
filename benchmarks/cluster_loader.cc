// SPDX-License-Identifier: Apache-2.0
// cluster_loader: fills a cluster with nodes and pending pods for a measurement, through this project's own client.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mailbox.h"
#include "kube/client.h"

namespace {

using namespace tutti;
using Json = nlohmann::json;

class AnswerSink final : public cluster::EventSink {
 public:
  void Post(cluster::FeedEvent event) override {
    if (std::holds_alternative<cluster::Answer>(event)) answers.Put(std::get<cluster::Answer>(std::move(event)));
  }
  base::Mailbox<cluster::Answer> answers;
};

struct Options {
  std::string kubeconfig, ns = "default", scheduler = "raw-binder", prefix = "load";
  int nodes = 0, pods = 0, gang = 0, racks = 0;
  std::string pod_cpu = "100m", pod_memory = "128Mi", pod_gpu;
};

cluster::Command Create(const cluster::ObjectRef& ref, const Json& body, uint64_t id, base::Millis deadline_ms) {
  return {id, cluster::Lane::kStatus, deadline_ms, cluster::Create{ref, body.dump()}};
}

Json Node(const Options& options, int i) {
  const Json room = {
      {"cpu", "32"}, {"memory", "256Gi"}, {"pods", "110"}, {"nvidia.com/gpu", "8"}, {"ephemeral-storage", "1Ti"}};
  const std::string name = "node-" + std::to_string(i);
  Json labels = {{"kubernetes.io/hostname", name}, {"kubernetes.io/os", "linux"}, {"kubernetes.io/arch", "amd64"}};
  if (options.racks > 0) labels["topology.tutti.dev/rack"] = "rack-" + std::to_string(i % options.racks);
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata", {{"name", name}, {"labels", labels}}},
          {"status",
           {{"capacity", room},
            {"allocatable", room},
            {"conditions", {{{"type", "Ready"}, {"status", "True"}, {"reason", "KubeletReady"}}}}}}};
}

// With --gang N, pods come in groups of N under scheduler-plugins' label.
Json Pod(const Options& options, int i) {
  Json requests = {{"cpu", options.pod_cpu}, {"memory", options.pod_memory}};
  if (!options.pod_gpu.empty()) requests["nvidia.com/gpu"] = options.pod_gpu;
  Json meta = {
      {"name", options.prefix + "-" + std::to_string(i)}, {"namespace", options.ns}, {"labels", {{"app", "load"}}}};
  if (options.gang > 0)
    meta["labels"]["scheduling.x-k8s.io/pod-group"] = options.prefix + "-gang-" + std::to_string(i / options.gang);
  Json resources = {{"requests", requests}};
  if (!options.pod_gpu.empty()) resources["limits"] = {{"nvidia.com/gpu", options.pod_gpu}};
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", meta},
          {"spec",
           {{"schedulerName", options.scheduler},
            {"containers", {{{"name", "main"}, {"image", "registry.k8s.io/pause:3.10"}, {"resources", resources}}}}}}};
}

Json PodGroup(const Options& options, int i) {
  return {{"apiVersion", "scheduling.x-k8s.io/v1alpha1"},
          {"kind", "PodGroup"},
          {"metadata", {{"name", options.prefix + "-gang-" + std::to_string(i)}, {"namespace", options.ns}}},
          {"spec", {{"minMember", options.gang}}}};
}

std::vector<cluster::Command> Commands(const Options& options, base::Millis deadline_ms) {
  std::vector<cluster::Command> commands;
  for (int i = 0; i < options.nodes; ++i)
    commands.push_back(
        Create({"", "v1", "nodes", "Node", "", "", "", ""}, Node(options, i), commands.size() + 1, deadline_ms));
  for (int i = 0; options.gang > 0 && i * options.gang < options.pods; ++i)
    commands.push_back(Create({"scheduling.x-k8s.io", "v1alpha1", "podgroups", "PodGroup", options.ns, "", "", ""},
                              PodGroup(options, i), commands.size() + 1, deadline_ms));
  for (int i = 0; i < options.pods; ++i)
    commands.push_back(
        Create({"", "v1", "pods", "Pod", options.ns, "", "", ""}, Pod(options, i), commands.size() + 1, deadline_ms));
  return commands;
}

int Load(const Options& options, const kube::Config& config) {
  const base::SystemClock clock;
  AnswerSink sink;
  kube::KubeClient::Options client_options;
  client_options.component = "cluster-loader";
  kube::KubeClient client(config, client_options, clock, sink);
  client.LeadAlone();
  const base::Millis start_ms = clock.MonotonicMs();
  std::vector<cluster::Command> commands = Commands(options, start_ms + 600'000);
  size_t left = commands.size(), refused = 0;
  client.writer().Submit(std::move(commands));
  while (left > 0) {
    for (const cluster::Answer& answer : sink.answers.TakeAll(std::chrono::seconds(1))) {
      --left;
      if (answer.outcome == cluster::Outcome::kDone || answer.http_status == 409) continue;  // there already
      if (++refused <= 5) base::LogError("not created", {{"status", answer.http_status}, {"why", answer.message}});
    }
  }
  std::printf("%s\n", Json({{"nodes", options.nodes},
                            {"pods", options.pods},
                            {"refused", refused},
                            {"seconds", static_cast<double>(clock.MonotonicMs() - start_ms) / 1000}})
                          .dump()
                          .c_str());
  client.Shutdown(2'000);
  return refused == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Creates nodes (32 CPU, 256Gi, 8 GPU) and pending pods."};
  app.add_option("--kubeconfig", options.kubeconfig, "the cluster; else $KUBECONFIG");
  app.add_option("--namespace", options.ns, "of the pods; must exist")->capture_default_str();
  app.add_option("--nodes", options.nodes, "how many nodes");
  app.add_option("--racks", options.racks, "label nodes as this many racks");
  app.add_option("--pods", options.pods, "how many pods");
  app.add_option("--gang", options.gang, "pods a scheduler-plugins PodGroup; 0: lone pods");
  app.add_option("--prefix", options.prefix, "of the pods' names")->capture_default_str();
  app.add_option("--scheduler-name", options.scheduler, "of the pods")->capture_default_str();
  app.add_option("--pod-cpu", options.pod_cpu)->capture_default_str();
  app.add_option("--pod-memory", options.pod_memory)->capture_default_str();
  app.add_option("--pod-gpu", options.pod_gpu, "nvidia.com/gpu; none unless given");
  CLI11_PARSE(app, argc, argv);
  const auto config = kube::LoadConfig({options.kubeconfig, "", ""});
  if (!config) {
    std::fprintf(stderr, "%s\n", config.error().message.c_str());
    return 2;
  }
  return Load(options, *config);
}
