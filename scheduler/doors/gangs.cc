// SPDX-License-Identifier: Apache-2.0
#include "doors/gangs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "doors/messages.h"
#include "doors/text.h"

namespace tutti::doors {
namespace {

using observe::Decision;
using observe::MemberDecision;

constexpr int kMostHolders = 10;
constexpr size_t kMostLookedAt = 100;

bool HasMember(const Decision& decision, const std::string& name) {
  return std::ranges::any_of(decision.members, [&](const MemberDecision& member) { return member.name == name; });
}

// Whether the name is that of the Workload of such a job, as Kueue makes it: "raycluster-NAME-1a2b3".
bool IsMadeFor(std::string_view workload, std::string_view job) {
  constexpr size_t kHash = 5;
  const size_t kind = workload.find('-');
  if (job.empty() || kind == workload.npos || workload.size() != kind + 1 + job.size() + 1 + kHash) return false;
  const std::string_view hash = workload.substr(workload.size() - kHash);
  return workload.substr(kind + 1, job.size()) == job && workload[kind + 1 + job.size()] == '-' &&
         hash.find_first_not_of("0123456789abcdef") == hash.npos;
}

// Whether the gang is meant where that is no gang's name: it has such a member, or is made for such a job.
bool IsMeantBy(const Decision& decision, const std::string& name) {
  return HasMember(decision, name) || (decision.gang.dialect == "kueue" && IsMadeFor(decision.gang.name, name));
}

// What a waiting gang lacks: resources, and the queues that have too little of them; no queue: nodes have.
struct Lack {
  std::set<std::string> resources;
  std::set<QueueKey> queues;
};

Lack LackOf(const Decision& decision) {
  Lack lack;
  if (!decision.why) return lack;
  if (const auto* nodes = std::get_if<observe::LacksNodes>(&decision.why->cause)) {
    if (nodes->figures)
      for (const observe::Figures::Short& it : nodes->figures->shorts) lack.resources.insert(it.resource);
    // Of a lone pod no figures are made: whatever it asks for may lack.
    if (lack.resources.empty() && !decision.members.empty() && decision.members[0].spec)
      for (const auto& [resource, amount] : decision.members[0].spec->requests)
        if (amount > 0) lack.resources.insert(resource);
  } else if (const auto* queue = std::get_if<observe::QueueRefuses>(&decision.why->cause)) {
    for (const observe::QueueRefuses::Cell& cell : queue->cells) {
      lack.resources.insert(cell.resource);
      lack.queues.insert({QueueKeyOf(decision).first, cell.queue});
    }
    if (!lack.queues.empty()) lack.queues.insert(QueueKeyOf(decision));
  } else if (std::holds_alternative<observe::AwaitsQuota>(decision.why->cause)) {
    lack.queues.insert(QueueKeyOf(decision));
    for (const MemberDecision& member : decision.members)
      if (member.spec)
        for (const auto& [resource, amount] : member.spec->requests)
          if (amount > 0) lack.resources.insert(resource);
  }
  return lack;
}

Holding HoldingOf(const Decision& decision, const std::set<std::string>& resources) {
  Holding holding{&decision, 0, {}};
  for (const MemberDecision& member : decision.members) {
    if (!HoldsRoom(member) || !member.spec) continue;
    bool any = false;
    for (const std::string& resource : resources)
      if (const int64_t amount = member.spec->requests.Get(resource); amount > 0) {
        holding.amounts.Add(resource, amount);
        any = true;
      }
    holding.pods += any;
  }
  return holding;
}

// Adds the gangs that hold most of what the gang lacks, of those that the caller sees.
DoorResult<void> AddHolders(const Table& table, const Decision& waits, Sight& sight, v1::Gang* to) {
  const Lack lack = LackOf(waits);
  if (lack.resources.empty()) return {};
  std::vector<Holding> found;
  for (const Row& row : table.rows) {
    const Decision& decision = *row.decision;
    if (decision.gang == waits.gang || (!lack.queues.empty() && !lack.queues.contains(QueueKeyOf(decision)))) continue;
    if (Holding holding = HoldingOf(decision, lack.resources); holding.pods > 0) found.push_back(std::move(holding));
  }
  // The scarcest is the one that is not cpu or memory, if there is such a one.
  std::string by = *lack.resources.begin();
  for (const std::string& resource : lack.resources)
    if (resource != model::kCpu && resource != model::kMemory) by = resource;
  std::ranges::stable_sort(found, std::greater(), [&](const Holding& holding) { return holding.amounts.Get(by); });
  // Each may be a question to the API server.
  if (found.size() > kMostLookedAt) found.resize(kMostLookedAt);
  for (const Holding& holding : found) {
    if (to->holders_size() == kMostHolders) break;
    const DoorResult<bool> sees = sight.Sees(holding.decision->gang.ns);
    if (!sees) return tl::make_unexpected(sees.error());
    if (!*sees) continue;
    Fill(holding, to->add_holders());
  }
  return {};
}

// `wide`: the caller's sight of all namespaces.
void FillRow(const Row& row, bool with_members, Sight& wide, v1::Gang* to) {
  Fill(*row.decision, to);
  if (with_members) FillMembers(*row.decision, to);
  HideVictims(*row.decision, [&wide](const std::string& ns) { return wide.MayName(ns); }, to);
  to->set_position(row.position);
  to->set_line(row.line);
}

void FillEvent(const observe::HistoryEvent& event, Sight& wide, v1::GangEvent* to) {
  Fill(event, to);
  if (event.by && !wide.MayName(event.by->ns)) {
    to->clear_by();
    to->set_by_another(true);
  }
  if (auto said = HideVictims(to->message(), [&wide](const std::string& ns) { return wide.MayName(ns); }))
    to->set_message(*std::move(said));
}

// The words of Gang.state, or the failure that names them if `state` is none.
DoorResult<void> CheckState(const std::string& state) {
  std::string known;
  for (int i = 0; i <= static_cast<int>(observe::GangState::kFinished); ++i) {
    const std::string_view word = observe::Word(static_cast<observe::GangState>(i));
    if (state.empty() || word == state) return {};
    known += fmt::format("{}{}", known.empty() ? "" : ", ", word);
  }
  return Fail(Failure::Kind::kInvalid, fmt::format("unknown state \"{}\"; known are {}", state, known));
}

tl::unexpected<Failure> NoSuchGang(const std::string& ns, const std::string& name) {
  return Fail(Failure::Kind::kNotFound,
              fmt::format("there is no gang or pod {}/{} that is scheduled here", Utf8(ns), Utf8(name)));
}

}  // namespace

DoorResult<void> CheckLeading(const Source& source) {
  std::string why = source.NotLeading();
  if (why.empty()) return {};
  return Fail(Failure::Kind::kUnavailable, std::move(why));
}

DoorResult<std::shared_ptr<const Table>> Gangs::All() {
  if (const DoorResult<void> leads = CheckLeading(source_); !leads) return tl::make_unexpected(leads.error());
  std::shared_ptr<const Table> table = hub_.List();
  if (!table) return Fail(Failure::Kind::kUnavailable, "the scheduler is too busy to answer; try again");
  return table;
}

DoorResult<v1::ListGangsResponse> Gangs::List(const v1::ListGangsRequest& request, Sight& sight) {
  if (const DoorResult<void> known = CheckState(request.state()); !known) return tl::make_unexpected(known.error());
  if (const DoorResult<void> may = sight.CheckOnly(); !may) return tl::make_unexpected(may.error());
  const auto table = All();
  if (!table) return tl::make_unexpected(table.error());
  v1::ListGangsResponse response;
  response.set_sequence((*table)->sequence);
  Sight wide = sight.Widened();
  std::pair<size_t, size_t> range(0, (*table)->rows.size());
  if (!request.namespace_().empty()) range = (*table)->RangeOf(request.namespace_());
  for (size_t i = range.first; i < range.second; ++i) {
    const Row& row = (*table)->rows[i];
    const Decision& decision = *row.decision;
    if (!request.queue().empty() && QueueOf(decision) != request.queue() && decision.queue != request.queue()) continue;
    if (!request.state().empty() && observe::Word(decision.state) != request.state()) continue;
    if (!request.name().empty() && decision.gang.name != request.name() && !IsMeantBy(decision, request.name()))
      continue;
    const DoorResult<bool> sees = sight.Sees(decision.gang.ns);
    if (!sees) return tl::make_unexpected(sees.error());
    if (!*sees) continue;
    FillRow(row, request.members(), wide, response.add_gangs());
  }
  return response;
}

DoorResult<v1::Gang> Gangs::Get(const v1::GetGangRequest& request, Sight& sight) {
  if (const DoorResult<void> may = sight.CheckOnly(); !may) return tl::make_unexpected(may.error());
  const auto table = All();
  if (!table) return tl::make_unexpected(table.error());
  const auto is_meant = [&](const Row& row) {
    return request.dialect().empty() || row.decision->gang.dialect == request.dialect();
  };
  const std::vector<Row>& rows = (*table)->rows;
  const Row* found = nullptr;
  const auto [first, last] = (*table)->RangeOf(request.namespace_(), request.name());
  for (size_t i = first; i < last && !found; ++i)
    if (is_meant(rows[i])) found = &rows[i];
  if (!found) {
    const auto [begin, end] = (*table)->RangeOf(request.namespace_());
    for (size_t i = begin; i < end && !found; ++i)
      if (is_meant(rows[i]) && IsMeantBy(*rows[i].decision, request.name())) found = &rows[i];
  }
  if (!found) return NoSuchGang(request.namespace_(), request.name());
  // Those that hold something, or have to leave, may be anywhere.
  Sight wide = sight.Widened();
  v1::Gang gang;
  FillRow(*found, true, wide, &gang);
  if (const DoorResult<void> added = AddHolders(**table, *found->decision, wide, &gang);
      !added && added.error().kind != Failure::Kind::kForbidden)
    return tl::make_unexpected(added.error());
  if (const Decision& decision = *found->decision; request.estimate() && StandsInLine(decision))
    prospects_.Estimate(decision.gang, wide, gang.mutable_start());
  return gang;
}

DoorResult<v1::GangHistory> Gangs::History(const v1::GetGangRequest& request, Sight& sight) {
  if (const DoorResult<void> may = sight.CheckOnly(); !may) return tl::make_unexpected(may.error());
  if (const DoorResult<void> leads = CheckLeading(source_); !leads) return tl::make_unexpected(leads.error());
  const observe::History::Found found = source_.HistoryOf(request.namespace_(), request.name(), request.dialect());
  if (found.gangs.empty())
    return Fail(Failure::Kind::kNotFound,
                fmt::format("nothing is known of a gang {}/{}", Utf8(request.namespace_()), Utf8(request.name())));
  v1::GangHistory history;
  const observe::History::OfGang* newest = &found.gangs[0];
  for (const observe::History::OfGang& one : found.gangs)
    if (one.events.back().last_ms > newest->events.back().last_ms) newest = &one;
  Fill(newest->gang, history.mutable_gang());
  SetTime(found.whole_from_ms, history.mutable_whole_from());
  Sight wide = sight.Widened();
  for (const observe::HistoryEvent& event : newest->events) FillEvent(event, wide, history.add_events());
  return history;
}

}  // namespace tutti::doors
