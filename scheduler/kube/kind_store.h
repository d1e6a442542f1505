// SPDX-License-Identifier: Apache-2.0
// KindStore: remembers the objects of one kind that were posted, so that a new list posts only differences. Each type
// of value has a subclass. The loop's thread only.
//
// A list comes as BeginList, Put..., EndList. EndList posts as gone each object that had no Put since BeginList.
// BeginList may be called again at any time.
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
  // Post the object's change, and return its resourceVersion.
  std::string Put(const WireObject& object);
  std::string Delete(const WireObject& object);
  // Posts every object as gone.
  void Clear();
  // Makes the next Put of every object post it, even if its resourceVersion is known, because it comes in another API
  // version.
  void ForgetVersions();

  size_t size() const { return entries_.size(); }

  // Tells whether it can read the kind's protobuf encoding.
  virtual bool reads_protobuf() const { return false; }

 protected:
  struct Identity {
    std::string ns, name, uid, resource_version;
  };
  struct Entry {
    std::string ns, name, uid, resource_version;
    uint64_t list = 0;                  // the last list that had the object
    std::shared_ptr<const void> value;  // the value that the subclass posted
  };

  // Decodes and posts `object`; `entry` has the value that was posted last, or is empty.
  virtual void PostChanged(const WireObject& object, Entry& entry) = 0;
  virtual void PostGone(const Entry& entry) = 0;

 private:
  static Identity Identify(const WireObject& object);

  std::unordered_map<std::string, Entry> entries_;  // by "namespace/name"
  uint64_t list_ = 0;
};

// Does not post a change of only the resourceVersion of a bound pod or a node: kubelets report often, and no write here
// has a precondition on these versions.
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

// Does not post a change that leaves the selector as it is, such as one of the status.
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
