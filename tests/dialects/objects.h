// SPDX-License-Identifier: Apache-2.0
// Objects and pods from JSON snippets, as a feed would decode them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "cluster/json_decode.h"
#include "dialects/dialect.h"
#include "tests/support/catch.h"

namespace tutti::dialects {

using Json = base::Json;

// `text`: kind, metadata, spec, ...; group and resource are given.
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

// The one patch that is written, or none.
inline std::optional<cluster::Patch> Patch(const std::vector<cluster::CommandBody>& writes) {
  REQUIRE(writes.size() <= 1);
  if (writes.empty()) return std::nullopt;
  return std::get<cluster::Patch>(writes.front());
}

inline std::optional<cluster::Patch> Report(Dialect& dialect, const GangReport& report) {
  std::vector<cluster::CommandBody> writes;
  dialect.Report(report, &writes);
  return Patch(writes);
}

inline Json StatusIn(const std::optional<cluster::Patch>& patch) {
  REQUIRE(patch);
  return Json::parse(patch->body).at("status");
}

// 2026-08-20T10:00:00Z
inline constexpr base::Millis kNow = 1787220000000;

}  // namespace tutti::dialects
