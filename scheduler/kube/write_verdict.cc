// SPDX-License-Identifier: Apache-2.0
#include "kube/write_verdict.h"

#include <algorithm>

#include "base/json.h"
#include "cluster/json_decode.h"
#include "cluster/json_text.h"
#include "kube/command_request.h"

namespace tutti::kube {
namespace {

using cluster::Outcome;

constexpr int kMostBindTries = 4;

Verdict Over(Outcome outcome, int http_status, std::string message) {
  Verdict verdict;
  verdict.answer.outcome = outcome;
  verdict.answer.http_status = http_status;
  verdict.answer.message = std::move(message);
  return verdict;
}

Verdict Refused(int http_status, std::string message) {
  return Over(Outcome::kRefused, http_status, std::move(message));
}

Verdict Again(Verdict::Next how, base::Millis wait_ms, std::string message = "") {
  Verdict verdict;
  verdict.next = how;
  verdict.wait_ms = wait_ms;
  verdict.answer.message = std::move(message);
  return verdict;
}

bool HasAll(const model::StringMap& have, const model::StringMap& want) {
  return std::ranges::all_of(want, [&](const auto& item) {
    const std::string* value = model::Find(have, item.first);
    return value != nullptr && *value == item.second;
  });
}

// Judges a pod that was read back unbound. The same bind may be sent again: the later of the two has no effect. After
// that, an unbound pod proves nothing until no try can take effect any more.
Verdict AfterUnbound(const WriteJob& job, const model::Pod& pod, base::Millis now_ms) {
  const std::string& expected = job.As<cluster::Bind>()->pod.resource_version;
  const bool outdated =
      !expected.empty() && pod.meta.resource_version != expected;  // the precondition of every try fails
  if (!job.uncertain || outdated) return Refused(outdated ? 409 : job.http_status, job.why);
  const bool time_left = now_ms + kWriteGraceMs + kReadTimeoutMs < job.deadline_ms;
  if (!job.refused && job.tries < kMostBindTries && time_left) return Again(Verdict::Next::kRetry, 0);
  if (job.read_sent_ms >= job.settled_ms) return Refused(job.http_status, job.why);
  return Again(Verdict::Next::kReadBack, job.settled_ms - now_ms);
}

}  // namespace

Verdict AfterBind(const WriteJob& job, const Judgement& judgement) {
  if (judgement.meaning == Meaning::kDone) return Over(Outcome::kDone, job.http_status, "");
  const bool plain_refusal = judgement.meaning == Meaning::kRefused && judgement.http_status != 409 && !job.uncertain;
  if (plain_refusal && judgement.http_status != 404) return Refused(job.http_status, judgement.message);
  return Again(Verdict::Next::kReadBack, 0);
}

Verdict AfterWrite(const WriteJob& job, const Judgement& judgement) {
  const bool conflict = judgement.http_status == 409;
  const auto* patch = job.As<cluster::Patch>();
  const auto* gone = job.As<cluster::Delete>();
  if (judgement.meaning == Meaning::kDone) return Over(Outcome::kDone, job.http_status, "");
  if (judgement.meaning == Meaning::kUncertain) {
    if (!MayRepeat(job.command.body)) return Over(Outcome::kUnknown, job.http_status, judgement.message);
    return Again(Verdict::Next::kRetry, judgement.wait_ms, judgement.message);
  }
  // No object with that UID is left, as the command wanted.
  if (gone != nullptr && (judgement.http_status == 404 || (conflict && !gone->object.uid().empty())))
    return Over(Outcome::kDone, job.http_status, judgement.message);
  // Whether the name is that of an object of the sender, such as the one that an earlier try made, its sender can tell.
  if (conflict && job.As<cluster::Create>() != nullptr) return Again(Verdict::Next::kReadBack, 0);
  // The first try may have done it, and the repeat then gets this answer.
  const bool own_doing = conflict && job.uncertain && patch != nullptr && !patch->object.resource_version.empty();
  return Over(own_doing ? Outcome::kUnknown : Outcome::kRefused, job.http_status, judgement.message);
}

Verdict AfterReadOfTaken(const WriteJob& job, const Response& response) {
  Verdict verdict = Over(job.uncertain ? Outcome::kUnknown : Outcome::kRefused, job.http_status, job.why);
  if (response.ok()) verdict.answer.object = ObjectIn(job.As<cluster::Create>()->object, response);
  return verdict;
}

Verdict AfterReadOfOwned(const WriteJob& job, const Response& response) {
  const auto& gone = *job.As<cluster::Delete>();
  if (response.status == 404) return Over(Outcome::kDone, response.status, "");
  const Judgement judgement = Judge(response);
  if (judgement.meaning == Meaning::kRefused) return Refused(response.status, judgement.message);
  auto object = response.ok() ? ObjectIn(gone.object, response) : nullptr;
  if (!object) return Again(Verdict::Next::kReadAgain, judgement.wait_ms);
  const model::OwnerReference* controller = object->meta.Controller();
  if (!controller || controller->uid != gone.controller) return Over(Outcome::kDone, response.status, "");
  Verdict verdict = Again(Verdict::Next::kRetry, 0);
  verdict.answer.object = std::move(object);
  return verdict;
}

std::shared_ptr<const model::Object> ObjectIn(const cluster::ObjectRef& ref, const Response& response) {
  auto json = std::make_shared<const base::Json>(cluster::ParseObject(response.body));
  auto object = cluster::DecodeObject({std::string(ref.group), std::string(ref.resource), std::string(ref.kind), {}},
                                      std::move(json));
  return object ? std::make_shared<const model::Object>(std::move(*object)) : nullptr;
}

std::shared_ptr<const model::Pod> PodReadBack(const Response& response, SpecCache* specs) {
  if (!response.ok()) return nullptr;
  if (response.protobuf()) {
    const auto envelope = OpenEnvelope(response.body);
    return envelope ? DecodePod(envelope->raw, specs) : nullptr;
  }
  const auto json = cluster::ParseObject(response.body);
  std::vector<std::string> problems;
  return json.is_object() ? std::make_shared<const model::Pod>(cluster::DecodePodLeniently(json, &problems)) : nullptr;
}

Verdict AfterRead(const WriteJob& job, const Response& response, const model::Pod* pod, base::Millis now_ms) {
  const auto& bind = *job.As<cluster::Bind>();
  const bool gone =
      response.status == 404 || (pod != nullptr && !bind.pod.uid().empty() && pod->meta.uid != bind.pod.uid());
  if (gone) {
    Verdict verdict = Refused(job.http_status, "the pod is gone");
    verdict.answer.gone = true;
    return verdict;
  }
  if (pod == nullptr) return Again(Verdict::Next::kReadAgain, Judge(response).wait_ms);
  if (!pod->bound()) return AfterUnbound(job, *pod, now_ms);
  if (pod->node_name == bind.node && HasAll(pod->meta.annotations, bind.annotations))
    return Over(Outcome::kDone, job.http_status, "read back");
  Verdict verdict = Refused(job.http_status, "bound already");
  verdict.answer.current_node = pod->node_name;
  return verdict;
}

}  // namespace tutti::kube
