// SPDX-License-Identifier: Apache-2.0
#include "dialects/appwrapper_sets.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "base/json.h"
#include "dialects/declaration.h"
#include "dialects/fields.h"
#include "dialects/wording.h"

namespace tutti::dialects {
namespace {

using base::Json;
using cluster::JsonField;
using cluster::JsonReader;

constexpr size_t kMostComponents = 256;
// Of all components, as of a Workload: the template of each is copied.
constexpr size_t kMostSets = 256;
// Pod sets of a Workload are named by it, and a name of one has 63 characters: "-submitter-255" is the longest end.
constexpr size_t kLongestName = 49;
constexpr std::string_view kComponents = "/spec/components/", kTemplate = "/template";

// "template.spec.workerGroupSpecs[0].template" as a JSON pointer into the wrapped object; nullopt: it is no such path.
std::optional<std::string> PointerOf(std::string_view path) {
  constexpr std::string_view kRoot = "template";
  if (!path.starts_with(kRoot) || path.find_first_of("~/") != path.npos) return std::nullopt;
  path.remove_prefix(kRoot.size());
  if (!path.empty() && path.front() != '.') return std::nullopt;
  constexpr size_t kMostDigits = 9;  // a JSON pointer with a longer index throws
  std::string pointer;
  size_t digits = 0;
  for (const char c : path) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > kMostDigits) return std::nullopt;
    if (c == '.' || c == '[')
      pointer += '/';
    else if (c != ']')
      pointer += c;
  }
  return pointer;
}

bool LeadsToMap(const Json& object, const std::string& pointer) {
  const Json::json_pointer at(pointer);
  return object.contains(at) && object[at].is_object();
}

std::vector<PodSet> SetsOfComponent(JsonReader& read, const JsonField& component, const JsonField& wrapped) {
  std::vector<PodSet> sets;
  const std::string version = TextIn(wrapped.value(), "apiVersion"), kind = TextIn(wrapped.value(), "kind");
  if (kind == "AppWrapper") {
    read.Problem(wrapped, "Nested AppWrappers are forbidden");
  } else if (!HasPodSets(SplitVersion(version).group, kind)) {
    const JsonField declared = component["podSets"];
    ReadDeclaredSets(read, declared, wrapped.value(), &sets);
  } else if (auto known = PodSetsOf(wrapped.value())) {
    sets = *std::move(known);
  } else {
    read.Problem(wrapped, known.error().message);
  }
  return sets;
}

}  // namespace

bool ComeInOrder(const Json& object) {
  return TextIn(object, "kind") == "StatefulSet" && TextIn(Field(object, "spec"), "podManagementPolicy") != "Parallel";
}

void ReadDeclaredSets(JsonReader& read, const JsonField& declared, const Json& object, std::vector<PodSet>* sets) {
  if (!FewEnough(read, declared, kMostSets)) return;
  size_t place = 0;
  read.Items(declared, [&](const JsonField& one) {
    const JsonField path = one["path"];
    const auto pointer = PointerOf(read.Text(path));
    if (!pointer || !LeadsToMap(object, *pointer))
      return read.Problem(path, fmt::format("{} leads to no pod template; write a path such as template.spec.template",
                                            cluster::Describe(path.value())));
    sets->push_back({fmt::format("pods-{}", place++), ReadCount(read, one["replicas"], 1, 0), *pointer});
  });
}

void ReadComponentSets(JsonReader& read, const JsonField& root, std::vector<PodSet>* sets) {
  const JsonField meta = root["metadata"], named = meta["name"], spec = root["spec"], components = spec["components"];
  const std::string name = read.Text(named);
  if (name.find('.') != name.npos || name.size() > kLongestName)
    read.Problem(named,
                 fmt::format("{} is no name for one that waits in a queue; write at most {} letters, digits and -",
                             Named(name), kLongestName));
  if (!FewEnough(read, components, kMostComponents)) return;
  size_t place = 0, number = 0;
  read.Items(components, [&](const JsonField& component) {
    if (sets->size() > kMostSets) return;
    const JsonField wrapped = component["template"];
    for (PodSet& set : SetsOfComponent(read, component, wrapped)) {
      set.name = set.late ? fmt::format("{}-submitter-{}", name, place) : fmt::format("{}-{}", name, number++);
      set.path = fmt::format("{}{}{}{}", kComponents, place, kTemplate, set.path);
      set.ordered = set.ordered || ComeInOrder(wrapped.value());
      sets->push_back(std::move(set));
    }
    ++place;
  });
  if (sets->size() > kMostSets)
    read.Problem(components, fmt::format("more than {} groups of pods are not looked at; write fewer", kMostSets));
  if (read.ok() && sets->empty()) read.Problem(components, "components contains no podspecs");
}

std::pair<std::string, std::string> SplitAtComponent(const std::string& path) {
  if (!path.starts_with(kComponents)) return {};
  const size_t end = path.find('/', kComponents.size());
  if (end == path.npos || path.compare(end, kTemplate.size(), kTemplate) != 0) return {};
  const size_t inner = end + kTemplate.size();
  if (inner < path.size() && path[inner] != '/') return {};
  return {path.substr(0, inner), path.substr(inner)};
}

}  // namespace tutti::dialects
