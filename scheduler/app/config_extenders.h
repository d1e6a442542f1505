// SPDX-License-Identifier: Apache-2.0
// extenders[] of a KubeSchedulerConfiguration.
#pragma once

#include "app/config.h"
#include "app/yaml_fields.h"

namespace tutti::app {

// Reads the field into config->extenders and config->ignored_resources. Complains about what kube-scheduler refuses,
// and about files that cannot be read.
void ReadExtenders(Fields& fields, Config* config);

// Adds a note that extenders are not asked, for verbs that have no network.
void NoteExtendersAreNotAsked(Config* config);

}  // namespace tutti::app
