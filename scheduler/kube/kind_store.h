// SPDX-License-Identifier: Apache-2.0
// KindStore: what has been posted of one kind, so that a new list posts only what differs. One subclass a kind of
// value. The loop's thread only.
//
// A list is told as BeginList, Put..., EndList; whatever EndList has not seen since BeginList is posted as gone. It may
// be begun again at any time.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "cluster/ports.h"
#include "kube/decode.h"
#include "kube/spec_cache.h"
#include "kube/watch_parser.h"

namespace tutti::kube {

class KindStore {
 public:
  virtual ~KindStore() = default;

  void BeginList() { ++list_; }
  void EndList();
  // Both return the object's resourceVersion.
  std::string Put(const WireObject& object);
  std::string Delete(const WireObject& object);
  // Everything is posted as gone.
  void Clear();
  // The next Put of every object is posted, even if its resourceVersion is known: it comes in another version.
  void ForgetVersions();

  size_t size() const { return entries_.size(); }

  // It reads the kind's protobuf encoding too.
  virtual bool reads_protobuf() const { return false; }

 protected:
  struct Identity {
    std::string ns, name, uid, resource_version;
  };
  struct Entry {
    std::string ns, name, uid, resource_version;
    uint64_t list = 0;                  // the last list or watch epoch that had it
    std::shared_ptr<const void> value;  // what the subclass posted
  };

  // Decodes and posts `object`; `entry` is what was posted last, or empty.
  virtual void PostChanged(const WireObject& object, Entry& entry) = 0;
  virtual void PostGone(const Entry& entry) = 0;

 private:
  static Identity Identify(const WireObject& object);

  std::unordered_map<std::string, Entry> entries_;  // by "namespace/name"
  uint64_t list_ = 0;
};

// Changes that touch nothing but the resourceVersion of a bound pod or a node are not posted: kubelets report often,
// and nobody writes these with a precondition on their version.
class PodStore final : public KindStore {
 public:
  PodStore(cluster::EventSink& sink, SpecCache& specs) : sink_(sink), specs_(specs) {}
  bool reads_protobuf() const override { return true; }

 private:
  void PostChanged(const WireObject& object, Entry& entry) override;
  void PostGone(const Entry& entry) override;
  cluster::EventSink& sink_;
  SpecCache& specs_;
};

class NodeStore final : public KindStore {
 public:
  explicit NodeStore(cluster::EventSink& sink) : sink_(sink) {}
  bool reads_protobuf() const override { return true; }

 private:
  void PostChanged(const WireObject& object, Entry& entry) override;
  void PostGone(const Entry& entry) override;
  cluster::EventSink& sink_;
};

// Changes that leave the selector alone, as those of a status, are not posted.
class SelectionStore final : public KindStore {
 public:
  SelectionStore(cluster::EventSink& sink, model::Selection::Kind kind) : sink_(sink), kind_(kind) {}
  bool reads_protobuf() const override { return true; }

 private:
  void PostChanged(const WireObject& object, Entry& entry) override;
  void PostGone(const Entry& entry) override;
  cluster::EventSink& sink_;
  const model::Selection::Kind kind_;
};

class ObjectStore final : public KindStore {
 public:
  ObjectStore(cluster::EventSink& sink, model::ObjectKind kind) : sink_(sink), kind_(std::move(kind)) {}

 private:
  void PostChanged(const WireObject& object, Entry& entry) override;
  void PostGone(const Entry& entry) override;
  cluster::EventSink& sink_;
  const model::ObjectKind kind_;
};

}  // namespace tutti::kube
