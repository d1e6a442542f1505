// SPDX-License-Identifier: Apache-2.0
#include "cluster/image_index.h"

#include <algorithm>
#include <string>

namespace tutti::cluster {

using model::NodeId;
using model::Symbol;

const ImageIndex::Holders* ImageIndex::HoldersOf(Symbol name) const {
  const auto at = images_.find(name);
  return at == images_.end() ? nullptr : &at->second.holders;
}

int64_t ImageIndex::LargestSize(Symbol name) const {
  const auto at = images_.find(name);
  return at == images_.end() ? 0 : at->second.largest;
}

void ImageIndex::Changed(NodeId n, const model::Node* before, const model::Node* now, SymbolTable& symbols) {
  if (before && now && before->images == now->images) return;
  const auto for_each = [&symbols](const model::Node* node, const auto& apply) {
    if (!node) return;
    for (const model::ContainerImage& image : node->images)
      for (const std::string& name : image.names) apply(symbols.Intern(name), image.size_bytes);
  };
  for_each(before, [&](Symbol name, int64_t) {
    const auto at = images_.find(name);
    if (at == images_.end()) return;  // a name that the node lists twice
    at->second.holders.erase(n);
    if (at->second.holders.empty()) images_.erase(at);
  });
  for_each(now, [&](Symbol name, int64_t bytes) {
    Entry& entry = images_[name];
    entry.holders[n] = bytes;
    entry.largest = std::max(entry.largest, bytes);
  });
}

void ImageIndex::MarkSymbols(SymbolTable::Used* used) const {
  for (const auto& [image, entry] : images_) used->Mark(image);
}

}  // namespace tutti::cluster
