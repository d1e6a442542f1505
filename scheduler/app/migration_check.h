// SPDX-License-Identifier: Apache-2.0
// `kubectl tutti migrate check`: which objects and settings of other schedulers are in use, and what Tutti makes of
// them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/api_client.h"
#include "app/migration_rules.h"
#include "base/json_fwd.h"
#include "sim/manifests/manifest.h"

namespace tutti::app {

// What one row of docs/migrate speaks of, and the objects in which it is found.
struct MigrationFinding {
  MigrationRule::Verdict verdict = MigrationRule::Verdict::kTaken;
  std::string system, what, answer;
  std::vector<std::string> objects;  // "NAMESPACE/NAME" or "NAME"
};

// Returns the objects that a rule looks at; none: the kind is not served. Objects that are not of the rule's name may
// be among them.
using ReadForRule = std::function<base::Result<std::vector<base::Json>>(const MigrationRule& rule)>;

// Asks the API server. Each kind is listed once.
ReadForRule ReadFromCluster(ApiClient& api);
ReadForRule ReadFromManifests(const std::vector<sim::Manifest>& manifests);

// Returns what is in use, in the order of the pages. `unread` gets a sentence for each kind that cannot be read.
std::vector<MigrationFinding> CheckMigration(const ReadForRule& read, std::vector<std::string>* unread);

std::string MigrationText(const std::vector<MigrationFinding>& findings);
// The same for programs: {findings: [{system, uses, verdict, tutti, objects}]}.
nlohmann::ordered_json MigrationJson(const std::vector<MigrationFinding>& findings);

}  // namespace tutti::app
