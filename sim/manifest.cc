// SPDX-License-Identifier: Apache-2.0
#include "sim/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <set>

#include "base/file.h"
#include "cluster/json_text.h"
#include "sim/field_validation.h"
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

// The first key that an object of this JSON has twice, or "".
std::string DuplicateKey(std::string_view text) {
  std::vector<std::set<std::string>> open;
  std::string duplicate;
  const auto look = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event != Json::parse_event_t::key) return true;
    const std::string& key = parsed.get_ref<const std::string&>();
    if (!open.back().insert(key).second && duplicate.empty()) duplicate = key;
    return true;
  };
  if (cluster::JsonDepth(text) > cluster::kDeepestJson) return "";
  const Json parsed = Json::parse(text, look, /*allow_exceptions=*/false);
  return parsed.is_discarded() ? "" : duplicate;
}

// A typed list's items carry no kind of their own.
void AddItems(const Manifest& list, std::vector<Manifest>& out) {
  const std::string kind = DigString(list.object, "kind");
  size_t index = 0;
  const std::string outer = list.item.empty() ? "" : list.item + ".";
  for (const Json& each : ArrayOf(Child(list.object, "items"))) {
    Manifest item{each, list.file, list.document, list.line, fmt::format("{}items[{}]", outer, index++)};
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

// Takes a file apart: documents between ---, in each either JSON objects or one of YAML.
class Parser {
 public:
  explicit Parser(const std::string& file) : file_(file) {}

  base::Status Add(std::string_view text, int line) {
    bool after_json = false;
    for (;;) {
      const size_t first = std::min(text.find_first_not_of(" \t\r\n"), text.size());
      line += int(std::count(text.begin(), text.begin() + ptrdiff_t(first), '\n'));
      text.remove_prefix(first);
      if (text.empty()) return {};
      const size_t end = text[0] == '{' ? cluster::EndOfJson(text) : std::string_view::npos;
      Json object = end == std::string_view::npos ? Json() : cluster::ParseJson(text.substr(0, end));
      if (!object.is_object()) return AddYaml(text, line, after_json);
      const std::string twice = DuplicateKey(text.substr(0, end));
      if (!twice.empty()) return Refuse(fmt::format("line {}: the key \"{}\" is there twice; remove one", line, twice));
      if (auto added = AddObject(std::move(object), line); !added) return added;
      line += int(std::count(text.begin(), text.begin() + ptrdiff_t(end), '\n'));
      text.remove_prefix(end);
      after_json = true;
    }
  }

  std::vector<Manifest> manifests;

 private:
  base::Status Refuse(const std::string& why) const {
    return base::Invalid(fmt::format("{}: document {}, {}", file_, documents_ + 1, why));
  }
  base::Status AddObject(Json object, int line) {
    return AddManifest({std::move(object), file_, ++documents_, line, ""}, manifests);
  }
  base::Status AddYaml(std::string_view text, int line, bool after_json) {
    auto parsed = ParseYaml(text, line);
    if (!parsed) return Refuse(parsed.error().message);
    if (parsed->value.is_null()) return {};
    if (after_json && text[0] != '{')
      return Refuse(fmt::format("line {}: there is more after the JSON object; write --- before it", parsed->line));
    if (!parsed->duplicate.empty()) return Refuse(parsed->duplicate);
    return AddObject(std::move(parsed->value), parsed->line);
  }

  const std::string& file_;
  int documents_ = 0;  // those with content
};

base::Result<std::string> ReadFile(const std::string& path) {
  if (path == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  return base::ReadFile(path);
}

base::Result<std::vector<std::string>> FilesOf(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (path == "-" || !fs::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    const std::string extension = entry.path().extension().string();
    const bool named_so = extension == ".yaml" || extension == ".yml" || extension == ".json";
    if (named_so && !entry.is_directory(error)) files.push_back(entry.path().string());
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
  if (kind == "LimitRange" || kind == "StorageClass") return 3;
  return 4;
}

}  // namespace

std::string Manifest::Where() const {
  std::string where = fmt::format("{}: document {}, line {}", file, document, line);
  if (!item.empty()) where += ", " + item;
  if (const std::string& kind = DigString(object, "kind"); !item.empty() && !kind.empty())
    where += fmt::format(" ({} {})", kind, KeyOf(object));
  return where;
}

base::Result<std::vector<Manifest>> ParseManifests(std::string_view text, const std::string& file) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  Parser parser(file);
  for (const Document& document : SplitDocuments(text)) {
    if (auto added = parser.Add(document.text, document.line); !added) return tl::make_unexpected(added.error());
  }
  return std::move(parser.manifests);
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
    const std::string where = manifest.Where();  // its object is given away
    const std::string ns = NamespaceOf(manifest.object);
    if (!ns.empty() && !store.Find(kNamespaces, "", ns)) {
      const Json space = {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", ns}}}};
      if (auto made = store.Create(space); !made) return base::Invalid(where + ": " + made.error().message);
    }
    const ApiResource* resource =
        store.resources().FindKind(DigString(manifest.object, "apiVersion"), DigString(manifest.object, "kind"));
    // A cluster's dump brings the namespaces and classes that every cluster has.
    if (resource && Order(manifest.object) > 0 && Order(manifest.object) < 3 &&
        store.Find(resource->id, "", NameOf(manifest.object))) {
      continue;
    }
    if (resource) {
      const std::string& version = DigString(manifest.object, "apiVersion");
      const auto known = CheckFieldsStrictly(*resource, version.substr(version.find('/') + 1), manifest.object);
      if (!known) return base::Invalid(fmt::format("{}: {}", where, known.error().message));
    }
    if (auto made = store.Create(std::move(manifest.object), {.restore = true}); !made) {
      return base::Invalid(fmt::format("{}: {}", where, made.error().message));
    }
  }
  return {};
}

}  // namespace tutti::sim
