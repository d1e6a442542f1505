// SPDX-License-Identifier: Apache-2.0
// Volcano's PodGroups, as tests write them.
#pragma once

#include <memory>
#include <string>

#include "tests/dialects/objects.h"

namespace tutti::dialects {

inline std::shared_ptr<const model::Object> VolcanoGroup(const std::string& name, const std::string& spec,
                                                         const std::string& status = "{}",
                                                         const std::string& version = "1") {
  return ObjectFrom("scheduling.volcano.sh/v1beta1", "podgroups",
                    R"({"kind":"PodGroup","metadata":{"namespace":"ns","name":")" + name + R"(","uid":"u-)" + name +
                        R"(","resourceVersion":")" + version +
                        R"(","creationTimestamp":"2026-08-20T09:00:00Z"},"spec":)" + spec + R"(,"status":)" + status +
                        "}");
}

inline const model::GangKey kVolcanoGang{"volcano", "ns", "g"};

}  // namespace tutti::dialects
