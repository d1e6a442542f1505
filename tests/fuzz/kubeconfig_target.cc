// SPDX-License-Identifier: Apache-2.0
// A kubeconfig. What is taken can be connected with; of what is refused, the reason has no token, password or key in
// it.
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/check.h"
#include "kube/config.h"
#include "tests/fuzz/target.h"

namespace tutti::kube {
namespace {

constexpr size_t kShortestSecret = 6;  // shorter words are found anywhere

// A folder of its own: relative paths lead nowhere else.
class File {
 public:
  File() {
    std::string folder = (std::filesystem::temp_directory_path() / "kubeconfig-XXXXXX").string();
    TUTTI_CHECK(mkdtemp(folder.data()) != nullptr, "no folder for temporary files");
    folder_ = folder;
  }
  ~File() { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ / "config"; }
  void Write(std::string_view text) const { std::ofstream(path(), std::ios::binary) << text; }

 private:
  std::filesystem::path folder_;
};

struct Words {
  std::set<std::string> secret, open;
};

bool IsSecret(const std::string& key) {
  constexpr const char* kSecrets[] = {"token",     "password", "client-key-data", "client-certificate-data",
                                      "proxy-url", "value"};
  return std::ranges::find(kSecrets, key) != std::end(kSecrets);
}

void Collect(const YAML::Node& node, bool secret, int depth, Words* words) {
  if (depth > 16) return;
  if (node.IsScalar()) (secret ? words->secret : words->open).insert(node.Scalar());
  if (node.IsSequence())
    for (const YAML::Node& item : node) Collect(item, secret, depth + 1, words);
  if (node.IsMap())
    for (const auto& entry : node) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
      words->open.insert(key);
      Collect(entry.second, secret || IsSecret(key), depth + 1, words);
    }
}

// Of what is no YAML, every long word with a digit in it.
void CollectWords(std::string_view text, Words* words) {
  const auto in_word = [](unsigned char c) { return std::isalnum(c) || c == '+' || c == '_' || c == '='; };
  while (!text.empty()) {
    const auto end = std::ranges::find_if_not(text, in_word);
    const std::string word(text.begin(), end);
    if (word.size() >= 8 && std::ranges::any_of(word, [](unsigned char c) { return std::isdigit(c); }))
      words->secret.insert(word);
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
}

Words WordsOf(std::string_view text) {
  Words words;
  try {
    Collect(YAML::Load(std::string(text)), false, 0, &words);
  } catch (const YAML::Exception&) {
    words = {};
    CollectWords(text, &words);
  }
  return words;
}

void CheckUsable(const Config& config) {
  TUTTI_CHECK(ServerProblem(config.server).empty(), "no URL to connect to");
  TUTTI_CHECK(config.client_cert_pem.empty() == config.client_key_pem.empty(), "half a client certificate");
  for (const auto& [name, value] : config.impersonation)
    TUTTI_CHECK(value.find_first_of("\r\n") == value.npos && !name.empty(), "a header that is no line");
}

// With other letters and digits in the place of `secret`, wherever that stands.
std::string Without(const std::string& secret, std::string text) {
  std::string other = secret;
  for (char& c : other)
    if (std::isalnum(static_cast<unsigned char>(c))) c = c == 'x' ? 'y' : 'x';
  for (size_t at = 0; (at = text.find(secret, at)) != text.npos; at += other.size())
    text.replace(at, secret.size(), other);
  return text;
}

// Empty where it is taken.
std::string ErrorOf(const File& file, std::string_view text, const char* context) {
  file.Write(text);
  const auto config = LoadKubeconfig({file.path()}, context);
  if (config) return CheckUsable(*config), std::string();
  TUTTI_CHECK(!config.error().message.empty(), "a refusal without a reason");
  return config.error().message;
}

void CheckKeepsSecrets(const std::string& message, std::string_view input, const char* context, const File& file) {
  const Words words = WordsOf(input);
  for (const std::string& secret : words.secret) {
    if (secret.size() < kShortestSecret || file.path().find(secret) != std::string::npos) continue;
    const auto holds = [&](const std::string& open) { return open.find(secret) != open.npos; };
    if (std::ranges::any_of(words.open, holds)) continue;  // it is a name as well
    if (message.find(secret) == message.npos) continue;
    const std::string other = Without(secret, std::string(input));
    TUTTI_CHECK(other != input && ErrorOf(file, other, context).find(secret) != std::string::npos,
                "a secret in an error");  // and not a word of the error's own
  }
}

}  // namespace
}  // namespace tutti::kube

TUTTI_FUZZ_TARGET(kubeconfig) {
  using namespace tutti;
  static const kube::File file;
  for (const char* context : {"", "other"}) {
    const std::string error = kube::ErrorOf(file, input, context);
    if (!error.empty()) kube::CheckKeepsSecrets(error, input, context, file);
  }
}
