// SPDX-License-Identifier: Apache-2.0
// Source: tells one replica of pods, nodes and its dialects' kinds, and can be made to fail. StoreSource reads straight
// from the store, decoded once for all replicas. WireSource goes over the network, with the product's own discovery,
// lists and watches.
//
// A kind has the name here that KindSynced has for it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/random.h"
#include "kube/feed_resolver.h"
#include "sim/port/feed.h"
#include "tests/simulation/truth.h"

namespace tutti::simulation {

class Network;

class Source {
 public:
  virtual ~Source() = default;
  virtual void Start(std::vector<model::ObjectKind> kinds) = 0;
  // Posts what has come.
  virtual void Look() = 0;
  // Returns the version up to which all changes of the kind have been posted; empty while none of it is heard.
  virtual std::optional<Version> Covered(const std::string& kind) const = 0;
  // Runs `done` once what a new leader reads has been listed again, such as pods.
  virtual void Refresh(kube::Task done) = 0;

  // Breaks the kind's watch. There is no other until Mend.
  virtual void Break(const std::string& kind, base::Random& random) = 0;
  // Silences the kind's watch: what it would have said is lost.
  virtual void Silence(const std::string& kind) = 0;
  virtual void Mend(const std::string& kind) = 0;
  virtual void MendAll() = 0;
  // Ends the kind's watch; then the kind is listed again.
  virtual void Expire(const std::string& kind) = 0;

  // Returns, for a writer, the versions in which the kinds are read.
  virtual const kube::KindResolver& kinds() const = 0;
};

class StoreSource final : public Source, private kube::KindResolver {
 public:
  StoreSource(sim::Store& store, sim::Decoded& decoded, cluster::EventSink& sink)
      : store_(store), feed_(store, sink, &decoded) {}

  void Start(std::vector<model::ObjectKind> kinds) override;
  void Look() override;
  std::optional<Version> Covered(const std::string& kind) const override;
  void Refresh(kube::Task done) override { fresh_ = std::move(done); }
  void Break(const std::string& kind, base::Random& random) override;
  void Silence(const std::string& kind) override;
  void Mend(const std::string& kind) override;
  void MendAll() override;
  void Expire(const std::string& kind) override;
  const kube::KindResolver& kinds() const override { return *this; }

 private:
  std::string VersionOf(const std::string& group, const std::string& resource) const override;
  bool HasStatus(const std::string& group, const std::string& version, const std::string& resource) const override;

  sim::Store& store_;
  std::vector<model::ObjectKind> kinds_;
  sim::Feed feed_;
  std::set<std::string> broken_;
  kube::Task fresh_;  // waits for a list of pods
};

class WireSource final : public Source {
 public:
  WireSource(sim::Store& store, Network& network, base::Random& random, cluster::EventSink& sink);

  void Start(std::vector<model::ObjectKind> kinds) override;
  void Look() override {}
  std::optional<Version> Covered(const std::string& kind) const override;
  void Refresh(kube::Task done) override { feed_.Refresh(std::move(done)); }
  void Break(const std::string& kind, base::Random& random) override;
  void Silence(const std::string& kind) override;
  void Mend(const std::string& kind) override;
  void MendAll() override;
  void Expire(const std::string& kind) override;

  const kube::KindResolver& kinds() const override { return resolver_; }

 private:
  struct Followed {
    model::ObjectKind kind;
    std::vector<const kube::RequestId*> watches;  // the last watch of each path where the kind may be, by version
  };
  std::string PathOf(const std::string& kind) const;  // empty: it is not watched

  sim::Store& store_;
  Network& network_;
  kube::KubeFeed feed_;
  const kube::FeedResolver resolver_{feed_};
  std::unordered_map<std::string, Followed> kinds_;
  std::map<std::string, std::string> cut_;  // paths, by kind
};

}  // namespace tutti::simulation
