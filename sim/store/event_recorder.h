// SPDX-License-Identifier: Apache-2.0
// sim/store/event_recorder.h - Events about objects, as `kubectl describe` shows them.
//
// In the form that events.k8s.io clients give them (eventTime, reportingComponent, series). The same note on the same
// object within six minutes raises the series' count instead of making a new Event. One thread.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "sim/store/store.h"

namespace tutti::sim {

struct EventNote {
  bool warning = false;
  std::string reason;
  std::string action;
  std::string note;  // cut at 1024 bytes
  std::string reporter;
};

class EventRecorder {
 public:
  explicit EventRecorder(Store& store) : store_(store) {}

  // `regarding` is an ObjectReference: kind, namespace, name, uid, apiVersion, resourceVersion.
  ApiResult<Object> Emit(const Json& regarding, const EventNote& note);
  // About an object as it is.
  ApiResult<Object> EmitAbout(const Json& object, const EventNote& note);

 private:
  struct Series {
    std::string ns, name;
    base::Millis last_ms;
  };

  void DropEnded(base::Millis now_ms);

  Store& store_;
  std::map<std::string, Series> series_;  // by all that two Events of a series share
  uint64_t next_ = 0;
};

}  // namespace tutti::sim
