// SPDX-License-Identifier: Apache-2.0
// What is read for Kueue's queues: the part of a TuttiConfiguration, and Kueue's own Configuration as it stands.
#pragma once

#include <string>

#include "app/config.h"
#include "app/yaml_fields.h"

namespace tutti::app {

// Tells whether the apiVersion is one of Kueue's own Configuration.
bool IsOfKueue(const std::string& version);

// Reads a document of that apiVersion. Settings without effect are noted. The caller calls Done().
void ReadKueueConfiguration(Fields& fields, const std::string& version, Config* config);

// Reads the field `kueue` of a TuttiConfiguration.
void ReadKueue(Fields& parent, Config* config);

}  // namespace tutti::app
