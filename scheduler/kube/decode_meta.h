// SPDX-License-Identifier: Apache-2.0
// Pieces that the decoders of pods and nodes share.
#pragma once

#include <string_view>
#include <utility>

#include "kube/wire.h"
#include "model/object_meta.h"
#include "model/resource_list.h"

namespace tutti::kube {

model::ObjectMeta DecodeMeta(std::string_view meta);
base::Millis DecodeTime(std::string_view time);

// Adds one entry of a map<string, string>; after the last one SortMap is called.
void AddEntry(std::string_view entry, model::StringMap* map);
void SortMap(model::StringMap* map);
// Sets one entry of a map<string, Quantity>. Returns false and sets nothing if the value is no quantity or below zero.
bool SetResource(std::string_view entry, model::ResourceList* list);

}  // namespace tutti::kube
