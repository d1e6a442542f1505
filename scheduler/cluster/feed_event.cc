// SPDX-License-Identifier: Apache-2.0
#include "cluster/feed_event.h"

#include "cluster/selections.h"

namespace tutti::cluster {
namespace {

struct KeyOf {
  std::string operator()(const PodChanged& e) const { return "p/" + e.pod->meta.ns + "/" + e.pod->meta.name; }
  std::string operator()(const PodGone& e) const { return "p/" + e.ns + "/" + e.name; }
  std::string operator()(const NodeChanged& e) const { return "n/" + e.node->meta.name; }
  std::string operator()(const NodeGone& e) const { return "n/" + e.name; }
  std::string operator()(const ObjectChanged& e) const {
    const model::Object& o = *e.object;
    return (o.labelled ? "o/labelled-" : "o/") + o.resource + "." + o.group + "/" + o.meta.ns + "/" + o.meta.name;
  }
  std::string operator()(const SelectionChanged& e) const {
    const model::ObjectKind& kind = ObjectKindOf(e.selection->kind);
    return "o/" + kind.resource + "." + kind.group + "/" + e.selection->ns + "/" + e.selection->name;
  }
  // A removal takes the place of a change, so the two share a key: ObjectKind::Name() is "resource.group", and a
  // change spells it out the same way.
  std::string operator()(const ObjectGone& e) const {
    const std::string kind = e.kind_name.find('.') == std::string::npos ? e.kind_name + "." : e.kind_name;
    return "o/" + kind + "/" + e.ns + "/" + e.name;
  }
  std::string operator()(const KindSynced&) const { return {}; }
  std::string operator()(const KindUnreadable&) const { return {}; }
  std::string operator()(const Leadership&) const { return {}; }
  std::string operator()(const CommandReply&) const { return {}; }
  std::string operator()(const CommandDelayed&) const { return {}; }
  std::string operator()(const ExtenderReply&) const { return {}; }
};

}  // namespace

std::string CoalesceKey(const FeedEvent& event) { return std::visit(KeyOf{}, event); }

}  // namespace tutti::cluster
