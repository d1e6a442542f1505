// SPDX-License-Identifier: Apache-2.0
// The storage kinds' JSON → model values. Lenient: what cannot be read is left at its default, with a line in
// `problems`, so that no object vanishes. What the API server would have defaulted is defaulted here.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/object.h"
#include "model/storage.h"

namespace tutti::cluster {

std::shared_ptr<const model::Claim> DecodeClaim(const model::Object& object, std::vector<std::string>* problems);
std::shared_ptr<const model::Volume> DecodeVolume(const model::Object& object, std::vector<std::string>* problems);
std::shared_ptr<const model::StorageClass> DecodeStorageClass(const model::Object& object,
                                                              std::vector<std::string>* problems);
std::shared_ptr<const model::CsiNode> DecodeCsiNode(const model::Object& object, std::vector<std::string>* problems);
std::shared_ptr<const model::CsiDriver> DecodeCsiDriver(const model::Object& object,
                                                        std::vector<std::string>* problems);
std::shared_ptr<const model::StorageCapacity> DecodeStorageCapacity(const model::Object& object,
                                                                    std::vector<std::string>* problems);
std::shared_ptr<const model::VolumeAttachment> DecodeVolumeAttachment(const model::Object& object,
                                                                      std::vector<std::string>* problems);

}  // namespace tutti::cluster
