// SPDX-License-Identifier: Apache-2.0
#include "app/door_texts.h"

#include "base/json.h"
#include "cluster/json_text.h"
#include "kube/api_path.h"
#include "tests/support/catch.h"

namespace tutti::app {
namespace {

using Catch::Contains;

constexpr base::Millis kNow = 1'600'000'000'000;

TEST_CASE("ages are as kubectl writes them") {
  constexpr base::Millis kSecond = 1'000, kMinute = 60 * kSecond, kHour = 60 * kMinute, kDay = 24 * kHour;
  const auto age = [](base::Millis ms) {
    const base::Json gang = {{"gangs", {{{"name", "g"}, {"created", base::FormatTime(kNow - ms)}}}}};
    const std::string table = GangTable(gang, {}, kNow).Text();
    return table.substr(table.rfind(' ') + 1);
  };
  CHECK(age(-5 * kSecond) == "0s\n");
  CHECK(age(119 * kSecond) == "119s\n");
  CHECK(age(5 * kMinute) == "5m\n");
  CHECK(age(5 * kMinute + 7 * kSecond) == "5m7s\n");
  CHECK(age(90 * kMinute) == "90m\n");
  CHECK(age(3 * kHour + 12 * kMinute) == "3h12m\n");
  CHECK(age(30 * kHour) == "30h\n");
  CHECK(age(4 * kDay) == "4d\n");
  CHECK(age(4 * kDay + kHour) == "4d1h\n");
}

TEST_CASE("a gang that asks for more than the cluster has is said to start never") {
  const base::Json gang = cluster::ParseJson(R"({"namespace":"a","name":"g","state":"waiting-for-nodes","members":2,
      "why":{"kind":"nodes","nodes":{"short":[
        {"resource":"nvidia.com/gpu","missing":"4","asked":"12","cluster":"8","needsMoreNodes":true},
        {"resource":"cpu","missing":"1000","asked":"2000","cluster":"64000"},
        {"resource":"memory","asked":"4294967296","largestNode":"1073741824","needsLargerNode":true}]}}})");
  const std::string text = WhyText(gang, kNow);
  CHECK_THAT(text, Contains("a/g is waiting-for-nodes for -: 0 of 2 pods bound.\n"));
  CHECK_THAT(text, Contains("it asks for 12 nvidia.com/gpu, and the cluster has 8 in all.\n"));
  CHECK_THAT(text, Contains("one pod asks for more memory than the largest node has, 1Gi.\n"));
  CHECK_THAT(text, !Contains("cpu"));
}

TEST_CASE("when a gang could start is told with how long that is from now, or why it is not known") {
  base::Json gang = {{"namespace", "a"},
                     {"name", "g"},
                     {"start", {{"basis", "declared"}, {"at", base::FormatTime(kNow + 90'000)}, {"message", "If."}}}};
  CHECK_THAT(WhyText(gang, kNow), Contains("\nEstimated start: 2020-09-13T12:28:10Z, in 90s. If.\n"));
  gang["start"] = {{"basis", "none"}, {"message", "No limit."}};
  CHECK_THAT(WhyText(gang, kNow), Contains("\nEstimated start: none. No limit.\n"));
  CHECK_THAT(PlanText({{"prospects", {gang}}}), Contains("Estimated start: none. No limit.\n"));
}

TEST_CASE("a name cannot move the cursor of a terminal") {
  const base::Json list = cluster::ParseJson(R"({"gangs":[{"namespace":"a","name":"g","queue":"q\u001b[2J"}]})");
  CHECK_THAT(GangTable(list, {}, kNow).Text(), Contains("q?[2J"));
  CHECK(Shown("a\u009B2J\u202Eb\u2066\u00A0\u00E4\nc") == "a?2J?b?\u00A0\u00E4?c");
  CHECK(Shown("a\n\u0085\x7F", Lines::kKept) == "a\n??");
}

TEST_CASE("answers of other shapes make no text that is wrong") {
  for (const char* text : {"null", "[]", R"({"gangs":1,"queues":"x","nodes":null,"events":{}})",
                           R"({"gangs":[null,[],1],"queues":[{"cells":[null]}],"nodes":[{"allocatable":[1]}]})"}) {
    const base::Json answer = cluster::ParseJson(text);
    GangTable(answer, {Width::kWide}, kNow);
    QueueTable(answer, Width::kWide);
    NodeTable(answer, Width::kWide);
    WhyText(answer, kNow);
    HistoryText(answer);
  }
  CHECK(GangTable(base::Json(), {}, kNow).empty());
}

TEST_CASE("what stands in a path is escaped") { CHECK(kube::Escape("a-b_c.d~E/ ?%") == "a-b_c.d~E%2F%20%3F%25"); }

}  // namespace
}  // namespace tutti::app
