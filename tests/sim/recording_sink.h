// SPDX-License-Identifier: Apache-2.0
// A sink that keeps what it is given, with a short line for each event.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "cluster/ports.h"

namespace tutti::sim {

class RecordingSink final : public cluster::EventSink {
 public:
  void Post(cluster::FeedEvent event) override {
    lines_.push_back(std::visit(Line{}, event));
    if (auto* answer = std::get_if<cluster::CommandReply>(&event)) answers_.push_back(*answer);
    events_.push_back(std::move(event));
  }

  const std::vector<std::string>& lines() const { return lines_; }
  std::vector<std::string> Take() { return std::exchange(lines_, {}); }
  std::vector<cluster::CommandReply> TakeAnswers() { return std::exchange(answers_, {}); }
  const std::vector<cluster::FeedEvent>& events() const { return events_; }

 private:
  struct Line {
    std::string operator()(const cluster::PodChanged& e) { return "pod " + e.pod->meta.ns + "/" + e.pod->meta.name; }
    std::string operator()(const cluster::PodGone& e) { return "pod gone " + e.ns + "/" + e.name; }
    std::string operator()(const cluster::NodeChanged& e) { return "node " + e.node->meta.name; }
    std::string operator()(const cluster::NodeGone& e) { return "node gone " + e.name; }
    std::string operator()(const cluster::ObjectChanged& e) {
      return fmt::format("object {}.{}/{} {}", e.object->resource, e.object->group, e.object->version,
                         e.object->meta.name);
    }
    std::string operator()(const cluster::SelectionChanged& e) { return "selection " + e.selection->name; }
    std::string operator()(const cluster::ObjectGone& e) { return "object gone " + e.kind_name + " " + e.name; }
    std::string operator()(const cluster::KindSynced& e) {
      return (e.served ? "synced " : "not served ") + e.kind_name;
    }
    std::string operator()(const cluster::KindUnreadable& e) { return "unreadable " + e.kind_name; }
    std::string operator()(const cluster::Leadership& e) { return e.leading ? "leading" : "not leading"; }
    std::string operator()(const cluster::CommandReply& e) {
      static constexpr const char* kOutcomes[] = {"done", "refused", "unknown"};
      return fmt::format("answer {} {} {}", e.id, kOutcomes[static_cast<int>(e.outcome)], e.http_status);
    }
    std::string operator()(const cluster::CommandDelayed& e) { return fmt::format("delayed {}", e.id); }
    std::string operator()(const cluster::ExtenderReply& e) { return fmt::format("extenders answer {}", e.id); }
  };

  std::vector<std::string> lines_;
  std::vector<cluster::CommandReply> answers_;
  std::vector<cluster::FeedEvent> events_;
};

}  // namespace tutti::sim
