// SPDX-License-Identifier: Apache-2.0
#include "app/autoscaler_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>

#include "app/signals.h"
#include "base/log.h"
#include "cluster/event_mailbox.h"
#include "kube/client.h"
#include "sim/manifests/manifest.h"

namespace tutti::app {
namespace {

constexpr base::Millis kLongestSleepMs = 5'000;
constexpr base::Millis kShutdownMs = 5'000;

int Refuse(const base::Error& error) {
  fmt::print(stderr, "tutti sim autoscaler: error: {}\n", error.message);
  return 1;
}

}  // namespace

base::Result<sim::NodeShape> LoadNodeShape(const std::string& file) {
  auto manifests = sim::LoadManifests({file});
  if (!manifests) return tl::make_unexpected(manifests.error());
  if (manifests->size() != 1)
    return base::Invalid(fmt::format("{}: one Node is wanted, and there are {} objects", file, manifests->size()));
  auto shape = sim::ParseNodeShape(std::move(manifests->front().object));
  if (!shape) return base::Invalid(fmt::format("{}: {}", file, shape.error().message));
  return shape;
}

int RunAutoscaler(AutoscalerFlags flags) {
  const auto cluster = kube::LoadConfig({flags.kubeconfig, flags.context, ""});
  if (!cluster) return Refuse(cluster.error());
  const base::SystemClock clock;
  cluster::EventMailbox inbox;
  std::atomic<bool> stopped = false;
  const StopSignals signals([&] {
    stopped = true;
    inbox.Wake();
  });
  kube::KubeClient::Options options;
  options.component = "tutti-sim-autoscaler";
  options.version = TUTTI_VERSION;
  kube::KubeClient client(*cluster, options, clock, inbox);
  sim::Autoscaler autoscaler(std::move(flags.options), client.writer(), clock);
  client.feed().Start(sim::Autoscaler::Kinds());
  client.LeadAlone();
  base::LogInfo("the autoscaler answers ProvisioningRequests", {{"server", cluster->server}});
  while (!stopped) {
    const auto due = autoscaler.NextDeadline();
    const base::Millis wait = due ? *due - clock.MonotonicMs() : kLongestSleepMs;
    autoscaler.RunOnce(inbox.TakeAll(std::chrono::milliseconds(std::clamp<base::Millis>(wait, 0, kLongestSleepMs))));
  }
  client.Shutdown(kShutdownMs);
  return 0;
}

}  // namespace tutti::app
