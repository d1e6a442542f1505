// SPDX-License-Identifier: Apache-2.0
#include "app/embedded_cluster.h"

#include <algorithm>
#include <utility>

#include "app/embedded_files.h"
#include "app/manifest_check.h"
#include "app/profiles.h"

namespace tutti::app {
namespace {

std::optional<base::Millis> Earlier(std::optional<base::Millis> a, std::optional<base::Millis> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

bool IsDefinition(const sim::Json& object) { return sim::DigString(object, "kind") == "CustomResourceDefinition"; }

}  // namespace

class EmbeddedCluster::Inbox final : public cluster::EventSink {
 public:
  void Post(cluster::FeedEvent event) override { events_.push_back(std::move(event)); }
  std::vector<cluster::FeedEvent> Take() { return std::exchange(events_, {}); }
  bool empty() const { return events_.empty(); }

 private:
  std::vector<cluster::FeedEvent> events_;
};

EmbeddedCluster::EmbeddedCluster(const base::Clock& clock, Options options)
    : clock_(clock),
      scheduler_options_(std::move(options.scheduler)),
      loose_definitions_(options.loose_definitions),
      strict_kinds_(options.strict_kinds),
      observer_(options.observer),
      interceptor_(options.interceptor),
      world_(clock, options.world),
      inbox_(std::make_unique<Inbox>()) {
  if (scheduler_options_) StartScheduler();
}

EmbeddedCluster::~EmbeddedCluster() = default;

void EmbeddedCluster::StartScheduler() {
  feed_ = std::make_unique<sim::Feed>(world_.store(), *inbox_);
  writer_ = std::make_unique<sim::Writer>(world_.store(), *inbox_, clock_, interceptor_);
  scheduler_ = std::make_unique<core::Scheduler>(*scheduler_options_,
                                                 dialects::MakeDialects(SettingsOf(scheduler_options_->profiles)),
                                                 *writer_, clock_, observer_);
  feed_->Start(scheduler_->Kinds());
  inbox_->Post(cluster::Leadership{.leading = true, .plan_after_ms = clock_.MonotonicMs()});
}

void EmbeddedCluster::RestartScheduler() {
  if (writer_) writer_->OrphanInFlight();
  scheduler_.reset();
  feed_.reset();
  inbox_->Take();
  StartScheduler();
}

base::Status EmbeddedCluster::LoadDefinitions(const std::vector<sim::Manifest>& manifests) {
  const auto brought = [&](const std::string& name) {
    return std::any_of(manifests.begin(), manifests.end(), [&](const sim::Manifest& one) {
      return IsDefinition(one.object) && sim::NameOf(one.object) == name;
    });
  };
  std::vector<sim::Manifest> ours;
  for (const EmbeddedFile& file : EmbeddedDefinitions()) {
    auto parsed = sim::ParseManifests(file.text, std::string(file.name));
    if (!parsed) return tl::make_unexpected(parsed.error());
    for (sim::Manifest& one : *parsed) {
      const bool there = store().Find(sim::kCustomResourceDefinitions, "", sim::NameOf(one.object)) != nullptr;
      if (there || brought(sim::NameOf(one.object))) continue;
      if (loose_definitions_) Loosen(one.object);
      ours.push_back(std::move(one));
    }
  }
  return sim::StoreManifests(store(), std::move(ours));
}

base::Status EmbeddedCluster::Load(std::vector<sim::Manifest> manifests) {
  return AtStore([&]() -> base::Status {
    if (!defined_)
      if (const base::Status defined = LoadDefinitions(manifests); !defined) return defined;
    defined_ = true;
    // The world has definitions of its own (Ray's). The user's definitions replace them.
    for (const sim::Manifest& one : manifests) {
      if (IsDefinition(one.object) && store().Find(sim::kCustomResourceDefinitions, "", sim::NameOf(one.object))) {
        (void)store().Delete(sim::kCustomResourceDefinitions, "", sim::NameOf(one.object));
      }
    }
    return sim::StoreManifests(store(), std::move(manifests), strict_kinds_ ? nullptr : &unknown_);
  });
}

std::vector<std::string> EmbeddedCluster::NotesOfUnknownKinds() {
  return AtStore([&] { return sim::NotesOf(unknown_, store()); });
}

bool EmbeddedCluster::Step() {
  bool busy = AtStore([&] {
    const bool worked = world_.Pump();
    return (feed_ != nullptr && feed_->Pump() > 0) || worked;
  });
  if (!scheduler_) return busy;
  const auto due = scheduler_->NextDeadline();
  if (!inbox_->empty() || (due && *due <= clock_.MonotonicMs())) {
    scheduler_->RunOnce(inbox_->Take());
    busy = true;
    if (on_decided) on_decided();
  }
  return AtStore([&] { return writer_->Pump() > 0; }) || busy;
}

bool EmbeddedCluster::Settle(size_t rounds) {
  for (size_t round = 0; round < rounds; ++round) {
    if (!Step()) return true;
  }
  return false;
}

std::optional<base::Millis> EmbeddedCluster::NextWorldDeadline() {
  return AtStore([&] { return world_.NextDeadline(); });
}

std::optional<base::Millis> EmbeddedCluster::NextDeadline() {
  std::optional<base::Millis> next = NextWorldDeadline();
  if (!scheduler_) return next;
  return Earlier(next, Earlier(scheduler_->NextDeadline(), AtStore([&] { return writer_->NextDeadline(); })));
}

}  // namespace tutti::app
