// SPDX-License-Identifier: Apache-2.0
#include "dialects/declaration.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/duration.h"
#include "base/json.h"
#include "dialects/topology_annotations.h"
#include "dialects/wording.h"

namespace tutti::dialects {
namespace {

constexpr std::pair<std::string_view, model::Fit> kFits[] = {{"nodes", model::Fit::kNodes},
                                                             {"quota", model::Fit::kQuota},
                                                             {"aggregate", model::Fit::kAggregate},
                                                             {"auto", model::Fit::kAuto}};

// Takes one for each value in it from `left`, and where `text` counts its bytes; false when that does not suffice.
bool CountDown(const base::Json& value, bool text, size_t* left) {
  const auto take = [left](size_t count) {
    const bool enough = count <= *left;
    *left -= enough ? count : *left;
    return enough;
  };
  if (!take(1)) return false;
  if (text && value.is_string()) return take(value.get_ref<const std::string&>().size());
  if (text && value.is_object())
    for (const auto& [key, item] : value.items())
      if (!take(key.size())) return false;
  return !value.is_structured() ||
         std::all_of(value.begin(), value.end(), [&](const base::Json& item) { return CountDown(item, text, left); });
}

}  // namespace

int64_t ReadCount(cluster::JsonReader& read, const cluster::JsonField& field, int64_t fallback, int64_t least,
                  int64_t most) {
  if (!field.present()) return fallback;
  const base::Json& value = field.value();
  // nlohmann keeps what is beyond INT64_MAX as unsigned; get<int64_t> would wrap it.
  const bool wraps = value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(most);
  if (value.is_number_integer() && !wraps && value.get<int64_t>() >= least && value.get<int64_t>() <= most)
    return value.get<int64_t>();
  read.Problem(field,
               fmt::format("{} cannot be; write a whole number from {} to {}", cluster::Describe(value), least, most));
  return fallback;
}

bool FewEnough(cluster::JsonReader& read, const cluster::JsonField& field, size_t most) {
  if (!field.value().is_structured() || field.value().size() <= most) return true;
  read.Problem(
      field, fmt::format("{} items are more than the {} that are looked at; write fewer", field.value().size(), most));
  return false;
}

bool SmallEnough(cluster::JsonReader& read, const cluster::JsonField& field, size_t most) {
  size_t left = most;
  if (CountDown(field.value(), false, &left)) return true;
  read.Problem(field, fmt::format("it holds more than the {} values that are looked at; write fewer", most));
  return false;
}

bool TakeBytes(const base::Json& value, size_t* left) { return CountDown(value, true, left); }

bool IsShort(const base::Json& value) {
  size_t left = kMostStatusBytes;
  return TakeBytes(value, &left);
}

std::optional<model::ResourceList> ReadRequests(cluster::JsonReader& read, const cluster::JsonField& field) {
  if (!field.present() || !FewEnough(read, field, kMostResources)) return std::nullopt;
  model::ResourceList amounts = read.Resources(field);
  read.Values(field, [&](std::string_view name, const cluster::JsonField& value) {
    if (amounts.Get(name) == std::numeric_limits<int64_t>::max())
      read.Problem(value, fmt::format("{} is more than any cluster has; write a smaller amount",
                                      cluster::Describe(value.value())));
  });
  return amounts;
}

model::GangSpec GangOf(std::string_view dialect, const model::Object& object) {
  model::GangSpec spec;
  spec.key = {std::string(dialect), object.meta.ns, object.meta.name};
  spec.uid = object.meta.uid;
  spec.created_ms = object.meta.created_ms;
  spec.topology = TopologyOfGang(object.meta.annotations);
  return spec;
}

std::optional<base::Millis> ReadMinRuntime(cluster::JsonReader& read, const model::Object& object) {
  constexpr std::string_view kKey = "tutti.dev/min-runtime";
  const std::string* text = model::Find(object.meta.annotations, kKey);
  if (!text) return std::nullopt;
  const auto parsed = base::ParseSpan(*text);
  if (parsed) return *parsed;
  const cluster::JsonField root(*object.body), meta = root["metadata"], annotations = meta["annotations"];
  read.Problem(annotations[kKey], parsed.error().message);
  return std::nullopt;
}

std::optional<model::Fit> FitNamed(std::string_view word) {
  for (const auto& [name, fit] : kFits)
    if (name == word) return fit;
  return std::nullopt;
}

std::string_view NameOf(model::Fit fit) {
  return std::ranges::find(kFits, fit, &std::pair<std::string_view, model::Fit>::second)->first;
}

std::optional<model::Fit> ReadFit(cluster::JsonReader& read, const model::Object& object) {
  constexpr std::string_view kKey = "tutti.dev/fit";
  const std::string* text = model::Find(object.meta.annotations, kKey);
  if (!text) return std::nullopt;
  if (const auto fit = FitNamed(*text)) return fit;
  const cluster::JsonField root(*object.body), meta = root["metadata"], annotations = meta["annotations"];
  read.Problem(annotations[kKey], fmt::format("{} is none of nodes, quota, aggregate and auto", Named(*text)));
  return std::nullopt;
}

std::string ProblemIn(const model::Object& object, cluster::JsonReader& read) {
  if (read.ok()) return {};
  return OneLine(fmt::format("{}: {}", Named(object.kind, object.meta.ns, object.meta.name), read.problem()));
}

const base::Json& StatusIn(const base::Json& body) {
  static const base::Json kNothing = base::Json::object();
  if (!body.is_object()) return kNothing;
  const auto at = body.find("status");
  return at != body.end() && at->is_object() ? *at : kNothing;
}

}  // namespace tutti::dialects
