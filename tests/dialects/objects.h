// SPDX-License-Identifier: Apache-2.0
// Objects and pods from JSON snippets, as a feed would decode them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "cluster/json_decode.h"
#include "core/publish/kept_object.h"
#include "dialects/dialect.h"
#include "tests/support/catch.h"

namespace tutti::dialects {

using Json = base::Json;

// Returns an object. `text` has its kind, metadata, spec, ...; group and resource are given.
inline std::shared_ptr<const model::Object> ObjectFrom(const std::string& api_version, const std::string& resource,
                                                       const std::string& text) {
  auto body = std::make_shared<Json>(Json::parse(text));
  (*body)["apiVersion"] = api_version;
  const size_t slash = api_version.find('/');
  const model::ObjectKind kind{
      api_version.substr(0, slash), resource, body->value("kind", ""), {api_version.substr(slash + 1)}};
  auto object = cluster::DecodeObject(kind, body);
  REQUIRE(object);
  return std::make_shared<const model::Object>(std::move(*object));
}

inline model::Pod PodFrom(const std::string& metadata, const std::string& spec = "{}") {
  Json body = {{"metadata", Json::parse(metadata)}, {"spec", Json::parse(spec)}};
  body["metadata"].emplace("namespace", "ns");
  body["metadata"].emplace("name", "p");
  auto pod = cluster::DecodePod(body);
  REQUIRE(pod);
  return std::move(*pod);
}

inline Touched Put(Dialect& dialect, std::shared_ptr<const model::Object> object) {
  Touched touched;
  dialect.Put(std::move(object), &touched);
  return touched;
}

// Writes what a dialect desires of one object, as the core would if every write were done at once and seen only when
// the object is put again.
class Teller final : public cluster::Unseen {
 public:
  explicit Teller(const Dialect& dialect) : dialect_(dialect) {}

  // Returns the patch that is written for the report, or none.
  std::optional<cluster::Patch> Write(const GangReport& report) {
    return Write([&](auto* out) { dialect_.Desire(report, *this, out); });
  }
  std::optional<cluster::Patch> Write(const QueueReport& report) {
    return Write([&](auto* out) { dialect_.DesireOfQueue(report, *this, out); });
  }

  const Json* Written(const cluster::ObjectRef&) const override {
    return kept_ && kept_->unseen() ? &kept_->unseen()->fields : nullptr;
  }
  std::shared_ptr<const model::Object> Created(const cluster::ObjectRef&) const override { return nullptr; }

 private:
  template <typename Desire>
  std::optional<cluster::Patch> Write(Desire desire) {
    std::vector<cluster::DesiredObject> desired;
    desire(&desired);
    if (desired.empty()) return std::nullopt;
    if (kept_) {  // the feed has shown the object as the dialect has it
      kept_->Saw(desired.front().seen);
      desired.clear();
      desire(&desired);
      if (desired.empty()) return std::nullopt;
    }
    REQUIRE(desired.size() == 1);
    if (!kept_) kept_.emplace(desired.front().ref);
    kept_->Want(std::move(desired.front()));
    if (kept_->Decide(now_ms_ += 600'000) != core::KeptObject::Next::kWrite) return std::nullopt;
    auto write = std::get<cluster::Patch>(kept_->Write());
    kept_->OnSent(1);
    kept_->OnReply(cluster::CommandReply(), now_ms_);
    return write;
  }

  const Dialect& dialect_;
  std::optional<core::KeptObject> kept_;
  base::Millis now_ms_ = 0;
};

inline Json StatusIn(const std::optional<cluster::Patch>& patch) {
  REQUIRE(patch);
  return Json::parse(patch->body).at("status");
}

// 2026-08-20T10:00:00Z
inline constexpr base::Millis kNow = 1787220000000;

}  // namespace tutti::dialects
