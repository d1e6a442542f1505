// SPDX-License-Identifier: Apache-2.0
#include "doors/prospects.h"

#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>

#include <map>
#include <utility>

#include "doors/gangs.h"
#include "doors/messages.h"
#include "doors/start_estimate.h"
#include "doors/text.h"
#include "observe/wording.h"

namespace tutti::doors {
namespace {

using observe::Prospect;

constexpr const char* kNodesPath = "/apis/tutti/v1/nodes";
constexpr int kMostAmounts = 64;  // of a queue's limit
constexpr const char* kQueuesPath = "/apis/tutti/v1/queues";

bool WouldStart(const Prospect& prospect) {
  return prospect.verdict == Prospect::Verdict::kFits || prospect.verdict == Prospect::Verdict::kNeedsVictims;
}

// `sees_nodes`: the caller may know their names.
void FillPlaces(const Prospect& prospect, bool sees_nodes, v1::Prospect* to) {
  std::map<std::pair<std::string, std::string>, int64_t> places;
  for (const Prospect::Place& it : prospect.places) places[{it.role, sees_nodes ? it.node : ""}] += it.pods;
  for (const auto& [at, pods] : places) {
    v1::ProspectPlace& place = *to->add_places();
    place.set_role(Utf8(at.first));
    place.set_node(Utf8(at.second));
    place.set_pods(Small(pods));
  }
}

void FillVictims(const Prospect& prospect, bool sees_nodes, Sight& sight, v1::Prospect* to) {
  for (const Prospect::Victim& it : prospect.victims) {
    if (!sight.MayName(it.ns)) {
      to->set_other_victims(to->other_victims() + 1);
      continue;
    }
    v1::Victim& victim = *to->add_victims();
    victim.set_namespace_(Utf8(it.ns));
    victim.set_pod(Utf8(it.pod));
    if (sees_nodes) victim.set_node(Utf8(it.node));
    victim.set_gang(Utf8(it.gang));
    victim.set_reclaim(it.reclaim);
  }
}

void FillProspect(const Prospect& prospect, bool sees_nodes, Sight& sight, v1::Prospect* to) {
  to->set_dialect(Utf8(prospect.gang.dialect));
  to->set_namespace_(Utf8(prospect.gang.ns));
  to->set_name(Utf8(prospect.gang.name));
  to->set_queue(Utf8(prospect.queue));
  to->set_priority(prospect.priority);
  to->set_min_member(Small(prospect.min_member));
  to->set_members(Small(prospect.members));
  to->set_verdict(std::string(Word(prospect.verdict)));
  if (prospect.why) {
    to->set_reason(std::string(observe::Word(*prospect.why)));
    to->set_message(Utf8(prospect.message));
    Fill(*prospect.why, to->mutable_why());
  }
  FillPlaces(prospect, sees_nodes, to);
  FillVictims(prospect, sees_nodes, sight, to);
  to->set_breaks(prospect.breaks);
  if (prospect.start) Fill(*prospect.start, sight, to->mutable_start());
  for (const std::string& note : prospect.notes) to->add_notes(Utf8(note));
}

std::string WhyTooMany(server::Places::Refusal refusal, const std::string& user) {
  const std::string asked = refusal == server::Places::Refusal::kAllTaken
                                ? fmt::format("{} questions are asked now", Prospects::kMostAtOnce)
                                : fmt::format("user \"{}\" asks {} questions now", user, Prospects::kMostAtOnceEach);
  return asked + ", which is the most; try again later";
}

// Reads the new limit of a queue. Failure: kInvalid.
DoorResult<observe::LimitChange> ReadLimit(const v1::QueueLimit& limit) {
  observe::LimitChange change{limit.dialect(), limit.queue(), {}};
  for (const auto& [name, amount] : limit.amounts()) {
    const size_t colon = name.find(':');  // no resource has one in its name
    const std::string flavor = name.substr(0, colon == name.npos ? 0 : colon);
    const std::string resource = name.substr(colon == name.npos ? 0 : colon + 1);
    if (resource.empty() || colon == 0 || amount < 0)
      return Fail(Failure::Kind::kInvalid,
                  "limit.amounts: name a resource, or FLAVOR:RESOURCE, and an amount that is not below 0");
    change.amounts[flavor].Set(resource, amount);
  }
  if (change.queue.empty() || change.amounts.empty())
    return Fail(Failure::Kind::kInvalid, "limit: name a queue, and what it may have at most");
  if (limit.amounts_size() > kMostAmounts)
    return Fail(Failure::Kind::kInvalid, fmt::format("limit.amounts: {} are the most", kMostAmounts));
  return change;
}

// Fails if the question is empty.
DoorResult<Question> ReadQuestion(const v1::WhatIfRequest& request) {
  Question question;
  question.ns = request.namespace_();
  if (request.question_case() == v1::WhatIfRequest::kLimit) {
    auto limit = ReadLimit(request.limit());
    if (!limit) return tl::make_unexpected(limit.error());
    question.limit = *std::move(limit);
    return question;
  }
  question.manifests = request.manifests();
  question.node = request.drain();
  if (question.manifests.empty() && question.node.empty())
    return Fail(Failure::Kind::kInvalid, "there is no question: give manifests, or the name of a node to drain");
  return question;
}

}  // namespace

DoorResult<v1::WhatIfRequest> ParseWhatIf(std::string_view json) {
  v1::WhatIfRequest request;
  const auto read = google::protobuf::util::JsonStringToMessage(std::string(json), &request);
  if (read.ok()) return request;
  return Fail(Failure::Kind::kInvalid,
              "the request must be JSON with \"manifests\", \"drain\" or \"limit\", as proto/tutti/v1/whatif.proto "
              "says: " +
                  Utf8(std::string(read.message())));
}

DoorResult<v1::WhatIfResponse> Prospects::Ask(const v1::WhatIfRequest& request, Sight& sight) {
  if (const DoorResult<void> leads = CheckLeading(source_); !leads) return tl::make_unexpected(leads.error());
  auto question = ReadQuestion(request);
  if (!question) return tl::make_unexpected(question.error());
  const DoorResult<bool> sees_nodes = sight.SeesPath(kNodesPath);
  if (!sees_nodes) return tl::make_unexpected(sees_nodes.error());
  if (!question->node.empty() && !*sees_nodes)
    return Fail(Failure::Kind::kForbidden,
                fmt::format("to ask about a node, a user must be allowed to get the path {}", kNodesPath));
  if (question->limit) {
    const DoorResult<bool> sees_queues = sight.SeesPath(kQueuesPath);
    if (!sees_queues) return tl::make_unexpected(sees_queues.error());
    if (!*sees_queues)
      return Fail(Failure::Kind::kForbidden,
                  fmt::format("to ask about a queue, a user must be allowed to get the path {}", kQueuesPath));
  }
  const auto [place, refusal] = places_.Take(sight.user());
  if (!place) return Fail(Failure::Kind::kTooMany, WhyTooMany(refusal, sight.user()));
  question->may_ask = [&sight](const std::string& ns) -> DoorResult<void> {
    const DoorResult<bool> sees = sight.Sees(ns);
    if (!sees) return tl::make_unexpected(sees.error());
    if (*sees) return {};
    return Fail(Failure::Kind::kForbidden,
                fmt::format("user \"{}\" may not list pods in namespace \"{}\", and so not ask about gangs there",
                            sight.user(), Utf8(ns)));
  };
  const auto outlook = source_.Ask(*question);
  if (!outlook) return tl::make_unexpected(outlook.error());
  v1::WhatIfResponse response;
  for (const Prospect& prospect : outlook->prospects) {
    const DoorResult<bool> sees = sight.Sees(prospect.gang.ns);
    if (!sees) return tl::make_unexpected(sees.error());
    if (*sees) {
      FillProspect(prospect, *sees_nodes, sight, response.add_prospects());
      continue;
    }
    response.set_other_gangs(response.other_gangs() + 1);
    if (!WouldStart(prospect)) response.set_other_gangs_wait(response.other_gangs_wait() + 1);
  }
  for (const std::string& note : outlook->notes) response.add_notes(Utf8(note));
  return response;
}

void Prospects::Estimate(const model::GangKey& gang, Sight& sight, v1::StartEstimate* to) {
  observe::StartEstimate none;
  const auto [place, refusal] = places_.Take(sight.user());
  if (!place) {
    none.why = fmt::format("No estimate: {}.", WhyTooMany(refusal, sight.user()));
    return Fill(none, sight, to);
  }
  Question question;
  question.waits = gang;
  const auto outlook = source_.Ask(question);
  if (outlook && !outlook->prospects.empty() && outlook->prospects[0].start)
    return Fill(*outlook->prospects[0].start, sight, to);
  none.why = outlook ? "No estimate." : fmt::format("No estimate: {}.", outlook.error().message);
  Fill(none, sight, to);
}

}  // namespace tutti::doors
