// SPDX-License-Identifier: Apache-2.0
// sim/store/pod_templates.h - pods that come of one template are admitted once: the spec of the first is decoded,
// defaulted and validated, and the others get it as it is stored.
//
// Specs are known by what they share (base/flat_map.h): those of manifests whose text is the same, and those that a
// controller takes from the object that has the template. One thread: the store's owner.
#pragma once

#include <string>

#include "sim/objects/object.h"
#include "sim/objects/recent.h"

namespace tutti::sim {

class PodTemplates {
 public:
  // What became of a spec by the limits of its namespace and the priority classes. When those change, all is forgotten.
  struct Admitted {
    Json given;  // as decoded
    std::string ns;
    bool restored = false;  // from a dump
    Json spec;              // as stored; frozen
    std::string qos_class;
    bool valid = false;  // ValidatePod has nothing against it
  };

  // Tells whether the spec was decoded before, so that all its fields are known and of their types.
  bool IsDecoded(const Json& spec) {
    return recent_.Find([&](const Admitted& each) { return base::IsShared(each.given, spec); }) != nullptr;
  }
  // Null when it is not known.
  const Admitted* Find(const Json& given, const std::string& ns, bool restored) {
    return recent_.Find([&](const Admitted& each) {
      return each.restored == restored && base::IsShared(each.given, given) && each.ns == ns;
    });
  }
  const Admitted& Put(Admitted admitted) { return recent_.Put(std::move(admitted)); }

  // Tells whether `spec`, as stored, was found valid before.
  bool IsValid(const Json& spec) {
    const Admitted* known = FindStored(spec);
    return known != nullptr && known->valid;
  }
  void NoteValid(const Json& spec) {
    if (Admitted* known = FindStored(spec)) known->valid = true;
  }

  void Clear() { recent_.Clear(); }

 private:
  Admitted* FindStored(const Json& spec) {
    return recent_.Find([&](const Admitted& each) { return base::IsShared(each.spec, spec); });
  }

  Recent<Admitted> recent_;
};

}  // namespace tutti::sim
