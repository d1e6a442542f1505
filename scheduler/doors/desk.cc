// SPDX-License-Identifier: Apache-2.0
#include "doors/desk.h"

#include <fmt/format.h>
#include <tutti/v1/version.pb.h>

#include <utility>

#include "doors/cluster.h"
#include "doors/follower.h"
#include "doors/gangs.h"
#include "doors/prospects.h"
#include "doors/text.h"

namespace tutti::doors {

Desk::Desk(Source& source, const base::Clock& clock)
    : source_(source),
      clock_(clock),
      hub_(source),
      prospects_(std::make_unique<Prospects>(source)),
      gangs_(std::make_unique<Gangs>(source, hub_, *prospects_)),
      cluster_(std::make_unique<Cluster>(source, *gangs_)) {}

Desk::~Desk() = default;

DoorResult<void> Desk::CheckSignedIn(const std::shared_ptr<const server::Rights>& rights) const {
  if (rights->user() != server::kAnonymousUser) return {};
  const DoorResult<bool> all = SightOf(rights, "").SeesAll();
  if (!all) return tl::make_unexpected(all.error());
  if (*all) return {};
  return Fail(Failure::Kind::kAnonymous, "a token is needed: send the header Authorization: Bearer TOKEN");
}

std::string Desk::QueueMetrics() { return cluster_->QueueMetrics(clock_.WallMs()); }

DoorResult<v1::Version> Desk::GetVersion(Sight& sight) const {
  const DoorResult<bool> may = sight.SeesPath("/apis/tutti/v1/version");
  if (!may) return tl::make_unexpected(may.error());
  if (!*may)
    return Fail(Failure::Kind::kForbidden,
                fmt::format("user \"{}\" may not get the path /apis/tutti/v1/version", sight.user()));
  v1::Version version;
  version.set_version(source_.about().version);
  SetTime(source_.about().started_ms, version.mutable_started());
  const std::string not_leading = source_.NotLeading();
  version.set_leading(not_leading.empty());
  version.set_not_leading(Utf8(not_leading));
  for (const std::string& name : source_.about().scheduler_names) version.add_scheduler_names(Utf8(name));
  version.set_sequence(source_.sequence());
  return version;
}

DoorResult<Follower> Desk::Watch(uint64_t since, Sight sight) {
  if (const DoorResult<void> leads = CheckLeading(source_); !leads) return tl::make_unexpected(leads.error());
  if (const DoorResult<void> may = sight.CheckOnly(); !may) return tl::make_unexpected(may.error());
  return Follower(hub_, std::move(sight), since, clock_);
}

}  // namespace tutti::doors
