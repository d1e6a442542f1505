// SPDX-License-Identifier: Apache-2.0
#include "app/ctl_watch.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "app/changed_rows.h"
#include "app/output.h"
#include "base/json.h"
#include "cluster/json_text.h"
#include "kube/api_path.h"
#include "sim/objects/object.h"

namespace tutti::app {
namespace {

using base::Json;
using sim::Child;
using sim::DigString;

constexpr base::Millis kListPauseMs = 1'000;
constexpr std::chrono::seconds kPause{1};  // before a stream that has ended is asked for again

class Watcher {
 public:
  Watcher(DoorClient& door, Listing listing, const base::Clock& clock)
      : door_(door), listing_(std::move(listing)), clock_(clock), rows_(NameColumnsOf(listing_)) {}

  base::Status Run() {
    for (;; std::this_thread::sleep_for(kPause)) {
      const base::Result<std::string> since = List();
      if (!since) return tl::make_unexpected(since.error());
      std::string path = "watch?since=" + kube::Escape(*since);
      if (is_of_gangs() && !listing_.ns.empty()) path += "&namespace=" + kube::Escape(listing_.ns);
      stopped_ = {};
      const base::Status followed = door_.Follow(path, [this](std::string_view event, const Json& data) {
        stopped_ = is_of_gangs() ? TellGang(event, data) : ListIfDue(event);
        return stopped_.has_value();
      });
      if (!stopped_) return stopped_;
      if (!followed) return followed;
    }
  }

 private:
  bool is_of_gangs() const { return listing_.kind == Listing::Kind::kGangs; }

  // Returns the sequence number from which a watch goes on.
  base::Result<std::string> List() {
    const auto answer = door_.Get(PathOf(listing_));
    if (!answer) return tl::make_unexpected(answer.error());
    const Json list = cluster::ParseJson(*answer);
    listed_ms_ = clock_.MonotonicMs();
    is_due_ = false;
    const Table table = TableOf(listing_, list, clock_.WallMs());
    // A gang that is not in this state or queue any more need not be gone.
    const bool has_all = listing_.state.empty() && listing_.queue.empty();
    const base::Status printed = Print(has_all ? rows_.Replace(table) : rows_.Update(table));
    if (!printed) return tl::make_unexpected(printed.error());
    const std::string sequence = DigString(list, "sequence");
    return sequence.empty() ? "0" : sequence;
  }

  base::Status ListIfDue(std::string_view event) {
    is_due_ |= !event.empty();
    if (!is_due_ || clock_.MonotonicMs() - listed_ms_ < kListPauseMs) return {};
    const auto listed = List();
    return listed ? base::Status() : tl::make_unexpected(listed.error());
  }

  base::Status TellGang(std::string_view event, const Json& data) {
    if (event == "gone") return Print(rows_.Drop(NameOf(Child(data, "gone"))));
    if (event != "gang") return {};
    const Json& gang = Child(data, "gang");
    const bool matches = (listing_.queue.empty() || DigString(gang, "queue") == listing_.queue) &&
                         (listing_.state.empty() || DigString(gang, "state") == listing_.state) &&
                         (listing_.name.empty() || DigString(gang, "name") == listing_.name);
    // One that matches no longer is shown once more.
    if (!matches && !rows_.Has(NameOf(gang))) return {};
    const Json list = {{"gangs", Json::array({gang})}};
    const base::Status printed = Print(rows_.Update(TableOf(listing_, list, clock_.WallMs())));
    if (!matches) rows_.Drop(NameOf(gang));
    return printed;
  }

  // As the first columns of its row.
  Table::Row NameOf(const Json& gang) const {
    Table::Row name = {Shown(DigString(gang, "name")), Shown(DigString(gang, "dialect"))};
    if (listing_.columns.namespaces) name.insert(name.begin(), Shown(DigString(gang, "namespace")));
    return name;
  }

  DoorClient& door_;
  const Listing listing_;
  const base::Clock& clock_;
  ChangedRows rows_;
  base::Status stopped_;  // why the reading ends
  base::Millis listed_ms_ = 0;  // monotonic
  bool is_due_ = false;         // something was told since
};

}  // namespace

base::Status WatchListing(DoorClient& door, Listing listing, const base::Clock& clock) {
  listing.columns.positions = false;
  return Watcher(door, std::move(listing), clock).Run();
}

}  // namespace tutti::app
