// SPDX-License-Identifier: Apache-2.0
// Story: what a demo tells of an embedded cluster: each step with what kubectl would print, and claims that are
// checked.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/embedded_cluster.h"
#include "app/kubectl_view.h"
#include "base/clock.h"
#include "base/result.h"
#include "sim/kuberay/ray_options.h"

namespace tutti::app {

inline constexpr const char* kDemoPods = "/api/v1/namespaces/default/pods";

class Story {
 public:
  Story(base::VirtualClock& clock, EmbeddedCluster& cluster, sim::Door& door)
      : clock_(clock), cluster_(cluster), kubectl_(door) {}

  void Say(std::string_view text);
  // Makes `count` nodes NAME-0, NAME-1, ... of these amounts, which are a YAML map. Nothing is shown.
  void MakeNodes(const std::string& name, int count, const std::string& amounts);
  // Creates what `yaml` is, at the API's path of its kind; `file`: as what it is shown.
  void Create(const std::string& file, const std::string& path, const std::string& yaml, const std::string& expected);
  // `path` is that of the object's kind; `what`: "raycluster.ray.io".
  void Delete(const std::string& shown, const std::string& path, const std::string& name, const std::string& what);
  void GetTable(const std::string& shown, const std::string& path);
  sim::Json GetYaml(const std::string& what, const std::string& path, const std::string& name);
  sim::Json Get(const std::string& path) { return kubectl_.Get(path).value_or(sim::Json::object()); }
  // Shows the Events that stand at the end of `kubectl describe`, and returns them.
  std::string Describe(const std::string& shown, const sim::Json& object);
  sim::Json Pods();
  // Counts the pods of the RayCluster in `phase` that have a node (`bound`), or that have none.
  size_t Count(const std::string& ray_cluster, const std::string& phase, bool bound);

  // Lets virtual time pass.
  void Let(base::Millis ms);
  void Check(bool come_true, const std::string& what);
  int broken() const { return broken_; }

 private:
  std::string Shown(const base::Result<std::string>& text);

  base::VirtualClock& clock_;
  EmbeddedCluster& cluster_;
  KubectlView kubectl_;
  int broken_ = 0;
};

// Returns the text of a file that is embedded for demos; empty: there is none of that name.
std::string_view DemoFile(std::string_view name);
// Returns the same text with other words in place of some.
std::string DemoFileWith(std::string_view name, const std::vector<std::pair<std::string, std::string>>& words);

// The last of the object's conditions: its `field`; empty: it has none.
std::string LastCondition(const sim::Json& object, const char* field);

// How a demo tells its story: with the kind of batch scheduler that KubeRay writes for.
struct DemoSettings {
  std::string title;
  std::string moral;  // if all came true
  sim::BatchScheduler batch_scheduler = sim::BatchScheduler::kNone;
  bool with_takeover = false;  // AppWrappers and the kinds of Kueue are served
};
// Tells it on a fresh cluster, and returns whether every claim came true.
base::Result<bool> TellStory(const DemoSettings& settings, void (*story)(Story&));

// The stories.
void TellOfQueues(Story& story);
void TellOfAppWrappers(Story& story);
void TellOfPriorities(Story& story);

}  // namespace tutti::app
