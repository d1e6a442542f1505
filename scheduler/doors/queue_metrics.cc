// SPDX-License-Identifier: Apache-2.0
#include "doors/queue_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "model/resource_list.h"
#include "observe/gang_state.h"
#include "observe/prometheus_text.h"

namespace tutti::doors {
namespace {

using observe::AmountOf;
using observe::QueueView;

std::string Quoted(std::string_view text) { return "\"" + observe::LabelValue(text) + "\""; }

std::string LabelsOf(const QueueKey& queue) {
  return fmt::format("dialect={},queue={}", Quoted(queue.first), Quoted(queue.second));
}

// A metric and its series, by their labels.
class Series {
 public:
  Series(std::string_view name, std::string_view help) : name_(name), help_(help) {}

  double& operator[](std::string labels) { return values_[std::move(labels)]; }
  std::string Text() const {
    std::string text = fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n", name_, help_);
    for (const auto& [labels, value] : values_) text += fmt::format("{}{{{}}} {}\n", name_, labels, value);
    return text;
  }

 private:
  const std::string_view name_, help_;
  std::map<std::string, double> values_;
};

// Whether the resource may be the value of a label: a tenant's pod may ask for one of any name.
bool IsShown(const QueueView::Cell& cell) {
  return cell.limit || cell.nominal || cell.deserved || cell.guarantee || cell.resource == model::kCpu ||
         cell.resource == model::kMemory;
}

// The queues that have series: of local queues those to which they lead have.
std::set<QueueKey> ShownQueues(const QueueViews& queues, size_t most) {
  std::set<QueueKey> all;
  for (const QueueView& view : queues)
    if (view.kind != QueueView::Kind::kLocal) all.insert({view.dialect, view.name});
  while (all.size() > most) all.erase(std::prev(all.end()));
  return all;
}

}  // namespace

std::string QueueMetricsText(const Table& gangs, const QueueViews& queues, base::Millis now_ms, size_t most_queues) {
  Series states("tutti_queue_gangs", "Gangs of a queue, by state.");
  Series waiting("tutti_queue_gangs_waiting", "Gangs of a queue that wait, by reason.");
  Series oldest("tutti_queue_oldest_wait_seconds", "How long the gang stands in line that stands there longest.");
  Series used("tutti_queue_used", "What a queue has of a resource: cpu in cores, memory in bytes.");
  Series asked("tutti_queue_asked", "What gangs that wait in a queue ask for.");
  Series limit("tutti_queue_limit", "The most that a queue may have, or its quota.");
  const std::set<QueueKey> shown = ShownQueues(queues, most_queues);
  for (const Row& row : gangs.rows) {
    QueueKey queue = QueueKeyOf(*row.decision);
    if (queue.second.empty()) continue;
    if (!shown.contains(queue)) queue = {"", "(others)"};
    const std::string labels = LabelsOf(queue);
    ++states[fmt::format("{},state={}", labels, Quoted(observe::Word(row.decision->state)))];
    if (row.decision->state < observe::GangState::kAdmitted)
      ++waiting[fmt::format("{},reason={}", labels, Quoted(row.decision->reason))];
    if (!StandsInLine(*row.decision)) continue;
    double& longest = oldest[labels];
    longest = std::max(longest, static_cast<double>(now_ms - row.decision->created_ms) / 1000);
  }
  for (const QueueView& view : queues) {
    const QueueKey queue{view.dialect, view.name};
    if (view.kind == QueueView::Kind::kLocal || !shown.contains(queue)) continue;
    for (const QueueView::Cell& cell : view.cells) {
      if (!IsShown(cell)) continue;
      const std::string labels =
          fmt::format("{},flavor={},resource={}", LabelsOf(queue), Quoted(cell.flavor), Quoted(cell.resource));
      used[labels] = AmountOf(cell.resource, std::max(cell.used, cell.reserved));
      asked[labels] = AmountOf(cell.resource, cell.pending);
      if (const auto& most = cell.limit ? cell.limit : cell.nominal) limit[labels] = AmountOf(cell.resource, *most);
    }
  }
  std::string text;
  for (const Series* each : {&states, &waiting, &oldest, &used, &asked, &limit}) text += each->Text();
  return text;
}

}  // namespace tutti::doors
