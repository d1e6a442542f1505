// SPDX-License-Identifier: Apache-2.0
#include "dialects/appwrapper_item.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>
#include <utility>

#include "base/json_string.h"
#include "base/sha1.h"
#include "dialects/appwrapper_condensed.h"
#include "dialects/appwrapper_seen.h"
#include "dialects/appwrapper_sets.h"
#include "dialects/declaration.h"
#include "dialects/fields.h"
#include "dialects/wording.h"

namespace tutti::dialects {
namespace {

using base::Json;
using cluster::JsonField;
using cluster::JsonReader;

constexpr std::string_view kMcadGroup = "mcad.ibm.com";
// Of v1beta1, on what an item makes: the item's name.
constexpr std::string_view kResourceName = "resourceName";
// Of each list and map of a podSetInfo.
constexpr size_t kMostAdded = 256;

Json& MapIn(Json& object, std::string_view key) {
  Json& value = object[std::string(key)];
  if (!value.is_object()) value = Json::object();
  return value;
}

// Null: the pointer leads to nothing, or to what is no map.
Json* PartAt(Json& object, const std::string& pointer) {
  const Json::json_pointer at(pointer);
  if (!object.contains(at)) return nullptr;
  Json& found = object[at];
  return found.is_object() ? &found : nullptr;
}

// Adds what is not there; what is there with another value is a problem of `field`.
void MergeMap(JsonReader& read, const JsonField& field, const model::StringMap& from, Json& to) {
  for (const auto& [key, value] : from) {
    if (to.contains(key) && to[key] != value)
      read.Problem(field, fmt::format("the template has another value for {}; take one of the two out", Named(key)));
    else
      to[key] = value;
  }
}

void AppendMissing(JsonReader& read, const JsonField& from, Json& spec, const char* key) {
  if (!from.value().is_array() || !FewEnough(read, from, kMostAdded)) return;
  Json& list = spec[key];
  if (!list.is_array()) list = Json::array();
  if (list.size() > kMostAdded)
    return read.Problem(from, fmt::format("the template has {} of its own, and {} are looked at; write fewer",
                                          list.size(), kMostAdded));
  for (const Json& item : from.value())
    if (std::ranges::find(list, item) == list.end()) list.push_back(item);
}

// What v1beta2's podSetInfos put into a template.
void InjectInfo(JsonReader& read, const JsonField& info, Json& made) {
  for (const char* map : {"labels", "annotations", "nodeSelector"})
    if (!FewEnough(read, info[map], kMostAdded)) return;
  Json& meta = MapIn(made, "metadata");
  MergeMap(read, info["labels"], read.Map(info["labels"]), MapIn(meta, "labels"));
  if (info["annotations"].present())
    MergeMap(read, info["annotations"], read.Map(info["annotations"]), MapIn(MapIn(made, "metadata"), "annotations"));
  Json& spec = MapIn(made, "spec");
  if (info["nodeSelector"].present())
    MergeMap(read, info["nodeSelector"], read.Map(info["nodeSelector"]), MapIn(spec, "nodeSelector"));
  AppendMissing(read, info["tolerations"], spec, "tolerations");
  AppendMissing(read, info["schedulingGates"], spec, "schedulingGates");
}

struct ItemReader {
  JsonReader& read;
  const WrapperContext& context;
  const size_t index;
  const ItemFields& fields;
  WrappedItem item;

  const std::string& ns() const { return context.wrapper.meta.ns; }
  void Complain(const std::string& what) { read.Problem(fields.template_field, what); }

  bool ReadIdentity();
  void Label(Json& labels) const;
  void SetOwner();
  void ReadSets();
  void MarkTemplate(const PodSet& set, size_t place);
  void Inject();
  void Promise();
  void SetForm();
};

bool ItemReader::ReadIdentity() {
  if (!fields.template_field.value().is_object()) {
    Complain(fmt::format("{} is no object; write the object that is to be created",
                         cluster::Describe(fields.template_field.value())));
    return false;
  }
  item.object = InLongForm(fields.template_field.value(), context.wrapper.meta.name);
  const std::string api_version = TextIn(item.object, "apiVersion"), kind = TextIn(item.object, "kind");
  const auto [group, version] = SplitVersion(api_version);
  item.version = version;
  if (kind == "AppWrapper") return Complain("Nested AppWrappers are forbidden"), false;
  item.kind = FindWrappedKind(group, kind);
  if (api_version.empty() || kind.empty()) return Complain("apiVersion and kind are missing; write both"), false;
  if (!item.kind || !IsApiVersion(item.version)) {
    Complain(fmt::format("an AppWrapper cannot wrap {}", Named(api_version + "/" + kind)));
    return false;
  }
  const Json& meta = MapIn(item.object, "metadata");
  item.name = TextIn(meta, "name");
  if (!IsObjectName(item.name)) {
    Complain(item.name.empty() ? "metadata.name is missing; give the object a name"
                               : fmt::format("metadata.name: {} is no name of an object", Named(item.name)));
    return false;
  }
  if (const std::string other = TextIn(meta, "namespace"); !other.empty() && other != ns()) {
    Complain(fmt::format("an AppWrapper cannot wrap an object of another namespace than its own, {}", ns()));
    return false;
  }
  const Json& spec = Field(item.object, "spec");
  if (!spec.is_null() && !spec.is_object()) {
    Complain(fmt::format("spec: {} is no object; write the spec of the {}", cluster::Describe(spec), kind));
    return false;
  }
  if (Field(spec, "suspend") == true) {
    Complain("it is suspended, so it makes no pods; take spec.suspend out");
    return false;
  }
  return true;
}

void ItemReader::Label(Json& labels) const {
  const std::string& name = context.wrapper.meta.name;
  if (context.wrapper.group != kMcadGroup) labels[std::string(kWrapperLabel)] = name;
  if (context.components) return;
  labels[std::string(kMcadLabel)] = name;
  labels[std::string(kResourceName)] = item.name;
}

// It is the AppWrapper's alone, and what only the API server writes is not carried along.
void ItemReader::SetOwner() {
  item.object.erase("status");
  Json& meta = MapIn(item.object, "metadata");
  Json kept = Json::object();
  for (const char* key : {"labels", "annotations"})
    if (meta.contains(key) && meta[key].is_object()) kept[key] = meta[key];
  kept["name"] = item.name;
  kept["namespace"] = ns();
  const model::Object& wrapper = context.wrapper;
  kept["ownerReferences"] = Json::array({{{"apiVersion", wrapper.group + "/" + wrapper.version},
                                          {"kind", wrapper.kind},
                                          {"name", wrapper.meta.name},
                                          {"uid", wrapper.meta.uid},
                                          {"controller", true}}});
  Label(MapIn(kept, "labels"));
  meta = std::move(kept);
}

// Where the kind's pods are known they are what it has, whatever is declared of them.
void ItemReader::ReadSets() {
  item.ordered = ComeInOrder(item.object);
  if (HasPodSets(item.kind->kind.group, item.kind->kind.kind)) {
    auto sets = PodSetsOf(item.object);
    if (sets)
      item.sets = *std::move(sets);
    else
      Complain(sets.error().message);
    return;
  }
  ReadDeclaredSets(read, fields.pod_sets, item.object, &item.sets);
}

void ItemReader::MarkTemplate(const PodSet& set, size_t place) {
  if (set.late && !PartAt(item.object, set.path))
    item.object[Json::json_pointer(set.path)] = TemplateOf(item.object, set);
  Json* made = PartAt(item.object, set.path);
  if (!made) return Complain(fmt::format("{} is missing; write the template of its pods", set.path));
  Json& labels = MapIn(MapIn(*made, "metadata"), "labels");
  labels[std::string(kPodSetLabel)] = fmt::format("{}-{}", index, place);
  Label(labels);
  Json& spec = MapIn(*made, "spec");
  const std::string named = TextIn(spec, "schedulerName");
  if (named.empty())
    spec["schedulerName"] = context.scheduler_names.front();
  else if (std::ranges::find(context.scheduler_names, named) == context.scheduler_names.end())
    Complain(fmt::format("{}{}schedulerName {} is not served; write {}, or leave it out", set.path,
                         set.path.empty() ? "" : ": ", Named(named), context.scheduler_names.front()));
}

// Each podSetInfo is of the pod set in its place.
void ItemReader::Inject() {
  if (!fields.infos.value().is_array() || !FewEnough(read, fields.infos, kMostRoles)) return;
  size_t place = 0;
  read.Items(fields.infos, [&](const JsonField& info) {
    if (place >= item.sets.size()) return;
    if (Json* made = PartAt(item.object, item.sets[place++].path)) InjectInfo(read, info, *made);
  });
}

void ItemReader::Promise() {
  for (const PodSet& set : item.sets) {
    auto pod = PodFromTemplate(TemplateOf(item.object, set), ns(), set.path);
    if (!pod) return Complain(pod.error().message);
    item.promised.push_back({.role = set.name,
                             .count = set.count,
                             .head = set.head,
                             .needs_head = set.needs_head,
                             .late = set.late || set.follows,
                             .ordered = set.ordered,
                             .pod = std::make_shared<const model::Pod>(*std::move(pod))});
  }
  if (item.ordered && item.promised.front().count > 1) {
    model::PromisedMembers others = item.promised.front();
    item.promised.front().count = 1;
    others.role += "-later";
    others.late = true;
    --others.count;
    item.promised.push_back(std::move(others));
  }
  if (!item.sets.empty()) return;
  auto promised = PromiseDeclared(item.declared, ns(), context.scheduler_names.front());
  if (promised)
    item.promised = *std::move(promised);
  else
    read.Problem(fields.demand, promised.error().message);
}

void ItemReader::SetForm() {
  item.form = base::Sha1Hex(base::PrintJson(item.object));
  MapIn(MapIn(item.object, "metadata"), "annotations")[std::string(kFormAnnotation)] = item.form;
}

}  // namespace

bool IsObjectName(std::string_view name) {
  const auto may_be = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.'; };
  return !name.empty() && name.size() <= 253 && std::ranges::all_of(name, may_be);
}

bool IsApiVersion(std::string_view version) {
  return version.size() > 1 && version.size() < 32 && version.front() == 'v' &&
         std::ranges::all_of(version, [](unsigned char c) { return std::isalnum(c) != 0; });
}

cluster::ObjectRef WrappedItem::Ref(const std::string& ns, const std::string& uid) const {
  struct Kept {  // the item may be gone, or edited, when what refers to it leaves
    std::string version;
    model::ObjectMeta meta;
  };
  auto kept = std::make_shared<Kept>();
  kept->version = version;
  kept->meta.ns = ns;
  kept->meta.name = name;
  kept->meta.uid = uid;
  return {kind->kind.group, kept->version, kind->kind.resource, kind->kind.kind, {kept, &kept->meta}};
}

std::string WrappedItem::Title(const std::string& ns) const { return Named(kind->kind.kind, ns, name); }

WrappedItem ReadItem(JsonReader& read, const WrapperContext& context, size_t index, const ItemFields& fields) {
  ItemReader reader{read, context, index, fields, {}};
  reader.item.declared = ReadDemand(read, fields.demand);
  if (!reader.ReadIdentity()) return std::move(reader.item);
  reader.SetOwner();
  reader.ReadSets();
  for (size_t place = 0; place < reader.item.sets.size(); ++place) reader.MarkTemplate(reader.item.sets[place], place);
  reader.Inject();
  if (read.ok()) reader.Promise();
  reader.SetForm();
  base::Freeze(reader.item.object);  // it is desired again and again, and never changes
  return std::move(reader.item);
}

}  // namespace tutti::dialects
