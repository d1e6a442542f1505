// SPDX-License-Identifier: Apache-2.0
#include "app/pseudonyms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/duration.h"
#include "base/json.h"
#include "base/json_string.h"
#include "cluster/json_text.h"
#include "model/quantity.h"

namespace tutti::app {
namespace {

using base::Json;

// Words that dialects, Kubernetes and the scheduler know, and that are no names of users.
constexpr std::string_view kWords[] = {"default",
                                       "default-scheduler",
                                       "driver",
                                       "executor",
                                       "false",
                                       "foregroundDeletion",
                                       "hard",
                                       "head",
                                       "kube-system",
                                       "kubernetes",
                                       "launcher",
                                       "main",
                                       "orphan",
                                       "root",
                                       "soft",
                                       "system-cluster-critical",
                                       "system-node-critical",
                                       "true",
                                       "tutti",
                                       "volcano",
                                       "worker",
                                       "workers",
                                       "workload"};

// Fields whose texts are of the API.
constexpr std::string_view kFields[] = {
    "apiGroup", "apiVersion", "group", "key", "kind", "nodeLabel", "operator", "resource", "resourceVersion",
    "schedulerName", "status", "topologyKey", "type", "uid"};

// Fields that say whose the objects are, and nothing that decides.
constexpr std::string_view kDropped[] = {
    "addresses", "clusterIP", "clusterIPs", "daemonEndpoints", "description", "externalID", "generateName", "hostIP",
    "hostIPs", "images", "message", "nodeInfo", "podCIDR", "podCIDRs", "podIP", "podIPs", "providerID"};

// Annotations of these domains may decide.
constexpr std::string_view kDomains[] = {
    "tutti.dev", "volcano.sh", "scheduling.k8s.io", "kueue.x-k8s.io", "kai.scheduler", "yunikorn.apache.org", "ray.io",
    "scheduling.x-k8s.io"};

bool Among(const auto& list, std::string_view text) { return std::ranges::find(list, text) != std::end(list); }

bool MayDecide(std::string_view annotation) {
  const std::string_view domain = annotation.substr(0, annotation.find('/'));
  return std::ranges::any_of(kDomains, [domain](std::string_view it) {
    return domain == it || (domain.ends_with(it) && domain[domain.size() - it.size() - 1] == '.');
  });
}

bool HasDomain(std::string_view text) {
  const size_t slash = text.find('/');
  return slash != std::string_view::npos && text.substr(0, slash).find('.') != std::string_view::npos &&
         text.find('/', slash + 1) == std::string_view::npos;
}

bool IsUid(std::string_view text) {
  return text.size() == 36 && std::ranges::all_of(text, [](char c) { return c == '-' || std::isxdigit(c) != 0; });
}

bool IsWordOfTheApi(std::string_view text) {
  return !text.empty() && std::isupper(text[0]) != 0 &&
         std::ranges::all_of(text, [](char c) { return std::isalnum(c) != 0; });
}

bool IsNumberOrTime(const std::string& text) {
  return base::ParseTime(text) || base::ParseSpan(text) || model::ParseMilli(text);
}

bool HoldsLabels(std::string_view field) {
  return field == "labels" || field == "matchLabels" || field == "nodeSelector";
}

class Renaming {
 public:
  // Removes what is dropped, and learns the keys and the values of labels. `of`: the field that has the value.
  void Learn(Json& value, std::string_view of) {
    if (value.is_array())
      for (Json& item : value) Learn(item, of);
    if (HoldsLabels(of) && value.is_string()) labels_.insert(value.get<std::string>());
    if (!value.is_object()) return;
    Json kept = Json::object();
    for (auto& [field, inner] : value.items()) {
      if (!HoldsLabels(of) && Among(kDropped, field)) continue;
      keys_.insert(field);
      if (field == "image" && !HoldsLabels(of)) inner = "image";  // each container has to have one
      if (field == "annotations" && inner.is_object()) KeepAnnotations(inner);
      Learn(inner, HoldsLabels(of) ? of : field);
      kept[field] = std::move(inner);
    }
    value = std::move(kept);
  }

  // Finds the texts that get pseudonyms.
  void Collect(const Json& value, std::string_view field) {
    Visit(value, field, [this](const std::string& word) { names_.emplace(word, ""); });
  }

  void Number() {
    size_t number = 0;
    for (auto& [word, pseudonym] : names_) {
      const auto [of, index] = Ordinal(word);
      pseudonym =
          index.empty() ? fmt::format("n{:06}", ++number) : fmt::format("{}-{}", names_.find(of)->second, index);
    }
  }

  void Rename(Json& value, std::string_view field) const {
    if (value.is_array())
      for (Json& item : value) Rename(item, field);
    if (value.is_object())
      for (auto& [name, inner] : value.items()) Rename(inner, name);
    if (!value.is_string()) return;
    const std::string text = value.get<std::string>();
    if (Json inside = Inside(text); !inside.is_null()) {
      Rename(inside, "");
      value = base::PrintJson(inside);
    } else if (!IsKept(text, field)) {
      std::string renamed;
      for (const std::string_view part : Parts(text)) {
        const auto name = names_.find(part);
        renamed += name != names_.end() ? name->second : std::string(part);
      }
      value = renamed;
    }
  }

 private:
  static void KeepAnnotations(Json& annotations) {
    Json kept = Json::object();
    for (auto& [key, value] : annotations.items())
      if (MayDecide(key)) kept[key] = std::move(value);
    annotations = std::move(kept);
  }

  // JSON in a text, as some annotations have it; null: there is none.
  static Json Inside(const std::string& text) {
    if (!text.starts_with('{') && !text.starts_with('[')) return nullptr;
    Json inside = cluster::ParseJson(text);
    return inside.is_discarded() ? Json() : inside;
  }

  bool IsKept(const std::string& text, std::string_view field) const {
    if (text.empty() || Among(kFields, field)) return true;
    if (IsNumberOrTime(text) || IsUid(text) || HasDomain(text)) return true;
    if (Among(kWords, text) || keys_.contains(text)) return true;
    return IsWordOfTheApi(text) && !labels_.contains(text);
  }

  // "a/b" is "a", "/" and "b": two names.
  static std::vector<std::string_view> Parts(std::string_view text) {
    std::vector<std::string_view> parts;
    while (!text.empty()) {
      const size_t size = text[0] == '/' ? 1 : std::min(text.find('/'), text.size());
      parts.push_back(text.substr(0, size));
      text.remove_prefix(size);
    }
    return parts;
  }

  template <typename Take>
  void Visit(const Json& value, std::string_view field, const Take& take) const {
    if (value.is_array())
      for (const Json& item : value) Visit(item, field, take);
    if (value.is_object())
      for (const auto& [name, inner] : value.items()) Visit(inner, name, take);
    if (!value.is_string()) return;
    const std::string text = value.get<std::string>();
    if (const Json inside = Inside(text); !inside.is_null()) return Visit(inside, "", take);
    if (IsKept(text, field)) return;
    for (const std::string_view part : Parts(text))
      if (part != "/" && !IsKept(std::string(part), "")) take(std::string(part));
  }

  // "db" and "2" of "db-2" if "db" is a name, too: pods of a StatefulSet are numbered so.
  std::pair<std::string, std::string> Ordinal(const std::string& word) const {
    const size_t dash = word.rfind('-');
    if (dash == std::string::npos || !names_.contains(word.substr(0, dash))) return {word, ""};
    std::string index = word.substr(dash + 1);
    const bool is_number = !index.empty() && index.find_first_not_of("0123456789") == std::string::npos;
    return is_number ? std::pair(word.substr(0, dash), std::move(index)) : std::pair(word, std::string());
  }

  std::set<std::string, std::less<>> keys_, labels_;
  std::map<std::string, std::string, std::less<>> names_;  // to their pseudonyms
};

}  // namespace

void Pseudonymize(std::vector<Json>* objects) {
  Renaming renaming;
  for (Json& object : *objects) renaming.Learn(object, "");
  for (const Json& object : *objects) renaming.Collect(object, "");
  renaming.Number();
  for (Json& object : *objects) renaming.Rename(object, "");
}

}  // namespace tutti::app
