// SPDX-License-Identifier: Apache-2.0
// The STATUS column of pods, which sums up phase, reasons and container states.
#include <fmt/format.h>

#include <algorithm>

#include "sim/api/table.h"

namespace tutti::sim {
namespace {

std::string TerminatedReason(const Json& terminated) {
  if (const std::string& reason = DigString(terminated, "reason"); !reason.empty()) return reason;
  if (const int64_t signal = IntOf(Child(terminated, "signal"))) return fmt::format("Signal:{}", signal);
  return fmt::format("ExitCode:{}", IntOf(Child(terminated, "exitCode")));
}

struct Summary {
  std::string reason;
  int64_t ready = 0;
  int64_t total = 0;
  int64_t restarts = 0;
  std::string last_restart;  // RFC 3339 times sort as text
};

bool IsSidecar(const Json& pod, const std::string& name) {
  for (const Json& container : ArrayOf(Dig(pod, "spec", "initContainers"))) {
    if (DigString(container, "name") == name) return DigString(container, "restartPolicy") == "Always";
  }
  return false;
}

void CountRestarts(const Json& status, Summary& out) {
  out.restarts += IntOf(Child(status, "restartCount"));
  out.last_restart = std::max(out.last_restart, DigString(status, "lastState", "terminated", "finishedAt"));
}

// True while an init container keeps the pod from its main ones.
bool Initializing(const Json& pod, Summary& out) {
  const Json& statuses = ArrayOf(Dig(pod, "status", "initContainerStatuses"));
  const size_t count = ArrayOf(Dig(pod, "spec", "initContainers")).size();
  for (size_t i = 0; i < statuses.size(); ++i) {
    const Json& state = Child(statuses[i], "state");
    CountRestarts(statuses[i], out);
    const Json& terminated = Child(state, "terminated");
    if (!terminated.is_null() && IntOf(Child(terminated, "exitCode")) == 0) continue;
    if (IsSidecar(pod, DigString(statuses[i], "name")) && BoolOf(Child(statuses[i], "started"))) {
      if (BoolOf(Child(statuses[i], "ready"))) ++out.ready;
      continue;
    }
    const std::string& waiting = DigString(state, "waiting", "reason");
    if (!terminated.is_null()) {
      out.reason = "Init:" + TerminatedReason(terminated);
    } else if (!waiting.empty() && waiting != "PodInitializing") {
      out.reason = "Init:" + waiting;
    } else {
      out.reason = fmt::format("Init:{}/{}", i, count);
    }
    return true;
  }
  return false;
}

void SumContainers(const Json& pod, Summary& out) {
  out.restarts = 0;
  out.last_restart.clear();
  bool running = false;
  const Json& statuses = ArrayOf(Dig(pod, "status", "containerStatuses"));
  for (auto it = statuses.rbegin(); it != statuses.rend(); ++it) {
    const Json& state = Child(*it, "state");
    CountRestarts(*it, out);
    const Json& terminated = Child(state, "terminated");
    if (const std::string& waiting = DigString(state, "waiting", "reason"); !waiting.empty()) {
      out.reason = waiting;
    } else if (!terminated.is_null()) {
      out.reason = TerminatedReason(terminated);
    } else if (BoolOf(Child(*it, "ready")) && !Child(state, "running").is_null()) {
      running = true;
      ++out.ready;
    }
  }
  if (out.reason == "Completed" && running) {
    out.reason = IsTrue(pod, "Ready") ? "Running" : "NotReady";
  }
}

Summary Summarize(const Json& pod) {
  Summary out;
  const std::string& reason = DigString(pod, "status", "reason");
  out.reason = reason.empty() ? PhaseOf(pod) : reason;
  if (DigString(ConditionOf(pod, "PodScheduled"), "reason") == "SchedulingGated") out.reason = "SchedulingGated";
  out.total = int64_t(ArrayOf(Dig(pod, "spec", "containers")).size());
  for (const Json& container : ArrayOf(Dig(pod, "spec", "initContainers"))) {
    out.total += DigString(container, "restartPolicy") == "Always";
  }
  if (!Initializing(pod, out)) SumContainers(pod, out);
  if (IsTerminating(pod)) {
    if (reason == "NodeLost") {
      out.reason = "Unknown";
    } else if (!IsFinishedPod(pod)) {
      out.reason = "Terminating";
    }
  }
  return out;
}

std::string Gates(const Json& pod) {
  const Json& gates = ArrayOf(Dig(pod, "spec", "readinessGates"));
  if (gates.empty()) return "<none>";
  const auto met = std::count_if(gates.begin(), gates.end(),
                                 [&](const Json& gate) { return IsTrue(pod, DigString(gate, "conditionType")); });
  return fmt::format("{}/{}", met, gates.size());
}

}  // namespace

Json PodCells(const Json& pod, base::Millis now_ms) {
  const Summary sum = Summarize(pod);
  std::string restarts = std::to_string(sum.restarts);
  if (sum.restarts > 0 && !sum.last_restart.empty())
    restarts += fmt::format(" ({} ago)", AgeOf(sum.last_restart, now_ms));
  std::string ip = DigString(pod, "status", "podIP");
  return {NameOf(pod),
          fmt::format("{}/{}", sum.ready, sum.total),
          sum.reason,
          restarts,
          AgeOf(Dig(pod, "metadata", "creationTimestamp"), now_ms),
          OrNone(ip),
          OrNone(DigString(pod, "spec", "nodeName")),
          OrNone(DigString(pod, "status", "nominatedNodeName")),
          Gates(pod)};
}

}  // namespace tutti::sim
