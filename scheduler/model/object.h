// SPDX-License-Identifier: Apache-2.0
// Object: any other kind (PodGroup, Queue, RayCluster, PriorityClass, ...) as its JSON. Few and small next to pods and
// nodes, so they are kept whole and read by the dialect that knows them.
#pragma once

#include <memory>
#include <string>

#include "base/json_fwd.h"
#include "model/object_meta.h"

namespace tutti::model {

// A kind as dialects ask for it. `versions` in order of preference; the feed takes the first one served.
struct ObjectKind {
  std::string group;     // empty for the core group
  std::string resource;  // plural, as in URLs: "podgroups"
  std::string kind;      // "PodGroup"
  std::vector<std::string> versions;
  std::string label = {};  // only objects that have a label of this key; empty: all
  bool is_record = false;  // leaders record there what they decided: a new one lists it before it decides

  // "podgroups.scheduling.volcano.sh", "labelled-pods". At most one label of a resource is asked for.
  std::string Name() const {
    return (label.empty() ? resource : "labelled-" + resource) + (group.empty() ? "" : "." + group);
  }
  friend bool operator==(const ObjectKind&, const ObjectKind&) = default;
};

struct Object {
  std::string group, version, resource, kind;
  ObjectMeta meta;
  bool labelled = false;                   // it was asked for by ObjectKind::label
  std::shared_ptr<const base::Json> body;  // the whole object; never null
};

}  // namespace tutti::model
