// SPDX-License-Identifier: Apache-2.0
// FeedResolver: resolves kinds by what the feed watches and what discovery knows.
#pragma once

#include <string>

#include "kube/feed.h"
#include "kube/writer.h"

namespace tutti::kube {

class FeedResolver final : public KindResolver {
 public:
  explicit FeedResolver(const KubeFeed& feed) : feed_(feed) {}  // `feed` must outlive it

  std::string VersionOf(const std::string& group, const std::string& resource) const override {
    if (std::string watched = feed_.WatchedVersion(group, resource); !watched.empty()) return watched;
    return group.empty() ? "v1" : "";
  }
  bool HasStatus(const std::string& group, const std::string& version, const std::string& resource) const override {
    return feed_.HasStatus(group, version, resource);
  }

 private:
  const KubeFeed& feed_;
};

}  // namespace tutti::kube
