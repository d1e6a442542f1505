// SPDX-License-Identifier: Apache-2.0
#include "app/migration_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "app/door_texts.h"
#include "app/output.h"
#include "base/json.h"
#include "sim/objects/object.h"

namespace tutti::app {
namespace {

using base::Json;
using sim::Child;
using sim::DigString;
using Objects = std::vector<Json>;

std::string_view Word(MigrationRule::Verdict verdict) {
  switch (verdict) {
    case MigrationRule::Verdict::kTaken: return "taken";
    case MigrationRule::Verdict::kDifferent: return "different";
    case MigrationRule::Verdict::kNot: return "not taken";
  }
  return "";
}

class ClusterReader {
 public:
  explicit ClusterReader(ApiClient& api) : api_(api) {}

  base::Result<Objects> Read(const MigrationRule& rule) {
    const auto [at, is_new] = read_.try_emplace({rule.group, rule.kind, rule.ns, rule.name});
    if (is_new) at->second = NoneIfMissing(List(rule));
    return at->second;
  }

 private:
  static base::Result<Objects> NoneIfMissing(base::Result<Objects> objects) {
    if (!objects && objects.error().code == base::ErrorCode::kNotFound) return Objects();
    return objects;
  }

  // The path of the kind's group and version in the API.
  base::Result<std::string> GroupPath(const std::string& group) {
    if (group.empty()) return "/api/v1";
    const auto served = api_.Get("/apis/" + group);
    if (!served) return tl::make_unexpected(served.error());
    return "/apis/" + DigString(*served, "preferredVersion", "groupVersion");
  }

  base::Result<Objects> List(const MigrationRule& rule) {
    const auto group = GroupPath(rule.group);
    if (!group) return tl::make_unexpected(group.error());
    const auto resources = api_.Get(*group);
    if (!resources) return tl::make_unexpected(resources.error());
    std::string resource;
    for (const Json& one : Child(*resources, "resources"))
      if (const std::string& name = DigString(one, "name");
          DigString(one, "kind") == rule.kind && name.find('/') == std::string::npos)
        resource = name;
    if (resource.empty()) return Objects();
    if (rule.name.empty()) return api_.List(*group + "/" + resource);
    auto object = api_.Get(fmt::format("{}/namespaces/{}/{}/{}", *group, rule.ns, resource, rule.name));
    if (!object) return tl::make_unexpected(object.error());
    return Objects{*std::move(object)};
  }

  ApiClient& api_;
  std::map<std::tuple<std::string, std::string, std::string, std::string>, base::Result<Objects>> read_;
};

}  // namespace

ReadForRule ReadFromCluster(ApiClient& api) {
  return [reader = std::make_shared<ClusterReader>(api)](const MigrationRule& rule) { return reader->Read(rule); };
}

ReadForRule ReadFromManifests(const std::vector<sim::Manifest>& manifests) {
  return [&manifests](const MigrationRule& rule) -> base::Result<Objects> {
    Objects objects;
    for (const sim::Manifest& one : manifests) {
      const std::string group = sim::SplitApiVersion(DigString(one.object, "apiVersion")).group;
      if (group == rule.group && DigString(one.object, "kind") == rule.kind) objects.push_back(one.object);
    }
    return objects;
  };
}

std::vector<MigrationFinding> CheckMigration(const ReadForRule& read, std::vector<std::string>* unread) {
  std::vector<MigrationFinding> findings;
  for (const MigrationRule& rule : MigrationRules()) {
    const auto objects = read(rule);
    if (!objects) {
      std::string note = fmt::format("not looked at: {}{}{}: {}", rule.kind, rule.group.empty() ? "" : ".", rule.group,
                                     objects.error().message);
      if (std::ranges::find(*unread, note) == unread->end()) unread->push_back(std::move(note));
      continue;
    }
    for (const Json& object : *objects) {
      if (!rule.Finds(object)) continue;
      if (findings.empty() || findings.back().system != rule.system || findings.back().what != rule.what)
        findings.push_back({rule.verdict, rule.system, rule.what, rule.answer, {}});
      std::string name = sim::KeyOf(object);
      std::vector<std::string>& names = findings.back().objects;
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
  }
  return findings;
}

std::string MigrationText(const std::vector<MigrationFinding>& findings) {
  if (findings.empty()) return "Nothing of another scheduler is in use.\n";
  Table table({"OF", "IN USE", "TAKEN", "OBJECTS", "IN TUTTI"});
  for (const MigrationFinding& one : findings) {
    const char* taken = one.verdict == MigrationRule::Verdict::kTaken       ? "yes"
                        : one.verdict == MigrationRule::Verdict::kDifferent ? "differently"
                                                                            : "no";
    std::vector<std::string> names;
    for (const std::string& name : one.objects) names.push_back(Shown(name));
    table.Add({one.system, one.what, taken, sim::Some(std::move(names)), one.answer});
  }
  return table.Text();
}

nlohmann::ordered_json MigrationJson(const std::vector<MigrationFinding>& findings) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const MigrationFinding& one : findings)
    list.push_back({{"system", one.system},
                    {"uses", one.what},
                    {"verdict", Word(one.verdict)},
                    {"tutti", one.answer},
                    {"objects", one.objects}});
  return {{"findings", std::move(list)}};
}

}  // namespace tutti::app
