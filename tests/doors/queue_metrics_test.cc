// SPDX-License-Identifier: Apache-2.0
#include "doors/queue_metrics.h"

#include "rig.h"

namespace tutti::doors {
namespace {

using Catch::Contains;

constexpr base::Millis kNow = 100'000;

Table TableOf(std::vector<observe::Decision> decisions) {
  std::vector<Row> rows;
  for (observe::Decision& one : decisions)
    rows.push_back({std::make_shared<const observe::Decision>(std::move(one)), 0, 0});
  return {1, std::move(rows), 0};
}

observe::QueueView QueueNamed(const std::string& name) {
  observe::QueueView view;
  view.dialect = "volcano";
  view.name = name;
  return view;
}

observe::QueueView::Cell CellOf(const std::string& resource, std::optional<int64_t> limit, int64_t used,
                                int64_t pending) {
  observe::QueueView::Cell cell;
  cell.resource = resource;
  cell.limit = limit;
  cell.used = used;
  cell.pending = pending;
  return cell;
}

TEST_CASE("gangs of a queue are counted by state, and those that wait by reason") {
  std::vector<observe::Decision> gangs = {Waiting("ns", "a", 0, 40'000), Waiting("ns", "b", 0, 70'000),
                                          Waiting("ns", "c", 0, 90'000), Waiting("ns", "d", 0, 0, "")};
  gangs[0].reason = gangs[1].reason = "NoPlacement";
  gangs[2].state = observe::GangState::kWhole;
  observe::QueueView queue = QueueNamed("q");
  queue.cells = {CellOf("cpu", 8'000, 2'500, 1'000)};
  const std::string text = QueueMetricsText(TableOf(std::move(gangs)), {queue}, kNow);
  CHECK_THAT(text, Contains("tutti_queue_gangs{dialect=\"volcano\",queue=\"q\",state=\"waiting-for-nodes\"} 2\n"));
  CHECK_THAT(text, Contains("tutti_queue_gangs{dialect=\"volcano\",queue=\"q\",state=\"whole\"} 1\n"));
  CHECK_THAT(text, Contains("tutti_queue_gangs_waiting{dialect=\"volcano\",queue=\"q\",reason=\"NoPlacement\"} 2\n"));
  CHECK_THAT(text, Contains("tutti_queue_oldest_wait_seconds{dialect=\"volcano\",queue=\"q\"} 60\n"));
  const std::string cell = "{dialect=\"volcano\",queue=\"q\",flavor=\"\",resource=\"cpu\"} ";
  CHECK_THAT(text, Contains("tutti_queue_used" + cell + "2.5\n"));
  CHECK_THAT(text, Contains("tutti_queue_asked" + cell + "1\n"));
  CHECK_THAT(text, Contains("tutti_queue_limit" + cell + "8\n"));
  CHECK_THAT(text, !Contains("queue=\"\""));
}

TEST_CASE("the queues beyond the most have one series together") {
  const Table gangs = TableOf({Waiting("ns", "a", 0, 0, "q1"), Waiting("ns", "b", 0, 0, "q2"),
                               Waiting("ns", "c", 0, 0, "q3"), Waiting("ns", "d", 0, 0, "missing")});
  const QueueViews queues = {QueueNamed("q1"), QueueNamed("q2"), QueueNamed("q3")};
  const std::string text = QueueMetricsText(gangs, queues, kNow, 1);
  CHECK_THAT(text, Contains("{dialect=\"volcano\",queue=\"q1\",state=\"waiting-for-nodes\"} 1\n"));
  CHECK_THAT(text, Contains("{dialect=\"\",queue=\"(others)\",state=\"waiting-for-nodes\"} 3\n"));
  CHECK_THAT(text, !Contains("q2") && !Contains("missing"));
}

TEST_CASE("a resource that only a pod names has no series") {
  observe::QueueView queue = QueueNamed("q");
  queue.cells = {CellOf("a.example/made-up", std::nullopt, 0, 1), CellOf("a.example/gpu", 4, 0, 1)};
  const std::string text = QueueMetricsText(TableOf({}), {queue}, kNow);
  CHECK_THAT(text, !Contains("made-up") && Contains("a.example/gpu"));
}

TEST_CASE("a name cannot break out of its label") {
  const Table gangs = TableOf({Waiting("ns", "a", 0, 0, "q\"} 1\n\\")});
  const std::string text = QueueMetricsText(gangs, {QueueNamed("q\"} 1\n\\")}, kNow);
  CHECK_THAT(text, Contains("queue=\"q\\\"} 1\\n\\\\\",state="));
}

}  // namespace
}  // namespace tutti::doors
