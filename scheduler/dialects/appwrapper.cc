// SPDX-License-Identifier: Apache-2.0
#include "dialects/appwrapper.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "dialects/appwrapper_v1beta1.h"
#include "dialects/appwrapper_v1beta2.h"
#include "dialects/declaration.h"
#include "dialects/kueue/names.h"
#include "dialects/wording.h"
#include "model/quantity.h"

namespace tutti::dialects {
namespace {

// "2-0": the item, and which of its pod sets.
std::optional<std::pair<size_t, size_t>> ReadPodSetLabel(const model::Pod& pod) {
  const std::string* label = model::Find(*pod.meta.labels, kPodSetLabel);
  if (!label) return std::nullopt;
  size_t item = 0, set = 0;
  const char* const end = label->data() + label->size();
  const auto first = std::from_chars(label->data(), end, item);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, set);
  if (second.ec != std::errc() || second.ptr != end) return std::nullopt;
  return std::pair(item, set);
}

bool IsFirstOfStatefulSet(const model::Pod& pod) {
  const std::string* index = model::Find(*pod.meta.labels, "apps.kubernetes.io/pod-index");
  return index ? *index == "0" : pod.meta.name.ends_with("-0");
}

const WrappedKind* KindOf(std::string_view kind_name) {
  for (const model::ObjectKind& kind : WatchedKinds())
    if (kind.Name() == kind_name) return FindWrappedKind(kind.group, kind.kind);
  return nullptr;
}

bool Queues(const WrapperSpec& spec, const base::Json& status) {
  if (spec.suspended) return false;
  return spec.components ? QueuesV1beta2(status) : QueuesV1beta1(status);
}

bool IsDeployed(const WrapperSpec& spec, const base::Json& status) {
  return spec.components ? IsDeployedV1beta2(status) : IsDispatchedV1beta1(status);
}

}  // namespace

AppWrappers::AppWrappers(Group group, DialectSettings settings, const JobQueues* queues, const QuotaSubtrees* quotas)
    : is_mcad_(group == Group::kMcad),
      settings_(std::move(settings)),
      queues_(queues),
      quotas_(quotas),
      kind_{is_mcad_ ? "mcad.ibm.com" : "workload.codeflare.dev",
            "appwrappers",
            "AppWrapper",
            is_mcad_ ? std::vector<std::string>{"v1beta1"} : std::vector<std::string>{"v1beta2", "v1beta1"},
            "",
            /*is_record=*/true},
      kinds_{kind_} {
  kinds_.insert(kinds_.end(), WatchedKinds().begin(), WatchedKinds().end());
  if (quotas_) kinds_.push_back(QuotaSubtrees::Kind());
  if (queues_) kinds_.push_back(queues_->SwitchKind());
}

const AppWrappers::Record* AppWrappers::Find(const model::GangKey& key) const {
  const auto at = wrappers_.find({key.ns, key.name});
  return at == wrappers_.end() ? nullptr : &at->second;
}

model::GangKey AppWrappers::KeyOf(const Record& record) const {
  return {std::string(name()), record.object->meta.ns, record.object->meta.name};
}

std::optional<model::GangKey> AppWrappers::QueuedAs(const Record& record) const {
  return queues_ ? queues_->GangOfJob(*record.object) : std::nullopt;
}

void AppWrappers::TouchDesires(const Record& record, Touched* touched) const {
  touched->desires.insert(QueuedAs(record).value_or(KeyOf(record)));
}

bool AppWrappers::Acts(const Record& record) const { return !record.spec.foreign && !record.object->meta.deleting(); }

void AppWrappers::Put(std::shared_ptr<const model::Object> object, Touched* touched) {
  if (object->group == kind_.group && object->kind == kind_.kind) return PutWrapper(std::move(object), touched);
  if (queues_ && object->kind == queues_->SwitchKind().kind) return FollowQueues(touched);
  if (quotas_ && object->group == QuotaSubtrees::Kind().group) return FollowQuotas(touched);
  const WrappedKind* kind = FindWrappedKind(object->group, object->kind);
  if (!kind) return;
  const SeenItem seen = ReadSeen(object);
  PutItem({kind, object->meta.ns, object->meta.name}, &seen, touched);
}

void AppWrappers::Drop(std::string_view kind_name, std::string_view ns, std::string_view name, Touched* touched) {
  if (queues_ && kind_name == queues_->SwitchKind().Name()) return FollowQueues(touched);
  if (quotas_ && kind_name == QuotaSubtrees::Kind().Name()) return FollowQuotas(touched);
  if (kind_name != kind_.Name()) {
    if (const WrappedKind* kind = KindOf(kind_name))
      PutItem({kind, std::string(ns), std::string(name)}, nullptr, touched);
    return;
  }
  const auto at = wrappers_.find({std::string(ns), std::string(name)});
  if (at == wrappers_.end()) return;
  touched->gangs.insert(KeyOf(at->second));
  touched->members.insert(KeyOf(at->second));
  const Record gone = std::move(at->second);
  wrappers_.erase(at);
  SetClaims(gone, false, touched);
}

void AppWrappers::FollowQueues(Touched* touched) {
  if (!queues_ || queues_->AreOpen() == queues_open_) return;
  queues_open_ = queues_->AreOpen();
  for (const auto& [place, record] : wrappers_)
    if (model::Find(*record.object->meta.labels, kueue::kQueueLabel)) touched->gangs.insert(KeyOf(record));
}

void AppWrappers::FollowQuotas(Touched* touched) {
  std::pair charged(quotas_->trees(), quotas_->problem());
  if (charged_ == charged) return;
  charged_ = std::move(charged);
  for (auto& [place, record] : wrappers_)
    if (!record.spec.components) Refresh(record, touched);
}

// Once there, it stays: if it goes, its pods wait for it to come back.
void AppWrappers::Served(std::string_view kind_name, bool served, Touched* touched) {
  FollowQueues(touched);
  if (kind_name != kind_.Name() || was_served_) return;
  was_served_ = served;
  touched->memberships = touched->memberships || served != served_;
  served_ = served;
}

void AppWrappers::PutWrapper(std::shared_ptr<const model::Object> object, Touched* touched) {
  const auto [at, fresh] = wrappers_.try_emplace({object->meta.ns, object->meta.name});
  Record& record = at->second;
  const bool same = !fresh && SameDeclaration(*record.object, *object);
  const bool status_changed = !same || StatusOf(*record.object) != StatusOf(*object) ||
                              record.object->meta.deleting() != object->meta.deleting();
  if (!same) {
    if (!fresh) SetClaims(record, false, touched);
    record.object = std::move(object);
    record.spec = ReadWrapper(*record.object, settings_);
    record.own_problem = record.spec.problem;
    SetClaims(record, true, touched);
    touched->gangs.insert(KeyOf(record));
    touched->members.insert(KeyOf(record));
  } else {
    record.object = std::move(object);
  }
  if (!status_changed) return;
  Refresh(record, touched);
  TouchDesires(record, touched);
}

void AppWrappers::PutItem(const ItemName& name, const SeenItem* seen, Touched* touched) {
  std::set<std::string> wrappers;  // that wrap it, or have created it
  if (seen) {
    if (!seen_.Put(name, *seen)) return;
    wrappers.insert(CreatorOf(*seen));
  } else {
    std::optional<std::string> creator = seen_.Drop(name);
    if (!creator) return;
    wrappers.insert(*std::move(creator));
  }
  if (const auto claims = claims_.find(name); claims != claims_.end())
    wrappers.insert(std::get<1>(*claims->second.begin()));
  for (const std::string& wrapper : wrappers) {
    const auto at = wrappers_.find({std::get<1>(name), wrapper});
    if (at == wrappers_.end()) continue;
    Refresh(at->second, touched);
    TouchDesires(at->second, touched);
  }
}

void AppWrappers::SetClaims(const Record& record, bool claims, Touched* touched) {
  const model::ObjectMeta& meta = record.object->meta;
  const Claim claim{meta.created_ms, meta.name, meta.uid};
  const auto read_again = [&](const Claim& first) {
    if (first == claim) return;
    Record& other = wrappers_.at({meta.ns, std::get<1>(first)});
    Refresh(other, touched);
    TouchDesires(other, touched);
  };
  for (const WrappedItem& item : record.spec.items) {
    if (!item.kind || item.name.empty()) continue;
    const ItemName name{item.kind, meta.ns, item.name};
    std::set<Claim>& all = claims_[name];
    const std::optional<Claim> first = all.empty() ? std::nullopt : std::optional(*all.begin());
    if (claims)
      all.insert(claim);
    else
      all.erase(claim);
    if (all.empty())
      claims_.erase(name);
    else if (first && *all.begin() != *first)
      read_again(claims ? *first : *all.begin());
  }
}

std::string AppWrappers::ClaimedByOther(const Record& record) const {
  const model::ObjectMeta& meta = record.object->meta;
  for (const WrappedItem& item : record.spec.items) {
    if (!item.kind) continue;
    const auto at = claims_.find({item.kind, meta.ns, item.name});
    if (at == claims_.end() || std::get<2>(*at->second.begin()) == meta.uid) continue;
    return fmt::format("{}: {} is wrapped by {}, too; give it another name, or delete that one",
                       Named(kind_.kind, meta.ns, meta.name), item.Title(meta.ns),
                       Named(kind_.kind, meta.ns, std::get<1>(*at->second.begin())));
  }
  return {};
}

void AppWrappers::Refresh(Record& record, Touched* touched) {
  record.spec.problem = record.own_problem.empty() ? ClaimedByOther(record) : record.own_problem;
  model::GangSpec gang = MakeGang(record);
  if (gang == record.gang) return;
  record.gang = std::move(gang);
  touched->gangs.insert(record.gang.key);
}

void AppWrappers::Charge(model::GangSpec* gang, const model::StringMap& labels) const {
  for (const std::string& tree : charged_.first) {
    const std::string* node = model::Find(labels, tree);
    std::string queue = fmt::format("{}/{}", tree, node && !node->empty() ? *node : "default");
    if (gang->queue.empty())
      gang->queue = std::move(queue);
    else
      gang->further_queues.push_back(std::move(queue));
    gang->queue_dialect = QuotaSubtrees::kName;
  }
}

model::GangSpec AppWrappers::MakeGang(const Record& record) const {
  const model::ObjectMeta& meta = record.object->meta;
  model::GangSpec gang = GangOf(name(), *record.object);
  gang.min_member = 0;
  gang.problem = record.spec.problem;
  gang.priority = record.spec.priority;
  gang.priority_slope = record.spec.priority_slope;
  gang.fit = record.spec.fit;
  if (gang.problem.empty() && !record.spec.components) gang.problem = charged_.second;
  if (!record.spec.components) Charge(&gang, *record.object->meta.labels);
  const base::Json& status = StatusOf(*record.object);
  if (!gang.problem.empty() || !Acts(record) || !Queues(record.spec, status)) return gang;
  gang.remark = record.spec.remark;
  const bool deployed = IsDeployed(record.spec, status);
  if (deployed && !WasCreatedHere(status)) return gang;
  for (const WrappedItem& item : record.spec.items) {
    if (deployed && item.sets.empty()) continue;  // which pods came of it cannot be known
    if (deployed && item.IsPod() && HaveAllEndedV1beta1(status)) continue;
    if (deployed && item.kind->watched) {
      const SeenItem* seen = seen_.Find({item.kind, meta.ns, item.name});
      if (!seen || seen->owner != meta.uid || seen->ended) continue;
    }
    for (const model::PromisedMembers& members : item.promised) {
      if (members.count == 0) continue;
      gang.promised.push_back(members);
      gang.roles.push_back({members.role, members.count});
      gang.min_member = model::SaturatingAdd(gang.min_member, members.count);
    }
  }
  std::ranges::sort(gang.roles, {}, &model::RoleSpec::name);
  return gang;
}

std::optional<Membership> AppWrappers::MembershipOf(const model::Pod& pod) const {
  const std::string* wrapper = model::Find(*pod.meta.labels, is_mcad_ ? kMcadLabel : kWrapperLabel);
  // Pods without that label are of another controller, or of a user's own making.
  if (!wrapper || wrapper->empty() || !served_ || !model::Find(*pod.meta.labels, kPodSetLabel)) return std::nullopt;
  Membership membership;
  membership.gang = {std::string(name()), pod.meta.ns, *wrapper};
  const Record* record = Find(membership.gang);
  if (record && record->spec.foreign) return std::nullopt;
  const auto place = ReadPodSetLabel(pod);
  if (!record || !place || place->first >= record->spec.items.size()) return membership;
  const WrappedItem& item = record->spec.items[place->first];
  if (place->second >= item.sets.size() || item.promised.size() < item.sets.size()) return membership;
  const bool later = item.ordered && item.promised.size() > 1 && !IsFirstOfStatefulSet(pod);
  const model::PromisedMembers& members = later ? item.promised.back() : item.promised[place->second];
  membership.role = members.role;
  membership.head = members.head;
  membership.needs_head = members.needs_head;
  return membership;
}

model::GangSpec AppWrappers::Describe(const model::GangKey& key) const {
  const Record* record = Find(key);
  if (record && !QueuedAs(*record)) return record->gang;
  model::GangSpec none;
  none.key = key;
  if (record) {  // it is a gang of its queue
    none.min_member = 0;
    return none;
  }
  none.problem = fmt::format("{} does not exist in API group {}; create it, or take its name out of the pods' label {}",
                             Named(kind_.kind, key.ns, key.name), kind_.group, is_mcad_ ? kMcadLabel : kWrapperLabel);
  return none;
}

std::string_view AppWrappers::SchedulerName(const model::GangKey& key) const {
  const Record* record = Find(key);
  if (!record || !Acts(*record) || QueuedAs(*record)) return {};
  return settings_.scheduler_names.front();
}

WrapperFacts AppWrappers::Look(const Record& record, const GangReport& report, const cluster::Unseen& unseen) const {
  return LookAt(record.object, record.spec, report, unseen, seen_);
}

WrapperWish AppWrappers::WishOf(const Record& record, const WrapperFacts& facts) const {
  // What another controller has created goes on as it is.
  if (IsDeployed(record.spec, facts.status) && !WasCreatedHere(facts.status) && !record.spec.suspended) return {};
  return record.spec.components ? LifeOfV1beta2(facts) : LifeOfV1beta1(facts);
}

base::Millis AppWrappers::Desire(const GangReport& report, const cluster::Unseen& unseen,
                                 std::vector<cluster::DesiredObject>* out) const {
  const Record* record = Find(report.spec->key);
  if (!record || !Acts(*record) || QueuedAs(*record)) return 0;
  return DesireBy(*record, Look(*record, report, unseen), out);
}

base::Millis AppWrappers::DesireOfJob(const model::Object& job, bool let_go, const GangReport& report,
                                      const cluster::Unseen& unseen, std::vector<cluster::DesiredObject>* out) const {
  const auto at = wrappers_.find({job.meta.ns, job.meta.name});
  if (at == wrappers_.end() || at->second.object->meta.uid != job.meta.uid || !Acts(at->second)) return 0;
  WrapperFacts facts = Look(at->second, report, unseen);
  facts.let_go = let_go;
  return DesireBy(at->second, facts, out);
}

base::Millis AppWrappers::DesireBy(const Record& record, const WrapperFacts& facts,
                                   std::vector<cluster::DesiredObject>* out) const {
  WrapperWish wish = WishOf(record, facts);
  const base::Millis again_ms = wish.again_ms;
  dialects::Desire(facts, std::move(wish), out);
  return again_ms;
}

std::optional<cluster::ObjectRef> AppWrappers::EventTarget(const model::GangKey& key) const {
  const Record* record = Find(key);
  if (!record) return std::nullopt;
  return cluster::RefOf(record->object);
}

}  // namespace tutti::dialects
