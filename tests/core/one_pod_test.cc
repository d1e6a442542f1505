// SPDX-License-Identifier: Apache-2.0
// One pod on its way from its event to its bind: each collaborator of the cycle is entered once.
#include <map>

#include "tests/core/rig.h"

namespace tutti::core {
namespace {

using Entered = std::map<std::string, int>;

// Takes every node, and counts how often it is entered.
class EnteredFilter final : public framework::Filter {
 public:
  explicit EnteredFilter(Entered& counts) : counts_(counts) {}
  std::string_view name() const override { return "Counting"; }
  std::unique_ptr<framework::FilterState> PrepareFilter(const cluster::PodClass&,
                                                        const cluster::Snapshot&) const override {
    ++counts_["filter prepared"];
    return std::make_unique<Takes>(counts_);
  }
  framework::Wake WakesOn() const override { return {}; }

 private:
  struct Takes final : framework::FilterState {
    explicit Takes(Entered& counts) : counts(counts) {}
    bool DependsOnNodePods() const override { return false; }
    framework::Verdict Check(model::NodeId) const override {
      ++counts["node filtered"];
      return framework::Verdict::kFits;
    }
    void Explain(model::NodeId, std::vector<std::string>*) const override {}
    Entered& counts;
  };
  Entered& counts_;
};

class EnteredObserver final : public observe::Observer {
 public:
  explicit EnteredObserver(Entered& counts) : counts_(counts) {}
  void OnAttempt(std::string_view, std::string_view result, int64_t, double) override {
    ++counts_["attempt " + std::string(result)];
  }
  void OnHappening(const Happening& now) override {
    constexpr const char* kWords[] = {"waits", "bound", "started", "undone", "evicted", "gone"};
    ++counts_[std::string("told ") + kWords[static_cast<int>(now.step)]];
  }
  void OnPreemption(int64_t) override { ++counts_["victims sought"]; }

 private:
  Entered& counts_;
};

struct OnePod : Rig {
  OnePod() {
    configure = [this](Options* options) {
      for (framework::Profile& profile : options->profiles)
        profile.filters.push_back(std::make_shared<EnteredFilter>(counts));
    };
    Observe(&watcher);
    AddNode("n", 4);
    Settle();
    fate = [this](const cluster::Command& command) {
      ++counts[std::holds_alternative<cluster::Bind>(command.body)        ? "bind sent"
               : std::holds_alternative<cluster::EmitEvent>(command.body) ? "event sent"
                                                                          : "other command sent"];
      return sim::Fate{};
    };
    counts.clear();
    before = scheduler->Done();
  }
  // What was counted since the last time, one "NAME N" a line.
  std::string Take() {
    const Scheduler::Work now = scheduler->Done();
    if (now.censuses != before.censuses) counts["census"] += static_cast<int>(now.censuses - before.censuses);
    if (now.decisions_made != before.decisions_made) ++counts["decision made"];
    if (now.gangs_counted != before.gangs_counted) ++counts["gangs counted"];
    before = now;
    std::string text;
    for (const auto& [name, times] : std::exchange(counts, {})) text += fmt::format("{} {}\n", name, times);
    return text;
  }

  Entered counts;
  EnteredObserver watcher{counts};
  Scheduler::Work before;
};

// What is entered from the event to so many binds.
std::string Once(int binds) {
  return fmt::format(
      "attempt scheduled 1\n"
      "bind sent {}\n"
      "census 1\n"
      "filter prepared 1\n"
      "gangs counted 1\n"
      "node filtered 1\n",
      binds);
}

}  // namespace

TEST_CASE_METHOD(OnePod, "A pod is bound in the cycle that reads its event, and enters each collaborator once") {
  AddPod("p", {});
  Step();
  CHECK(NodeOf("p") == "n");
  CHECK(Take() == Once(1));
  Settle();
  CHECK(Take() ==
        "census 1\n"
        "event sent 1\n"
        "gangs counted 1\n"
        "told bound 1\n"
        "told gone 1\n"  // what has no gang is forgotten once it is bound
        "told started 1\n");
}

TEST_CASE_METHOD(OnePod, "A gang of four enters each collaborator as often as one pod does, but for its binds") {
  AddGang("g", 4, 4);
  Step();
  CHECK(Take() == Once(3));
  Settle();
  CHECK(Take() ==
        "bind sent 1\n"  // the last, which commits the gang
        "census 2\n"     // three are bound, and all are
        "event sent 4\n"
        "gangs counted 1\n"
        "told bound 4\n"
        "told started 1\n");
}

}  // namespace tutti::core
