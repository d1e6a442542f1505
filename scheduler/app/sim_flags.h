// SPDX-License-Identifier: Apache-2.0
// The flags of `tutti sim` about what stands around the scheduler in a cluster, and the verb `tutti sim autoscaler`.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <tuple>
#include <utility>

#include "app/autoscaler_command.h"
#include "app/signals.h"
#include "app/sim_command.h"
#include "base/duration.h"

namespace tutti::app {

// `tutti sim autoscaler`. It must outlive the parser.
class AutoscalerVerb {
 public:
  void AddTo(CLI::App& sim, int* exit_code) {
    verb_ = sim.add_subcommand("autoscaler", "Answer the ProvisioningRequests of a cluster with simulated nodes");
    verb_->footer(
        "Stands for a cloud's autoscaler where there is none. It writes Node objects; something like KWOK makes them\n"
        "Ready. The annotation sim.tutti.dev/provisioning of a ProvisioningRequest, or its parameter provisioning, "
        "says\n"
        "what else becomes of it: wait, provide, fail, fail-once, expire, revoke.");
    verb_->add_option("--kubeconfig", flags_.kubeconfig, "the cluster; default: as kubectl")->type_name("FILE");
    verb_->add_option("--context", flags_.context, "a context of it");
    verb_->add_option("--node", node_file_, "a Node manifest: what the nodes that it makes are like")
        ->type_name("FILE")
        ->required();
    verb_->add_option("--accept-after", accept_, "from a request's creation until it is accepted")
        ->capture_default_str();
    verb_->add_option("--provision-after", provision_, "from there until its nodes are made")->capture_default_str();
    verb_->add_option("--booking", booking_, "from Provisioned until its booking expires")->capture_default_str();
    verb_->add_flag("--wait", flags_.options.waits, "give no request nodes before it says `provide`");
    verb_->final_callback([this, exit_code] { *exit_code = Go(); });
  }

  bool given() const { return verb_->parsed(); }

 private:
  int Go() {
    auto shape = LoadNodeShape(node_file_);
    if (!shape) return Refuse("--node: " + shape.error().message);
    flags_.options.shape = *std::move(shape);
    for (const auto& [name, text, target] : {std::tuple("--accept-after", &accept_, &flags_.options.accept_ms),
                                             std::tuple("--provision-after", &provision_, &flags_.options.provision_ms),
                                             std::tuple("--booking", &booking_, &flags_.options.booking_ms)}) {
      const auto span = base::ParseSpan(*text);
      if (!span) return Refuse(std::string(name) + ": " + span.error().message);
      *target = *span;
    }
    BlockStopSignals();
    return RunAutoscaler(std::move(flags_));
  }
  static int Refuse(const std::string& message) {
    fmt::print(stderr, "tutti sim autoscaler: error: {}\n", message);
    return 2;
  }

  AutoscalerFlags flags_;
  std::string node_file_, accept_ = "1s", provision_ = "2s", booking_ = "10m";
  CLI::App* verb_ = nullptr;
};

// Flags of `tutti sim` itself.
struct AroundFlags {
  inline static const std::string kUpstreamGangs = "scheduling.k8s.io/v1alpha2";
  std::string runtime_config, stop_after = "0s", autoscaler;
  int grpc_port = 0;

  void AddTo(CLI::App& verb) {
    verb.add_option("--runtime-config", runtime_config,
                    "as kube-apiserver's: scheduling.k8s.io/v1alpha2=false does not serve upstream's PodGroup and\n"
                    "Workload, as a real one by default")
        ->check(CLI::IsMember({kUpstreamGangs + "=true", kUpstreamGangs + "=false"}));
    verb.add_option("--stop-after", stop_after, "how long deleted pods take to stop that do not say")
        ->capture_default_str();
    verb.add_option("--grpc-port", grpc_port,
                    "also serve the API for programs over gRPC, on this port; 0: do not")
        ->capture_default_str();
    verb.add_option("--autoscaler", autoscaler, "answer ProvisioningRequests with nodes like the one in this manifest")
        ->type_name("FILE");
  }
  // Error kInvalid, kNotFound: says which flag is wrong.
  base::Status Parse(SimFlags* flags) const {
    const auto span = base::ParseSpan(stop_after);
    if (!span) return base::Invalid("--stop-after: " + span.error().message);
    flags->pods_stop_ms = *span;
    flags->with_upstream_gangs = !runtime_config.ends_with("=false");
    if (grpc_port < 0 || grpc_port > 65535) return base::Invalid("--grpc-port: write a port from 0 to 65535");
    flags->grpc_port = grpc_port;
    if (autoscaler.empty()) return {};
    auto shape = LoadNodeShape(autoscaler);
    if (!shape) return base::Invalid("--autoscaler: " + shape.error().message);
    flags->autoscaler.emplace().shape = *std::move(shape);
    return {};
  }
};

}  // namespace tutti::app
