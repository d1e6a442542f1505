// SPDX-License-Identifier: Apache-2.0
// The pages that `tutti run` shows: kube-scheduler's under its own paths, /debug/decisions, /apis/tutti/v1/, and the
// API visibility.kueue.x-k8s.io.
#pragma once

#include <string>

#include "app/driver.h"
#include "app/run.h"
#include "doors/door.h"
#include "kube/client.h"
#include "observe/health_metrics.h"
#include "observe/metrics.h"
#include "server/server.h"

namespace tutti::app {

// The objects that the pages read; they outlive the pages.
struct PageSources {
  Driver& driver;
  kube::KubeClient& client;
  observe::Metrics& metrics;
  observe::HealthMetrics& health;
  const Config& config;
  const RunFlags& flags;
  doors::Desk& desk;
  doors::Door& door;
  std::string scheduler_name;  // that places the pods of queues
};

// Says why this process has no decisions to show; empty: it leads.
std::string WhyNotLeading(const Driver& driver, const kube::KubeClient& client, const LeaderElectionConfig& election);

// The path of the webhook that holds the jobs of Kueue's queues.
inline constexpr const char* kKueueWebhook = "/webhooks/kueue";

server::Pages MakePages(const PageSources& from);

// Answers "/debug/decisions": 503 with the holder's name while another process leads, 404 for an unknown gang, 410 for
// changes that are not kept.
server::PageAnswer ShowDecisions(Views& views, const std::string& not_leading, const server::Query& query);

// Renders "/flagz": every flag with its value. `values` is by name.
std::string FlagzText(const std::map<std::string, std::string>& values);

}  // namespace tutti::app
