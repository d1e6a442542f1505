// SPDX-License-Identifier: Apache-2.0
// Members that extenders are asked about: filtered, scored and bound by them, and which pods go for them.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "tests/core/rig.h"

namespace tutti::core {
namespace {

// Extenders that take what the test says. Answers are posted when the test lets them.
class FakeExtenders final : public cluster::Extenders {
 public:
  explicit FakeExtenders(Rig& rig) : rig_(rig) {}

  void Ask(cluster::ExtenderQuestion question) override {
    ++asked[question.pod->meta.name];
    questions.push_back(std::move(question));
    if (!silent) Answer();
  }
  void AskToPreempt(cluster::PreemptionQuestion question) override {
    preemptions.push_back(std::move(question));
    if (!silent) AnswerPreemptions();
  }
  void AnswerPreemptions() {
    for (const cluster::PreemptionQuestion& question : std::exchange(preemptions, {})) {
      ++preemptions_asked;
      cluster::ExtenderReply reply;
      reply.id = question.id;
      reply.error = preempt_error;
      for (cluster::NodeVictims candidate : question.candidates) {
        offered[candidate.node] = NamesOf(candidate.victims);
        if (!preempt_error.empty() || keeps.contains(candidate.node)) continue;
        if (takes_all) std::ranges::move(std::exchange(candidate.others, {}), std::back_inserter(candidate.victims));
        reply.candidates.push_back(std::move(candidate));
      }
      rig_.Post(reply);
    }
  }
  static std::set<std::string> NamesOf(const std::vector<std::shared_ptr<const model::Pod>>& pods) {
    std::set<std::string> names;
    for (const auto& pod : pods) names.insert(pod->meta.name);
    return names;
  }
  void Bind(size_t index, cluster::CommandId id, base::Millis, const cluster::Bind& bind) override {
    binder = index;
    cluster::CommandReply answer;
    answer.id = id;
    if (refuse_binds > 0) {
      --refuse_binds;
      answer.outcome = cluster::Outcome::kRefused;
      answer.http_status = 422;
      answer.message = "extender http://gpu: no device left";
    } else {
      const sim::Json binding = {
          {"apiVersion", "v1"},
          {"kind", "Binding"},
          {"metadata", {{"name", bind.pod.name()}, {"namespace", bind.pod.ns()}, {"uid", bind.pod.uid()}}},
          {"target", {{"kind", "Node"}, {"name", bind.node}}}};
      REQUIRE(rig_.store.Bind(binding));
    }
    rig_.Post(answer);
  }
  // All open questions.
  void Answer() {
    for (const cluster::ExtenderQuestion& question : std::exchange(questions, {})) {
      cluster::ExtenderReply reply;
      reply.id = question.id;
      reply.error = error;
      for (const std::string& node : question.nodes)
        if (error.empty() && !refuses.contains(node)) reply.nodes.push_back(node);
      std::ranges::sort(reply.nodes);
      if (!refuses.empty()) reply.reasons["no free device"] = std::ssize(question.nodes) - std::ssize(reply.nodes);
      for (const auto& [node, score] : scores) reply.scores.emplace_back(node, score);
      rig_.Post(reply);
    }
  }

  bool silent = false;
  std::string error;
  std::set<std::string> refuses;
  std::map<std::string, int64_t> scores;
  std::map<std::string, int> asked;
  std::vector<cluster::ExtenderQuestion> questions;
  std::optional<size_t> binder;
  int refuse_binds = 0;

  std::vector<cluster::PreemptionQuestion> preemptions;
  int preemptions_asked = 0;
  std::map<std::string, std::set<std::string>> offered;  // the victims on each node, in the last question about it
  std::set<std::string> keeps;                           // nodes that no pod may leave
  std::string preempt_error;
  bool takes_all = false;  // all go that may

 private:
  Rig& rig_;
};

struct ExtenderRig : Rig {
  explicit ExtenderRig(cluster::Extender extender = {"http://gpu", true, true, false, {"nvidia.com/gpu"}}) {
    extenders = &fake;
    configure = [extender](Options* options) { options->extenders = {extender}; };
    Restart();
    for (const char* name : {"n1", "n2", "n3"}) AddNode(name, 8, 4);
  }
  FakeExtenders fake{*this};
};

TEST_CASE("an extender is asked about the pods that want its resource, and about no others") {
  ExtenderRig rig;
  rig.fake.refuses = {"n1", "n2"};
  rig.AddPod("gpu", {.gpu = 1});
  rig.AddPod("cpu", {});
  rig.Settle();
  CHECK(rig.NodeOf("gpu") == "n3");
  CHECK(!rig.NodeOf("cpu").empty());
  CHECK(rig.fake.asked == std::map<std::string, int>{{"gpu", 1}});
}

TEST_CASE("a pod that an extender lets go nowhere waits with its words, and is asked about again after a while") {
  ExtenderRig rig;
  rig.fake.refuses = {"n1", "n2", "n3"};
  rig.AddPod("gpu", {.gpu = 1});
  rig.Settle();
  CHECK(
      rig.Waits("gpu") ==
      "Unschedulable: 0/3 nodes are available: 3 no free device. preemption: 0/3 nodes are available: 3 No preemption "
      "victims found for incoming pod.");
  const int before = rig.fake.asked["gpu"];
  rig.Pass(60'000);
  CHECK(rig.fake.asked["gpu"] > before);
  CHECK(rig.fake.asked["gpu"] < before + 12);  // with a back-off
  rig.fake.refuses = {"n1"};
  rig.Pass(10'000);
  CHECK(rig.NodeOf("gpu") == "n2");
}

TEST_CASE("a gang starts whole on the nodes that an extender takes, or not at all") {
  ExtenderRig rig;
  rig.fake.refuses = {"n1", "n2"};
  rig.AddGang("g", 3, 3, 2);  // two of them fill n3
  rig.Settle();
  CHECK(rig.Bound() == 0);
  CHECK(rig.Waits("g-0").find("no free device") != std::string::npos);
  rig.fake.refuses = {"n2"};
  rig.Pass(10'000);
  CHECK(rig.Bound() == 3);
  for (const char* pod : {"g-0", "g-1", "g-2"}) CHECK(rig.NodeOf(pod) != "n2");
}

TEST_CASE("nothing is bound, and no pod is written to, while an extender thinks") {
  ExtenderRig rig;
  rig.fake.silent = true;
  rig.CountPatches();
  rig.AddGang("g", 2, 2, 1);
  rig.Settle();
  CHECK(rig.Bound() == 0);
  CHECK(rig.patches == 0);
  rig.fake.Answer();
  rig.Settle();
  CHECK(rig.Bound() == 2);
}

TEST_CASE("an extender's scores are added to ours") {
  ExtenderRig rig;
  rig.fake.scores = {{"n2", 1000}};
  rig.AddPod("gpu", {.gpu = 1});
  rig.AddGang("g", 2, 2, 1);
  rig.Settle();
  for (const char* pod : {"gpu", "g-0", "g-1"}) CHECK(rig.NodeOf(pod) == "n2");
}

TEST_CASE("an extender that fails is named, and asked again") {
  ExtenderRig rig;
  rig.fake.error = "extender http://gpu: connection refused";
  rig.AddPod("gpu", {.gpu = 1});
  rig.Settle();
  CHECK(rig.Waits("gpu").find("extender http://gpu: connection refused") != std::string::npos);
  rig.fake.error.clear();
  rig.Pass(5'000);
  CHECK(!rig.NodeOf("gpu").empty());
}

TEST_CASE("what a whole gang takes besides is asked about, too") {
  ExtenderRig rig;
  rig.AddGang("g", 3, 1, 4);
  rig.fake.refuses = {"n2"};
  rig.Settle();
  CHECK(rig.Bound() == 2);
  rig.fake.refuses.clear();
  rig.Pass(10'000);
  CHECK(rig.Bound() == 3);
}

TEST_CASE("an extender's answers serve one attempt, though it was the queue that refused what they led to") {
  ExtenderRig rig;
  rig.AddPod("first", {.queue = "four", .cpu = "2"});
  rig.Settle();
  REQUIRE(rig.Bound() == 1);
  // The queue has room for the lighter one, which finds no node.
  rig.AddPod("g-heavy", {.gang = "g", .min = "1", .queue = "four", .cpu = "3", .gpu = 1});
  rig.AddPod("g-light",
             {.gang = "g", .min = "1", .queue = "four", .gpu = 1, .spec = {{"nodeSelector", {{"disk", "lost"}}}}});
  rig.Settle();
  REQUIRE(rig.fake.asked["g-heavy"] == 1);
  REQUIRE(rig.Waits("g-heavy").find("queue \"four\" is full") != std::string::npos);
  rig.fake.refuses = {"n1", "n2"};
  rig.Delete("first");
  rig.Settle();
  CHECK(rig.fake.asked["g-heavy"] == 2);
  CHECK(rig.NodeOf("g-heavy") == "n3");
}

TEST_CASE("an extender binds its pods, and a bind that it refuses is done again") {
  ExtenderRig rig({"http://gpu", false, false, true, {"nvidia.com/gpu"}});
  rig.fake.refuse_binds = 1;
  rig.AddGang("g", 2, 2, 1);
  rig.Settle();
  rig.Pass(30'000);
  CHECK(rig.fake.binder == 0);
  CHECK(rig.Bound() == 2);
}

// Three nodes full of pods of two GPUs each, and an extender that is asked which of them go for others.
struct FullRig : ExtenderRig {
  explicit FullRig(bool filters = false)
      : ExtenderRig({"http://gpu", filters, false, false, {"nvidia.com/gpu"}, /*preempts=*/true}) {
    AddPriorityClass("high", 100);
    for (const char* name : {"a", "b", "c", "d", "e", "f"}) AddPod(name, {.gpu = 2});
    Settle();
    REQUIRE(Bound() == 6);
  }
  void AddHigh(int gpu) { AddPod("high", {.gpu = gpu, .priority_class = "high"}); }
  // How many of the first pods are left.
  size_t Left() const { return store.Count(sim::kPods) - 1; }
};

TEST_CASE("an extender is asked which pods go, and pods go from a node that it takes") {
  FullRig rig;
  rig.fake.keeps = {"n1", "n3"};
  rig.AddHigh(2);
  rig.Settle();
  CHECK(rig.fake.preemptions_asked == 1);
  REQUIRE(rig.fake.offered.size() == 3);
  for (const auto& [node, victims] : rig.fake.offered) CHECK(victims.size() == 1);
  CHECK(rig.NodeOf("high") == "n2");
  CHECK(rig.Left() == 5);
}

TEST_CASE("no pod is evicted and none is written to while an extender thinks about victims") {
  FullRig rig;
  rig.fake.silent = true;
  rig.CountPatches();
  rig.AddHigh(2);
  rig.Settle();
  REQUIRE(rig.fake.preemptions.size() == 1);
  rig.AddPod("small", {});  // whatever happens meanwhile, it is not asked again
  rig.Settle();
  CHECK(rig.fake.preemptions.size() == 1);
  CHECK(rig.patches == 0);
  rig.fake.AnswerPreemptions();
  rig.Settle();
  CHECK(!rig.NodeOf("high").empty());
  CHECK(rig.Left() == 6);
}

TEST_CASE("an extender may have more pods go from a node than the filters need") {
  FullRig rig;
  rig.fake.takes_all = true;
  rig.AddHigh(2);
  rig.Settle();
  CHECK(!rig.NodeOf("high").empty());
  CHECK(rig.Left() == 4);
}

TEST_CASE("where an extender takes no candidate no pod goes, and it is asked again after a while") {
  FullRig rig;
  rig.fake.keeps = {"n1", "n2", "n3"};
  rig.AddHigh(2);
  rig.Settle();
  CHECK(rig.Waits("high") ==
        "Unschedulable: 0/3 nodes are available: 3 Insufficient nvidia.com/gpu. preemption: no candidate node for "
        "preemption");
  rig.Pass(60'000);
  CHECK(rig.Left() == 6);
  CHECK(rig.fake.preemptions_asked > 1);
  CHECK(rig.fake.preemptions_asked < 12);  // with a back-off
  rig.fake.keeps = {};
  rig.Pass(10'000);
  CHECK(!rig.NodeOf("high").empty());
  CHECK(rig.Left() == 5);
}

TEST_CASE("an extender that fails when it is asked about victims ends the attempt") {
  FullRig rig;
  rig.fake.preempt_error = "extender http://gpu: preempt: it answered with HTTP 500";
  rig.AddHigh(2);
  rig.Settle();
  CHECK(rig.Waits("high").ends_with("preemption: extender http://gpu: preempt: it answered with HTTP 500"));
  CHECK(rig.Left() == 6);
}

TEST_CASE("no pod goes from a node where the pod would not fit without the pods that an extender's answer leaves") {
  FullRig rig;
  rig.fake.silent = true;
  rig.AddHigh(4);
  rig.Settle();
  REQUIRE(rig.fake.preemptions.size() == 1);
  for (cluster::NodeVictims& candidate : rig.fake.preemptions[0].candidates) {
    REQUIRE(candidate.victims.size() == 2);
    candidate.victims.pop_back();
  }
  rig.fake.AnswerPreemptions();
  rig.Settle();
  CHECK(rig.Left() == 6);
  CHECK(rig.Waits("high").ends_with("preemption: no candidate node for preemption"));
}

TEST_CASE("a pod that an extender filters may evict others, where our own filters refuse the nodes") {
  FullRig rig(true);
  rig.AddHigh(2);
  rig.Settle();
  rig.Pass(30'000);
  CHECK(rig.fake.preemptions_asked == 1);
  CHECK(!rig.NodeOf("high").empty());
  CHECK(rig.Left() == 5);
}

TEST_CASE("a pod that fits where only an extender refuses it evicts no pod") {
  ExtenderRig rig({"http://gpu", true, false, false, {"nvidia.com/gpu"}, /*preempts=*/true});
  rig.AddPriorityClass("high", 100);
  rig.AddPod("low", {.gpu = 1});
  rig.Settle();
  rig.fake.refuses = {"n1", "n2", "n3"};
  rig.AddPod("high", {.gpu = 1, .priority_class = "high"});
  rig.Pass(30'000);
  CHECK(rig.fake.preemptions_asked == 0);
  CHECK(rig.Bound() == 1);
}

TEST_CASE("a pod that goes while an extender thinks is forgotten") {
  ExtenderRig rig;
  rig.fake.silent = true;
  rig.AddPod("gpu", {.gpu = 1});
  rig.Settle();
  rig.Delete("gpu");
  rig.Settle();
  rig.fake.Answer();
  rig.Settle();
  CHECK(rig.scheduler->Holds().gangs == 0);
}

}  // namespace
}  // namespace tutti::core
