// SPDX-License-Identifier: Apache-2.0
// A folder of a test's own, which is removed with this object.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace tutti::kube {

class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              ("kube-test-" + std::to_string(getpid()) + "-" + std::to_string(++count_))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string Write(const std::string& name, const std::string& content) const {
    std::ofstream(path_ / name) << content;
    return (path_ / name).string();
  }
  std::string At(const std::string& name) const { return (path_ / name).string(); }

 private:
  static inline int count_ = 0;
  const std::filesystem::path path_;
};

}  // namespace tutti::kube
