// SPDX-License-Identifier: Apache-2.0
#include "app/pod_resources.h"

#include "tests/support/catch.h"

namespace tutti::app {
namespace {

TEST_CASE("what pods ask for is shown in kube-scheduler's form, of pods that have not ended") {
  auto spec = std::make_shared<model::PodSpec>();
  spec->scheduler_name = "tutti";
  spec->priority = 7;
  spec->requests.Set("cpu", 1'500);
  spec->requests.Set("memory", 1 << 20);
  spec->requests.Set("nvidia.com/gpu", 2);
  spec->requests.Set("hugepages-2Mi", 0);
  model::Pod pod;
  pod.meta.ns = "a";
  pod.meta.name = "p";
  pod.node_name = "n";
  pod.spec = spec;
  core::Scheduler::PodList pods{std::make_shared<const model::Pod>(pod)};
  pod.meta.name = "ended";
  pod.phase = model::PodPhase::kSucceeded;
  pods.push_back(std::make_shared<const model::Pod>(pod));
  const std::string text = PodResourcesText(pods);
  const std::string labels = R"(namespace="a",node="n",pod="p",priority="7",resource=)";
  CHECK_THAT(text, Catch::Contains("{" + labels + R"("cpu",scheduler="tutti",unit="cores"} 1.5)"));
  CHECK_THAT(text, Catch::Contains("{" + labels + R"("memory",scheduler="tutti",unit="bytes"} 1048576)"));
  CHECK_THAT(text, Catch::Contains("{" + labels + R"("nvidia.com/gpu",scheduler="tutti",unit=""} 2)"));
  CHECK_THAT(text, !Catch::Contains("ended"));
  CHECK_THAT(text, !Catch::Contains("hugepages"));
}

}  // namespace
}  // namespace tutti::app
