// SPDX-License-Identifier: Apache-2.0
// The first byte chooses: the query of a list (labelSelector, fieldSelector), or a selector's JSON; then a node's
// affinity as the scheduler's plugins read it.

#include "base/json.h"
#include "plugins/common/label_syntax.h"
#include "sim/resources.h"
#include "sim/selectors.h"
#include "tests/fuzz/target.h"

TUTTI_FUZZ_TARGET(selectors) {
  using namespace tutti;
  if (input.empty()) return;
  const std::string_view text = input.substr(1);
  (void)plugins::IsDnsSubdomain(text);
  (void)plugins::IsQualifiedName(text);
  (void)plugins::IsLabelValue(text);
  (void)plugins::ParseInteger(text);
  const sim::Json object = {{"metadata", {{"name", "p"}, {"labels", {{"a", "b"}, {"n", "3"}}}}}};
  switch (input[0] % 3) {
    case 0:
      if (const auto selector = sim::LabelSelector::Parse(text)) (void)selector->Matches(object);
      break;
    case 1: {
      static const sim::ResourceTable resources;
      for (const auto& [id, resource] : resources.All())
        if (const auto selector = sim::FieldSelector::Parse(text, resource)) (void)selector->Matches(object);
      break;
    }
    default: {
      const auto json = base::Json::parse(text, nullptr, false);
      if (json.is_discarded()) return;
      if (const auto selector = sim::LabelSelector::FromJson(json)) (void)selector->Matches(object);
    }
  }
}
