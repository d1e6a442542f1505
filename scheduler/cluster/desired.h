// SPDX-License-Identifier: Apache-2.0
// DesiredObject: what an object in the cluster should be, as a value. A dialect says what should be so, not what to
// write; core/publish/object_keeper.h compares that with what is there, and writes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/json.h"
#include "cluster/command.h"
#include "model/object.h"

namespace tutti::cluster {

struct DesiredObject {
  enum class Mode : uint8_t {
    kFields,  // where the object exists, it has these fields; it is not created
    kExists,  // the object exists; one that does is left as it is
    kGone,    // the object does not exist, or is being deleted
  };
  // Tells whether an object, or what was written of it, has these fields: times and the fields of others do not count.
  using Agree = bool (*)(const base::Json& fields, const base::Json& object);

  // A uid in it is a precondition of the write, and so is a resourceVersion.
  ObjectRef ref;
  Mode mode = Mode::kFields;
  bool status = false;                     // kFields: they are of the status subresource
  Patch::Type type = Patch::Type::kMerge;  // kFields: how they are merged into the object; not kJson
  // kFields: the patch, such as {"status": {...}}. kExists: the whole object as it is to be created, with its owner and
  // labels. kGone: null.
  base::Json fields = nullptr;
  Agree agree = nullptr;  // null: MergeAgrees
  // kFields: they only tell what has happened, and nothing waits for them. They are written a little later, with what
  // changes until then, and behind what begins something.
  bool tells = false;
  // kGone, where neither the feed nor the UID in `ref` says whether there is one: the UID of its controller. What
  // follows that waits until it is written. What has another controller, or none, stays.
  std::string controller = {};
  // The object as the feed showed it last; null: it showed none. It is no part of what is desired.
  std::shared_ptr<const model::Object> seen = nullptr;

  // Tells whether an object with this body is as desired. REQUIRES: kFields.
  bool Agrees(const base::Json& body) const;
};

// Tells whether a merge patch of `fields` changes nothing in `object`.
bool MergeAgrees(const base::Json& fields, const base::Json& object);

// Why the API server would not have a write.
struct WriteRefusal {
  int http_status = 0;
  std::string message;
};

// What is known of desired objects before the feed shows it.
class Unseen {
 public:
  virtual ~Unseen() = default;
  // The fields that were written last and that the feed has not shown yet; null: there are none. A write whose reply
  // was bad does not count.
  virtual const base::Json* Written(const ObjectRef& ref) const = 0;
  // A desired object as the feed shows it, or until then as the reply to its creation had it; null: there is none.
  // Where its name was taken already, that is the object that has the name.
  virtual std::shared_ptr<const model::Object> Created(const ObjectRef& ref) const = 0;
  // The objects that exist of those that were last desired to exist, or to go, for the one that states its desires now.
  virtual std::vector<std::shared_ptr<const model::Object>> AllCreated() const { return {}; }
  // Why what is desired of an object could not be written; null: it was written, or not tried, or the API server could
  // not be reached.
  virtual const WriteRefusal* Refused(const ObjectRef&) const { return nullptr; }
};

}  // namespace tutti::cluster
