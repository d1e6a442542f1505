// SPDX-License-Identifier: Apache-2.0
#include "app/embedded_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "app/manifest_check.h"
#include "app/profiles.h"
#include "sim/schema/crd.h"
#include "sim/schema/schema.h"
#include "sim/store/hold.h"

namespace tutti::app {
namespace {

std::optional<base::Millis> Earlier(std::optional<base::Millis> a, std::optional<base::Millis> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

bool IsDefinition(const sim::Json& object) { return sim::DigString(object, "kind") == "CustomResourceDefinition"; }

// An object of Kueue's groups or of AppWrapper's, or one that names a queue of Kueue's.
bool IsOfTakeover(const sim::Manifest& manifest) {
  constexpr std::string_view kGroups[] = {"kueue.x-k8s.io", "autoscaling.x-k8s.io", "mcad.ibm.com",
                                          "workload.codeflare.dev", "quota.codeflare.dev"};
  const std::string group = sim::SplitApiVersion(sim::DigString(manifest.object, "apiVersion")).group;
  if (!sim::LabelOf(manifest.object, sim::kQueueNameLabel).empty()) return true;
  return std::ranges::find(kGroups, group) != std::end(kGroups);
}

}  // namespace

class EmbeddedCluster::Inbox final : public cluster::EventSink {
 public:
  void Post(cluster::FeedEvent event) override { events_.push_back(std::move(event)); }
  std::vector<cluster::FeedEvent> Take() { return std::exchange(events_, {}); }
  bool empty() const { return events_.empty(); }

 private:
  std::vector<cluster::FeedEvent> events_;
};

// The autoscaler, with a feed and a writer of its own.
struct EmbeddedCluster::Autoscaling {
  Autoscaling(sim::Store& store, const base::Clock& clock, const sim::Autoscaler::Options& options)
      : feed(store, inbox), writer(store, inbox, clock), autoscaler(options, writer, clock) {
    feed.Start(sim::Autoscaler::Kinds());
  }

  // True if anything was done.
  bool Step(const base::Clock& clock) {
    const bool news = feed.Pump() > 0;
    const auto due = autoscaler.NextDeadline();
    if (!inbox.empty() || (due && *due <= clock.MonotonicMs())) autoscaler.RunOnce(inbox.Take());
    return writer.Pump() > 0 || news;
  }

  Inbox inbox;
  sim::Feed feed;
  sim::Writer writer;
  sim::Autoscaler autoscaler;
};

EmbeddedCluster::EmbeddedCluster(const base::Clock& clock, Options options)
    : clock_(clock),
      scheduler_options_(std::move(options.scheduler)),
      dialects_(options.dialects),
      loose_definitions_(options.loose_definitions),
      with_takeover_(options.with_takeover),
      strict_kinds_(options.strict_kinds),
      observer_(options.observer),
      interceptor_(options.interceptor),
      world_(clock, options.world),
      inbox_(std::make_unique<Inbox>()) {
  if (scheduler_options_) StartScheduler();
  if (options.autoscaler) autoscaling_ = std::make_unique<Autoscaling>(world_.store(), clock, *options.autoscaler);
}

EmbeddedCluster::~EmbeddedCluster() = default;

void EmbeddedCluster::StartScheduler() {
  feed_ = std::make_unique<sim::Feed>(world_.store(), *inbox_, &world_.decoded());
  writer_ = std::make_unique<sim::Writer>(world_.store(), *inbox_, clock_, interceptor_);
  scheduler_ = std::make_unique<core::Scheduler>(
      *scheduler_options_, dialects::MakeDialects(SettingsOf(scheduler_options_->profiles, dialects_)), *writer_,
      clock_, observer_);
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

base::Status EmbeddedCluster::LoadMissingDefinitions(const std::vector<sim::Manifest>& manifests) {
  std::vector<EmbeddedFile> files;
  if (!defined_) files = EmbeddedDefinitions();
  const bool takeover = !takeover_defined_ && (with_takeover_ || std::ranges::any_of(manifests, IsOfTakeover));
  if (takeover) std::ranges::copy(EmbeddedTakeover(), std::back_inserter(files));
  const base::Status loaded = LoadDefinitions(files, manifests);
  defined_ = defined_ || loaded.has_value();
  takeover_defined_ = takeover_defined_ || (takeover && loaded.has_value());
  return loaded;
}

base::Status EmbeddedCluster::LoadDefinitions(const std::vector<EmbeddedFile>& files,
                                              const std::vector<sim::Manifest>& manifests) {
  const auto brought = [&](const sim::Json& ours) {
    return std::any_of(manifests.begin(), manifests.end(), [&](const sim::Manifest& one) {
      return sim::DigString(one.object, "kind") == sim::DigString(ours, "kind") &&
             sim::NameOf(one.object) == sim::NameOf(ours);
    });
  };
  std::vector<sim::Manifest> ours;
  for (const EmbeddedFile& file : files) {
    auto parsed = sim::ParseManifests(file.text, std::string(file.name));
    if (!parsed) return tl::make_unexpected(parsed.error());
    for (sim::Manifest& one : *parsed) {
      const bool there = store().Find(sim::kCustomResourceDefinitions, "", sim::NameOf(one.object)) != nullptr;
      if (there || brought(one.object)) continue;
      if (loose_definitions_ && IsDefinition(one.object)) {
        strict_.push_back(sim::ResourceOfDefinition(one.object));
        Loosen(one.object);
      }
      ours.push_back(std::move(one));
    }
  }
  return sim::StoreManifests(store(), std::move(ours));
}

base::Status EmbeddedCluster::Load(std::vector<sim::Manifest> manifests) {
  return AtStore([&]() -> base::Status {
    if (const base::Status defined = LoadMissingDefinitions(manifests); !defined) return defined;
    // The world has definitions of its own (Ray's). The user's definitions replace them.
    for (const sim::Manifest& one : manifests) {
      if (IsDefinition(one.object) && store().Find(sim::kCustomResourceDefinitions, "", sim::NameOf(one.object))) {
        (void)store().Delete(sim::kCustomResourceDefinitions, "", sim::NameOf(one.object));
      }
    }
    NoteRefusedValues(manifests);
    std::vector<std::pair<std::string, std::string>> bound;  // pods, with their nodes
    for (const sim::Manifest& one : manifests) {
      const std::string& node = sim::DigString(one.object, "spec", "nodeName");
      if (!node.empty() && sim::DigString(one.object, "kind") == "Pod")
        bound.emplace_back(sim::KeyOf(one.object), node);
    }
    const base::Status stored = sim::StoreManifests(store(), std::move(manifests), strict_kinds_ ? nullptr : &unknown_);
    for (auto& [pod, node] : bound)
      if (!store().Find(sim::kNodes, "", node)) stray_pods_.push_back(std::move(pod));
    return stored;
  });
}

// A loosened definition takes such a value, so that the scheduler says what it makes of it.
void EmbeddedCluster::NoteRefusedValues(const std::vector<sim::Manifest>& manifests) {
  for (const sim::Manifest& one : manifests) {
    const auto [group, version] = sim::SplitApiVersion(sim::DigString(one.object, "apiVersion"));
    const std::string& kind = sim::DigString(one.object, "kind");
    const auto resource = std::ranges::find_if(
        strict_, [&](const sim::ApiResource& each) { return each.id.group == group && each.kind == kind; });
    const sim::ApiVersion* served = resource == strict_.end() ? nullptr : resource->FindVersion(version);
    if (!served || !served->schema) continue;
    sim::Json object = one.object;
    served->schema->FillIn(object);
    std::vector<sim::FieldError> errors;
    served->schema->Validate(object, errors);
    for (const sim::FieldError& error : errors)
      refused_values_.push_back(fmt::format("{}: {} {}: {}: {}; an API server refuses it", one.WhereIs(error.field),
                                            kind, sim::KeyOf(one.object), error.field, error.message));
  }
}

std::vector<std::string> EmbeddedCluster::NotesOfLoading() {
  std::vector<std::string> notes = AtStore([&] { return sim::NotesOf(unknown_, store()); });
  std::ranges::copy(refused_values_, std::back_inserter(notes));
  if (!stray_pods_.empty())
    notes.push_back(fmt::format("a pod whose node is not there is taken away after 40 s, as in a cluster ({})",
                                sim::Some(stray_pods_)));
  return notes;
}

bool EmbeddedCluster::Step() {
  bool busy = AtStore([&] {
    const bool worked = world_.Pump();
    const bool scaled = autoscaling_ != nullptr && autoscaling_->Step(clock_);
    return (feed_ != nullptr && feed_->Pump() > 0) || worked || scaled;
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

bool EmbeddedCluster::RunUntilIdle(size_t rounds) {
  for (size_t round = 0; round < rounds; ++round) {
    if (!Step()) return true;
  }
  return false;
}

std::optional<base::Millis> EmbeddedCluster::NextWorldDeadline() {
  return AtStore([&] {
    const auto next = world_.NextDeadline();
    if (!autoscaling_) return next;
    return Earlier(next, Earlier(autoscaling_->autoscaler.NextDeadline(), autoscaling_->writer.NextDeadline()));
  });
}

std::optional<base::Millis> EmbeddedCluster::NextDeadline() {
  std::optional<base::Millis> next = NextWorldDeadline();
  if (!scheduler_) return next;
  return Earlier(next, Earlier(scheduler_->NextDeadline(), AtStore([&] { return writer_->NextDeadline(); })));
}

}  // namespace tutti::app
