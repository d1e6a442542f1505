// SPDX-License-Identifier: Apache-2.0
// The kubeconfig half of config.h: reading, merging and choosing.
#include <fmt/format.h>
#include <openssl/evp.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/file.h"
#include "base/json.h"
#include "base/json_string.h"
#include "base/yaml_node.h"
#include "kube/config.h"
#include "kube/pem.h"
#include "kube/transport.h"

namespace tutti::kube {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNoCertificate = "holds no certificate in PEM";

// A named entry and its file; relative paths are relative to the file's folder.
struct Entry {
  YAML::Node node;
  std::string file;
};

struct Merged {
  std::map<std::string, Entry> clusters, users, contexts;
  std::string current_context;
  std::string files;  // for messages
};

// Reads the fields of a named entry; knows the entry's name for errors.
class Fields {
 public:
  Fields(const Entry& entry, std::string path) : entry_(entry), path_(std::move(path)) {}

  base::Result<std::string> Text(const char* key) const {
    const YAML::Node value = entry_.node[key];
    if (!value || value.IsNull()) return std::string();
    if (!value.IsScalar()) return Wrong(key, "must be a string");
    return value.Scalar();
  }
  base::Result<bool> Bool(const char* key) const {
    const YAML::Node value = entry_.node[key];
    if (!value || value.IsNull()) return false;
    const auto meant = base::YamlToJson(value);
    if (!meant || !meant->is_boolean()) return Wrong(key, "must be true or false");
    return meant->get<bool>();
  }
  // Returns the path in the field, made absolute.
  base::Result<std::string> Path(const char* key) const {
    auto text = Text(key);
    if (!text || text->empty() || fs::path(*text).is_absolute()) return text;
    return (fs::absolute(entry_.file).parent_path() / *text).lexically_normal().string();
  }
  // Returns the decoded content of the field KEY-data (base64).
  base::Result<std::string> Data(const char* key) const {
    auto text = Text(key);
    if (!text || text->empty()) return text;
    std::erase_if(*text, [](unsigned char c) { return std::isspace(c); });
    std::string decoded(text->size() / 4 * 3 + 3, '\0');
    const int size =
        EVP_DecodeBlock(reinterpret_cast<unsigned char*>(decoded.data()),
                        reinterpret_cast<const unsigned char*>(text->data()), static_cast<int>(text->size()));
    if (size < 0) return Wrong(key, "is not base64");
    const auto padding =
        static_cast<size_t>(std::count(text->end() - std::min<std::ptrdiff_t>(2, std::ssize(*text)), text->end(), '='));
    decoded.resize(static_cast<size_t>(size) - padding);
    return decoded;
  }
  // Returns KEY-data if it is set, else the content of the file KEY.
  base::Result<std::string> DataOrFile(const char* data_key, const char* file_key) const {
    auto data = Data(data_key);
    if (!data || !data->empty()) return data;
    auto path = Path(file_key);
    if (!path || path->empty()) return path;
    auto content = base::ReadFile(*path);
    if (!content)
      return base::Invalid(fmt::format("{}: {}.{}: {}", entry_.file, path_, file_key, content.error().message));
    return content;
  }
  // Returns the name of the field that DataOrFile reads.
  const char* Holder(const char* data_key, const char* file_key) const {
    return InFile(data_key) ? file_key : data_key;
  }
  // Returns the file that DataOrFile reads; empty if none.
  base::Result<std::string> FileOf(const char* data_key, const char* file_key) const {
    return InFile(data_key) ? Path(file_key) : std::string();
  }
  YAML::Node Child(const char* key) const { return entry_.node[key]; }
  const Entry& entry() const { return entry_; }
  const std::string& path() const { return path_; }
  tl::unexpected<base::Error> Wrong(const char* key, std::string_view what) const {
    return base::Invalid(fmt::format("{}: {}.{} {}", entry_.file, path_, key, what));
  }

 private:
  bool InFile(const char* data_key) const {
    const auto data = Data(data_key);
    return data && data->empty();
  }

  const Entry& entry_;
  const std::string path_;
};

// Collects the first error of several reads into one place.
class Reader {
 public:
  template <typename T>
  void Into(T* target, base::Result<T> value) {
    if (value) {
      *target = std::move(*value);
    } else if (status_) {
      status_ = tl::make_unexpected(value.error());
    }
  }
  void Fail(tl::unexpected<base::Error> error) {
    if (status_) status_ = std::move(error);
  }
  const base::Status& status() const { return status_; }

 private:
  base::Status status_;
};

base::Status MergeList(const YAML::Node& root, const std::string& file, const char* list, const char* item,
                       std::map<std::string, Entry>* into) {
  const YAML::Node entries = root[list];
  if (!entries || entries.IsNull()) return {};
  if (!entries.IsSequence()) return base::Invalid(fmt::format("{}: {} must be a list", file, list));
  for (const YAML::Node& entry : entries) {
    if (!entry.IsMap() || !entry["name"] || !entry["name"].IsScalar())
      return base::Invalid(fmt::format("{}: an entry of {} has no name", file, list));
    const YAML::Node said = entry[item];
    const bool silent = !said || said.IsNull();
    if (!silent && !said.IsMap())
      return base::Invalid(fmt::format("{}: {}[{}].{} must be a map", file, list, entry["name"].Scalar(), item));
    const YAML::Node body = silent ? YAML::Node(YAML::NodeType::Map) : said;
    into->try_emplace(entry["name"].Scalar(), Entry{body, file});
  }
  return {};
}

base::Status MergeFile(const std::string& path, Merged* merged) {
  auto text = base::ReadFile(path);
  if (!text) return tl::make_unexpected(text.error());
  YAML::Node root;
  try {
    root = YAML::Load(*text);
  } catch (const YAML::Exception& error) {
    return base::Invalid(fmt::format("{}: line {}: not YAML: {}", path, error.mark.line + 1, error.msg));
  }
  if (root.IsNull()) return {};
  if (!root.IsMap()) return base::Invalid(fmt::format("{}: not a kubeconfig: the top level must be a map", path));
  if (const YAML::Node current = root["current-context"];
      current && current.IsScalar() && merged->current_context.empty())
    merged->current_context = current.Scalar();
  if (auto s = MergeList(root, path, "clusters", "cluster", &merged->clusters); !s) return s;
  if (auto s = MergeList(root, path, "users", "user", &merged->users); !s) return s;
  return MergeList(root, path, "contexts", "context", &merged->contexts);
}

// Returns the entry of the cluster's `extensions` that client-go gives to exec plugins.
base::Result<std::string> ExecConfig(const Fields& cluster) {
  const YAML::Node extensions = cluster.Child("extensions");
  if (!extensions || !extensions.IsSequence()) return std::string();
  for (const YAML::Node& entry : extensions) {
    if (!entry.IsMap() || !entry["name"] || !entry["name"].IsScalar() || !entry["extension"]) continue;
    if (entry["name"].Scalar() != "client.authentication.k8s.io/exec") continue;
    const auto extension = base::YamlToJson(entry["extension"]);
    if (!extension) return cluster.Wrong("extensions", extension.error().message);
    return base::PrintJson(*extension);
  }
  return std::string();
}

// Whether `text` is a usable proxy URL, with one of client-go's schemes. libcurl stops reading a user or password at a
// character that must be escaped, so such URLs are refused.
bool IsProxyUrl(const std::string& text) {
  const size_t begin = text.find("://");
  if (begin == std::string::npos || text.find_first_of(" \t\r\n\\?#") != std::string::npos) return false;
  std::string rest = text.substr(begin + 3);
  if (rest.ends_with('/')) rest.pop_back();
  if (rest.find('/') != std::string::npos) return false;
  const Url url = SplitUrl(text.substr(0, begin + 3) + rest.substr(rest.find('@') + 1));
  return url.sound() && (url.scheme == "http" || url.scheme == "https" || url.scheme == "socks5");
}

void ReadCluster(const Fields& cluster, Reader* reader, Config* config) {
  reader->Into(&config->server, cluster.Text("server"));
  reader->Into(&config->ca_pem, cluster.DataOrFile("certificate-authority-data", "certificate-authority"));
  reader->Into(&config->ca_file, cluster.FileOf("certificate-authority-data", "certificate-authority"));
  reader->Into(&config->insecure_skip_tls_verify, cluster.Bool("insecure-skip-tls-verify"));
  reader->Into(&config->tls_server_name, cluster.Text("tls-server-name"));
  reader->Into(&config->proxy_url, cluster.Text("proxy-url"));
  reader->Into(&config->exec_config, ExecConfig(cluster));
  if (!reader->status()) return;
  if (const std::string problem = ServerProblem(config->server); !problem.empty())
    reader->Fail(cluster.Wrong("server", problem));
  if (!config->ca_pem.empty() && !HoldsCertificate(config->ca_pem))
    reader->Fail(cluster.Wrong(cluster.Holder("certificate-authority-data", "certificate-authority"), kNoCertificate));
  if (!config->proxy_url.empty() && !IsProxyUrl(config->proxy_url))
    reader->Fail(cluster.Wrong("proxy-url",
                               "must be a URL such as http://proxy:3128 (or https, socks5); in a user and password "
                               "before it, @ : / ? # and the like are written as %40 and so on"));
  if (config->insecure_skip_tls_verify && !config->ca_pem.empty())
    reader->Fail(cluster.Wrong("insecure-skip-tls-verify", "may not be set together with a certificate-authority"));
}

// Reads the plugin's args and env.
void ReadInvocation(const Fields& exec, Reader* reader, ExecPlugin* plugin) {
  const auto list = [&](const char* key, const char* wanted) {
    YAML::Node found = exec.Child(key);
    if (!found || found.IsNull() || found.IsSequence()) return found;
    reader->Fail(exec.Wrong(key, wanted));
    return YAML::Node();
  };
  constexpr const char *kStrings = "must be a list of strings", *kPairs = "must be a list of name and value";
  for (const YAML::Node& arg : list("args", kStrings)) {
    if (!arg.IsScalar()) return reader->Fail(exec.Wrong("args", kStrings));
    plugin->args.push_back(arg.Scalar());
  }
  for (const YAML::Node& variable : list("env", kPairs)) {
    if (!variable.IsMap() || !variable["name"] || !variable["value"]) return reader->Fail(exec.Wrong("env", kPairs));
    plugin->env.emplace_back(variable["name"].Scalar(), variable["value"].Scalar());
  }
}

ExecPlugin ReadExec(const Fields& user, Reader* reader) {
  ExecPlugin plugin;
  const Entry entry{user.Child("exec"), user.entry().file};
  const Fields exec(entry, user.path() + ".exec");
  reader->Into(&plugin.api_version, exec.Text("apiVersion"));
  reader->Into(&plugin.command, exec.Text("command"));
  reader->Into(&plugin.install_hint, exec.Text("installHint"));
  reader->Into(&plugin.provide_cluster_info, exec.Bool("provideClusterInfo"));
  std::string interactive;
  reader->Into(&interactive, exec.Text("interactiveMode"));
  if (!reader->status()) return plugin;
  if (plugin.api_version != "client.authentication.k8s.io/v1" &&
      plugin.api_version != "client.authentication.k8s.io/v1beta1")
    reader->Fail(
        exec.Wrong("apiVersion", "must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1"));
  if (plugin.command.empty()) reader->Fail(exec.Wrong("command", "is missing"));
  if (interactive == "Always")
    reader->Fail(exec.Wrong("interactiveMode", "is Always, but a scheduler has no terminal"));
  if (plugin.command.find('/') != std::string::npos) reader->Into(&plugin.command, exec.Path("command"));
  ReadInvocation(exec, reader, &plugin);
  return plugin;
}

// Returns a key of as-user-extra for use in a header's name: in lower case, with other characters as %XX.
std::string HeaderKey(std::string_view key) {
  constexpr std::string_view kAllowed = "!#$&'*+-.^_`|~";
  std::string out;
  for (const unsigned char c : key) {
    if (std::isalnum(c) || kAllowed.find(static_cast<char>(c)) != std::string_view::npos)
      out += static_cast<char>(std::tolower(c));
    else
      out += fmt::format("%{:02X}", c);
  }
  return out;
}

// Reads `as`, as-uid, as-groups and as-user-extra.
void ReadImpersonation(const Fields& user, Reader* reader, Config* config) {
  const auto add = [&](const char* field, std::string header, const YAML::Node& value) {
    if (!value.IsScalar() || value.Scalar().find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos)
      return reader->Fail(user.Wrong(field, "must be made of strings of one line"));
    config->impersonation.emplace_back(std::move(header), value.Scalar());
  };
  const auto said = [&](const char* field) { return user.Child(field) && !user.Child(field).IsNull(); };
  if (const YAML::Node name = user.Child("as"); said("as") && !(name.IsScalar() && name.Scalar().empty()))
    add("as", "impersonate-user", name);
  if (said("as-uid")) add("as-uid", "impersonate-uid", user.Child("as-uid"));
  if (const YAML::Node groups = user.Child("as-groups"); said("as-groups")) {
    if (!groups.IsSequence()) return reader->Fail(user.Wrong("as-groups", "must be a list of strings"));
    for (const YAML::Node& group : groups) add("as-groups", "impersonate-group", group);
  }
  if (const YAML::Node extra = user.Child("as-user-extra"); said("as-user-extra")) {
    if (!extra.IsMap()) return reader->Fail(user.Wrong("as-user-extra", "must be a map of lists of strings"));
    for (const auto& entry : extra) {
      const YAML::Node &key = entry.first, &values = entry.second;
      if (!key.IsScalar() || !values.IsSequence())
        return reader->Fail(user.Wrong("as-user-extra", "must be a map of lists of strings"));
      for (const YAML::Node& value : values)
        add("as-user-extra", "impersonate-extra-" + HeaderKey(key.Scalar()), value);
    }
  }
  if (!config->impersonation.empty() && config->impersonation.front().first != "impersonate-user")
    reader->Fail(user.Wrong("as", "is missing: as-uid, as-groups and as-user-extra go with it"));
}

void ReadUser(const Fields& user, Reader* reader, Config* config) {
  reader->Into(&config->token, user.Text("token"));
  reader->Into(&config->token_file, user.Path("tokenFile"));
  reader->Into(&config->username, user.Text("username"));
  reader->Into(&config->password, user.Text("password"));
  reader->Into(&config->client_cert_pem, user.DataOrFile("client-certificate-data", "client-certificate"));
  reader->Into(&config->client_key_pem, user.DataOrFile("client-key-data", "client-key"));
  reader->Into(&config->client_cert_file, user.FileOf("client-certificate-data", "client-certificate"));
  reader->Into(&config->client_key_file, user.FileOf("client-key-data", "client-key"));
  if (!reader->status()) return;
  if (config->client_cert_pem.empty() != config->client_key_pem.empty())
    reader->Fail(user.Wrong(config->client_cert_pem.empty() ? "client-certificate" : "client-key",
                            "is missing: a client certificate and its key go together"));
  if (!config->client_cert_pem.empty() && !HoldsCertificate(config->client_cert_pem))
    reader->Fail(user.Wrong(user.Holder("client-certificate-data", "client-certificate"), kNoCertificate));
  if (!config->client_key_pem.empty() && !HoldsPrivateKey(config->client_key_pem))
    reader->Fail(user.Wrong(user.Holder("client-key-data", "client-key"), "holds no private key in PEM"));
  if (!config->token_file.empty())
    if (const auto token = base::ReadFile(config->token_file); !token)
      reader->Fail(user.Wrong("tokenFile", "cannot be read: " + token.error().message));
  if (const YAML::Node exec = user.Child("exec"); exec && exec.IsMap())
    config->exec = ReadExec(user, reader);
  else if (exec && !exec.IsNull())
    reader->Fail(user.Wrong("exec", "must be a map"));
  ReadImpersonation(user, reader, config);
  if (user.Child("auth-provider"))
    reader->Fail(user.Wrong("auth-provider", "is not supported since Kubernetes 1.26; use an exec plugin"));
}

base::Result<Config> Choose(const Merged& merged, const std::string& asked_context) {
  const std::string& name = asked_context.empty() ? merged.current_context : asked_context;
  if (name.empty())
    return base::Invalid(fmt::format("{}: current-context is not set; set it or give --context", merged.files));
  const auto context = merged.contexts.find(name);
  if (context == merged.contexts.end())
    return base::Invalid(fmt::format("{}: contexts has no \"{}\"", merged.files, name));

  Config config;
  Reader reader;
  const Fields fields(context->second, fmt::format("contexts[{}].context", name));
  std::string cluster_name, user_name;
  reader.Into(&cluster_name, fields.Text("cluster"));
  reader.Into(&user_name, fields.Text("user"));
  reader.Into(&config.default_namespace, fields.Text("namespace"));
  if (!reader.status()) return tl::make_unexpected(reader.status().error());

  const auto cluster = merged.clusters.find(cluster_name);
  if (cluster == merged.clusters.end())
    return fields.Wrong("cluster", fmt::format("names \"{}\", which clusters does not have", cluster_name));
  ReadCluster(Fields(cluster->second, fmt::format("clusters[{}].cluster", cluster_name)), &reader, &config);
  if (!user_name.empty()) {
    const auto user = merged.users.find(user_name);
    if (user == merged.users.end())
      return fields.Wrong("user", fmt::format("names \"{}\", which users does not have", user_name));
    config.user = user_name;
    ReadUser(Fields(user->second, fmt::format("users[{}].user", user_name)), &reader, &config);
  }
  if (!reader.status()) return tl::make_unexpected(reader.status().error());
  config.source = fmt::format("{} (context {})", cluster->second.file, name);
  return config;
}

}  // namespace

base::Result<Config> LoadKubeconfig(const std::vector<std::string>& paths, const std::string& context) {
  Merged merged;
  size_t found = 0;
  for (const std::string& path : paths) {
    merged.files += (merged.files.empty() ? "" : ":") + path;
    if (paths.size() > 1 && !fs::exists(path)) continue;
    if (auto status = MergeFile(path, &merged); !status) return tl::make_unexpected(status.error());
    ++found;
  }
  if (found == 0) return base::Invalid(fmt::format("{}: no such file", merged.files));
  return Choose(merged, context);
}

}  // namespace tutti::kube
