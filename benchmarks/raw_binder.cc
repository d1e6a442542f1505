// SPDX-License-Identifier: Apache-2.0
// raw_binder: the limit against which a scheduler is measured. It lists and watches pods and nodes like a scheduler,
// decides nothing, and binds every pending pod of one schedulerName to the nodes in turn.
//
// Prints one line of JSON: how many pods it bound, how fast, and the cost of this process.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "cluster/event_mailbox.h"
#include "kube/client.h"

namespace {

using namespace tutti;

struct Options {
  std::string kubeconfig;
  std::string scheduler = "raw-binder";
  int in_flight = 80;
  size_t wait_for = 0;
  bool events = false;
  int timeout_s = 120;
};

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double PeakRssMib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

class RawBinder {
 public:
  RawBinder(const Options& options, const kube::Config& config)
      : options_(options), client_(config, ClientOptions(options), clock_, sink_) {}

  int Run() {
    start_ms_ = clock_.MonotonicMs();
    const double cpu_at_start = CpuSeconds();
    client_.LeadAlone();
    client_.feed().Start({});
    const base::Millis give_up_ms = start_ms_ + options_.timeout_s * 1000;
    while (clock_.MonotonicMs() < give_up_ms && !(asked_ > 0 && answered_ == asked_)) {
      for (cluster::FeedEvent& event : sink_.TakeAll(std::chrono::milliseconds(1000))) Apply(event);
      if (!nodes_synced_ || !pods_synced_ || pods_.size() < options_.wait_for || asked_ > 0) continue;
      BindAll();
      if (asked_ == 0) break;
    }
    Print(CpuSeconds() - cpu_at_start);
    client_.Shutdown(2'000);
    return bound_ == asked_ && asked_ > 0 ? 0 : 1;
  }

 private:
  static kube::KubeClient::Options ClientOptions(const Options& options) {
    kube::KubeClient::Options result;
    result.component = "raw-binder";
    result.in_flight = options.in_flight;
    return result;
  }

  void Apply(const cluster::FeedEvent& event) {
    if (const auto* changed = std::get_if<cluster::PodChanged>(&event)) {
      ++pod_events_;
      pods_[changed->pod->meta.ns + "/" + changed->pod->meta.name] = changed->pod;
    } else if (const auto* node = std::get_if<cluster::NodeChanged>(&event)) {
      nodes_[node->node->meta.name] = node->node;
    } else if (const auto* synced = std::get_if<cluster::KindSynced>(&event)) {
      (synced->kind_name == "pods" ? pods_synced_ : nodes_synced_) = true;
      if (nodes_synced_ && pods_synced_) listed_ms_ = clock_.MonotonicMs();
    } else if (const auto* answer = std::get_if<cluster::CommandReply>(&event)) {
      ++answered_;
      last_answer_ms_ = clock_.MonotonicMs();
      if (answer->outcome == cluster::Outcome::kDone)
        ++bound_;
      else if (++complaints_ <= 5)
        base::LogWarn("not bound", {{"status", answer->http_status}, {"why", answer->message}});
    }
  }

  void BindAll() {
    if (nodes_.empty()) return;
    std::vector<cluster::Command> commands;
    auto node = nodes_.begin();
    const base::Millis deadline_ms = clock_.MonotonicMs() + options_.timeout_s * 1000;
    for (const auto& [key, pod] : pods_) {
      if (pod->bound() || pod->spec->scheduler_name != options_.scheduler) continue;
      const cluster::ObjectRef ref = cluster::RefOf(pod);
      commands.push_back({++asked_, cluster::Lane::kBind, deadline_ms, cluster::Bind{ref, node->first, {}}});
      if (options_.events)
        commands.push_back(
            {0, cluster::Lane::kEvent, deadline_ms,
             cluster::EmitEvent{ref, false, "Scheduled", "Binding",
                                "Successfully assigned " + key + " to " + node->first, options_.scheduler}});
      if (++node == nodes_.end()) node = nodes_.begin();
    }
    bind_start_ms_ = clock_.MonotonicMs();
    client_.writer().Submit(std::move(commands));
  }

  void Print(double cpu_s) {
    if (asked_ == 0) bind_start_ms_ = last_answer_ms_ = listed_ms_;
    const double span_s = static_cast<double>(last_answer_ms_ - bind_start_ms_) / 1000;
    const auto bound = static_cast<double>(bound_);
    const base::Json line = {{"nodes", nodes_.size()},
                             {"pods", pods_.size()},
                             {"asked", asked_},
                             {"bound", bound_},
                             {"in_flight", options_.in_flight},
                             {"list_s", static_cast<double>(listed_ms_ - start_ms_) / 1000},
                             {"bind_s", span_s},
                             {"binds_per_s", span_s > 0 ? bound / span_s : 0},
                             {"start_to_last_bind_s", static_cast<double>(last_answer_ms_ - start_ms_) / 1000},
                             {"cpu_s", cpu_s},
                             {"cpu_s_per_1000", bound_ > 0 ? cpu_s / bound * 1000 : 0},
                             {"pod_events", pod_events_},
                             {"peak_rss_mib", PeakRssMib()}};
    std::puts(line.dump().c_str());
  }

  const Options options_;
  base::SystemClock clock_;
  cluster::EventMailbox sink_;
  kube::KubeClient client_;
  std::unordered_map<std::string, std::shared_ptr<const model::Pod>> pods_;
  std::unordered_map<std::string, std::shared_ptr<const model::Node>> nodes_;
  bool pods_synced_ = false, nodes_synced_ = false;
  uint64_t asked_ = 0, answered_ = 0, bound_ = 0, pod_events_ = 0;
  int complaints_ = 0;
  base::Millis start_ms_ = 0, listed_ms_ = 0, bind_start_ms_ = 0, last_answer_ms_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Binds every pending pod of one schedulerName, as fast as the API server allows."};
  app.add_option("--kubeconfig", options.kubeconfig, "the cluster; else $KUBECONFIG");
  app.add_option("--scheduler-name", options.scheduler, "pods of this schedulerName")->capture_default_str();
  app.add_option("--in-flight", options.in_flight, "requests at a time")->capture_default_str();
  app.add_option("--wait-for", options.wait_for, "binds nothing before that many pods are there");
  app.add_option("--timeout", options.timeout_s, "seconds until it gives up")->capture_default_str();
  app.add_flag("--events", options.events, "one Event a pod as well, behind the binds");
  CLI11_PARSE(app, argc, argv);
  const auto config = kube::LoadConfig({options.kubeconfig, "", ""});
  if (!config) {
    std::fprintf(stderr, "%s\n", config.error().message.c_str());
    return 2;
  }
  return RawBinder(options, *config).Run();
}
