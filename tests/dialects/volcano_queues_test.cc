// SPDX-License-Identifier: Apache-2.0
#include "dialects/volcano_queues.h"

#include "dialects/volcano.h"
#include "tests/dialects/objects.h"
#include "tests/dialects/volcano_objects.h"

namespace tutti::dialects {
namespace {

std::shared_ptr<const model::Object> Queue(const std::string& name, const std::string& spec,
                                           const std::string& status = "{}", const std::string& version = "1") {
  return ObjectFrom("scheduling.volcano.sh/v1beta1", "queues",
                    R"({"kind":"Queue","metadata":{"name":")" + name + R"(","uid":"q-)" + name +
                        R"(","resourceVersion":")" + version + R"("},"spec":)" + spec + R"(,"status":)" + status + "}");
}

}  // namespace

TEST_CASE("a Queue is read") {
  Volcano volcano;
  CHECK(Put(volcano, Queue("q", R"({"weight":3,"capability":{"cpu":4,"memory":"6Gi"},"parent":"root"})")).queues ==
        std::set<std::string>{"q", "root"});
  const model::QueueSpec queue = *volcano.DescribeQueue("q");
  CHECK(queue.problem == "");
  CHECK(queue.parent == "root");
  CHECK(queue.open());
  CHECK(queue.capability.Get("cpu") == 4000);
  CHECK(queue.capability.Get("memory") == int64_t{6} << 30);
  CHECK_FALSE(queue.capability.Has("pods"));
}

TEST_CASE("what a Queue shares by is read") {
  Volcano volcano;
  Put(volcano, Queue("q", R"({"weight":3,"priority":7,"reclaimable":false,"deserved":{"cpu":4,"nvidia.com/gpu":2},)"
                          R"("guarantee":{"resource":{"cpu":"500m"}}})"));
  const model::QueueSpec queue = *volcano.DescribeQueue("q");
  CHECK(queue.problem == "");
  CHECK(queue.weight == 3);
  CHECK(queue.priority == 7);
  CHECK_FALSE(queue.reclaimable);
  CHECK(queue.deserved.Get("cpu") == 4000);
  CHECK(queue.deserved.Get("nvidia.com/gpu") == 2);
  CHECK(queue.guarantee.Get("cpu") == 500);
  Put(volcano, Queue("plain", R"({"reclaimable":null})"));
  CHECK(volcano.DescribeQueue("plain")->weight == 1);
  CHECK(volcano.DescribeQueue("plain")->reclaimable);
  Put(volcano, Queue("wrong", R"({"guarantee":{"resource":{"cpu":"x"}}})"));
  CHECK(volcano.DescribeQueue("wrong")->problem ==
        "Queue wrong: spec.guarantee.resource.cpu: \"x\" is not a quantity; write a number with an optional "
        "suffix, such as 500m, 2 or 4Gi");
}

TEST_CASE("only an open Queue is open; an empty state is Open") {
  const std::pair<const char*, bool> states[] = {{R"({})", true},
                                                 {R"({"state":""})", true},
                                                 {R"({"state":"Open"})", true},
                                                 {R"({"state":"Closed"})", false},
                                                 {R"({"state":"Closing"})", false},
                                                 {R"({"state":"Unknown"})", false}};
  for (const auto& [status, open] : states) {
    Volcano volcano;
    Put(volcano, Queue("q", "{}", status));
    CAPTURE(status);
    CHECK(volcano.DescribeQueue("q")->open() == open);
  }
}

TEST_CASE("what cannot be read in a Queue is said") {
  const std::pair<const char*, const char*> hostile[] = {
      {R"({"weight":0})", "Queue q: spec.weight: 0 cannot be; write a whole number from 1 to 65535"},
      {R"({"weight":-4})", "Queue q: spec.weight: -4 cannot be; write a whole number from 1 to 65535"},
      {R"({"weight":70000})", "Queue q: spec.weight: 70000 cannot be; write a whole number from 1 to 65535"},
      {R"({"capability":{"cpu":"-1"}})", "Queue q: spec.capability.cpu: \"-1\" is negative; write 0 or more"},
      {R"({"capability":{"nvidia.com/gpu":true}})",
       "Queue q: spec.capability[\"nvidia.com/gpu\"]: true is not a quantity"},
      {R"({"capability":"all"})", "Queue q: spec.capability: \"all\" is not an object"},
  };
  for (const auto& [spec, problem] : hostile) {
    Volcano volcano;
    Put(volcano, Queue("q", spec));
    CHECK(volcano.DescribeQueue("q")->problem == problem);
  }
  Volcano volcano;
  Put(volcano, Queue("q", R"({"capability":{"cpu":"1e30","memory":"1Gi"}})"));
  CHECK(volcano.DescribeQueue("q")->problem == "");
  CHECK_FALSE(volcano.DescribeQueue("q")->capability.Has("cpu"));  // beyond counting: no cap
  CHECK(volcano.DescribeQueue("q")->capability.Has("memory"));
}

TEST_CASE("default and root need no Queue object; any other does") {
  Volcano volcano;
  for (const char* name : {"default", "root", "x"})
    Put(volcano, VolcanoGroup(name, std::string(R"({"queue":")") + name + "\"}"));
  for (const char* name : {"default", "root"}) {
    CHECK(volcano.DescribeQueue(name)->problem == "");
    CHECK(volcano.DescribeQueue(name)->capability.empty());
    CHECK(volcano.DescribeQueue(name)->open());
  }
  CHECK(volcano.DescribeQueue("x")->problem ==
        "queue x does not exist; create a Queue of that name, or name another in the PodGroup's spec.queue");
  Put(volcano, Queue("default", R"({"capability":{"cpu":"1"}})"));
  CHECK(volcano.DescribeQueue("default")->capability.Get("cpu") == 1000);
}

TEST_CASE("a queue that PodGroups name before it exists is touched once, and again when it comes") {
  Volcano volcano;
  CHECK(Put(volcano, VolcanoGroup("g", R"({"queue":"late"})")).queues.contains("late"));
  CHECK(Put(volcano, VolcanoGroup("h", R"({"queue":"late"})")).queues.empty());
  CHECK(Put(volcano, Queue("late", "{}")).queues.contains("late"));
  CHECK(volcano.DescribeQueue("late")->problem == "");
}

TEST_CASE("a queue that does not exist is forgotten with the last PodGroup that names it") {
  Volcano volcano;
  Put(volcano, VolcanoGroup("g", R"({"queue":"late"})"));
  Put(volcano, VolcanoGroup("h", R"({"queue":"late"})"));
  CHECK(Put(volcano, VolcanoGroup("g", R"({"queue":"other"})")).queues == std::set<std::string>{"other", "root"});
  CHECK(volcano.DescribeQueue("late"));
  Touched touched;
  volcano.Drop("podgroups.scheduling.volcano.sh", "ns", "h", &touched);
  CHECK(touched.queues == std::set<std::string>{"late"});
  CHECK_FALSE(volcano.DescribeQueue("late"));
  CHECK(volcano.DescribeQueue("other"));
}

TEST_CASE("a queue's name that no object can have is said to be wrong, and not kept") {
  Volcano volcano;
  const std::string name(300, 'q');
  const Touched touched = Put(volcano, VolcanoGroup("g", R"({"queue":")" + name + "\"}"));
  CHECK_FALSE(touched.queues.contains(name));
  CHECK_THAT(volcano.Describe(kVolcanoGang).problem,
             Catch::Contains("spec.queue") && Catch::Contains("longer than a name can be"));
}

TEST_CASE("parents that are missing, circular or broken are said, and mending one touches what is below") {
  Volcano volcano;
  Put(volcano, Queue("leaf", R"({"parent":"mid"})"));
  CHECK(volcano.DescribeQueue("leaf")->problem ==
        "Queue leaf: spec.parent names Queue mid, which does not exist; create it or name another");
  CHECK(Put(volcano, Queue("mid", R"({"parent":"leaf"})")).queues == std::set<std::string>{"leaf", "mid"});
  CHECK_THAT(volcano.DescribeQueue("leaf")->problem, Catch::Contains("circle"));
  CHECK_THAT(volcano.DescribeQueue("mid")->problem, Catch::Contains("circle"));
  Put(volcano, Queue("mid", R"({"capability":{"cpu":"x"}})"));
  CHECK_THAT(volcano.DescribeQueue("leaf")->problem, Catch::StartsWith("Queue mid: spec.capability.cpu"));
  CHECK(Put(volcano, Queue("mid", R"({"capability":{"cpu":"1"}})")).queues.contains("leaf"));
  CHECK(volcano.DescribeQueue("leaf")->problem == "");
}

TEST_CASE("a Queue's status that another wrote is no new declaration") {
  Volcano volcano;
  Put(volcano, Queue("q", "{}", R"({"state":"Open","running":1})", "7"));
  CHECK(Put(volcano, Queue("q", "{}", R"({"state":"Open","running":2})", "8")).queues.empty());
}

TEST_CASE("a Command from before there was the Queue closes nothing, and is gone") {
  Volcano volcano;
  Put(volcano, ObjectFrom("bus.volcano.sh/v1alpha1", "commands",
                          R"({"kind":"Command","metadata":{"namespace":"default","name":"close","uid":"c",
                              "creationTimestamp":"2026-01-01T00:00:00Z"},
                              "action":"CloseQueue","target":{"kind":"Queue","name":"q"}})"));
  Put(volcano, ObjectFrom("scheduling.volcano.sh/v1beta1", "queues",
                          R"({"kind":"Queue","metadata":{"name":"q","uid":"q-q","resourceVersion":"7",
                              "creationTimestamp":"2026-01-02T00:00:00Z"},"spec":{},"status":{"state":"Open"}})"));
  const model::QueueSpec spec = *volcano.DescribeQueue("q");
  QueueReport report;
  report.spec = &spec;
  Teller teller(volcano);
  std::vector<cluster::DesiredObject> all;
  volcano.DesireOfQueue(report, teller, &all);
  REQUIRE(all.size() == 2);
  CHECK_FALSE(all[0].fields["status"].contains("state"));
  CHECK(all[1].mode == cluster::DesiredObject::Mode::kGone);
  CHECK(all[1].ref.name() == "close");
}

TEST_CASE("a Command closes a Queue, or opens it, and is gone once that is seen") {
  Volcano volcano;
  Put(volcano, Queue("q", "{}", R"({"state":"Open"})", "7"));
  const auto command = [](const std::string& name, const std::string& action) {
    return ObjectFrom("bus.volcano.sh/v1alpha1", "commands",
                      R"({"kind":"Command","metadata":{"namespace":"default","name":")" + name + R"(","uid":"c-)" +
                          name + R"("},"action":")" + action +
                          R"(","target":{"kind":"Queue","name":"q","uid":"q-q"}})");
  };
  QueueReport report;
  report.running = 1;
  model::QueueSpec spec;
  Teller teller(volcano);
  // The state that is desired, or none; and the Command that is to go, or none.
  std::string state, gone;
  const auto desire = [&] {
    spec = *volcano.DescribeQueue("q");
    report.spec = &spec;
    std::vector<cluster::DesiredObject> all;
    volcano.DesireOfQueue(report, teller, &all);
    state = gone = "";
    for (const cluster::DesiredObject& one : all)
      if (one.mode == cluster::DesiredObject::Mode::kGone)
        gone = one.ref.name();
      else if (const Json& status = one.fields["status"]; status.contains("state"))
        state = status["state"].get<std::string>() + " at " + one.ref.resource_version;
  };
  const auto seen = [&](const char* now, const char* version) {
    return Put(volcano, Queue("q", "{}",
                              R"({"state":")" + std::string(now) + R"(","running":1,"reservation":{},"allocated":{}})",
                              version));
  };
  CHECK(Put(volcano, command("other", "ResumeJob")).queues.empty());
  CHECK(Put(volcano, command("close", "CloseQueue")).queues == std::set<std::string>{"q"});
  desire();
  CHECK(state == "Closing at 7");
  CHECK(gone == "");

  CHECK(seen("Closing", "8").queues.contains("q"));
  desire();  // it has a gang, so it goes on closing
  CHECK(state == "");
  CHECK(gone == "close");
  Touched touched;
  volcano.Drop("commands.bus.volcano.sh", "default", "close", &touched);
  report.running = 0;
  desire();
  CHECK(state == "Closed at 8");
  CHECK(gone == "");

  seen("Closed", "9");
  Put(volcano, command("open", "OpenQueue"));
  desire();
  CHECK(state == "Open at 9");
  CHECK(gone == "");
  seen("Open", "10");
  desire();
  CHECK(gone == "open");
}

TEST_CASE("a Queue's status: state where it is empty, counters, allocated") {
  Volcano volcano;
  Put(volcano, Queue("q", "{}", "{}", "7"));
  const model::QueueSpec spec = *volcano.DescribeQueue("q");
  QueueReport report;
  report.spec = &spec;
  report.now_wall_ms = kNow;
  Teller teller(volcano);
  const auto write = [&] { return teller.Write(report); };
  report.allocated.Set("cpu", 3000);
  report.allocated.Set("memory", int64_t{4} << 30);
  report.allocated.Set("pods", 3);
  report.running = 1;
  auto patch = write();
  REQUIRE(patch);
  CHECK(patch->object.ns() == "");
  CHECK(patch->object.resource_version == "7");  // no other writer's state is overwritten
  CHECK(StatusIn(patch) ==
        Json::parse(R"({"state":"Open","running":1,"pending":null,"inqueue":null,"completed":null,"unknown":null,
      "reservation":{},"allocated":{"cpu":"3","memory":"4Gi","pods":"3"}})"));
  CHECK_FALSE(write());

  SECTION("an equal amount that Volcano wrote in another form is left alone, and so is its state") {
    Put(volcano,
        Queue(
            "q", "{}",
            R"({"state":"Closing","running":1,"reservation":{},"allocated":{"cpu":3,"memory":"4294967296","pods":"3","x":"0"}})",
            "8"));
    CHECK_FALSE(write());
    report.running = 0;
    report.finished = 2;
    report.allocated = {};
    patch = write();
    REQUIRE(patch);
    CHECK(patch->object.resource_version == "");
    CHECK(StatusIn(patch) == Json::parse(R"({"completed":2,"running":null,"pending":null,"inqueue":null,"unknown":null,
        "allocated":{"cpu":null,"memory":null,"pods":null,"x":null}})"));
  }
  SECTION("what was allocated is taken out until that is seen") {
    const auto allocated = [&] { return StatusIn(write())["allocated"]; };
    report.allocated = {};
    report.allocated.Set("cpu", 1000);
    CHECK(allocated() == Json::parse(R"({"cpu":"1","memory":null,"pods":null})"));
    report.allocated.Set("cpu", 2000);
    CHECK(allocated() == Json::parse(R"({"cpu":"2","memory":null,"pods":null})"));
    Put(volcano, Queue("q", "{}", R"({"state":"Open","running":1,"reservation":{},"allocated":{"cpu":"2"}})", "8"));
    report.allocated.Set("cpu", 3000);
    CHECK(allocated() == Json::parse(R"({"cpu":"3"})"));
    Put(volcano, Queue("q", "{}", R"({"state":"Open","running":1,"allocated":{"cpu":"3","pods":"3"}})", "9"));
    CHECK(allocated() == Json::parse(R"({"cpu":"3","pods":null})"));
  }
  SECTION("one that was made again under its name has nothing of what was written") {
    model::Object another = *Queue("q", "{}", "{}", "9");
    another.meta.uid = "another";
    Touched touched;
    volcano.Put(std::make_shared<const model::Object>(another), &touched);
    CHECK(touched.queues.contains("q"));
    CHECK(write());
  }
  SECTION("a queue that does not exist is not written") {
    Touched touched;
    volcano.Drop("queues.scheduling.volcano.sh", "", "q", &touched);
    CHECK(touched.queues.contains("q"));
    report.pending = 1;
    CHECK_FALSE(write());
  }
}

}  // namespace tutti::dialects
