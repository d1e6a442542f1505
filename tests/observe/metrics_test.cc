// SPDX-License-Identifier: Apache-2.0
#include "observe/metrics.h"

#include <algorithm>
#include <sstream>

#include "observe/observers.h"
#include "tests/support/catch.h"

namespace tutti::observe {
namespace {

// The value of the line that begins with `series `; NaN text is no value.
std::string ValueOf(const std::string& text, const std::string& series) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(series + " ", 0) == 0) return line.substr(series.size() + 1);
  }
  return "(absent)";
}

TEST_CASE("attempts count pods under kube-scheduler's name and gangs under ours") {
  Metrics metrics("1.2.3", "tutti", "api:6443");
  metrics.OnAttempt("volcano", "scheduled", 3, 0.0015);
  metrics.OnAttempt("volcano", "scheduled", 2, 0.5);
  metrics.OnAttempt("volcano", "unschedulable", 8, 0.1);
  const std::string text = metrics.Text();
  CHECK(ValueOf(text, R"(scheduler_schedule_attempts_total{profile="volcano",result="scheduled"})") == "5");
  CHECK(ValueOf(text, R"(scheduler_schedule_attempts_total{profile="volcano",result="unschedulable"})") == "8");
  CHECK(ValueOf(text, R"(tutti_gang_attempts_total{profile="volcano",result="scheduled"})") == "2");
  CHECK(ValueOf(text, "scheduler_scheduling_algorithm_duration_seconds_count") == "3");
  const std::string histogram = "scheduler_scheduling_attempt_duration_seconds";
  CHECK(ValueOf(text, histogram + R"(_count{profile="volcano",result="scheduled"})") == "2");
  CHECK(ValueOf(text, histogram + R"(_bucket{profile="volcano",result="scheduled",le="0.001"})") == "0");
  CHECK(ValueOf(text, histogram + R"(_bucket{profile="volcano",result="scheduled",le="0.002"})") == "1");
}

TEST_CASE("pending pods are shown for every one of kube-scheduler's queues") {
  Metrics metrics("1.2.3", "tutti", "api:6443");
  metrics.SetLeading(true);
  Observer::Gauges gauges;
  gauges.active_pods = 4;
  gauges.unschedulable_pods = 7;
  gauges.gated_pods = 1;
  gauges.waiting_gangs = 2;
  metrics.OnCycle(0.0001, 12, gauges);
  const std::string text = metrics.Text();
  CHECK(ValueOf(text, R"(scheduler_pending_pods{queue="active"})") == "4");
  CHECK(ValueOf(text, R"(scheduler_pending_pods{queue="unschedulable"})") == "7");
  CHECK(ValueOf(text, R"(scheduler_pending_pods{queue="gated"})") == "1");
  CHECK(ValueOf(text, R"(scheduler_pending_pods{queue="backoff"})") == "0");
  CHECK(ValueOf(text, R"(tutti_gangs{state="waiting"})") == "2");
  CHECK(ValueOf(text, "tutti_events_total") == "12");
}

TEST_CASE("a standby shows no gangs and no pods that wait") {
  Metrics metrics("1.2.3", "tutti", "api:6443");
  const std::vector<Observer::RefusedPods> refused = {
      {"a", {"NodeAffinity", "NodeResourcesFit"}, 3}, {"a", {"NodeResourcesFit"}, 2}, {"b", {"Queue"}, 1}};
  Observer::Gauges gauges;
  gauges.refused = &refused;
  metrics.OnCycle(0.0001, 0, gauges);
  const std::string standby = metrics.Text();
  for (const char* name : {"tutti_gangs{", "scheduler_pending_pods{", "scheduler_unschedulable_pods{"})
    CHECK_THAT(standby, !Catch::Contains(name));
  CHECK(ValueOf(standby, R"(leader_election_master_status{name="tutti"})") == "0");
  metrics.SetLeading(true);
  const std::string leader = metrics.Text();
  CHECK(ValueOf(leader, R"(scheduler_unschedulable_pods{plugin="NodeResourcesFit",profile="a"})") == "5");
  CHECK(ValueOf(leader, R"(scheduler_unschedulable_pods{plugin="NodeAffinity",profile="a"})") == "3");
  CHECK(ValueOf(leader, R"(scheduler_unschedulable_pods{plugin="Queue",profile="b"})") == "1");
  CHECK_THAT(leader, Catch::Contains("tutti_gangs{"));
}

TEST_CASE("leadership, gangs' fates and the version are shown") {
  Metrics metrics("1.2.3", "my-lease", "api:6443");
  metrics.SetLeading(true);
  metrics.OnWhole(0.4, 64);
  metrics.OnUndone(5);
  metrics.OnFilledUp();
  Observers(std::vector<Observer*>{&metrics}).OnPreemption(0);
  metrics.OnPreemption(3);
  Observers(std::vector<Observer*>{&metrics}).OnFlushed({}, false);
  metrics.OnBound(0.02, 1);
  metrics.OnBound(0.02, 40);
  metrics.OnBound(0.02, 15);
  metrics.OnAnswer("POST", 201, 0.03);
  metrics.OnAnswer("POST", 201, 0.3);
  metrics.OnAnswer("GET", 0, -1);
  const std::string text = metrics.Text();
  CHECK(ValueOf(text, R"(leader_election_master_status{name="my-lease"})") == "1");
  CHECK(ValueOf(text, "tutti_gang_members_started_total") == "64");
  CHECK(ValueOf(text, "tutti_gangs_undone_total") == "1");
  CHECK(ValueOf(text, "tutti_gang_members_undone_total") == "5");
  CHECK(ValueOf(text, "tutti_gang_members_filled_up_total") == "1");
  CHECK(ValueOf(text, "scheduler_preemption_attempts_total") == "2");
  CHECK(ValueOf(text, "scheduler_preemption_victims_count") == "1");
  CHECK(ValueOf(text, R"(scheduler_preemption_victims_bucket{le="2"})") == "0");
  CHECK(ValueOf(text, R"(scheduler_preemption_victims_bucket{le="4"})") == "1");
  CHECK(ValueOf(text, R"(tutti_gangs_flushed_total{result="unschedulable"})") == "1");
  CHECK(ValueOf(text, R"(tutti_gangs_flushed_total{result="scheduled"})") == "0");
  CHECK(ValueOf(text, R"(tutti_build_info{version="1.2.3"})") == "1");
  CHECK(ValueOf(text, R"(scheduler_pod_scheduling_sli_duration_seconds_count{attempts="1"})") == "1");
  CHECK(ValueOf(text, R"(scheduler_pod_scheduling_sli_duration_seconds_count{attempts="15+"})") == "2");
  CHECK(ValueOf(text, "scheduler_pod_scheduling_attempts_count") == "3");
  CHECK(ValueOf(text, R"(scheduler_pod_scheduling_attempts_bucket{le="1"})") == "1");
  CHECK(ValueOf(text, R"(rest_client_request_duration_seconds_count{host="api:6443",verb="POST"})") == "2");
  CHECK(ValueOf(text, R"(rest_client_request_duration_seconds_bucket{host="api:6443",verb="POST",le="0.1"})") == "1");
  CHECK(ValueOf(text, R"(rest_client_request_duration_seconds_count{host="api:6443",verb="GET"})") == "(absent)");
  CHECK(ValueOf(text, R"(rest_client_requests_total{code="201",host="api:6443",method="POST"})") == "2");
  CHECK(ValueOf(text, R"(rest_client_requests_total{code="<error>",host="api:6443",method="GET"})") == "1");
}

TEST_CASE("what a configuration calls something is escaped, and is one line") {
  Metrics metrics("v\"1\n", "lease\\", "api:6443\"} 1\nforged 1");
  metrics.OnAttempt("a\"b\nc\\", "scheduled", 1, 0.1);
  metrics.OnAnswer("GET", 200, 0.1);
  const std::string text = metrics.Text();
  CHECK(ValueOf(text, R"(tutti_gang_attempts_total{profile="a\"b\nc\\",result="scheduled"})") == "1");
  CHECK(ValueOf(text, R"(leader_election_master_status{name="lease\\"})") == "0");
  CHECK(ValueOf(text, R"(tutti_build_info{version="v\"1\n"})") == "1");
  CHECK(ValueOf(text, "forged") == "(absent)");
}

TEST_CASE("however often a pod was attempted, there are fifteen series of it") {
  Metrics metrics("1.2.3", "tutti", "api:6443");
  const auto lines = [&] {
    const std::string text = metrics.Text();
    return std::count(text.begin(), text.end(), '\n');
  };
  for (int64_t attempts = 0; attempts < 20; ++attempts) metrics.OnBound(0.1, attempts);
  const auto before = lines();
  for (int64_t attempts = 20; attempts < 1'000; ++attempts) metrics.OnBound(0.1, attempts);
  CHECK(lines() == before);
}

TEST_CASE("the process's own use is read from the kernel") {
  const ProcessUsage usage = ReadProcessUsage();
  CHECK(usage.resident_bytes > 1 << 20);
  CHECK(usage.virtual_bytes > usage.resident_bytes);
  CHECK(usage.open_files >= 3);
  CHECK(usage.start_time_seconds > 1.6e9);
}

}  // namespace
}  // namespace tutti::observe
