// SPDX-License-Identifier: Apache-2.0
#include "sim/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "cluster/json_text.h"
#include "sim/yaml.h"

namespace tutti::sim {
namespace {

struct Document {
  std::string text;
  int line;
};

bool IsSeparator(std::string_view line) {
  return line.starts_with("---") && (line.size() == 3 || line[3] == ' ' || line[3] == '\t' || line[3] == '\r');
}

// Separators become blanks, so that lines keep their numbers.
std::vector<Document> SplitDocuments(std::string_view text) {
  std::vector<Document> documents = {{"", 1}};
  int number = 1;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1);
    std::string line(text.substr(0, end + 1));
    text.remove_prefix(end + 1);
    if (IsSeparator(line.substr(0, line.find('\n')))) {
      documents.push_back({"", number});
      line.replace(0, 3, "   ");
    }
    documents.back().text += line;
    ++number;
  }
  return documents;
}

bool IsJson(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

// A typed list's items carry no kind of their own.
void AddItems(const Manifest& list, std::vector<Manifest>& out) {
  const std::string kind = DigString(list.object, "kind");
  for (const Json& each : ArrayOf(Child(list.object, "items"))) {
    Manifest item{each, list.file, list.document, list.line};
    if (kind != "List" && each.is_object()) {
      if (!each.contains("kind")) item.object["kind"] = kind.substr(0, kind.size() - 4);
      if (!each.contains("apiVersion")) item.object["apiVersion"] = Child(list.object, "apiVersion");
    }
    out.push_back(std::move(item));
  }
}

base::Status AddManifest(Manifest manifest, std::vector<Manifest>& out) {
  if (manifest.object.is_null()) return {};
  const auto fail = [&](const std::string& why) { return base::Invalid(manifest.Where() + ": " + why); };
  if (!manifest.object.is_object()) return fail("a manifest is a map with apiVersion and kind");
  const std::string& kind = DigString(manifest.object, "kind");
  if (kind.ends_with("List") && Child(manifest.object, "items").is_array()) {
    std::vector<Manifest> items;
    AddItems(manifest, items);
    for (Manifest& item : items) {
      if (auto added = AddManifest(std::move(item), out); !added) return added;
    }
    return {};
  }
  if (kind.empty()) return fail("kind is missing: say which kind of object this is, such as `kind: Pod`");
  if (DigString(manifest.object, "apiVersion").empty()) {
    return fail("apiVersion is missing: say which API it belongs to, such as `apiVersion: v1`");
  }
  out.push_back(std::move(manifest));
  return {};
}

base::Result<std::string> ReadFile(const std::string& path) {
  if (path == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  std::ifstream file(path, std::ios::binary);
  if (!file) return base::Fail(base::ErrorCode::kNotFound, fmt::format("{}: {}", path, std::strerror(errno)));
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (file.bad()) return base::Fail(base::ErrorCode::kNotFound, fmt::format("{}: cannot be read", path));
  return text;
}

base::Result<std::vector<std::string>> FilesOf(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (path == "-" || !fs::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".yaml" || extension == ".yml" || extension == ".json") files.push_back(entry.path().string());
  }
  if (error) return base::Fail(base::ErrorCode::kNotFound, fmt::format("{}: {}", path, error.message()));
  if (files.empty()) {
    return base::Fail(base::ErrorCode::kNotFound, fmt::format("{}: no *.yaml, *.yml or *.json in this folder", path));
  }
  std::sort(files.begin(), files.end());
  return files;
}

// What others refer to, before them.
int Order(const Json& object) {
  const std::string& kind = DigString(object, "kind");
  if (kind == "CustomResourceDefinition") return 0;
  if (kind == "Namespace") return 1;
  if (kind == "PriorityClass") return 2;
  return 3;
}

}  // namespace

std::string Manifest::Where() const { return fmt::format("{}: document {}, line {}", file, document, line); }

base::Result<std::vector<Manifest>> ParseManifests(std::string_view text, const std::string& file) {
  std::vector<Manifest> manifests;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  int number = 0;
  bool any = false;
  for (const Document& document : SplitDocuments(text)) {
    Manifest manifest{nullptr, file, any ? number + 1 : 1, document.line};
    if (IsJson(document.text)) {
      manifest.object = cluster::ParseJson(document.text);
      if (manifest.object.is_discarded()) manifest.object = nullptr;
    }
    if (manifest.object.is_null()) {
      auto parsed = ParseYaml(document.text, document.line);
      if (!parsed)
        return base::Invalid(fmt::format("{}: document {}, {}", file, manifest.document, parsed.error().message));
      manifest.object = std::move(parsed->value);
      manifest.line = parsed->line;
    }
    if (manifest.object.is_null()) continue;
    any = true;
    number = manifest.document;
    if (auto added = AddManifest(std::move(manifest), manifests); !added) return tl::make_unexpected(added.error());
  }
  return manifests;
}

base::Result<std::vector<Manifest>> LoadManifests(const std::vector<std::string>& paths) {
  std::vector<Manifest> all;
  for (const std::string& path : paths) {
    const auto files = FilesOf(path);
    if (!files) return tl::make_unexpected(files.error());
    for (const std::string& file : *files) {
      const auto text = ReadFile(file);
      if (!text) return tl::make_unexpected(text.error());
      auto manifests = ParseManifests(*text, file);
      if (!manifests) return manifests;
      std::move(manifests->begin(), manifests->end(), std::back_inserter(all));
    }
  }
  return all;
}

base::Status StoreManifests(Store& store, std::vector<Manifest> manifests) {
  std::stable_sort(manifests.begin(), manifests.end(),
                   [](const Manifest& a, const Manifest& b) { return Order(a.object) < Order(b.object); });
  for (Manifest& manifest : manifests) {
    const std::string ns = NamespaceOf(manifest.object);
    if (!ns.empty() && !store.Find(kNamespaces, "", ns)) {
      const Json space = {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", ns}}}};
      if (auto made = store.Create(space); !made) return base::Invalid(manifest.Where() + ": " + made.error().message);
    }
    // A cluster's dump brings the namespaces and classes that every cluster has.
    if (Order(manifest.object) > 0 && Order(manifest.object) < 3) {
      const ApiResource* resource =
          store.resources().FindKind(DigString(manifest.object, "apiVersion"), DigString(manifest.object, "kind"));
      if (resource && store.Find(resource->id, "", NameOf(manifest.object))) continue;
    }
    if (auto made = store.Create(std::move(manifest.object), {.restore = true}); !made) {
      return base::Invalid(fmt::format("{}: {}", manifest.Where(), made.error().message));
    }
  }
  return {};
}

}  // namespace tutti::sim
