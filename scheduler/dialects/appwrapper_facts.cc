// SPDX-License-Identifier: Apache-2.0
#include "dialects/appwrapper_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "dialects/declaration.h"
#include "dialects/wording.h"

namespace tutti::dialects {
namespace {

using base::Json;
using cluster::DesiredObject;

constexpr int kBadRequest = 400, kNotFound = 404, kConflict = 409, kUnprocessable = 422;
// Of a status; it has an entry for each item.
constexpr size_t kMostBytes = 262'144;

// Null: an entry of the status names none that is wrapped.
const WrappedKind* KindIn(const Json& entry) {
  return FindWrappedKind(SplitVersion(TextIn(entry, "apiVersion")).group, TextIn(entry, "kind"));
}

// The entry of the item in the status; null: there is none.
const Json* Recorded(const Json& status, const WrappedItem& item) {
  for (const Json& entry : ListIn(status, "componentStatus"))
    if (KindIn(entry) == item.kind && TextIn(entry, "name") == item.name) return &entry;
  return nullptr;
}

// Of a kind that no feed shows: what the status has recorded of it.
std::optional<SeenItem> FromRecord(const model::Object& wrapper, const Json& status, const WrappedItem& item) {
  const Json* record = Recorded(status, item);
  const std::string uid = record ? TextIn(*record, "uid") : std::string();
  if (uid.empty()) return std::nullopt;
  auto object = std::make_shared<model::Object>();
  object->group = item.kind->kind.group;
  object->version = item.version;
  object->resource = item.kind->kind.resource;
  object->kind = item.kind->kind.kind;
  object->meta.ns = wrapper.meta.ns;
  object->meta.name = item.name;
  object->meta.uid = uid;
  object->meta.controller = model::OwnerReference{wrapper.kind, wrapper.meta.name, wrapper.meta.uid};
  object->body = std::make_shared<const Json>(Json::object());
  return ReadSeen(object);
}

// Tells whether the status lists the item, of a kind that no feed shows, without UID.
bool MayExist(const Json& status, const WrappedItem& item) {
  const Json* record = item.kind->watched ? nullptr : Recorded(status, item);
  return record && TextIn(*record, "uid").empty();
}

bool DeleteWasWritten(const cluster::Unseen& unseen, const cluster::ObjectRef& ref) {
  const Json* written = unseen.Written(ref);
  return written && written->is_null();
}

ItemStanding StandingOf(const model::Object& wrapper, const Json& status, const WrappedItem& item,
                        const cluster::Unseen& unseen, const SeenItems& seen_items) {
  ItemStanding standing;
  const cluster::ObjectRef ref = item.Ref(wrapper.meta.ns);
  if (const SeenItem* seen = seen_items.Find({item.kind, wrapper.meta.ns, item.name})) {
    standing.seen = *seen;
    standing.shown = true;
  } else if (const auto created = unseen.Created(ref)) {
    standing.seen = ReadSeen(created);
  } else if (!item.kind->watched) {
    standing.seen = FromRecord(wrapper, status, item);
    standing.recorded = true;
  }
  standing.shown = standing.shown || !item.kind->watched;
  if (!standing.seen) {
    standing.perhaps = MayExist(status, item) && !DeleteWasWritten(unseen, ref);
    return standing;
  }
  standing.ours = standing.seen->owner == wrapper.meta.uid;
  if (!standing.ours) return standing;
  standing.old = !standing.seen->form.empty() && standing.seen->form != item.form;
  const bool deleted = DeleteWasWritten(unseen, item.Ref(wrapper.meta.ns, standing.seen->uid));
  standing.leaving = standing.seen->leaving || deleted;
  if (deleted && !item.kind->watched) standing = {.seen = std::nullopt, .shown = true};  // its end is not seen
  return standing;
}

// Users with the right to write the status may write any name into it.
std::optional<WrappedItem> ReadRecord(const Json& entry) {
  WrappedItem item;
  item.kind = KindIn(entry);
  item.version = SplitVersion(TextIn(entry, "apiVersion")).version;
  item.name = TextIn(entry, "name");
  if (!item.kind || !IsApiVersion(item.version) || !IsObjectName(item.name)) return std::nullopt;
  return item;
}

// Null: it was not created here, or is of a kind that is not wrapped.
std::optional<WrappedItem> ReadCreated(const model::Object& object) {
  WrappedItem item;
  item.kind = FindWrappedKind(object.group, object.kind);
  if (!item.kind || !model::Find(object.meta.annotations, kFormAnnotation)) return std::nullopt;
  item.version = object.version;
  item.name = object.meta.name;
  return item;
}

// They are in the status. Until that has all items with their UIDs, the feed shows them, too, or they are known from
// the reply to their creation. Any user may make objects that look like them: so the first ones go first, and later
// none counts.
void LookAtFormers(const cluster::Unseen& unseen, const SeenItems& seen, WrapperFacts* facts) {
  std::set<std::pair<const WrappedKind*, std::string>> present;
  if (facts->spec.problem.empty())
    for (const WrappedItem& item : facts->spec.items) present.emplace(item.kind, item.name);
  constexpr size_t kMost = 256;
  const auto full = [facts] { return facts->formers.size() >= kMost; };
  const auto add = [&](std::optional<WrappedItem> item) {
    if (full() || !item || !present.emplace(item->kind, item->name).second) return;
    ItemStanding standing = StandingOf(*facts->wrapper, facts->status, *item, unseen, seen);
    if (standing.ours || standing.perhaps) facts->formers.push_back({*std::move(item), std::move(standing)});
  };
  std::set<std::pair<const WrappedKind*, std::string>> missing = present;
  bool has_all = facts->spec.problem.empty();
  for (const Json& entry : ListIn(facts->status, "componentStatus")) {
    std::optional<WrappedItem> item = ReadRecord(entry);
    if (item && !TextIn(entry, "uid").empty())
      missing.erase({item->kind, item->name});
    else
      has_all = false;  // it may have been created after that was written
    add(std::move(item));
  }
  if (has_all && missing.empty()) return;
  for (const ItemName& name : seen.Of(facts->wrapper->meta.uid)) {
    if (full()) break;
    if (const SeenItem* item = seen.Find(name); item->object) add(ReadCreated(*item->object));
  }
  for (const auto& object : unseen.AllCreated()) add(ReadCreated(*object));
}

bool WouldFailAgain(int http_status) {
  return http_status == kNotFound || http_status == kUnprocessable || http_status == kBadRequest ||
         http_status == kConflict;
}

bool IsTime(std::string_view key) {
  return key == "lastTransitionTime" || key == "lastUpdateMicroTime" || key == "lastTransitionMicroTime" ||
         key == "controllerfirsttimestamp" || key == "controllerfirstdispatchtimestamp";
}

// Whether the object has all fields but times.
bool AgreesButTimes(const Json& fields, const Json& object) {
  if (fields.is_array() && object.is_array())
    return std::ranges::equal(fields, object, [](const Json& a, const Json& b) { return AgreesButTimes(a, b); });
  if (!fields.is_object()) return fields == object;
  if (!object.is_object()) return false;
  return std::ranges::all_of(fields.items(), [&](const auto& entry) {
    const auto at = object.find(entry.key());
    if (entry.value().is_null() || at == object.end())
      return entry.value().is_null() && (at == object.end() || at->is_null());
    return IsTime(entry.key()) || AgreesButTimes(entry.value(), *at);
  });
}

bool ChangesPhase(const Json& wanted, const Json& status) {
  if (!wanted.is_object()) return false;
  constexpr const char* kPhases[] = {"phase", "state", "queuejobstate"};
  return std::ranges::any_of(kPhases, [&](const char* key) {
    return wanted.contains(key) && TextIn(wanted, key) != TextIn(status, key);
  });
}

bool StatusAgrees(const Json& fields, const Json& object) { return AgreesButTimes(StatusIn(fields), StatusIn(object)); }

}  // namespace

WrapperFacts LookAt(std::shared_ptr<const model::Object> of, const WrapperSpec& spec, const GangReport& report,
                    const cluster::Unseen& unseen, const SeenItems& seen) {
  WrapperFacts facts{std::move(of), spec, report, {}, {}, {}, {}, false, std::nullopt};
  const model::Object& wrapper = *facts.wrapper;
  facts.status = StatusOf(wrapper);
  if (const Json* written = unseen.Written(cluster::RefOf(facts.wrapper)))
    for (const auto& [key, value] : StatusIn(*written).items()) {
      if (value.is_null())
        facts.status.erase(key);
      else
        facts.status[key] = value;
    }
  size_t left = kMostBytes;
  if (!TakeBytes(facts.status, &left)) facts.status = Json::object();
  LookAtFormers(unseen, seen, &facts);
  if (!spec.problem.empty()) return facts;
  for (const WrappedItem& item : spec.items) {
    const ItemStanding& standing = facts.items.emplace_back(StandingOf(wrapper, facts.status, item, unseen, seen));
    if (!facts.failure.empty()) continue;
    const cluster::WriteRefusal* refused = unseen.Refused(item.Ref(wrapper.meta.ns));
    if (standing.seen && !standing.ours) {
      facts.failure = fmt::format("{} exists already, and is not of this AppWrapper", item.Title(wrapper.meta.ns));
      facts.hopeless = true;
    } else if (refused && !standing.seen) {
      facts.failure = OneLine(fmt::format("{}: {}", item.Title(wrapper.meta.ns), refused->message));
      facts.hopeless = WouldFailAgain(refused->http_status);
    }
  }
  return facts;
}

bool WrapperFacts::begun_unplaced() const {
  return spec.fit != model::Fit::kNodes && std::ranges::any_of(items, &ItemStanding::ours);
}

bool WrapperFacts::runs() const {
  return all_there() && report.bound + report.running + report.succeeded > 0 && report.deleting == 0;
}

bool WrapperFacts::admitted() const {
  if (let_go) return *let_go;
  if (report.state == GangState::kAdmitted || begun_unplaced() || runs()) return true;
  const bool bound_or_binding = (report.state == GangState::kBinding && report.sentence.empty()) ||
                                report.state == GangState::kWhole || report.state == GangState::kFinished;
  return bound_or_binding && report.total > 0 && report.deleting == 0 && has_begun();
}

bool WrapperFacts::has_begun() const {
  return !formers.empty() || ListsItems(status) || std::ranges::any_of(items, &ItemStanding::ours);
}

const std::string& WrapperFacts::problem() const { return spec.problem.empty() ? report.spec->problem : spec.problem; }

std::string WrapperFacts::why() const {
  if (!problem().empty()) return problem();
  if (let_go || begun_unplaced() || runs()) return {};  // its pods wait for nodes, and not it
  return OneLine(Join(report.sentence, report.nodes_sentence));
}

// So it is after its pods were evicted for a gang of higher priority, or their nodes went: while others run, those that
// wait are waited for. What was created without places never had any.
bool WrapperFacts::lost_all() const {
  return spec.fit == model::Fit::kNodes && !why().empty() && report.state == GangState::kWaitingForNodes &&
         report.bound == 0 && report.running == 0 && report.succeeded == 0 && report.deleting == 0;
}

bool WrapperFacts::is_of_bare_pods() const {
  const auto makes_others = [](const WrappedItem& item) { return !item.sets.empty() && !item.IsPod(); };
  return std::ranges::any_of(spec.items, &WrappedItem::IsPod) && std::ranges::none_of(spec.items, makes_others);
}

bool WrapperFacts::lost_bare_pods() const {
  const bool at_rest = report.state == GangState::kAdmitted || report.state == GangState::kWaitingForQueue ||
                       report.state == GangState::kFinished;
  return spec.fit == model::Fit::kNodes && at_rest && report.total == 0 && is_of_bare_pods();
}

bool WrapperFacts::lacks_pods() const {
  return spec.fit == model::Fit::kNodes && report.state == GangState::kAdmitted && is_of_bare_pods();
}

bool WrapperFacts::edited() const { return !formers.empty() || std::ranges::any_of(items, &ItemStanding::old); }

bool WrapperFacts::all_there() const {
  return !edited() && std::ranges::all_of(items, [](const ItemStanding& item) {
    return item.ours && !item.leaving && item.shown && !item.recorded;
  });
}

bool WrapperFacts::some_gone() const {
  for (size_t i = 0; i < items.size(); ++i)
    if (spec.items[i].kind->watched && !items[i].ours) return true;
  return false;
}

bool WrapperFacts::none_left() const {
  return report.total == 0 && formers.empty() &&
         std::ranges::none_of(items, [](const ItemStanding& item) { return item.ours || item.perhaps; });
}

bool WrapperFacts::lists_none_left() const { return none_left() && ListsItems(status); }

// While the spec cannot be read, it is not known what it has.
std::string WrapperFacts::edit() const {
  const auto created = std::ranges::find_if(formers, [](const FormerItem& each) { return each.standing.ours; });
  if (created == formers.end() || !spec.problem.empty()) return {};
  return fmt::format("{} was created, and the spec does not have it any more", created->item.Title(wrapper->meta.ns));
}

int64_t WrapperFacts::failed() const {
  return std::ranges::count_if(items, [](const ItemStanding& item) { return item.ours && item.seen->failed; });
}

void Desire(const WrapperFacts& facts, WrapperWish wish, std::vector<DesiredObject>* out) {
  const std::string& ns = facts.wrapper->meta.ns;
  const bool all = wish.items == WrapperWish::Items::kRemove, waits = all && ChangesPhase(wish.status, facts.status);
  if (!wish.status.is_null())
    out->push_back({.ref = cluster::RefOf(facts.wrapper),
                    .status = true,
                    .fields = {{"status", std::move(wish.status)}},
                    .agree = StatusAgrees,
                    .tells = wish.tells,
                    .seen = facts.wrapper});
  if (wish.items == WrapperWish::Items::kLeave) return;
  const auto remove = [&](const WrappedItem& item, const ItemStanding& standing) {
    const std::shared_ptr<const model::Object> object = standing.ours ? standing.seen->object : nullptr;
    if (!waits && standing.ours)
      out->push_back({.ref = item.Ref(ns, standing.seen->uid), .mode = DesiredObject::Mode::kGone, .seen = object});
    else if (!waits && standing.perhaps)
      out->push_back({.ref = item.Ref(ns), .mode = DesiredObject::Mode::kGone, .controller = facts.wrapper->meta.uid});
    else if (object)  // so that it stays known, if no feed shows it
      out->push_back(
          {.ref = item.Ref(ns), .mode = DesiredObject::Mode::kExists, .fields = *object->body, .seen = object});
  };
  if (all || facts.edited()) {
    for (size_t i = 0; i < facts.items.size(); ++i)
      if (all || facts.items[i].old) remove(facts.spec.items[i], facts.items[i]);
    for (const FormerItem& former : facts.formers) remove(former.item, former.standing);
    return;
  }
  for (size_t i = 0; i < facts.items.size(); ++i) {
    const WrappedItem& item = facts.spec.items[i];
    const ItemStanding& standing = facts.items[i];
    if (standing.leaving) return;
    const bool there = standing.ours && !standing.recorded;
    if (!there && !item.kind->watched && !Recorded(facts.status, item)) return;  // a next leader would not know of it
    out->push_back({.ref = item.Ref(ns),
                    .mode = DesiredObject::Mode::kExists,
                    .fields = item.object,
                    .seen = there ? standing.seen->object : nullptr});
    if (!there) return;  // or perhaps not any more: its creation tells
  }
}

Json ComponentStatus(const WrapperFacts& facts, Uids uids) {
  Json list = Json::array();
  const auto add = [&](const WrappedItem& item, const ItemStanding& standing) {
    const model::ObjectKind& kind = item.kind->kind;
    Json& entry = list.emplace_back(
        Json{{"apiVersion", kind.group.empty() ? item.version : fmt::format("{}/{}", kind.group, item.version)},
             {"kind", kind.kind},
             {"name", item.name}});
    const Json* listed = Recorded(facts.status, item);
    if (standing.ours && (uids == Uids::kAll || (listed && TextIn(*listed, "uid") == standing.seen->uid)))
      entry["uid"] = standing.seen->uid;
  };
  for (size_t i = 0; i < facts.items.size(); ++i) add(facts.spec.items[i], facts.items[i]);
  for (const FormerItem& former : facts.formers) add(former.item, former.standing);
  return list;
}

bool IsRecorded(const WrapperFacts& facts) {
  return std::ranges::any_of(facts.spec.items, [](const WrappedItem& item) { return !item.kind->watched; }) ||
         ListsItems(facts.status);
}

bool ListsItems(const Json& status) { return !ListIn(status, "componentStatus").empty(); }

bool WasCreatedHere(const Json& status) {
  return std::ranges::any_of(ListIn(status, "componentStatus"),
                             [](const Json& entry) { return !TextIn(entry, "uid").empty(); });
}

}  // namespace tutti::dialects
