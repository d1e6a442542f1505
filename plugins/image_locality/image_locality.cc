// SPDX-License-Identifier: Apache-2.0
#include "plugins/image_locality/image_locality.h"

#include <algorithm>

namespace tutti::plugins {
namespace {

using model::NodeId;

constexpr int64_t kMiB = 1024 * 1024;
constexpr int64_t kLeastBytes = 23 * kMiB;
constexpr int64_t kMostBytesPerContainer = 1000 * kMiB;

// Returns the image's name as nodes list it: without a tag it means :latest.
std::string Tagged(const std::string& image) {
  const size_t colon = image.rfind(':');
  const size_t slash = image.rfind('/');
  const bool tagged = colon != std::string::npos && (slash == std::string::npos || colon > slash);
  return tagged ? image : image + ":latest";
}

class ImageLocalityState final : public framework::ScoreState {
 public:
  ImageLocalityState(const model::PodSpec& spec, const cluster::Snapshot& snapshot)
      : snapshot_(snapshot), most_bytes_(kMostBytesPerContainer * spec.container_count) {
    for (const std::string& image : spec.images) images_.push_back({snapshot.symbols().Intern(Tagged(image)), 0});
    Recount();
  }

  int64_t Score(NodeId n) const override {
    int64_t sum = 0;
    for (const ImageUse& image : images_)
      if (const auto* holders = snapshot_.images().HoldersOf(image.name))
        if (const auto at = holders->find(n); at != holders->end()) sum += Weighed(at->second, image.holders);
    return Scaled(sum);
  }

  void ScoreAll(std::span<const framework::RefusedBy> refused_by, std::span<int64_t> raw) const override {
    std::ranges::fill(raw, 0);
    for (const ImageUse& image : images_)
      if (const auto* holders = snapshot_.images().HoldersOf(image.name))
        for (const auto& [n, bytes] : *holders) raw[n.index()] += Weighed(bytes, image.holders);
    for (size_t slot = 0; slot < raw.size(); ++slot)
      if (refused_by[slot] == framework::kNobody) raw[slot] = Scaled(raw[slot]);
  }

  // True while so few nodes hold the images that the score is 0 everywhere.
  bool Reads(framework::NodeFacts*) const override {
    int64_t most = 0;
    for (const ImageUse& image : images_) most += Weighed(snapshot_.images().LargestSize(image.name), image.holders);
    return Scaled(most) == 0;
  }
  // An image's weight depends on how many nodes hold it.
  bool DependsOnNodePods() const override { return false; }
  bool FollowsNodes() const override { return !images_.empty(); }
  void NodesChanged(std::span<const NodeId>, framework::Dirty& dirty) override {
    const size_t nodes_before = nodes_;
    const std::vector<ImageUse> before = images_;
    Recount();
    for (size_t i = 0; i < images_.size(); ++i) {
      if (nodes_ == nodes_before && images_[i].holders == before[i].holders) continue;
      if (const auto* holders = snapshot_.images().HoldersOf(images_[i].name))
        for (const auto& [n, bytes] : *holders) dirty.Node(n);
    }
  }

 private:
  struct ImageUse {
    model::Symbol name;
    size_t holders = 0;  // number of nodes that hold it
  };

  void Recount() {
    nodes_ = snapshot_.node_count();
    for (ImageUse& image : images_) {
      const auto* holders = snapshot_.images().HoldersOf(image.name);
      image.holders = holders ? holders->size() : 0;
    }
  }
  int64_t Weighed(int64_t bytes, size_t holders) const {
    return static_cast<int64_t>(static_cast<double>(bytes) *
                                (static_cast<double>(holders) / static_cast<double>(nodes_)));
  }
  int64_t Scaled(int64_t sum) const {
    if (sum <= kLeastBytes || most_bytes_ <= kLeastBytes) return 0;
    return framework::kMaxNodeScore * (std::min(sum, most_bytes_) - kLeastBytes) / (most_bytes_ - kLeastBytes);
  }

  const cluster::Snapshot& snapshot_;
  const int64_t most_bytes_;
  std::vector<ImageUse> images_;
  size_t nodes_ = 0;
};

}  // namespace

std::unique_ptr<framework::ScoreState> ImageLocality::PrepareScore(const cluster::PodClass& pod_class,
                                                                   const cluster::Snapshot& snapshot) const {
  return std::make_unique<ImageLocalityState>(*pod_class.spec, snapshot);
}

}  // namespace tutti::plugins
