// SPDX-License-Identifier: Apache-2.0
// FeedEvent: everything that can happen to the scheduler from outside, as one value. The core is a function of a
// stream of these and of clock readings (P6).
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "cluster/command.h"
#include "cluster/extenders.h"
#include "model/node.h"
#include "model/object.h"
#include "model/pod.h"
#include "model/selection.h"

namespace tutti::cluster {

// Created or modified; a pod of the same name with another UID replaces the old one.
struct PodChanged {
  std::shared_ptr<const model::Pod> pod;
};
struct PodGone {
  std::string ns, name, uid;
};
struct NodeChanged {
  std::shared_ptr<const model::Node> node;
};
struct NodeGone {
  std::string name;
};
struct ObjectChanged {
  std::shared_ptr<const model::Object> object;
};
// A Service or a controller of pods; it goes as an ObjectGone.
struct SelectionChanged {
  std::shared_ptr<const model::Selection> selection;
};
struct ObjectGone {
  std::string kind_name;  // ObjectKind::Name()
  std::string ns, name, uid;
};

// The first complete list of a kind has been posted, or the kind is not served (again). "pods", "nodes", or
// ObjectKind::Name(). When `served` turns false, every object of the kind has been posted as gone before.
struct KindSynced {
  std::string kind_name;
  bool served = true;
};

// A list of the kind is needed, and has failed for long: nothing is known of its objects, or nothing new. It precedes
// the KindSynced of that list.
struct KindUnreadable {
  std::string kind_name;
  std::string why;
};

// This replica may write from now on, or may not any more. Without leader election one Leadership{true} comes at start.
// `plan_after_ms`: monotonic; before it, a former leader's last writes may still be on their way.
struct Leadership {
  bool leading = false;
  base::Millis plan_after_ms = 0;
};

// A Bind was sent and may have failed; its reply comes when that is known. So it is not work that the API server is
// busy with. At most one for each command, and before its reply.
struct CommandDelayed {
  CommandId id = 0;
};

using FeedEvent = std::variant<PodChanged, PodGone, NodeChanged, NodeGone, ObjectChanged, SelectionChanged, ObjectGone,
                               KindSynced, KindUnreadable, Leadership, CommandReply, CommandDelayed, ExtenderReply>;

// What the mailbox coalesces by; empty for events that each count.
std::string CoalesceKey(const FeedEvent& event);

}  // namespace tutti::cluster
