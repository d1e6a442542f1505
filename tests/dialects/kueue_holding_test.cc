// SPDX-License-Identifier: Apache-2.0
// What jobs and Pods become when they are created, by the AdmissionReviews of an API server.
#include "dialects/kueue/holding.h"

#include "tests/dialects/objects.h"

namespace tutti::dialects::kueue {
namespace {

Json Review(const char* group, const char* resource, Json object, const char* operation = "CREATE") {
  return {{"apiVersion", "admission.k8s.io/v1"},
          {"kind", "AdmissionReview"},
          {"request",
           {{"uid", "r1"},
            {"resource", {{"group", group}, {"version", "v1"}, {"resource", resource}}},
            {"operation", operation},
            {"object", std::move(object)}}}};
}

// What of the answer is in base64.
std::string Decoded(const std::string& text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<uint32_t>(kDigits.find(c));
    count += 6;
    if (count >= 8) bytes.push_back(static_cast<char>(bits >> (count -= 8) & 0xff));
  }
  return bytes;
}

// The object as the API server has it after the answer.
Json After(const Json& review) {
  const auto answer = AnswerReview(review.dump(), "tutti");
  REQUIRE(answer);
  const Json text = Json::parse(answer->text);
  CHECK(text["apiVersion"] == "admission.k8s.io/v1");
  CHECK(text["kind"] == "AdmissionReview");
  CHECK(text["response"]["uid"] == "r1");
  CHECK(text["response"]["allowed"] == true);
  CHECK(answer->held == text["response"].contains("patch"));
  const Json& object = review["request"]["object"];
  if (!answer->held) return object;
  CHECK(text["response"]["patchType"] == "JSONPatch");
  return object.patch(Json::parse(Decoded(text["response"]["patch"])));
}

Json Object(const char* version, const char* kind, Json spec) {
  return {{"apiVersion", version},
          {"kind", kind},
          {"metadata", {{"name", "a"}, {"namespace", "ns"}, {"labels", {{"kueue.x-k8s.io/queue-name", "q"}}}}},
          {"spec", std::move(spec)}};
}

std::string Complaint(const std::string& text) {
  const auto answer = AnswerReview(text, "tutti");
  return answer ? std::string() : answer.error().message;
}

}  // namespace

TEST_CASE("holding: every kind with a flag is suspended when it is created, and not when it is changed") {
  int kinds = 0;
  for (const JobKind& row : JobKinds()) {
    if (row.by_pods()) continue;
    ++kinds;
    const std::string version = row.kind.group + "/" + row.kind.versions.front();
    Json job = Object(version.c_str(), row.kind.kind.c_str(), Json::object());
    if (row.kind.kind == "RayJob")
      job["spec"] = {{"shutdownAfterJobFinishes", true}, {"rayClusterSpec", Json::object()}};
    if (row.is_wrapper) job["spec"]["components"] = Json::array();
    const auto review = [&](const char* operation) {
      return Review(row.kind.group.c_str(), row.kind.resource.c_str(), job, operation);
    };
    INFO(row.kind.kind);
    CHECK(After(review("CREATE"))[Json::json_pointer(row.suspend)] == true);
    CHECK(After(review("UPDATE")) == job);
    job["metadata"].erase("labels");
    CHECK(After(review("CREATE")) == job);
  }
  CHECK(kinds == 12);
}

TEST_CASE("holding: what another job makes, and what cannot be suspended, is left as it is") {
  Json cluster = Object("ray.io/v1", "RayCluster", Json::object());
  cluster["metadata"]["ownerReferences"] = Json::array(
      {{{"apiVersion", "ray.io/v1"}, {"kind", "RayJob"}, {"name", "j"}, {"uid", "u"}, {"controller", true}}});
  CHECK(After(Review("ray.io", "rayclusters", cluster)) == cluster);
  const Json job = Object("ray.io/v1", "RayJob", {{"shutdownAfterJobFinishes", false}});
  CHECK(After(Review("ray.io", "rayjobs", job)) == job);
  const Json odd = Object("batch/v1", "Job", "text");
  CHECK(After(Review("batch", "jobs", odd)) == odd);
  const Json other = Object("v1", "ConfigMap", Json::object());
  CHECK(After(Review("", "configmaps", other)) == other);
}

TEST_CASE("holding: a Pod of a queue gets gate, label, finalizer and scheduler; its own gates and finalizers stay") {
  Json pod = Object("v1", "Pod", {{"schedulerName", "default-scheduler"}, {"schedulingGates", {{{"name", "own"}}}}});
  pod["metadata"].erase("name");
  pod["metadata"]["generateName"] = "a-";
  pod["metadata"]["finalizers"] = {"own"};
  Json held = After(Review("", "pods", pod));
  CHECK(held["metadata"]["labels"]["kueue.x-k8s.io/managed"] == "true");
  CHECK(held["metadata"]["finalizers"] == Json{"own", "kueue.x-k8s.io/managed"});
  CHECK(held["spec"]["schedulingGates"] == Json::parse(R"([{"name":"own"},{"name":"kueue.x-k8s.io/admission"}])"));
  CHECK(held["spec"]["schedulerName"] == "tutti");
  CHECK_FALSE(held["metadata"].contains("name"));
  CHECK(After(Review("", "pods", held)) == held);  // it may be asked twice

  pod["metadata"]["annotations"] = {{"kueue.x-k8s.io/pod-suspending-parent", "statefulset"}};
  pod["spec"]["schedulerName"] = "another";
  held = After(Review("", "pods", pod));
  CHECK(held["metadata"]["finalizers"] == Json{"own"});
  CHECK(held["spec"]["schedulerName"] == "another");
  CHECK(After(Review("", "pods", pod, "UPDATE")) == pod);
}

TEST_CASE("holding: a Pod of a job that was started is placed here, and not gated") {
  Json pod = Object("v1", "Pod", {{"schedulerName", "default-scheduler"}});
  pod["metadata"]["labels"] = {{"kueue.x-k8s.io/podset", "main"}};
  Json placed = pod;
  placed["spec"]["schedulerName"] = "tutti";
  CHECK(After(Review("", "pods", pod)) == placed);
  pod["spec"]["schedulingGates"] = Json::parse(R"([{"name":"kueue.x-k8s.io/elastic-job"}])");
  CHECK(After(Review("", "pods", pod)) == placed);
}

TEST_CASE("holding: the templates of what cannot be suspended are labelled, also when they are changed") {
  const Json set = Object("apps/v1", "StatefulSet", {{"template", {{"spec", Json::object()}}}});
  for (const char* operation : {"CREATE", "UPDATE"}) {
    const Json meta = After(Review("apps", "statefulsets", set, operation))["spec"]["template"]["metadata"];
    CHECK(meta["labels"]["kueue.x-k8s.io/queue-name"] == "q");
    CHECK(meta["annotations"]["kueue.x-k8s.io/pod-suspending-parent"] == "statefulset");
  }
}

TEST_CASE("holding: what is no AdmissionReview of v1 is refused, by its field") {
  CHECK(Complaint("{") == "an AdmissionReview is expected, and this is no JSON");
  CHECK(Complaint("[]").starts_with("apiVersion and kind: admission.k8s.io/v1 AdmissionReview is expected"));
  Json review = Review("batch", "jobs", Object("batch/v1", "Job", Json::object()));
  review["apiVersion"] = "admission.k8s.io/v1beta1";
  CHECK(Complaint(review.dump()).find("admission.k8s.io/v1beta1") != std::string::npos);
  review["apiVersion"] = "admission.k8s.io/v1";
  review["request"]["object"]["metadata"]["labels"] = 7;
  CHECK(Complaint(review.dump()).starts_with("request.object.metadata.labels"));
  review["request"]["object"] = "text";
  CHECK(Complaint(review.dump()) == "request.object.metadata: an object is expected");
  review["request"].erase("uid");
  CHECK(Complaint(review.dump()) == "request.uid: is missing");
  CHECK(Complaint(std::string(100'000, '[')) != "");
}

}  // namespace tutti::dialects::kueue
