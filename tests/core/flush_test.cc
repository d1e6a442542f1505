// SPDX-License-Identifier: Apache-2.0
// What has waited for long is tried again, as a last resort.
#include "tests/core/rig.h"
#include "tests/support/catch.h"

namespace tutti::core {
namespace {

constexpr base::Millis kMinute = 60'000;

struct Flushes final : observe::Observer {
  void OnFlushed(const model::GangKey& gang, bool placed) override { seen.emplace_back(gang.name, placed); }
  std::vector<std::pair<std::string, bool>> seen;
};

struct FlushRig : Rig {
  FlushRig() {
    configure = [](Options* options) { options->flush_after_ms = kFlushAfterMs; };
    Observe(&flushes);
    AddNode("n", 1);
  }
  Flushes flushes;
};

}  // namespace

TEST_CASE_METHOD(FlushRig, "a pod that has waited for five minutes is tried again, without a write") {
  AddPod("p", {.cpu = "2"});
  Settle();
  CountPatches();
  Pass(4 * kMinute);
  CHECK(flushes.seen.empty());
  Pass(2 * kMinute);
  CHECK(flushes.seen == std::vector<std::pair<std::string, bool>>{{"p", false}});
  Pass(60 * kMinute);
  CHECK(flushes.seen.size() > 10);
  CHECK(flushes.seen.size() < 15);
  CHECK(patches == 0);
}

TEST_CASE_METHOD(FlushRig, "of pods that wait alike one is tried for all") {
  for (const char* name : {"a", "b", "c"}) AddPod(name, {.cpu = "2"});
  Pass(6 * kMinute);
  CHECK(flushes.seen == std::vector<std::pair<std::string, bool>>{{"a", false}});
}

TEST_CASE_METHOD(FlushRig,
                 "no gang is flushed that was woken and placed, and while none waits there is nothing to do") {
  AddPod("p", {.cpu = "2"});
  Pass(4 * kMinute);
  CHECK(scheduler->NextDeadline());
  AddNode("large", 2);
  Pass(kMinute);
  CHECK(NodeOf("p") == "large");
  CHECK_FALSE(scheduler->NextDeadline());
  CHECK(flushes.seen.empty());
}

TEST_CASE_METHOD(FlushRig, "without the option no gang is flushed") {
  configure = nullptr;
  Restart();
  AddPod("p", {.cpu = "2"});
  Pass(60 * kMinute);
  CHECK(flushes.seen.empty());
}

TEST_CASE_METHOD(FlushRig, "of many that wait differently a few are tried at a time") {
  for (int i = 0; i < 80; ++i) AddPod(fmt::format("p{}", i), {.cpu = fmt::format("{}", 2 + i)});
  Pass(5 * kMinute - 1'000);
  CHECK(flushes.seen.empty());
  size_t most = 0;
  for (size_t before = 0; before < 80; before = flushes.seen.size()) {
    REQUIRE(scheduler->NextDeadline());
    const base::Millis now = clock.MonotonicMs();
    Pass(std::max<base::Millis>(1, *scheduler->NextDeadline() - now));
    most = std::max(most, flushes.seen.size() - before);
  }
  CHECK(flushes.seen.size() == 80);
  CHECK(most < 40);
}

TEST_CASE_METHOD(FlushRig, "a gang that is woken before its turn to be flushed counts as woken") {
  AddPod("p", {.cpu = "2"});
  Pass(5 * kMinute - 1'000);
  AddNode("large", 2);
  Pass(2 * kMinute);
  CHECK(NodeOf("p") == "large");
  CHECK(flushes.seen.empty());
}

}  // namespace tutti::core
