// SPDX-License-Identifier: Apache-2.0
// Evictions of any pod: what is written, in which order, how often, and what is told when it is gone.
#include "core/commit/evictor.h"

#include <map>
#include <vector>

#include "cluster/json_text.h"
#include "core/publish/gang_status.h"
#include "dialects/plain.h"
#include "plugins/registry.h"
#include "tests/support/catch.h"
#include "tests/support/test_cluster.h"

namespace tutti::core {
namespace {

using Cause = Eviction::Cause;
using model::GangId;
using model::PodId;
using tests::json;

dialects::DialectList Plain() {
  dialects::DialectList list;
  list.push_back(std::make_unique<dialects::Plain>());
  return list;
}

// The parts of the core that an eviction needs. Pod "v" runs on node "n", and its scheduler is not served
// here. Pod "p", of scheduler "s", waits and is a gang of its own.
struct Desk : cluster::ClusterWriter {
  Desk() {
    options.profiles = {plugins::DefaultProfile("s")};
    cluster.AddNode({{"name", "n"}});
    victim = cluster.AddPod({{"name", "v"}, {"node", "n"}, {"schedulerName", "other"}});
    by = Enlist("p");
  }
  GangId Enlist(const std::string& name) {
    const PodId pod = cluster.AddPod({{"name", name}, {"schedulerName", "s"}});
    return book.Join(pod, book.OwnerOf(pod));
  }
  void Submit(std::vector<cluster::Command> commands) override {
    for (cluster::Command& command : commands) sent.push_back(std::move(command));
  }
  std::vector<cluster::Command> Sent() {
    outbox.Flush(*this);
    return std::exchange(sent, {});
  }
  // The one command that was sent.
  cluster::Command Only() {
    std::vector<cluster::Command> all = Sent();
    REQUIRE(all.size() == 1);
    return all.front();
  }
  void Reply(const cluster::Command& to, cluster::Outcome outcome = cluster::Outcome::kDone,
             base::Millis retry_after_ms = 0) {
    cluster::CommandReply reply;
    reply.id = to.id;
    reply.outcome = outcome;
    reply.retry_after_ms = retry_after_ms;
    outbox.Deliver(reply);
  }
  bool TakeReady(GangId gang) {
    bool was = false;
    while (agenda.AnyReady()) was = agenda.TakeReady() == gang || was;
    return was;
  }

  Options options{};
  tests::TestCluster cluster;
  base::VirtualClock clock{1'800'000'000'000};
  dialects::DialectList dialects = Plain();
  observe::Journal journal;
  Queues queues{{}};
  GangBook book{options.profiles, cluster.state(), dialects, journal, clock};
  Agenda agenda{book, queues.tree(), queues.order(), clock};
  Outbox outbox;
  QueueWaits waits{queues, book, agenda, clock};
  Charges charges{cluster.state(), queues, waits};
  Announcer announcer{nullptr, cluster.state(), book, clock};
  ObjectKeeper keeper{outbox, clock};
  GangStatus gang_status{cluster.state(), book, agenda, outbox, keeper, clock};
  Plans plans{options, cluster.state(), book, agenda, charges, gang_status, announcer, clock};
  Evictor evictor{cluster.state(), book, agenda, plans, outbox, announcer, clock};
  PodId victim;
  GangId by;
  std::vector<cluster::Command> sent;
};

json ConditionOf(const cluster::Command& command) {
  const auto* patch = std::get_if<cluster::Patch>(&command.body);
  REQUIRE(patch);
  CHECK(patch->status);
  const json body = cluster::ParseJson(patch->body);
  CHECK(body["metadata"]["uid"] == "uid-v");
  REQUIRE(body["status"]["conditions"].size() == 1);
  return body["status"]["conditions"][0];
}

TEST_CASE(
    "A pod of a scheduler that is not served here is told why it goes, then deleted by its UID, then an Event says "
    "so") {
  Desk desk;
  desk.evictor.Evict(desk.victim, {Cause::kPreempt, desk.by});
  const cluster::Command told = desk.Only();
  const json condition = ConditionOf(told);
  CHECK(condition["type"] == "DisruptionTarget");
  CHECK(condition["status"] == "True");
  CHECK(condition["reason"] == "PreemptionByScheduler");
  CHECK(condition["message"] == "s: preempting to accommodate a higher priority pod");
  CHECK(desk.cluster.state().pod(desk.victim).leaving);
  desk.Reply(told);
  const cluster::Command deleted = desk.Only();
  const auto* body = std::get_if<cluster::Delete>(&deleted.body);
  REQUIRE(body);
  CHECK(body->object.name() == "v");
  CHECK(body->object.uid() == "uid-v");
  desk.Reply(deleted);
  const cluster::Command event = desk.Only();
  const auto* said = std::get_if<cluster::EmitEvent>(&event.body);
  REQUIRE(said);
  CHECK(said->reason == "Preempted");
  CHECK(said->action == "Preempting");
  CHECK_FALSE(said->warning);
  CHECK(said->note == "Preempted by pod uid-p on node n");
  CHECK(said->reporting_controller == "s");
}

TEST_CASE("An eviction that is asked for again while it is on its way is not sent twice, for any preemptor") {
  Desk desk;
  const GangId other = desk.Enlist("q");
  desk.evictor.Evict(desk.victim, {Cause::kPreempt, desk.by});
  const cluster::Command told = desk.Only();
  desk.evictor.Evict(desk.victim, {Cause::kPreempt, desk.by});
  desk.evictor.Evict(desk.victim, {Cause::kReclaim, other});
  CHECK(desk.Sent().empty());
  desk.Reply(told);
  desk.Reply(desk.Only());
  desk.Sent();
  desk.evictor.Evict(desk.victim, {Cause::kPreempt, desk.by});
  CHECK(desk.Sent().empty());

  SECTION("and all that asked are considered when it is gone") {
    desk.TakeReady(desk.by);
    desk.evictor.OnGone(desk.victim);
    desk.cluster.state().DropPod(desk.victim);
    CHECK(desk.book.at(desk.by).line.ready);
    CHECK(desk.book.at(other).line.ready);
  }
}

TEST_CASE("Without the condition nothing is deleted, and half a second later it is tried again") {
  Desk desk;
  desk.evictor.Evict(desk.victim, {Cause::kPreempt, desk.by});
  desk.Reply(desk.Only(), cluster::Outcome::kRefused);
  CHECK(desk.Sent().empty());
  CHECK_FALSE(desk.cluster.state().pod(desk.victim).leaving);
  desk.evictor.Evict(desk.victim, {Cause::kPreempt, desk.by});
  CHECK(desk.Sent().empty());
  CHECK(desk.agenda.NextDeadline() == desk.clock.MonotonicMs() + 500);
  desk.clock.AdvanceTo(desk.clock.MonotonicMs() + 500);
  desk.evictor.Evict(desk.victim, {Cause::kReclaim, desk.by});
  CHECK(ConditionOf(desk.Only())["message"] == "s: preempting to reclaim what its queue has lent");
}

TEST_CASE("An eviction is not asked for again before the API server says") {
  Desk desk;
  desk.evictor.Evict(desk.victim, {Cause::kPreempt, desk.by});
  desk.Reply(desk.Only(), cluster::Outcome::kRefused, 32'000);
  CHECK(desk.agenda.NextDeadline() == desk.clock.MonotonicMs() + 32'000);
  desk.clock.AdvanceTo(desk.clock.MonotonicMs() + 31'999);
  desk.evictor.Evict(desk.victim, {Cause::kPreempt, desk.by});
  CHECK(desk.Sent().empty());
  desk.clock.AdvanceTo(desk.clock.MonotonicMs() + 1);
  desk.evictor.Evict(desk.victim, {Cause::kPreempt, desk.by});
  CHECK(ConditionOf(desk.Only())["type"] == "DisruptionTarget");
}

TEST_CASE("A pod that is on its way out, or has ended, is not written to") {
  Desk desk;
  model::Pod pod = *desk.cluster.state().pod(desk.victim).pod;
  if (GENERATE(true, false))
    pod.meta.deleted_ms = 1;
  else
    pod.phase = model::PodPhase::kSucceeded;
  desk.cluster.state().ApplyPod(std::make_shared<const model::Pod>(pod));
  desk.evictor.Evict(desk.victim, {Cause::kPreempt, desk.by});
  CHECK(desk.Sent().empty());
  desk.TakeReady(desk.by);
  desk.evictor.OnGone(desk.victim);
  CHECK(desk.TakeReady(desk.by));
}

TEST_CASE("A new term asks again for an eviction that the last one began") {
  Desk desk;
  desk.evictor.Evict(desk.victim, {Cause::kPreempt, desk.by});
  const cluster::Command old = desk.Only();
  desk.evictor.StartTerm();
  desk.Reply(old);
  CHECK(desk.Sent().empty());
  desk.evictor.Evict(desk.victim, {Cause::kPreempt, desk.by});
  CHECK(ConditionOf(desk.Only())["reason"] == "PreemptionByScheduler");
}

}  // namespace
}  // namespace tutti::core
