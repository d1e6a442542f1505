// SPDX-License-Identifier: Apache-2.0
#include "sim/manifests/manifest_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

namespace tutti::sim {
namespace {

namespace fs = std::filesystem;

bool IsKustomization(const fs::path& file) {
  const std::string name = file.filename().string();
  return name == "kustomization.yaml" || name == "kustomization.yml" || name == "Kustomization";
}

bool IsManifest(const fs::path& file) {
  const std::string extension = file.extension().string();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

bool IsHidden(const fs::path& path) { return path.filename().string().starts_with("."); }

std::string Kustomize(const std::string& folder) {
  return fmt::format("is a kustomization: kubectl kustomize {} | tutti ... -", folder);
}

// Collects what one folder has, and goes down if told to.
struct Folder {
  std::vector<std::string> files, subfolders, kustomizations, charts;

  base::Status Read(const fs::path& path, bool recursive) {
    std::error_code error;
    std::vector<fs::path> below;
    for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
      std::error_code unread;
      if (entry->is_directory(unread)) {
        // As kubectl has it, a link to a folder is not followed.
        if (!IsHidden(entry->path()) && !entry->is_symlink(unread)) below.push_back(entry->path());
      } else if (IsKustomization(entry->path())) {
        kustomizations.push_back(path.string());
      } else if (IsManifest(entry->path())) {
        files.push_back(entry->path().string());
      }
    }
    if (error) return base::Fail(base::ErrorCode::kNotFound, fmt::format("{}: {}", path.string(), error.message()));
    std::ranges::sort(below);
    for (const fs::path& one : below) {
      if (!recursive) {
        subfolders.push_back(one.filename().string());
        continue;
      }
      if (const std::string maker = MakerOfManifests(one.string()); !maker.empty()) {
        charts.push_back(maker);
        continue;
      }
      if (const base::Status read = Read(one, true); !read) return read;
    }
    return {};
  }
};

}  // namespace

std::string MakerOfManifests(const std::string& path) {
  if (path.find("://") != std::string::npos)
    return fmt::format("{}: a URL is not fetched; pipe it in: curl -fsSL {} | tutti ... -", path, path);
  const fs::path file(path);
  std::error_code error;
  if (fs::exists(file / "Chart.yaml", error))
    return fmt::format("{} is a Helm chart: helm template {} | tutti ... -", path, path);
  const std::string folder = file.has_parent_path() ? file.parent_path().string() : ".";
  if (!fs::is_regular_file(file, error)) return "";
  if (file.filename() == "Chart.yaml")
    return fmt::format("{} describes a Helm chart: helm template {} | tutti ... -", path, folder);
  return IsKustomization(file) ? fmt::format("{} {}", path, Kustomize(folder)) : "";
}

base::Result<std::vector<std::string>> FilesOf(const std::string& path, bool recursive,
                                               std::vector<std::string>* notes) {
  std::error_code error;
  if (path == "-") return std::vector<std::string>{path};
  if (const std::string maker = MakerOfManifests(path); !maker.empty()) return base::Invalid(maker);
  if (!fs::is_directory(path, error)) return std::vector<std::string>{path};
  Folder folder;
  if (const base::Status read = folder.Read(path, recursive); !read) return tl::make_unexpected(read.error());
  const std::string below = folder.subfolders.empty() ? "" : fmt::format("{}", fmt::join(folder.subfolders, ", "));
  if (folder.files.empty()) {
    if (!folder.charts.empty()) return base::Invalid(folder.charts.front());
    std::string why = fmt::format("{}: no *.yaml, *.yml or *.json in this folder", path);
    if (!folder.kustomizations.empty()) why = fmt::format("{} {}", path, Kustomize(path));
    if (!below.empty()) why += fmt::format("; --recursive reads its subfolders ({})", below);
    return base::Fail(base::ErrorCode::kNotFound, why);
  }
  if (notes != nullptr) {
    for (const std::string& one : folder.kustomizations)
      notes->push_back(fmt::format("{} {}; its files are read here as they are", one, Kustomize(one)));
    for (const std::string& one : folder.charts) notes->push_back(fmt::format("{}; it is left out here", one));
    if (!below.empty()) notes->push_back(fmt::format("{}: subfolders are read with --recursive only: {}", path, below));
  }
  std::ranges::sort(folder.files);
  return std::move(folder.files);
}

}  // namespace tutti::sim
