// SPDX-License-Identifier: Apache-2.0
#include "dialects/kueue/holding.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/base64.h"
#include "base/json_string.h"
#include "cluster/json_decode.h"
#include "cluster/json_text.h"
#include "dialects/fields.h"
#include "dialects/kueue/names.h"
#include "dialects/kueue/pods.h"
#include "dialects/wording.h"

namespace tutti::dialects::kueue {

using base::Json;

namespace {

constexpr const char* kReviewVersion = "admission.k8s.io/v1";
constexpr const char* kReview = "AdmissionReview";

// Adds the value to the list of that name, where no item of it is that.
void AddTo(const char* list, Json value, Json* object) {
  Json& items = (*object)[list];
  if (!items.is_array()) items = Json::array();
  if (std::ranges::find(items, value) == items.end()) items.push_back(std::move(value));
}

Json HeldPod(const model::Object& pod, const std::string& scheduler_name) {
  Json body = *pod.body;
  if (!body["spec"].is_object() || !body["metadata"].is_object()) return *pod.body;
  const bool waits = WaitsInQueue(pod);
  if (waits) {
    body["metadata"]["labels"][std::string(kManaged)] = "true";
    if (!model::Find(pod.meta.annotations, kParent)) AddTo("finalizers", kManaged, &body["metadata"]);
    AddTo("schedulingGates", {{"name", kGate}}, &body["spec"]);
  }
  const std::string named = TextIn(body["spec"], "schedulerName");
  const bool is_placed = waits || model::Find(pod.meta.labels, kPodSetLabel);
  if (is_placed) RemoveGate(kElasticGate, &body["spec"]);
  if (is_placed && (named.empty() || named == "default-scheduler")) body["spec"]["schedulerName"] = scheduler_name;
  return body;
}

base::Result<Json> ReadReview(std::string_view text) {
  Json review = cluster::ParseJson(text);
  if (review.is_discarded()) return base::Invalid("an AdmissionReview is expected, and this is no JSON");
  const std::string version = TextIn(review, "apiVersion"), kind = TextIn(review, "kind");
  if (version != kReviewVersion || kind != kReview)
    return base::Invalid(fmt::format("apiVersion and kind: {} {} is expected, and this is {} {}", kReviewVersion,
                                     kReview, Named(version), Named(kind)));
  if (TextIn(Field(review, "request"), "uid").empty()) return base::Invalid("request.uid: is missing");
  return review;
}

// Null: the object is of no kind that waits for quota.
const JobKind* KindOf(const Json& request) {
  const Json& resource = Field(request, "resource");
  const std::string group = TextIn(resource, "group"), name = TextIn(resource, "resource");
  const auto row = std::ranges::find_if(
      JobKinds(), [&](const JobKind& each) { return each.kind.group == group && each.kind.resource == name; });
  return row == JobKinds().end() ? nullptr : &*row;
}

}  // namespace

Json Held(const JobKind& kind, const model::Object& object, bool creates, const std::string& scheduler_name) {
  const Json& body = *object.body;
  if (object.meta.deleting()) return body;
  if (kind.pods == PodOwner::kItself) return creates ? HeldPod(object, scheduler_name) : body;
  if (!WaitsInQueue(object)) return body;
  if (kind.by_pods()) {
    Json marked = MarkedTemplates(object);
    return marked.is_null() ? body : marked;
  }
  const bool can_wait = TakesFlag(kind, body) && WhyNotHeld(kind, body).empty();
  return creates && can_wait ? Suspended(kind, body) : body;
}

base::Result<ReviewAnswer> AnswerReview(std::string_view text, const std::string& scheduler_name) {
  const base::Result<Json> review = ReadReview(text);
  if (!review) return tl::make_unexpected(review.error());
  const Json& request = Field(*review, "request");
  Json response = {{"uid", request["uid"]}, {"allowed", true}};
  ReviewAnswer answer;
  const JobKind* kind = KindOf(request);
  const std::string operation = TextIn(request, "operation");
  if (kind && (operation == "CREATE" || operation == "UPDATE") && TextIn(request, "subResource").empty()) {
    Json body = Field(request, "object");
    if (!Field(body, "metadata").is_object()) return base::Invalid("request.object.metadata: an object is expected");
    // It gets its name after this, where that is generated.
    if (TextIn(body["metadata"], "name").empty()) body["metadata"]["name"] = TextIn(body["metadata"], "generateName");
    const auto object = cluster::DecodeObject(kind->kind, std::make_shared<const Json>(body));
    if (!object) return base::Invalid("request.object." + object.error().message);
    const Json patch = Json::diff(body, Held(*kind, *object, operation == "CREATE", scheduler_name));
    answer.held = !patch.empty();
    if (answer.held) {
      response["patchType"] = "JSONPatch";
      response["patch"] = base::EncodeBase64(base::PrintJson(patch));
    }
  }
  answer.text = base::PrintJson({{"apiVersion", kReviewVersion}, {"kind", kReview}, {"response", std::move(response)}});
  return answer;
}

}  // namespace tutti::dialects::kueue
