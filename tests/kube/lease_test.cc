// SPDX-License-Identifier: Apache-2.0
#include "kube/lease.h"

#include "base/json_fwd.h"
#include "fakes.h"
#include "tests/support/catch.h"

namespace tutti::kube {
namespace {

using json = base::Json;

struct LeaseRig {
  FakeLoop loop;
  FakeTransport server;
  base::Random random{1};
  base::Millis writable_until = 0, over = 0;
  int won = 0, lost = 0;
  LeaderElection election{Options(),
                          loop,
                          server,
                          random,
                          {[this](base::Millis until, base::Millis until_over) {
                             writable_until = until;
                             over = until_over;
                           },
                           [this] { ++won; }, [this] { ++lost; }}};

  static LeaseOptions Options() {
    LeaseOptions options;
    options.identity = "me";
    return options;
  }
  static json Lease(const std::string& holder, const std::string& renewed, int transitions = 3,
                    const std::string& version = "9") {
    return {{"metadata",
             {{"name", "tutti"},
              {"namespace", "kube-system"},
              {"resourceVersion", version},
              {"labels", {{"kept", "yes"}}}}},
            {"spec",
             {{"holderIdentity", holder},
              {"leaseDurationSeconds", 15},
              {"leaseTransitions", transitions},
              {"renewTime", renewed},
              {"acquireTime", "2020-01-01T00:00:00.000000Z"}}}};
  }
  // The one open request that is not the watch; null if there is none.
  std::shared_ptr<FakeTransport::Call> Asked() const {
    std::shared_ptr<FakeTransport::Call> asked;
    for (const auto& call : server.open) {
      if (call->data) continue;
      REQUIRE(asked == nullptr);
      asked = call;
    }
    return asked;
  }
  std::shared_ptr<FakeTransport::Call> Next(Method method) const {
    const auto asked = Asked();
    REQUIRE(asked != nullptr);
    REQUIRE(asked->request.method == method);
    return asked;
  }
  // The watch shows the lease.
  void Show(const json& lease, const char* type = "MODIFIED") {
    FakeTransport::Stream(server.Find("watch=1"), json{{"type", type}, {"object", lease}}.dump() + "\n");
  }
  // Accepts a PUT or POST as the server would, and gives the lease back.
  json Accept(Method method) {
    const auto call = Next(method);
    const json lease = json::parse(call->request.body);
    server.AnswerJson(call, 200, call->request.body);
    return lease;
  }
  void Lead() {
    election.Start();
    server.AnswerJson(Next(Method::kGet), 404, StatusJson(404, "NotFound"));
    Accept(Method::kPost);
    REQUIRE(election.leading());
  }
  void Lacks(Method method) { server.AnswerJson(Next(method), 404, StatusJson(404, "NotFound")); }
  // Until it writes, every read is answered with this.
  void AnswerReads(int status, const std::string& body) {
    while (Asked() == nullptr || Asked()->request.method == Method::kGet) {
      if (const auto call = Asked()) server.AnswerJson(call, status, body);
      loop.Advance(10);
    }
  }
  // Waits behind `other`, which has just been seen.
  void WaitBehindOther() {
    election.Start();
    server.AnswerJson(Next(Method::kGet), 200, Lease("other", kRenewed).dump());
  }
  // ... until its term is over: what is read in between says the same.
  void WaitForItsEnd() {
    WaitBehindOther();
    const base::Millis end = loop.Now() + 15'000;
    while (loop.Now() < end) {
      if (const auto call = Asked()) server.AnswerJson(call, 200, Lease("other", kRenewed).dump());
      loop.Advance(1);
    }
    REQUIRE(Next(Method::kGet) != nullptr);
  }
  static constexpr const char* kRenewed = "2026-01-01T00:00:00.000000Z";
};

TEST_CASE("a lease that is not there is taken at once, with nothing to wait for") {
  LeaseRig rig;
  rig.election.Start();
  rig.server.AnswerJson(rig.Next(Method::kGet), 404, StatusJson(404, "NotFound"));
  const json lease = rig.Accept(Method::kPost);
  CHECK(lease.at("spec").at("holderIdentity") == "me");
  CHECK(lease.at("spec").at("leaseTransitions") == 0);
  CHECK(lease.at("spec").at("leaseDurationSeconds") == 15);
  CHECK(rig.won == 1);
  CHECK(rig.writable_until == rig.loop.Now() + 10'000);
  CHECK(rig.over == rig.loop.Now() + 15'000);
}

TEST_CASE("a holder that renews keeps the lease; one that stops loses it after its whole term on our clock") {
  LeaseRig rig;
  rig.election.Start();
  const base::Millis start = rig.loop.Now();
  rig.server.AnswerJson(rig.Next(Method::kGet), 200, LeaseRig::Lease("other", "2026-01-01T00:00:00.000000Z").dump());
  rig.loop.Advance(10'000);
  while (rig.Asked() == nullptr) rig.loop.Advance(100);
  // Renewed by a clock that is years away from ours: only the change counts.
  const base::Millis changed = rig.loop.Now();
  rig.server.AnswerJson(rig.Next(Method::kGet), 200, LeaseRig::Lease("other", "1999-01-01T00:00:00.000000Z").dump());
  CHECK(changed - start < 15'000);
  base::Millis won = 0;
  while (won == 0) {
    if (const auto call = rig.Asked()) {
      if (call->request.method == Method::kPut)
        won = rig.loop.Now();
      else
        rig.server.AnswerJson(call, 200, LeaseRig::Lease("other", "1999-01-01T00:00:00.000000Z").dump());
    }
    rig.loop.Advance(50);
  }
  CHECK(won - changed >= 15'000);
  CHECK(won - changed <= 15'050);
  const json lease = rig.Accept(Method::kPut);
  CHECK(lease.at("spec").at("leaseTransitions") == 4);
  CHECK(lease.at("metadata").at("resourceVersion") == "9");
  CHECK(lease.at("metadata").at("labels").at("kept") == "yes");
  CHECK(rig.won == 1);
}

TEST_CASE("a standby sees a renewal when it happens, and counts from there") {
  LeaseRig rig;
  rig.WaitBehindOther();
  CHECK_THAT(rig.server.Find("watch=1")->request.target, Catch::EndsWith("&fieldSelector=metadata.name%3Dtutti"));
  rig.loop.Advance(1'000);
  const base::Millis seen = rig.loop.Now();
  const json renewed = LeaseRig::Lease("other", "2026-01-01T00:00:02.000000Z");
  rig.Show(renewed);
  rig.AnswerReads(200, renewed.dump());
  CHECK(rig.loop.Now() - seen >= 15'000);
  CHECK(rig.loop.Now() - seen <= 15'010);
}

TEST_CASE("a lease that is deleted is made again by a standby only when its holder's term is over") {
  LeaseRig rig;
  rig.WaitBehindOther();
  base::Millis gone = 0;
  SECTION("which may have been renewed until it was not there any more") {
    while (rig.Asked() == nullptr) rig.loop.Advance(100);
    gone = rig.loop.Now();
  }
  SECTION("as the watch showed") {
    rig.loop.Advance(1'000);
    gone = rig.loop.Now();
    rig.Show(LeaseRig::Lease("other", LeaseRig::kRenewed), "DELETED");
  }
  rig.AnswerReads(404, StatusJson(404, "NotFound"));
  CHECK(rig.loop.Now() - gone >= 15'000);
  CHECK(rig.loop.Now() - gone <= 15'010);
  rig.Accept(Method::kPost);
  CHECK(rig.won == 1);
}

TEST_CASE("a deleted lease that its holder makes again is waited for like one that was not deleted") {
  LeaseRig rig;
  rig.WaitBehindOther();
  while (rig.Asked() == nullptr) rig.loop.Advance(100);
  rig.Lacks(Method::kGet);
  while (rig.Asked() == nullptr) rig.loop.Advance(100);
  const base::Millis renewed = rig.loop.Now();
  rig.AnswerReads(200, LeaseRig::Lease("other", LeaseRig::kRenewed).dump());
  CHECK(rig.loop.Now() - renewed >= 15'000);
  CHECK(rig.loop.Now() - renewed <= 15'010);
}

TEST_CASE("when the lease runs out, one request that fails costs little") {
  LeaseRig rig;
  rig.WaitForItsEnd();
  const auto held = LeaseRig::Lease("other", LeaseRig::kRenewed).dump();
  SECTION("a read that is lost") { rig.server.Fail(rig.Next(Method::kGet), Response::Failure::kLost); }
  SECTION("a read that is no Lease") { rig.server.AnswerJson(rig.Next(Method::kGet), 200, "<html>"); }
  SECTION("a write that is lost") {
    rig.server.AnswerJson(rig.Next(Method::kGet), 200, held);
    rig.server.Fail(rig.Next(Method::kPut), Response::Failure::kLost);
  }
  SECTION("a write after another one's") {
    rig.server.AnswerJson(rig.Next(Method::kGet), 200, held);
    rig.server.AnswerJson(rig.Next(Method::kPut), 409, StatusJson(409, "Conflict"));
  }
  CHECK(rig.Asked() == nullptr);
  rig.loop.Advance(250);
  rig.server.AnswerJson(rig.Next(Method::kGet), 200, held);
  rig.Accept(Method::kPut);
  CHECK(rig.won == 1);
}

TEST_CASE("a lease that is given up while it is being taken is taken at once") {
  LeaseRig rig;
  rig.WaitForItsEnd();
  rig.server.AnswerJson(rig.Next(Method::kGet), 200, LeaseRig::Lease("other", LeaseRig::kRenewed).dump());
  const json free = LeaseRig::Lease("", "2026-01-01T00:00:02.000000Z");
  rig.Show(free);
  rig.server.AnswerJson(rig.Next(Method::kPut), 409, StatusJson(409, "Conflict"));
  rig.loop.Advance(0);
  rig.server.AnswerJson(rig.Next(Method::kGet), 200, free.dump());
  rig.Accept(Method::kPut);
  CHECK(rig.won == 1);
}

TEST_CASE("a standby asks an API server that fails less and less often") {
  LeaseRig rig;
  rig.WaitForItsEnd();
  const int reads_fail = GENERATE(1, 0);
  const int before = rig.server.sent;
  base::Millis asked = 0, gap = 0;
  for (base::Millis passed = 0; passed < 60'000; passed += 10) {
    if (const auto call = rig.Asked()) {
      const bool read = call->request.method == Method::kGet;
      if (read) gap = rig.loop.Now() - std::exchange(asked, rig.loop.Now());
      if (read && reads_fail == 0)
        rig.server.AnswerJson(call, 200, LeaseRig::Lease("other", LeaseRig::kRenewed).dump());
      else
        rig.server.AnswerJson(call, 500, StatusJson(500, "InternalError"));
    }
    rig.loop.Advance(10);
  }
  CHECK(gap >= 2'000);
  CHECK(gap <= 4'410);
  CHECK(rig.server.sent - before < (reads_fail == 1 ? 40 : 80));
}

TEST_CASE("a standby takes a lease that is given up at once") {
  LeaseRig rig;
  rig.WaitBehindOther();
  const json free = LeaseRig::Lease("", "2026-01-01T00:00:02.000000Z");
  rig.Show(free);
  rig.loop.Advance(0);
  rig.server.AnswerJson(rig.Next(Method::kGet), 200, free.dump());
  rig.Accept(Method::kPut);
  CHECK(rig.won == 1);
  CHECK(rig.server.open.empty());  // a leader watches no more
}

TEST_CASE("a lease that is given up while it is being read is read again at once") {
  LeaseRig rig;
  rig.WaitBehindOther();
  const std::string held = LeaseRig::Lease("other", LeaseRig::kRenewed).dump();
  while (rig.Asked() == nullptr) rig.loop.Advance(100);
  const json free = LeaseRig::Lease("", "2026-01-01T00:00:02.000000Z");
  rig.Show(free);
  rig.server.AnswerJson(rig.Next(Method::kGet), 200, held);
  rig.loop.Advance(0);
  rig.server.AnswerJson(rig.Next(Method::kGet), 200, free.dump());
  rig.Accept(Method::kPut);
  CHECK(rig.won == 1);
}

TEST_CASE("a watch that ends is opened again with the next read") {
  LeaseRig rig;
  rig.WaitBehindOther();
  const std::string held = LeaseRig::Lease("other", LeaseRig::kRenewed).dump();
  rig.server.Fail(rig.server.Find("watch=1"), Response::Failure::kLost);
  CHECK(rig.server.open.empty());
  rig.loop.Advance(4'400);
  rig.server.AnswerJson(rig.Next(Method::kGet), 200, held);
  CHECK(rig.server.Has("watch=1"));
}

TEST_CASE("a watch that cannot be read is ended, and opened again with the next read") {
  LeaseRig rig;
  rig.WaitBehindOther();
  const std::string held = LeaseRig::Lease("other", LeaseRig::kRenewed).dump();
  FakeTransport::Stream(rig.server.Find("watch=1"), "<html>\n");
  CHECK(rig.server.open.empty());
  rig.loop.Advance(4'400);
  rig.server.AnswerJson(rig.Next(Method::kGet), 200, held);
  CHECK(rig.server.Has("watch=1"));
}

TEST_CASE("a lease that was given up is taken at once") {
  LeaseRig rig;
  rig.election.Start();
  rig.server.AnswerJson(rig.Next(Method::kGet), 200, LeaseRig::Lease("", "2026-01-01T00:00:00.000000Z").dump());
  rig.Accept(Method::kPut);
  CHECK(rig.won == 1);
}

TEST_CASE("a conflict in taking the lease means that another was faster") {
  LeaseRig rig;
  rig.election.Start();
  rig.server.AnswerJson(rig.Next(Method::kGet), 200, LeaseRig::Lease("", "2026-01-01T00:00:00.000000Z").dump());
  rig.server.AnswerJson(rig.Next(Method::kPut), 409, StatusJson(409, "Conflict"));
  CHECK_FALSE(rig.election.leading());
  CHECK(rig.server.open.empty());
  rig.loop.Advance(4'400);
  CHECK(rig.Next(Method::kGet) != nullptr);
}

TEST_CASE("a leader renews every two seconds, and may write until ten after the last renewal left") {
  LeaseRig rig;
  rig.Lead();
  for (int i = 0; i < 20; ++i) {
    rig.loop.Advance(2'000);
    const base::Millis sent = rig.loop.Now();
    const auto call = rig.Next(Method::kPut);
    rig.loop.Advance(300);
    rig.server.AnswerJson(call, 200, call->request.body);
    CHECK(rig.writable_until == sent + 10'000);
    CHECK(rig.over == sent + 15'000);
  }
  CHECK(rig.lost == 0);
  CHECK(rig.won == 1);
}

TEST_CASE("a leader that cannot renew stops at its deadline, not later") {
  LeaseRig rig;
  rig.Lead();
  const base::Millis led_from = rig.loop.Now();
  base::Millis lost = 0;
  for (int i = 0; i < 200 && lost == 0; ++i) {
    while (!rig.server.open.empty()) rig.server.Fail(rig.server.open.front(), Response::Failure::kLost);
    rig.loop.Advance(100);
    if (rig.lost > 0) lost = rig.loop.Now();
  }
  CHECK(lost - led_from == 10'000);
  CHECK(rig.writable_until == 0);
  CHECK_FALSE(rig.election.leading());
}

TEST_CASE("a renewal whose answer was lost does not cost the lease") {
  LeaseRig rig;
  rig.Lead();
  rig.loop.Advance(2'000);
  const std::string written = rig.Next(Method::kPut)->request.body;
  rig.server.Fail(rig.Next(Method::kPut), Response::Failure::kLost);
  rig.loop.Advance(1'000);
  rig.server.AnswerJson(rig.Next(Method::kPut), 409, StatusJson(409, "Conflict"));  // the first one had come through
  rig.server.AnswerJson(rig.Next(Method::kGet), 200, written);
  rig.Accept(Method::kPut);
  CHECK(rig.election.leading());
  CHECK(rig.lost == 0);
  CHECK(rig.won == 1);
}

TEST_CASE("a leader that finds another holder stops at once") {
  LeaseRig rig;
  rig.Lead();
  rig.loop.Advance(2'000);
  rig.server.AnswerJson(rig.Next(Method::kPut), 409, StatusJson(409, "Conflict"));
  rig.server.AnswerJson(rig.Next(Method::kGet), 200, LeaseRig::Lease("other", "2026-01-01T00:00:00.000000Z").dump());
  CHECK(rig.lost == 1);
  CHECK(rig.writable_until == 0);
}

TEST_CASE("a lease that was lost is never tried for again") {
  LeaseRig rig;
  rig.Lead();
  rig.loop.Advance(2'000);
  SECTION("to another") {
    rig.server.AnswerJson(rig.Next(Method::kPut), 409, StatusJson(409, "Conflict"));
    rig.server.AnswerJson(rig.Next(Method::kGet), 200, LeaseRig::Lease("other", "2026-01-01T00:00:00.000000Z").dump());
  }
  SECTION("by not being renewed") {
    rig.server.Fail(rig.Next(Method::kPut), Response::Failure::kLost);
    rig.loop.Advance(10'000);
  }
  CHECK(rig.lost == 1);
  const auto sent = rig.server.sent;
  rig.loop.Advance(600'000);
  CHECK(rig.server.open.empty());
  CHECK(rig.server.sent == sent);
  bool released = false;
  rig.election.Release([&] { released = true; });
  CHECK(released);
  CHECK(rig.server.open.empty());
}

TEST_CASE("a leader whose namespace is gone does not ask without a pause") {
  LeaseRig rig;
  rig.Lead();
  rig.loop.Advance(2'000);
  rig.Lacks(Method::kPut);
  rig.Lacks(Method::kGet);
  rig.Lacks(Method::kPost);
  CHECK(rig.Asked() == nullptr);
  rig.loop.Advance(1'000);
  rig.Lacks(Method::kGet);
  rig.Accept(Method::kPost);  // it was restored
  CHECK(rig.election.leading());
  CHECK(rig.lost == 0);
}

TEST_CASE("a leader whose lease is deleted makes it again, though the answer to that may be lost") {
  LeaseRig rig;
  rig.Lead();
  rig.loop.Advance(2'000);
  rig.Lacks(Method::kPut);
  rig.Lacks(Method::kGet);
  const std::string made = rig.Next(Method::kPost)->request.body;
  SECTION("and it is there") {
    rig.server.Fail(rig.Next(Method::kPost), Response::Failure::kLost);
    rig.loop.Advance(1'000);
    rig.server.AnswerJson(rig.Next(Method::kGet), 200, made);
    CHECK(rig.Accept(Method::kPut).at("metadata").at("name") == "tutti");
  }
  SECTION("and it is not") {
    rig.server.AnswerJson(rig.Next(Method::kPost), 500, StatusJson(500, "InternalError"));
    rig.loop.Advance(1'000);
    rig.Lacks(Method::kGet);
    rig.Accept(Method::kPost);
  }
  SECTION("and another has it") {
    rig.server.AnswerJson(rig.Next(Method::kPost), 409, StatusJson(409, "AlreadyExists"));
    rig.loop.Advance(1'000);
    rig.server.AnswerJson(rig.Next(Method::kGet), 200, LeaseRig::Lease("other", LeaseRig::kRenewed).dump());
    CHECK(rig.lost == 1);
    return;
  }
  CHECK(rig.election.leading());
  CHECK(rig.writable_until == rig.loop.Now() + 10'000);
  CHECK(rig.lost == 0);
}

TEST_CASE("on the way out the lease is given up for the next to take") {
  LeaseRig rig;
  rig.Lead();
  bool released = false;
  rig.election.Release([&] { released = true; });
  const json lease = rig.Accept(Method::kPut);
  CHECK(lease.at("spec").at("holderIdentity") == "");
  CHECK(lease.at("spec").at("leaseDurationSeconds") == 1);
  CHECK(released);
  CHECK(rig.writable_until == 0);
  rig.loop.Advance(60'000);
  CHECK(rig.server.open.empty());
}

TEST_CASE("on the way out a lease that was being made again is looked for before it is given up") {
  LeaseRig rig;
  rig.Lead();
  rig.loop.Advance(2'000);
  rig.Lacks(Method::kPut);
  rig.Lacks(Method::kGet);
  const std::string made = rig.Next(Method::kPost)->request.body;
  bool released = false;
  rig.election.Release([&] { released = true; });
  SECTION("it was made") {
    rig.server.AnswerJson(rig.Next(Method::kGet), 200, made);
    CHECK(rig.Accept(Method::kPut).at("spec").at("holderIdentity") == "");
  }
  SECTION("it was not") { rig.Lacks(Method::kGet); }
  SECTION("it is not known") { rig.server.AnswerJson(rig.Next(Method::kGet), 200, "<html>"); }
  CHECK(released);
}

TEST_CASE("identities differ") { CHECK(MakeIdentity() != MakeIdentity()); }

}  // namespace
}  // namespace tutti::kube
