// SPDX-License-Identifier: Apache-2.0
#include "dialects/yunikorn.h"

#include <algorithm>

#include "tests/dialects/objects.h"

namespace tutti::dialects {
namespace {

model::Pod App(const std::string& task_groups, const std::string& group = "workers",
               const std::string& more_labels = "") {
  Json metadata = {{"labels", Json::parse(R"({"applicationId":"app")" + more_labels + "}")},
                   {"annotations", {{"yunikorn.apache.org/task-group-name", group}}}};
  if (!task_groups.empty()) metadata["annotations"]["yunikorn.apache.org/task-groups"] = task_groups;
  return PodFrom(metadata.dump());
}

}  // namespace

TEST_CASE("YuniKorn's task groups are roles") {
  YuniKorn dialect;
  const auto member = dialect.MembershipOf(App(
      R"([{"name":"workers","minMember":2,"minResource":{"cpu":"1"}},{"name":"headgroup","minMember":1},{"name":"none","minMember":0}])"));
  REQUIRE(member);
  CHECK(member->gang == model::GangKey{"yunikorn", "ns", "app"});
  CHECK(member->role == "workers");
  CHECK_FALSE(member->needs_head);
  REQUIRE(member->declared);
  CHECK(member->declared->key == member->gang);
  CHECK(member->declared->problem == "");
  CHECK(member->declared->min_member == 3);
  CHECK(member->declared->roles == std::vector<model::RoleSpec>{{"headgroup", 1, 1}, {"workers", 2, 1}});
}

TEST_CASE("Soft is read with its timeout, and from whichever pod has it") {
  YuniKorn dialect;
  const auto read = [&](const char* parameters) {
    Json metadata = {{"labels", {{"applicationId", "app"}}},
                     {"annotations", {{"yunikorn.apache.org/task-groups", R"([{"name":"w","minMember":2}])"}}}};
    if (parameters) metadata["annotations"]["yunikorn.apache.org/schedulingPolicyParameters"] = parameters;
    return dialect.MembershipOf(PodFrom(metadata.dump()))->declared;
  };
  CHECK(read(nullptr)->soft_after_ms == 0);
  const auto soft = read("placeholderTimeoutInSeconds=30 gangSchedulingStyle=Soft");
  CHECK(soft->soft_after_ms == 30'000);
  CHECK(soft->remark == "By gangSchedulingStyle=Soft its pods start one by one once all have waited 30 s for room.");
  CHECK(read(nullptr) == soft);
  CHECK(read("gangSchedulingStyle=Soft")->soft_after_ms == 900'000);
  for (const char* other : {"gangSchedulingStyle=Hard placeholderTimeoutInSeconds=30", "gangSchedulingStyle=soft", "",
                            "placeholderTimeoutInSeconds=30", "Soft", "=", " = "})
    CHECK(read(other)->soft_after_ms == 0);
  CHECK(read("gangSchedulingStyle=soft")
            ->problem.ends_with("write gangSchedulingStyle=Hard or gangSchedulingStyle=Soft"));
  for (const char* no_time : {"-1", "0", "1x", "99999999999999999999", ""})
    CHECK(
        read(("gangSchedulingStyle=Soft placeholderTimeoutInSeconds=" + std::string(no_time)).c_str())->soft_after_ms ==
        900'000);
}

TEST_CASE("the same annotation is parsed once") {
  YuniKorn dialect;
  const std::string groups = R"([{"name":"workers","minMember":2}])";
  const auto first = dialect.MembershipOf(App(groups));
  CHECK(dialect.MembershipOf(App(groups))->declared == first->declared);
  for (int i = 0; i < 2000; ++i)  // none of these is held; the sweep must not take the first
    dialect.MembershipOf(PodFrom(Json{{"labels", {{"applicationId", std::to_string(i)}}},
                                      {"annotations", {{"yunikorn.apache.org/task-groups", groups}}}}
                                     .dump()));
  CHECK(dialect.MembershipOf(App(groups))->declared == first->declared);
  const auto second = dialect.MembershipOf(App(R"([{"name":"workers","minMember":3}])"));
  CHECK(second->declared->min_member == 3);
  CHECK(dialect.MembershipOf(App(groups))->declared->min_member == 2);
}

TEST_CASE("task groups that are too many, or too long a text, are not read") {
  const auto with = [](size_t groups, size_t bytes = 0) {
    std::string text;
    for (size_t i = 0; i < groups; ++i)
      text += (i ? ',' : '[') + Json{{"name", "g" + std::to_string(i)}, {"minMember", 1}}.dump();
    text += ']';
    text.resize(std::max(bytes, text.size()), ' ');
    return YuniKorn().MembershipOf(App(text))->declared;
  };
  CHECK(with(1'000)->problem == "");
  CHECK(with(1'000)->roles.size() == 1'000);
  CHECK(with(1'001)->roles.empty());
  CHECK(
      with(1'001)->problem ==
      "application app: annotation yunikorn.apache.org/task-groups: 1001 items are more than the 1000 that are looked "
      "at; write fewer");
  CHECK(with(1, 65'536)->problem == "");
  CHECK(with(1, 65'537)->problem ==
        "application app: annotation yunikorn.apache.org/task-groups: 65537 bytes are more than the 65536 that are "
        "looked at; write fewer task groups");
}

TEST_CASE("a Ray worker needs its head only where the head is one of the task groups") {
  YuniKorn dialect;
  const char* worker = R"(,"ray.io/cluster":"c","ray.io/node-type":"worker")";
  CHECK(dialect.MembershipOf(App(R"([{"name":"headgroup","minMember":1}])", "w", worker))->needs_head);
  CHECK_FALSE(dialect.MembershipOf(App(R"([{"name":"w","minMember":1}])", "w", worker))->needs_head);
}

TEST_CASE("the submitter of a RayJob, which comes when its cluster is ready, is not waited for") {
  YuniKorn dialect;
  const auto member = dialect.MembershipOf(App(
      R"([{"name":"headgroup","minMember":1},{"name":"workers","minMember":2},{"name":"submittergroup","minMember":1}])"));
  REQUIRE(member);
  CHECK(member->declared->min_member == 3);
  CHECK(member->declared->roles == std::vector<model::RoleSpec>{{"headgroup", 1, 1}, {"workers", 2, 1}});
  const auto other = dialect.MembershipOf(App(R"([{"name":"submittergroup","minMember":1}])"));
  CHECK(other->declared->min_member == 1);  // a user's own task group
}

TEST_CASE("an application's name is an annotation, too, and an empty one is none") {
  YuniKorn dialect;
  const auto app_of = [&](const char* labels, const char* annotated) {
    Json metadata = {{"labels", Json::parse(labels)}, {"annotations", {{"yunikorn.apache.org/task-groups", "[]"}}}};
    if (annotated) metadata["annotations"]["yunikorn.apache.org/app-id"] = annotated;
    const auto member = dialect.MembershipOf(PodFrom(metadata.dump()));
    return member ? member->gang.name : "none";
  };
  CHECK(app_of("{}", "a") == "a");
  CHECK(app_of(R"({"applicationId":"old"})", "a") == "a");
  CHECK(app_of(R"({"yunikorn.apache.org/app-id":"new"})", "a") == "new");
  CHECK(app_of(R"({"yunikorn.apache.org/app-id":"","applicationId":"old"})", nullptr) == "old");
  CHECK(app_of("{}", "") == "none");
}

TEST_CASE("an application without task groups is no gang") {
  YuniKorn dialect;
  CHECK_FALSE(dialect.MembershipOf(PodFrom(R"({"labels":{"applicationId":"app"}})")));
  CHECK_FALSE(dialect.MembershipOf(PodFrom(R"({"annotations":{"yunikorn.apache.org/task-groups":"[]"}})")));
  CHECK(
      dialect
          .MembershipOf(PodFrom(
              R"({"labels":{"yunikorn.apache.org/app-id":"new","applicationId":"old"},"annotations":{"yunikorn.apache.org/task-groups":"[]"}})"))
          ->gang.name == "new");
}

TEST_CASE("a pod that names a task group which is not declared is told so") {
  YuniKorn dialect;
  const auto member = dialect.MembershipOf(App(""));
  REQUIRE(member);
  CHECK_FALSE(member->declared);
  CHECK(
      dialect.Describe(member->gang).problem ==
      "application app: none of its pods has the annotation yunikorn.apache.org/task-groups; write it on each of them");
}

TEST_CASE("what cannot be read in task groups is said") {
  const std::pair<const char*, const char*> hostile[] = {
      {"[", "is not a JSON list of task groups such as [{\"name\": \"workers\", \"minMember\": 2}]"},
      {"{}", "is not a JSON list of task groups such as [{\"name\": \"workers\", \"minMember\": 2}]"},
      {R"([{"minMember":1}])", "[0].name: is missing; give each task group a name"},
      {R"([{"name":"a"}])", "[0].minMember: is missing; write how many pods of it start together"},
      {R"([{"name":"a","minMember":-1}])", "[0].minMember: -1 cannot be; write a whole number from 0 to 2147483647"},
      {R"([{"name":"a","minMember":"2"}])",
       "[0].minMember: \"2\" cannot be; write a whole number from 0 to 2147483647"},
      {R"([{"name":"a","minMember":1},{"name":"a","minMember":1}])",
       "task group a is there twice; give each a name of its own"},
  };
  for (const auto& [groups, problem] : hostile) {
    YuniKorn dialect;
    CHECK(dialect.MembershipOf(App(groups))->declared->problem ==
          std::string("application app: annotation yunikorn.apache.org/task-groups: ") + problem);
  }
}

TEST_CASE("task groups nested a hundred thousand times are a problem like others") {
  for (const size_t depth : {30'000, 100'000}) {
    const std::string deep = std::string(depth, '[') + std::string(depth, ']');
    for (const std::string& text : {"[{\"name\":" + deep + "}]", deep, "[{\"minMember\":" + deep + "}]"}) {
      YuniKorn dialect;
      const std::string problem = dialect.MembershipOf(App(text))->declared->problem;
      CHECK_FALSE(problem.empty());
      CHECK(problem.size() < 1'000);
    }
  }
}

}  // namespace tutti::dialects
