// SPDX-License-Identifier: Apache-2.0
// Pod sets: which pods a job of a known kind makes, how many of each, and where in the job their templates are.
//
// A kind is a row of a table. Pure functions, safe on any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "model/pod.h"

namespace tutti::dialects {

// The most pods of a gang that are promised before they are made, in all of its sets: a place is sought for each.
inline constexpr int64_t kMostPods = 10'000;

struct PodSet {
  std::string name;   // "head", a worker group's name, "submitter"; "main" where the kind has one set only
  int64_t count = 1;  // pods; 0 is possible
  std::string path;   // JSON pointer of the PodTemplateSpec in the object; of a pod: "", for it is its own template
  bool head = false;  // as of dialects::Membership
  bool needs_head = false;
  bool late = false;     // its pods come once the others run (a submitter)
  bool ordered = false;  // each of its pods comes when the one before runs
  bool follows = false;  // its pods come once those of other sets run; in all else they are as those
  friend bool operator==(const PodSet&, const PodSet&) = default;
};

// Tells whether PodSetsOf knows the kind, in any of its versions.
bool HasPodSets(std::string_view group, std::string_view kind);

// The sets in the order in which the object lists them, the head first and the submitter last. No two have the same
// name. Error kNotFound: the kind is not known. Error kInvalid names the field and says what it may be.
base::Result<std::vector<PodSet>> PodSetsOf(const base::Json& object);

// The template of the set's pods, with the containers that the job's controller adds to it: Ray's autoscaler, and the
// submitter. What a submitter has by default is filled in where the object has no template for it.
base::Json TemplateOf(const base::Json& object, const PodSet& set);

// One pod as the template makes it, in the namespace `ns`, without a name and a UID. Error kInvalid: the template has a
// field that cannot be read; its path is in the message.
base::Result<model::Pod> PodFromTemplate(const base::Json& pod_template, std::string_view ns, std::string_view path);

}  // namespace tutti::dialects
