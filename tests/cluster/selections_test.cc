// SPDX-License-Identifier: Apache-2.0
#include "cluster/selections.h"

#include "cluster/feed_event.h"
#include "tests/support/catch.h"
#include "tests/support/test_cluster.h"

namespace tutti::cluster {
namespace {

using Kind = model::Selection::Kind;

model::Pod Pod(model::StringMap labels, const std::string& owner_kind = "") {
  model::Pod pod;
  pod.meta.ns = "default";
  pod.meta.labels = std::move(labels);
  if (!owner_kind.empty())
    pod.meta.controller =
        model::OwnerReference{owner_kind, "owner", "uid", owner_kind == "ReplicationController" ? "v1" : "apps/v1"};
  return pod;
}

model::Selection Service(const std::string& name, model::StringMap labels) {
  return {Kind::kService, "default", name, {std::move(labels), {}}};
}

}  // namespace

TEST_CASE("the labels of all Services that select a pod, and the selector of its controller, hold together") {
  Selections selections;
  CHECK(selections.Of(Pod({{"app", "a"}})) == nullptr);
  CHECK(selections.Put(Service("one", {{"app", "a"}})));
  CHECK(selections.Put(Service("two", {{"app", "a"}, {"tier", "x"}})));
  CHECK(selections.Put(Service("none", {{"app", "b"}})));
  CHECK_FALSE(selections.Put(Service("one", {{"app", "a"}})));
  CHECK(*selections.Of(Pod({{"app", "a"}})) == model::LabelSelector{{{"app", "a"}}, {}});
  CHECK(*selections.Of(Pod({{"app", "a"}, {"tier", "x"}})) == model::LabelSelector{{{"app", "a"}, {"tier", "x"}}, {}});

  const model::Requirement exists{"tier", model::Operator::kExists, {}};
  CHECK(selections.Put({Kind::kReplicaSet, "default", "owner", {{{"app", "a"}, {"hash", "1"}}, {exists}}}));
  CHECK(*selections.Of(Pod({{"app", "a"}, {"hash", "1"}}, "ReplicaSet")) ==
        model::LabelSelector{{{"app", "a"}, {"hash", "1"}}, {exists}});
  CHECK(*selections.Of(Pod({{"app", "a"}}, "StatefulSet")) == model::LabelSelector{{{"app", "a"}}, {}});

  CHECK(selections.Drop(Kind::kService, "default", "one"));
  CHECK_FALSE(selections.Drop(Kind::kService, "default", "one"));
  CHECK(selections.Of(Pod({{"app", "a"}})) == nullptr);
}

TEST_CASE("Services are found whichever of their labels many have in common") {
  Selections selections;
  const auto labels = [](int i) { return model::StringMap{{"all", "x"}, {"app", std::to_string(i)}}; };
  for (int i = 0; i < 50; ++i) selections.Put(Service("s" + std::to_string(i), labels(i)));
  for (int i = 0; i < 50; ++i) CHECK(*selections.Of(Pod(labels(i))) == model::LabelSelector{labels(i), {}});
  CHECK(selections.Of(Pod({{"all", "x"}})) == nullptr);
  for (int i = 0; i < 50; ++i) CHECK(selections.Drop(Kind::kService, "default", "s" + std::to_string(i)));
  CHECK(selections.Of(Pod(labels(7))) == nullptr);
}

TEST_CASE("a controller that asks for another value than a Service leaves no pod to count") {
  Selections selections;
  selections.Put(Service("one", {{"app", "a"}}));
  selections.Put({Kind::kReplicaSet, "default", "owner", {{{"app", "b"}}, {}}});
  const auto selector = selections.Of(Pod({{"app", "a"}}, "ReplicaSet"));
  CHECK(*selector == model::LabelSelector{{{"app", "a"}}, {{"app", model::Operator::kIn, {"b"}}}});
  selections.Put({Kind::kReplicationController, "default", "owner", {{{"app", "b"}}, {}}});
  CHECK(*selections.Of(Pod({{"app", "a"}}, "ReplicationController")) == model::LabelSelector{{{"app", "b"}}, {}});
}

TEST_CASE("a selection that is told and taken back has one place in the mailbox") {
  const SelectionChanged changed{std::make_shared<const model::Selection>(
      model::Selection{Kind::kReplicaSet, "default", "rs", {{{"a", "b"}}, {}}})};
  CHECK(CoalesceKey(changed) == CoalesceKey(ObjectGone{"replicasets.apps", "default", "rs", "uid"}));
  const SelectionChanged service{std::make_shared<const model::Selection>(Service("s", {{"a", "b"}}))};
  CHECK(CoalesceKey(service) == CoalesceKey(ObjectGone{"services", "default", "s", "uid"}));
}

TEST_CASE("a pod that waits is classified by what selects it, and keeps that class when it is bound") {
  tests::TestCluster cluster;
  cluster.AddNode({{"name", "n"}});
  const tests::json brief = {{"name", "p"}, {"labels", {{"app", "a"}}}};
  const model::PodId pod = cluster.AddPod(brief);
  CHECK(cluster.state().pod(pod).pod_class->selected_by == nullptr);
  CHECK_FALSE(cluster.state().Reselect(pod));
  CHECK(cluster.state().ApplySelection(Service("s", {{"app", "a"}})));
  CHECK(cluster.state().Reselect(pod));
  CHECK_FALSE(cluster.state().Reselect(pod));
  cluster.state().Reclassify();
  const auto selected = cluster.state().pod(pod).pod_class;
  CHECK(selected->selected_by != nullptr);
  CHECK(selected->labels.size() == 1);

  tests::json bound = brief;
  bound["node"] = "n";
  cluster.AddPod(bound);
  CHECK(cluster.state().pod(pod).pod_class->selected_by == selected->selected_by);
  CHECK(cluster.state().DropSelection(Kind::kService, "default", "s"));
  CHECK_FALSE(cluster.state().Reselect(pod));
  cluster.state().Audit();
}

}  // namespace tutti::cluster
