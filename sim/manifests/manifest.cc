// SPDX-License-Identifier: Apache-2.0
#include "sim/manifests/manifest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <optional>
#include <set>

#include "base/closest.h"
#include "base/file.h"
#include "cluster/json_text.h"
#include "sim/manifests/manifest_files.h"
#include "sim/objects/manifest_hints.h"
#include "sim/objects/yaml.h"
#include "sim/schema/builtin_schema.h"
#include "sim/schema/field_validation.h"

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
    const std::string_view line = text.substr(0, end + 1);
    text.remove_prefix(end + 1);
    if (IsSeparator(line.substr(0, line.find('\n')))) {
      documents.push_back({"   ", number});
      documents.back().text += line.substr(3);
    } else {
      documents.back().text += line;
    }
    ++number;
  }
  return documents;
}

// The first key that an object of this JSON has twice, or "".
std::string FirstTwice(std::string_view text) {
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

// How many keys its objects have together.
size_t KeysOf(const Json& value) {
  size_t keys = 0;
  if (const auto* object = value.get_ptr<const Json::object_t*>())
    for (const auto& [key, item] : *object) keys += 1 + KeysOf(item);
  else if (const auto* list = value.get_ptr<const Json::array_t*>())
    for (const Json& item : *list) keys += KeysOf(item);
  return keys;
}

// How many keys stand in the text of JSON: one that is there twice counts twice.
size_t KeysWritten(std::string_view text) {
  size_t colons = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (text[i] == '\\')
      ++i;
    else
      colons += text[i] == ':' && !quoted;
  }
  return colons;
}

// The first key that an object of this JSON has twice, or "". `parsed` is the value of `text`.
std::string DuplicateKey(std::string_view text, const Json& parsed) {
  return KeysOf(parsed) == KeysWritten(text) ? "" : FirstTwice(text);
}

// A typed list's items carry no kind of their own.
void AddItems(const Manifest& list, std::vector<Manifest>& out) {
  const std::string kind = DigString(list.object, "kind");
  size_t index = 0;
  const std::string outer = list.item.empty() ? "" : list.item + ".";
  for (const Json& each : ArrayOf(Child(list.object, "items"))) {
    Manifest item{each,      list.file,     list.document, list.line, fmt::format("{}items[{}]", outer, index++),
                  list.text, list.text_line};
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
      const std::string twice = DuplicateKey(text.substr(0, end), object);
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
  base::Status AddObject(Json object, int line, std::shared_ptr<const std::string> text = nullptr, int text_line = 1) {
    return AddManifest({std::move(object), file_, ++documents_, line, "", std::move(text), text_line}, manifests);
  }
  base::Status AddYaml(std::string_view text, int line, bool after_json) {
    auto parsed = ParseYaml(text, line, &blocks_);
    if (!parsed) return Refuse(parsed.error().message);
    if (parsed->value.is_null()) return {};
    if (after_json && text[0] != '{')
      return Refuse(fmt::format("line {}: there is more after the JSON object; write --- before it", parsed->line));
    if (!parsed->duplicate.empty()) return Refuse(parsed->duplicate);
    return AddObject(std::move(parsed->value), parsed->line, std::make_shared<std::string>(text), line);
  }

  const std::string& file_;
  int documents_ = 0;  // those with content
  YamlBlocks blocks_;
};

base::Result<std::string> ReadFile(const std::string& path) {
  if (path == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  return base::ReadFile(path);
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

// "; it is served as apps/v1", with each version in which the kind is served; empty: in none.
std::string ServedAs(const ResourceTable& resources, const std::string& version, const std::string& kind) {
  const std::string group = SplitApiVersion(version).group;
  std::vector<std::string> served;
  for (const auto& [id, resource] : resources.All())
    if (id.group == group && resource.kind == kind)
      for (const ApiVersion& each : resource.versions)
        if (each.served) served.push_back(group.empty() ? each.name : fmt::format("{}/{}", group, each.name));
  return served.empty() ? "" : fmt::format("; it is served as {}", fmt::join(served, " and "));
}

std::string VersionOf(const std::string& api_version) { return SplitApiVersion(api_version).version; }

// `words` with the line and the field that may be meant after each `unknown field "PATH"` in them.
std::string WithPlaces(std::string_view words, const Manifest& manifest, const ApiResource& resource,
                       const std::string& version) {
  constexpr std::string_view kUnknown = "unknown field \"";
  if (words.find(kUnknown) == std::string_view::npos) return std::string(words);
  const auto lines = manifest.text ? LinesOfKeys(*manifest.text, manifest.text_line) : std::map<std::string, int>();
  const std::string outer = manifest.item.empty() ? "" : manifest.item + ".";
  std::string out;
  for (size_t at; (at = words.find(kUnknown)) != std::string_view::npos;) {
    const size_t begin = at + kUnknown.size(), end = std::min(words.find('"', begin), words.size() - 1);
    const std::string path(words.substr(begin, end - begin));
    out += words.substr(0, end + 1);
    words.remove_prefix(end + 1);
    std::vector<std::string> more;
    if (const auto line = lines.find(outer + path); line != lines.end())
      more.push_back(fmt::format("line {}", line->second));
    const std::string_view meant =
        base::Closest(path.substr(path.rfind('.') + 1), FieldsBeside(resource, VersionOf(version), path));
    if (!meant.empty()) more.push_back(fmt::format("did you mean {}?", meant));
    if (!more.empty()) out += fmt::format(" ({})", fmt::join(more, "; "));
  }
  return out + std::string(words);
}

// Why an object was not stored, and the field that is at fault; empty: none is known.
struct NotStored {
  std::string words, path;
};

// The field of the first cause that the API server names.
std::string FieldOf(const ApiError& error) {
  for (const Json& cause : ArrayOf(Child(error.details, "causes"))) return DigString(cause, "field");
  return error.message.find("no PriorityClass with name") != std::string::npos ? "spec.priorityClassName" : "";
}

// Returns nullopt once it is stored.
std::optional<NotStored> StoreOne(Store& store, const ApiResource* resource, Json object) {
  const std::string ns = NamespaceOf(object);
  if (!ns.empty() && !store.Find(kNamespaces, "", ns)) {
    const Json space = {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", ns}}}};
    if (auto made = store.Create(space); !made) return NotStored{made.error().message, "metadata.namespace"};
  }
  // A cluster's dump brings the namespaces and classes that every cluster has.
  const int order = Order(object);
  if (resource && order > 0 && order < 3 && store.Find(resource->id, "", NameOf(object))) return std::nullopt;
  if (resource) {
    Json unread = object;
    if (resource->id == kPods && store.templates().IsDecoded(Child(object, "spec"))) unread.erase("spec");
    const auto known = CheckFieldsStrictly(*resource, VersionOf(DigString(object, "apiVersion")), unread);
    if (!known) {
      const DecodeResult decoded = DecodeBuiltin(*resource, object);
      if (decoded.path.empty()) return NotStored{known.error().message, ""};
      return NotStored{fmt::format("{} must be {}", decoded.path, decoded.wanted), decoded.path};
    }
  }
  auto made = store.Create(std::move(object), {.restore = true});
  if (!made) return NotStored{made.error().message, FieldOf(made.error())};
  return std::nullopt;
}

}  // namespace

std::string Some(std::vector<std::string> names) {
  constexpr size_t kNamesShown = 3;
  const size_t more = names.size() - std::min(names.size(), kNamesShown);
  names.resize(names.size() - more);
  return fmt::format("{}{}", fmt::join(names, ", "), more ? fmt::format(" and {} more", more) : "");
}

std::vector<std::string> NotesOf(const UnknownKinds& unknown, const Store& store) {
  std::vector<std::string> notes;
  for (const auto& [type, keys] : unknown) {
    std::vector<std::string_view> known;
    for (const auto& [id, resource] : store.resources().All())
      if (id.group == SplitApiVersion(type.first).group) known.push_back(resource.kind);
    std::string more = ServedAs(store.resources(), type.first, type.second);
    if (const std::string_view meant = base::Closest(type.second, known); more.empty() && !meant.empty())
      more = fmt::format("; did you mean {}?", meant);
    notes.push_back(fmt::format("the kind {} of {} is not known here: {} ignored{}", type.second, type.first,
                                Some(keys) + (keys.size() == 1 ? " is" : " are"), more));
  }
  return notes;
}

std::string Manifest::Where() const {
  std::string where = fmt::format("{}: document {}, line {}", file, document, line);
  if (!item.empty()) where += ", " + item;
  if (const std::string& kind = DigString(object, "kind"); !item.empty() && !kind.empty())
    where += fmt::format(" ({} {})", kind, KeyOf(object));
  return where;
}

std::string Manifest::WhereIs(std::string_view path) const {
  if (!text || path.empty()) return Where();
  std::string at = item.empty() ? "" : item + ".";
  for (size_t i = 0; i < path.size(); ++i) {
    const bool key = path[i] == '[' && i + 1 < path.size() && (path[i + 1] < '0' || path[i + 1] > '9');
    const size_t end = key ? path.find(']', i) : std::string_view::npos;
    if (end == std::string_view::npos) {
      at += path[i];
      continue;
    }
    at.append(1, '.').append(path.substr(i + 1, end - i - 1));
    i = end;
  }
  const auto lines = LinesOfKeys(*text, text_line);
  for (; !at.empty(); at.resize(std::min(at.find_last_of(".["), at.size() - 1)))
    if (const auto line = lines.find(at); line != lines.end()) return fmt::format("{}:{}", file, line->second);
  return Where();
}

base::Result<std::vector<Manifest>> ParseManifests(std::string_view text, const std::string& file) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (const std::string why = NotText(text, file); !why.empty()) return base::Invalid(why);
  Parser parser(file);
  for (const Document& document : SplitDocuments(text)) {
    if (auto added = parser.Add(document.text, document.line); !added) return tl::make_unexpected(added.error());
  }
  return std::move(parser.manifests);
}

base::Result<std::vector<Manifest>> LoadManifests(const std::vector<std::string>& paths, LoadOptions options) {
  if (std::ranges::count(paths, "-") > 1) return base::Invalid("- is given twice; standard input can be read once");
  std::vector<Manifest> all;
  for (const std::string& path : paths) {
    const auto files = FilesOf(path, options.recursive, options.notes);
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

base::Status StoreManifests(Store& store, std::vector<Manifest> manifests, UnknownKinds* unknown) {
  std::stable_sort(manifests.begin(), manifests.end(),
                   [](const Manifest& a, const Manifest& b) { return Order(a.object) < Order(b.object); });
  for (Manifest& manifest : manifests) {
    const std::string& version = DigString(manifest.object, "apiVersion");
    const std::string& kind = DigString(manifest.object, "kind");
    const ApiResource* resource = store.resources().FindKind(version, kind);
    if (!resource && unknown != nullptr) {
      (*unknown)[{version, kind}].push_back(KeyOf(manifest.object));
      continue;
    }
    const std::string where = manifest.Where(), api_version = version;  // its object is given away
    const std::string served_as = resource ? "" : ServedAs(store.resources(), version, kind);
    if (const auto why = StoreOne(store, resource, std::move(manifest.object)))
      return base::Invalid(
          fmt::format("{}: {}", why->path.empty() ? where : manifest.WhereIs(why->path),
                      resource ? WithPlaces(why->words, manifest, *resource, api_version) : why->words + served_as));
  }
  return {};
}

}  // namespace tutti::sim
