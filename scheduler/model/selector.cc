// SPDX-License-Identifier: Apache-2.0
#include "model/selector.h"

namespace tutti::model {

Operator ParseOperator(std::string_view word) {
  if (word == "In") return Operator::kIn;
  if (word == "NotIn") return Operator::kNotIn;
  if (word == "Exists") return Operator::kExists;
  if (word == "DoesNotExist") return Operator::kDoesNotExist;
  if (word == "Gt") return Operator::kGt;
  if (word == "Lt") return Operator::kLt;
  return Operator::kInvalid;
}

}  // namespace tutti::model
