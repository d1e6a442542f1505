// SPDX-License-Identifier: Apache-2.0
#include "base/yaml_node.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <string>
#include <utility>

#include "base/json.h"
#include "base/yaml_scalar.h"

namespace tutti::base {
namespace {

// Aliases can make a small text stand for an enormous tree, or for one without an end.
constexpr int64_t kMostNodes = 1'000'000;
constexpr int kDeepest = 200;

class JsonMaker {
 public:
  Json Convert(const YAML::Node& node, int depth) {
    if (depth > kDeepest) problem = "is nested too deeply";
    if (++nodes_ > kMostNodes) problem = "is too large with its aliases expanded";
    if (!problem.empty() || !node.IsDefined() || node.IsNull()) return nullptr;
    if (node.IsScalar()) return Scalar(node);
    Json out = node.IsSequence() ? Json::array() : Json::object();
    if (node.IsSequence()) {
      for (auto item = node.begin(); item != node.end() && problem.empty(); ++item)
        out.push_back(Convert(*item, depth + 1));
    } else {
      for (auto entry = node.begin(); entry != node.end() && problem.empty(); ++entry) {
        const std::string& key = entry->first.Scalar();
        if (out.contains(key)) problem = fmt::format("has the key \"{}\" twice; remove one", key);
        out[key] = Convert(entry->second, depth + 1);
      }
    }
    return out;
  }

  std::string problem;  // empty: none

 private:
  Json Scalar(const YAML::Node& node) {
    if (node.Tag() != "?") return node.Scalar();
    if (auto value = PlainScalar(node.Scalar())) return *std::move(value);
    problem = fmt::format("{} is no JSON value", node.Scalar());
    return nullptr;
  }

  int64_t nodes_ = 0;
};

}  // namespace

Result<Json> YamlToJson(const YAML::Node& node) {
  JsonMaker maker;
  Json out = maker.Convert(node, 0);
  if (!maker.problem.empty()) return Invalid(maker.problem);
  return out;
}

}  // namespace tutti::base
