// SPDX-License-Identifier: Apache-2.0
// sim/objects/selectors.h - label and field selectors, as text and as objects.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/objects/api_error.h"
#include "sim/objects/object.h"
#include "sim/objects/resources.h"

namespace tutti::sim {

// A conjunction over an object's labels. An empty one matches everything.
class LabelSelector {
 public:
  // "app=a,tier in (x, y),!canary,gpu>3": 400 with the API server's words when it does not parse.
  static ApiResult<LabelSelector> Parse(std::string_view text);
  // {matchLabels, matchExpressions}, as in a ReplicaSet. A null matches nothing.
  static ApiResult<LabelSelector> FromJson(const Json& selector);

  bool Matches(const Json& object) const;
  bool MatchesLabels(const Json& labels) const;
  bool empty() const { return terms_.empty() && !nothing_; }

 private:
  enum class Op { kIn, kNotIn, kExists, kDoesNotExist, kGreater, kLess };
  struct Term {
    std::string key;
    Op op;
    std::vector<std::string> values;
  };
  friend class LabelSelectorParser;
  std::vector<Term> terms_;
  bool nothing_ = false;
};

// A conjunction of path=value and path!=value.
class FieldSelector {
 public:
  // 400 "field label not supported: x" when `resource` cannot be selected by it.
  static ApiResult<FieldSelector> Parse(std::string_view text, const ApiResource& resource);

  bool Matches(const Json& object) const;
  bool empty() const { return terms_.empty(); }
  // The value demanded of metadata.name, or "": one object instead of a scan.
  const std::string& name() const { return name_; }

 private:
  struct Term {
    std::vector<std::string> path;
    std::string value;
    bool equal;
  };
  std::vector<Term> terms_;
  std::string name_;
};

struct Selectors {
  LabelSelector labels;
  FieldSelector fields;
  bool Matches(const Json& object) const { return fields.Matches(object) && labels.Matches(object); }
  bool empty() const { return labels.empty() && fields.empty(); }
};

}  // namespace tutti::sim
