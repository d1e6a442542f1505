// SPDX-License-Identifier: Apache-2.0
// extenders[] of a KubeSchedulerConfiguration.
#pragma once

#include "app/config.h"
#include "app/yaml_fields.h"

namespace tutti::app {

// Reads the field into config->extenders and config->ignored_resources. It refuses what kube-scheduler refuses, and
// complains about files that cannot be read.
void ReadExtenders(Fields& fields, Config* config);

// Notes that nobody asks them, for verbs that send nothing anywhere.
void NoteExtendersAreNotAsked(Config* config);

}  // namespace tutti::app
