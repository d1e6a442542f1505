// SPDX-License-Identifier: Apache-2.0
#include "app/ctl_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "app/arguments.h"
#include "app/ctl_queue.h"
#include "app/ctl_top.h"
#include "app/ctl_watch.h"
#include "app/door_client.h"
#include "app/door_texts.h"
#include "app/listing.h"
#include "app/migration_check.h"
#include "app/output.h"
#include "app/pseudonyms.h"
#include "app/snapshot.h"
#include "base/closest.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_string.h"
#include "base/log.h"
#include "base/text.h"
#include "cluster/json_text.h"
#include "kube/api_path.h"
#include "model/quantity.h"
#include "model/resource_list.h"
#include "server/folder.h"

namespace tutti::app {
namespace {

constexpr int kUsage = 2;
constexpr std::string_view kPlugin = "kubectl-tutti";
constexpr const char* kApiServer = "the API server's address, or a sim's; by default that of the kubeconfig";

int Fail(const std::string& message) {
  fmt::print(stderr, "error: {}\n", Shown(message, Lines::kKept));
  return 1;
}

int Say(const std::string& text) {
  const base::Status printed = Print(text);
  return printed ? 0 : Fail(printed.error().message);
}

// Whether the word before a slash is a kind, as kubectl's users write it: "pod", "Pods", "raycluster.ray.io". No name
// of a namespace has a dot.
bool IsKind(std::string word) {
  if (word.find('.') != std::string::npos) return true;
  static const std::set<std::string_view> kinds = {"gang",
                                                   "pod",
                                                   "po",
                                                   "job",
                                                   "cronjob",
                                                   "podgroup",
                                                   "pg",
                                                   "raycluster",
                                                   "rayjob",
                                                   "rayservice",
                                                   "appwrapper",
                                                   "workload",
                                                   "jobset",
                                                   "leaderworkerset",
                                                   "deployment",
                                                   "deploy",
                                                   "replicaset",
                                                   "rs",
                                                   "statefulset",
                                                   "sts",
                                                   "daemonset",
                                                   "pytorchjob",
                                                   "tfjob",
                                                   "mpijob",
                                                   "jaxjob",
                                                   "xgboostjob",
                                                   "paddlejob",
                                                   "trainjob",
                                                   "sparkapplication",
                                                   "application"};
  word = base::LowerCase(word);
  return kinds.contains(word) ||
         (word.ends_with('s') && kinds.contains(std::string_view(word).substr(0, word.size() - 1)));
}

// Leaves out "raycluster/" of "raycluster/NAME", and takes the namespace of "NAMESPACE/NAME".
std::string NameIn(const std::string& text, std::string* ns) {
  const size_t slash = text.find('/');
  if (slash == std::string::npos) return text;
  std::string before = text.substr(0, slash);
  if (!IsKind(before)) *ns = std::move(before);
  return text.substr(slash + 1);
}

// Whether the program was called by its name as a plugin of kubectl.
bool IsPlugin(std::string_view path) { return path.substr(path.rfind('/') + 1) == kPlugin; }

class Command {
 public:
  int Go(int argc, char** argv, bool plugin);

 private:
  void AddWhere(CLI::App& verb);
  void AddApi(CLI::App& verb, const std::string& server);
  void AddNamespace(CLI::App& verb);
  void AddOutput(CLI::App& verb, const std::vector<std::string>& forms);
  void AddVerbs(CLI::App& main);
  void AddService(CLI::App& verb);
  void AddQueue(CLI::App& main);
  void AddSnapshot(CLI::App& main);
  void AddMigrate(CLI::App& main);
  void AddCompletion(CLI::App& main);
  int Why();
  int Get();
  int Top();
  int History();
  int Version();
  int Configuration();
  int Plan();
  int DrainPlan();
  int QuotaPlan();
  int OperateQueue();
  int Snapshot();
  int CheckMigration();
  int Completion(const CLI::App& main);
  // Asks for the path, and prints the answer as JSON, YAML or by `text`.
  template <typename Render>
  int Ask(const std::string& path, Render text);
  // Puts a question. The exit code is 1 if the answer is not well.
  template <typename Render>
  int AskWhatIf(const nlohmann::ordered_json& question, Render text, bool (*is_well)(const base::Json& answer));
  // Prints the answer as JSON, YAML or by `text`.
  template <typename Render>
  int SayAnswer(const base::Json& answer, Render text);
  // Connects, and sets the namespace if none was given.
  bool Connect();

  std::string program_ = "kubectl tutti";
  DoorClient::Options where_;
  std::string given_ns_, ns_, output_, kind_, name_, queue_, state_, shell_;
  QueueAction action_ = QueueAction::kOpen;
  std::vector<std::string> files_, amounts_;
  std::string dialect_;
  bool all_namespaces_ = false, watch_ = false, redacts_ = false;
  std::unique_ptr<DoorClient> door_;
  const base::SystemClock clock_{};
};

void Command::AddApi(CLI::App& verb, const std::string& server) {
  verb.add_option("--server", where_.api.server, server)->type_name("URL");
  verb.add_flag("--insecure-skip-tls-verify", where_.api.insecure, "with --server: do not check its certificate");
  verb.add_option("--kubeconfig", where_.api.kubeconfig, "the kubeconfig")->type_name("FILE");
  verb.add_option("--context", where_.api.context, "the context of the kubeconfig")->type_name("NAME");
}

void Command::AddWhere(CLI::App& verb) {
  AddApi(verb,
         "the scheduler's own address, as https://127.0.0.1:10259, or a sim's; without it the Service is asked "
         "through the API server");
  AddService(verb);
}

void Command::AddService(CLI::App& verb) {
  verb.add_option("--scheduler-namespace", where_.ns, "the namespace of the scheduler's Service")
      ->type_name("NAMESPACE")
      ->capture_default_str();
  verb.add_option("--service", where_.service, "the scheduler's Service")->type_name("NAME")->capture_default_str();
}

void Command::AddNamespace(CLI::App& verb) {
  verb.add_option("-n,--namespace", ns_, "the namespace; by default that of the kubeconfig's context")
      ->type_name("NAMESPACE");
}

void Command::AddOutput(CLI::App& verb, const std::vector<std::string>& forms) {
  verb.add_option("-o,--output", output_, fmt::format("{}", fmt::join(forms, ", ")))->check(CLI::IsMember(forms));
}

void Command::AddVerbs(CLI::App& main) {
  CLI::App& why = *main.add_subcommand("why", "Say why a gang, or a pod of it, runs or waits");
  why.add_option("NAME", name_, "a gang or a pod: NAME, KIND/NAME or NAMESPACE/NAME")->required();
  CLI::App& get = *main.add_subcommand("get", "List gangs, queues or nodes");
  get.add_option("KIND", kind_, "gangs, queues or nodes")
      ->required()
      ->check(CLI::IsMember({"gangs", "gang", "queues", "queue", "nodes", "node"}));
  get.add_option("NAME", name_, "only this one");
  get.add_flag("-A,--all-namespaces", all_namespaces_, "gangs of all namespaces");
  get.add_option("--queue", queue_, "only gangs of this queue")->type_name("NAME");
  get.add_option("--state", state_, "only gangs in this state, such as waiting-for-nodes")->type_name("STATE");
  get.add_flag("-w,--watch", watch_, "then print each row that changes, until Ctrl-C");
  CLI::App& top = *main.add_subcommand("top", "Show gangs, queues and nodes on the terminal, every two seconds");
  top.add_option("-n,--namespace", ns_, "only the gangs of this namespace")->type_name("NAMESPACE");
  CLI::App& history = *main.add_subcommand("history", "Say what happened to a gang");
  history.add_option("NAME", name_, "a gang: NAME, KIND/NAME or NAMESPACE/NAME")->required();
  CLI::App& plan = *main.add_subcommand("plan", "Say whether manifests would start now, where, and who would leave");
  plan.add_option("-f,--filename", files_, "files of manifests; - is standard input")->required()->type_name("FILE");
  CLI::App& drain = *main.add_subcommand("drain-plan", "Say where the gangs of a node would go if it were drained");
  drain.add_option("NODE", name_, "the node")->required();
  CLI::App& quota = *main.add_subcommand(
      "quota-plan", "Say which gangs that wait in a queue would start if it might have more, or less");
  quota.add_option("QUEUE", queue_, "the queue; of Kueue, a ClusterQueue")->required();
  quota
      .add_option("LIMIT", amounts_,
                  "RESOURCE=QUANTITY, such as cpu=64, or FLAVOR:RESOURCE=QUANTITY; all others keep their limits")
      ->required();
  quota.add_option("--dialect", dialect_, "of the queue, if several have one of this name")->type_name("NAME");
  CLI::App& version = *main.add_subcommand("version", "Print the versions of this program and of the scheduler");
  CLI::App& config = *main.add_subcommand("config", "Show the configuration of the scheduler");
  config.require_subcommand(1);
  CLI::App& view = *config.add_subcommand("view", "Print the configuration in effect, with all defaults");
  for (CLI::App* verb : {&why, &get, &top, &history, &plan, &drain, &quota, &view, &version}) AddWhere(*verb);
  for (CLI::App* verb : {&why, &get, &history, &plan}) AddNamespace(*verb);
  for (CLI::App* verb : {&why, &history, &plan, &drain, &quota}) AddOutput(*verb, {"text", "json", "yaml"});
  AddOutput(get, {"table", "wide", "name", "json", "yaml"});
  AddOutput(view, {"yaml", "json"});
  AddOutput(version, {"text", "json", "yaml"});
}

void Command::AddQueue(CLI::App& main) {
  CLI::App& queue = *main.add_subcommand("queue", "Open, close or hold a queue, by the API server");
  queue.require_subcommand(1);
  const auto add = [&](const char* name, QueueAction action, const char* about) {
    CLI::App& verb = *queue.add_subcommand(name, about);
    verb.add_option("QUEUE", name_, "NAME, or KIND/NAME with queue, clusterqueue or localqueue")->required();
    AddNamespace(verb);
    AddApi(verb, kApiServer);
    verb.callback([this, action] { action_ = action; });
  };
  add("open", QueueAction::kOpen, "Let it start gangs again");
  add("close", QueueAction::kClose,
      "Let it start no gangs. Volcano: what runs goes on. Kueue, HoldAndDrain: what runs is stopped");
  add("hold", QueueAction::kHold, "Let it start no gangs, and what runs go on; Kueue only");
}

void Command::AddSnapshot(CLI::App& main) {
  CLI::App& snapshot = *main.add_subcommand(
      "snapshot", "Write what the scheduler reads of the cluster into a file for tutti simulate; no secrets");
  snapshot.add_flag("--redact", redacts_, "pseudonyms in place of names and of values of labels; no images");
  snapshot.add_option("-o,--output", output_, "the file; by default standard output")->type_name("FILE");
  AddApi(snapshot, kApiServer);
  AddService(snapshot);
}

void Command::AddMigrate(CLI::App& main) {
  CLI::App& migrate = *main.add_subcommand("migrate", "Prepare the move from another scheduler");
  migrate.require_subcommand(1);
  CLI::App& check = *migrate.add_subcommand(
      "check",
      "Say what is in use of other schedulers, and what Tutti makes of it; ends with 1 if it does not take something, "
      "or something cannot be read");
  check.add_option("-f,--filename", files_, "look at these manifests, and not at a cluster; - is standard input")
      ->type_name("FILE");
  AddOutput(check, {"table", "json", "yaml"});
  AddApi(check, kApiServer);
}

void Command::AddCompletion(CLI::App& main) {
  CLI::App& completion = *main.add_subcommand("completion", "Print a script that completes commands in a shell");
  completion.add_option("SHELL", shell_, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
}

int Command::Go(int argc, char** argv, bool plugin) {
  if (!plugin) program_ = "tutti ctl";
  CLI::App main(
      "Asks Tutti, the scheduler, why gangs wait, what gangs, queues and nodes there are, and what would become of "
      "others. Opens and closes queues.",
      program_);
  main.require_subcommand(1);
  main.footer(
      fmt::format("Examples:\n"
                  "  {0} why raycluster/train\n"
                  "  {0} get gangs -A --state waiting-for-nodes -o wide\n"
                  "  {0} get queues --watch\n"
                  "  {0} top\n"
                  "  {0} plan -f job.yaml\n"
                  "  {0} drain-plan node-1\n"
                  "  {0} quota-plan research cpu=64\n"
                  "  {0} queue close research\n"
                  "  {0} migrate check\n"
                  "  {0} snapshot --redact -o cluster.json\n"
                  "  {0} config view\n"
                  "  {0} get nodes --server http://127.0.0.1:8080     # of tutti sim",
                  program_));
  AddVerbs(main);
  AddQueue(main);
  AddSnapshot(main);
  AddMigrate(main);
  AddCompletion(main);
  main.failure_message(ParseFailure);
  std::vector<std::string> arguments = GoArguments(argc, argv, plugin ? 1 : 2);
  TurnHelpIntoFlag(arguments);
  if (const std::string wrong = UnknownVerb(main, arguments); !wrong.empty()) {
    fmt::print(stderr, "error: {}\nRun with --help for more information.\n", Shown(wrong, Lines::kKept));
    return kUsage;
  }
  std::ranges::reverse(arguments);
  try {
    main.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return main.exit(error) == 0 ? 0 : kUsage;
  }
  const std::string verb = main.get_subcommands().front()->get_name();
  base::SetLogLevel(base::LogLevel::kNone);  // errors are said in a sentence
  if (verb == "completion") return Completion(main);
  if (verb == "version") return Version();
  if (verb == "queue") return OperateQueue();
  if (verb == "snapshot") return Snapshot();
  if (verb == "migrate") return CheckMigration();
  if (watch_ && !output_.empty() && output_ != "table" && output_ != "wide") {
    Fail("--watch prints a table: -o is table or wide");
    return kUsage;
  }
  if (!Connect()) return 1;
  if (verb == "config") return Configuration();
  if (verb == "plan") return Plan();
  if (verb == "drain-plan") return DrainPlan();
  if (verb == "quota-plan") return QuotaPlan();
  if (verb == "top") return Top();
  return verb == "why" ? Why() : verb == "get" ? Get() : History();
}

bool Command::Connect() {
  given_ns_ = ns_;
  name_ = NameIn(name_, &ns_);
  auto door = DoorClient::Connect(where_);
  if (!door) {
    Fail(door.error().message);
    return false;
  }
  door_ = *std::move(door);
  if (ns_.empty()) ns_ = door_->default_namespace();
  return true;
}

template <typename Render>
int Command::Ask(const std::string& path, Render text) {
  const auto answer = door_->Get(path);
  if (!answer) return Fail(answer.error().message);
  return SayAnswer(cluster::ParseJson(*answer), text);
}

template <typename Render>
int Command::SayAnswer(const base::Json& answer, Render text) {
  if (output_ != "json" && output_ != "yaml") return Say(text(answer));
  const nlohmann::ordered_json ordered(answer);
  return Say(output_ == "json" ? ToJsonText(ordered) : ToYamlText(ordered));
}

template <typename Render>
int Command::AskWhatIf(const nlohmann::ordered_json& question, Render text, bool (*is_well)(const base::Json& answer)) {
  const auto answer = door_->Post("whatif", base::PrintOrdered(question));
  if (!answer) return Fail(answer.error().message);
  const base::Json parsed = cluster::ParseJson(*answer);
  const int said = SayAnswer(parsed, text);
  return said != 0 || is_well(parsed) ? said : 1;
}

int Command::Plan() {
  std::string manifests;
  for (const std::string& file : files_) {
    const base::Result<std::string> text =
        file == "-" ? std::string(std::istreambuf_iterator<char>(std::cin), {}) : base::ReadFile(file);
    if (!text) return Fail(text.error().message);
    manifests += (manifests.empty() ? "" : "\n---\n") + *text;
  }
  if (manifests.size() > server::Folder::kMostBody)
    return Fail(fmt::format("the manifests are too long: a question may have {} bytes", server::Folder::kMostBody));
  return AskWhatIf({{"manifests", manifests}, {"namespace", ns_}}, PlanText, StartsSome);
}

int Command::DrainPlan() {
  return AskWhatIf(
      {{"drain", name_}}, [this](const base::Json& answer) { return DrainText(answer, name_); }, AllWouldStart);
}

int Command::QuotaPlan() {
  nlohmann::ordered_json amounts;
  for (const std::string& text : amounts_) {
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, equals), amount = equals == text.npos ? "" : text.substr(equals + 1);
    const std::string resource = name.substr(name.find(':') + 1);  // the flavor is before the colon
    const auto quantity = resource == model::kCpu ? model::ParseMilli(amount) : model::ParseUnits(amount);
    if (resource.empty() || name.front() == ':' || !quantity || quantity->value < 0) {
      Fail(fmt::format("{}: write RESOURCE=QUANTITY, such as cpu=64, or FLAVOR:RESOURCE=QUANTITY", text));
      return kUsage;
    }
    amounts[name] = std::to_string(quantity->value);
  }
  return AskWhatIf(
      {{"limit", {{"dialect", dialect_}, {"queue", queue_}, {"amounts", amounts}}}},
      [this](const base::Json& answer) { return QuotaText(answer, queue_); }, AllWouldStart);
}

int Command::Why() {
  return Ask(fmt::format("gangs/{}/{}?estimate=true", kube::Escape(ns_), kube::Escape(name_)),
             [this](const base::Json& gang) { return WhyText(gang, clock_.WallMs()); });
}

int Command::History() {
  return Ask(fmt::format("gangs/{}/{}/history", kube::Escape(ns_), kube::Escape(name_)), HistoryText);
}

int Command::Get() {
  Listing listing;
  listing.name = name_;
  listing.queue = queue_;
  listing.state = state_;
  listing.kind = kind_.starts_with("gang")    ? Listing::Kind::kGangs
                 : kind_.starts_with("queue") ? Listing::Kind::kQueues
                                              : Listing::Kind::kNodes;
  if (!all_namespaces_) listing.ns = ns_;
  listing.columns = {output_ == "wide" ? Width::kWide : Width::kNormal, all_namespaces_};
  if (watch_) {
    const base::Status ended = WatchListing(*door_, listing, clock_);
    return ended ? 0 : Fail(ended.error().message);
  }
  return Ask(PathOf(listing), [&](const base::Json& list) {
    const Table table = TableOf(listing, list, clock_.WallMs());
    const bool of_one_namespace = listing.kind == Listing::Kind::kGangs && !all_namespaces_;
    if (table.empty())
      fmt::print(stderr, "No resources found{}\n", of_one_namespace ? fmt::format(" in namespace {}", ns_) : "");
    return output_ == "name" ? NameLines(list, WordOf(listing.kind)) : table.empty() ? "" : table.Text();
  });
}

int Command::Top() {
  const base::Status ended = app::Top(*door_, given_ns_, clock_);
  return ended ? 0 : Fail(ended.error().message);
}

int Command::Version() {
  nlohmann::ordered_json versions = {{"client", {{"version", TUTTI_VERSION}}}};
  std::string why;
  if (auto door = DoorClient::Connect(where_); !door)
    why = door.error().message;
  else if (const auto answer = (*door)->Get("version"); !answer)
    why = answer.error().message;
  else
    versions["scheduler"] = nlohmann::ordered_json(cluster::ParseJson(*answer));
  if (output_ == "json") return Say(ToJsonText(versions));
  if (output_ == "yaml") return Say(ToYamlText(versions));
  std::string text = "client: tutti " TUTTI_VERSION "\n";
  if (versions.contains("scheduler"))
    text += fmt::format("scheduler: tutti {}\n", versions["scheduler"].value("version", ""));
  else
    fmt::print(stderr, "the scheduler does not answer: {}\n", Shown(why, Lines::kKept));
  return Say(text);
}

int Command::Configuration() {
  const auto answer = door_->GetPage("/configz");
  if (!answer) return Fail(answer.error().message);
  const nlohmann::ordered_json config(cluster::ParseJson(*answer));
  return Say(output_ == "json" ? ToJsonText(config) : ToYamlText(config));
}

int Command::OperateQueue() {
  const auto api = ApiClient::Connect(where_.api);
  if (!api) return Fail(api.error().message);
  const auto done = app::OperateQueue(**api, action_, name_, ns_.empty() ? (*api)->default_namespace() : ns_);
  return done ? Say(Shown(*done) + "\n") : Fail(done.error().message);
}

int Command::Snapshot() {
  const auto api = ApiClient::Connect(where_.api);
  if (!api) return Fail(api.error().message);
  std::vector<std::string> notes;
  auto objects = ReadSnapshot(**api, &notes);
  if (!objects) return Fail(objects.error().message);
  if (redacts_) Pseudonymize(&*objects);
  const auto door = DoorClient::Connect(where_);
  if (const auto configz = door ? (*door)->GetPage("/configz") : tl::make_unexpected(door.error())) {
    auto configuration = ConfigurationIn(cluster::ParseJson(*configz));
    objects->insert(objects->begin(), configuration.begin(), configuration.end());
  } else {
    notes.push_back("left out: the configuration of the scheduler: " + configz.error().message);
  }
  for (std::string& note : notes) note = Shown(note);
  ShowNotes(notes);
  if (output_.empty() || output_ == "-") return Say(SnapshotText(*objects));
  const base::Status written = WriteFile(output_, SnapshotText(*objects));
  return written ? 0 : Fail(written.error().message);
}

int Command::CheckMigration() {
  std::vector<std::string> notes, unread;
  std::vector<MigrationFinding> findings;
  if (!files_.empty()) {
    const auto manifests = sim::LoadManifests(files_, {.notes = &notes});
    if (!manifests) return Fail(manifests.error().message);
    findings = app::CheckMigration(ReadFromManifests(*manifests), &unread);
  } else {
    const auto api = ApiClient::Connect(where_.api);
    if (!api) return Fail(api.error().message);
    findings = app::CheckMigration(ReadFromCluster(**api), &unread);
  }
  for (const std::string& one : unread) notes.push_back(Shown(one));
  ShowNotes(notes);
  const nlohmann::ordered_json json = MigrationJson(findings);
  const int said = Say(output_ == "json"   ? ToJsonText(json)
                       : output_ == "yaml" ? ToYamlText(json)
                                           : MigrationText(findings));
  const bool lacks_some =
      std::ranges::any_of(findings, [](const auto& it) { return it.verdict == MigrationRule::Verdict::kNot; });
  return said != 0 || lacks_some || !unread.empty() ? 1 : 0;
}

int Command::Completion(const CLI::App& main) {
  const auto words_of = [](const CLI::App& app) {
    std::vector<std::string> words;
    for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
      words.push_back(verb->get_name());
    return fmt::format("{}", fmt::join(words, " "));
  };
  // What follows a verb.
  std::vector<std::pair<std::string, std::string>> second = {{"get", "gangs queues nodes"},
                                                             {"completion", "bash zsh fish"}};
  for (const CLI::App* verb : main.get_subcommands([](const CLI::App*) { return true; }))
    if (std::string words = words_of(*verb); !words.empty()) second.emplace_back(verb->get_name(), std::move(words));
  std::string text;
  if (shell_ == "fish") {
    text = fmt::format("complete -c {0} -f\ncomplete -c {0} -n __fish_use_subcommand -a '{1}'\n", kPlugin,
                       words_of(main));
    for (const auto& [verb, words] : second)
      text += fmt::format("complete -c {} -n '__fish_seen_subcommand_from {}' -a '{}'\n", kPlugin, verb, words);
    return Say(text);
  }
  if (shell_ == "zsh") text = "autoload -U +X bashcompinit && bashcompinit\n";
  text += fmt::format("_kubectl_tutti() {{\n  local words=\"{}\"\n", words_of(main));
  for (const auto& [verb, words] : second)
    text += fmt::format("  [[ $COMP_CWORD -eq 2 && ${{COMP_WORDS[1]}} == {} ]] && words=\"{}\"\n", verb, words);
  text += fmt::format(
      "  COMPREPLY=($(compgen -W \"$words\" -- \"${{COMP_WORDS[COMP_CWORD]}}\"))\n"
      "}}\n"
      "complete -F _kubectl_tutti {}\n",
      kPlugin);
  return Say(text);
}

}  // namespace

bool IsCtl(int argc, char** argv) {
  if (argc < 1) return false;
  return IsPlugin(argv[0]) || (argc > 1 && std::string_view(argv[1]) == "ctl");
}

int Ctl(int argc, char** argv) { return Command().Go(argc, argv, IsPlugin(argv[0])); }

}  // namespace tutti::app
