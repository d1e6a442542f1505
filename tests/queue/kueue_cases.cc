// SPDX-License-Identifier: Apache-2.0
#include "tests/queue/kueue_cases.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace tutti::queue {
namespace {

constexpr int kMostRounds = 40;
constexpr base::Millis kStart = 1'000'000'000'000;

// One line: words, and those that are KEY=VALUE.
struct Words {
  std::vector<std::string> plain;
  std::map<std::string, std::string> named;

  explicit Words(const std::string& line) {
    std::istringstream in(line);
    for (std::string word; in >> word;)
      if (const size_t at = word.find('='); at != std::string::npos)
        named[word.substr(0, at)] = word.substr(at + 1);
      else
        plain.push_back(word);
  }
  std::string Take(const std::string& key, const std::string& otherwise = {}) {
    const auto at = named.find(key);
    if (at == named.end()) return otherwise;
    const std::string value = at->second;
    named.erase(at);
    return value;
  }
  int64_t TakeNumber(const std::string& key, int64_t otherwise = 0) {
    const std::string text = Take(key);
    return text.empty() ? otherwise : std::stoll(text);
  }
  std::optional<int64_t> MayTakeNumber(const std::string& key) {
    return named.contains(key) ? std::optional(TakeNumber(key)) : std::nullopt;
  }
  double TakeWeight() { return std::stod(Take("weight", "1")); }
};

model::PreemptionPolicy PolicyNamed(const std::string& name) {
  using enum model::PreemptionPolicy;
  static const std::map<std::string, model::PreemptionPolicy> kNames{
      {"", kNever},
      {"Never", kNever},
      {"LowerPriority", kLowerPriority},
      {"LowerOrNewerEqualPriority", kLowerOrNewerEqualPriority},
      {"Any", kAny}};
  return kNames.at(name);
}

class Reader {
 public:
  std::vector<KueueCase> Read(std::istream& in) {
    for (std::string line; std::getline(in, line);)
      if (!line.empty()) ReadLine(line);
    return std::move(cases_);
  }

 private:
  void ReadLine(const std::string& line) {
    const size_t space = line.find(' ');
    const std::string what = line.substr(0, space), rest = space == std::string::npos ? "" : line.substr(space + 1);
    if (what == "case") {
      cases_.emplace_back().name = rest;
      return;
    }
    Words words(rest);
    KueueCase& c = cases_.back();
    if (what == "problem")
      ask_->problem = rest;
    else if (what == "fair")
      ReadFair(words);
    else if (what == "flavor")
      c.flavors.emplace_back().name = words.plain.at(0);
    else if (what == "cohort")
      c.cohorts.push_back({words.plain.at(0), words.Take("parent"), {}, words.TakeWeight()});
    else if (what == "queue")
      ReadQueue(words);
    else if (what == "quota")
      ReadQuota(words);
    else if (what == "local")
      ReadLocal(words);
    else if (what == "ask" || what == "held")
      ReadWorkload(words, what == "held");
    else if (what == "role")
      ReadRole(words);
    else if (what == "has")
      ReadHeldRole(words);
    else if (what == "only")
      c.only = words.plain.at(0);
    else if (what == "evicts")
      c.evicts.emplace(words.plain.at(0), words.plain.at(1), words.plain.at(2));
    else if (what == "ends")
      (end_ = &c.ends[words.plain.at(0)])->state = words.plain.at(1);
    else if (what == "with")
      end_->roles.push_back({words.plain.at(0), std::stoll(words.plain.at(1)), words.named});
    else
      throw std::runtime_error("no such line: " + line);
  }

  void ReadFair(const Words& words) {
    KueueRules& rules = cases_.back().rules;
    rules.fair_sharing = true;
    rules.strategies.clear();
    for (const std::string& strategy : words.plain)
      rules.strategies.push_back(strategy == "LessThanInitialShare" ? FairStrategy::kLessThanInitialShare
                                                                    : FairStrategy::kLessThanOrEqualToFinalShare);
  }

  void ReadQueue(Words words) {
    model::LeafQueueSpec& leaf = cases_.back().leaves.emplace_back();
    leaf.name = words.plain.at(0);
    leaf.cohort = words.Take("cohort");
    leaf.weight = words.TakeWeight();
    if (words.Take("strategy") == "StrictFIFO") leaf.strategy = model::QueueingStrategy::kStrictFifo;
    leaf.fungibility.stop_when_borrowing = words.Take("borrow") != "TryNextFlavor";
    leaf.fungibility.stop_when_preempting = words.Take("preempt") == "MayStopSearch";
    if (words.Take("preference") == "PreemptionOverBorrowing")
      leaf.fungibility.preference = model::FlavorPreference::kPreemptionOverBorrowing;
    leaf.preemption.within_queue = PolicyNamed(words.Take("within"));
    leaf.preemption.within_cohort = PolicyNamed(words.Take("reclaim"));
    leaf.preemption.while_borrowing = words.Take("borrowing") == "LowerPriority";
    if (const auto threshold = words.MayTakeNumber("threshold"))
      leaf.preemption.highest_priority_while_borrowing = static_cast<int32_t>(*threshold);
  }

  void ReadQuota(Words words) {
    KueueCase& c = cases_.back();
    const bool cohort = words.plain.at(0) == "cohort";
    std::vector<model::ResourceGroup>& groups = cohort ? c.cohorts.back().groups : c.leaves.back().groups;
    groups.resize(std::max(groups.size(), std::stoul(words.plain.at(2)) + 1));
    model::ResourceGroup& group = groups.back();
    const std::string &flavor = words.plain.at(3), &resource = words.plain.at(4);
    if (group.flavors.empty() || group.flavors.back().flavor != flavor) group.flavors.push_back({flavor, {}});
    if (group.flavors.size() == 1) group.resources.push_back(resource);
    group.flavors.back().resources.push_back(
        {resource, {std::stoll(words.plain.at(5)), words.MayTakeNumber("borrow"), words.MayTakeNumber("lend")}});
  }

  void ReadLocal(Words words) {
    const std::string& name = words.plain.at(0);
    const size_t slash = name.find('/');
    model::LocalQueueSpec spec;
    spec.ns = name.substr(0, slash);
    spec.name = name.substr(slash + 1);
    spec.queue = words.plain.at(1);
    cases_.back().locals.emplace_back(std::move(spec), words.Take("refuses").empty());
  }

  void ReadWorkload(Words words, bool held) {
    auto& workloads = cases_.back().workloads;
    const std::string& name = words.plain.at(0);
    KueueCase::Workload& workload = workloads[name];
    workload.gang = model::GangId(static_cast<uint32_t>(workloads.size()));
    ask_ = &workload.ask;
    ask_->uid = words.Take("uid");
    ask_->ns = name.substr(0, name.find('/'));
    ask_->local_queue = words.Take("local");
    ask_->priority = static_cast<int32_t>(words.TakeNumber("priority"));
    ask_->queued_ms = words.TakeNumber("queued") * 1000;
    ask_->replaces = words.Take("replaces");
    if (!held) return;
    held_ = &workload.held.emplace();
    held_->uid = ask_->uid;
    held_->ns = ask_->ns;
    held_->local_queue = ask_->local_queue;
    held_->leaf = words.Take("queue");
    held_->priority = ask_->priority;
    held_->queued_ms = ask_->queued_ms;
    held_->reserved_ms = words.TakeNumber("reserved") * 1000;
    held_->evicted = !words.Take("evicted").empty();
  }

  void ReadRole(Words words) {
    model::RoleAsk& role = ask_->roles.emplace_back();
    role.name = words.plain.at(0);
    role.count = std::stoll(words.plain.at(1));
    role.min_count = words.MayTakeNumber("min");
    model::PodSpec pod;
    for (const auto& [resource, amount] : words.named) pod.requests.Set(resource, std::stoll(amount));
    role.pod = pod;
  }

  // What it has is what it asks for when it queues again.
  void ReadHeldRole(const Words& words) {
    HeldQuota::Role& role = held_->roles.emplace_back();
    model::RoleAsk& again = ask_->roles.emplace_back();
    again.name = role.name = words.plain.at(0);
    again.count = role.count = std::stoll(words.plain.at(1));
    model::PodSpec pod;
    for (const auto& [resource, value] : words.named) {
      const size_t colon = value.find(':');
      role.flavors[resource] = value.substr(0, colon);
      role.requests.Set(resource, std::stoll(value.substr(colon + 1)));
      pod.requests.Set(resource, role.requests.Get(resource) / role.count);
    }
    again.pod = pod;
  }

  std::vector<KueueCase> cases_;
  model::GangAsk* ask_ = nullptr;
  HeldQuota* held_ = nullptr;
  KueueCase::End* end_ = nullptr;
};

class Run {
 public:
  explicit Run(const KueueCase& c) : case_(c), admission_(c.rules) {
    for (const model::Flavor& flavor : c.flavors) admission_.Put(flavor);
    for (const model::CohortSpec& cohort : c.cohorts) admission_.Put(cohort);
    for (const model::LeafQueueSpec& leaf : c.leaves) admission_.Put(leaf);
    for (const auto& [local, admits] : c.locals) admission_.Put(local, admits);
    for (const auto& [name, workload] : c.workloads) {
      names_[workload.gang] = name;
      if (workload.held)
        admission_.Hold(workload.gang, *workload.held, kStart);
      else
        admission_.Wait(workload.gang, workload.ask);
    }
  }

  std::vector<std::string> Differences() {
    int rounds = 0;
    while (Round(rounds) && rounds < kMostRounds) ++rounds;
    std::vector<std::string> wrong;
    if (rounds == kMostRounds) wrong.push_back("it does not come to an end");
    for (const auto& [victim, why, preemptor] : case_.evicts)
      if (!evicted_.contains({victim, why, preemptor}))
        wrong.push_back(fmt::format("not evicted: {} by {}, {}", victim, preemptor, why));
    for (const auto& [victim, why, preemptor] : evicted_)
      if (!case_.evicts.contains({victim, why, preemptor}))
        wrong.push_back(fmt::format("evicted: {} by {}, {}", victim, preemptor, why));
    for (const auto& [name, end] : case_.ends)
      if (std::string is = Is(name, end); !is.empty()) wrong.push_back(std::move(is));
    return wrong;
  }

 private:
  // Returns true when something was decided.
  bool Round(int round) {
    const base::Millis now = kStart + round;
    const PassResult result = admission_.Run(now);
    for (const auto& [gang, by, reason] : result.evicted)
      if (case_.only.empty() || names_.at(by) == case_.only)
        evicted_.emplace(names_.at(gang), WordOf(reason), names_.at(by));
    for (const auto& admitted : result.admitted)
      if (admitted.replaces.valid()) finished_.insert(admitted.replaces);
    bool left = false;
    for (const auto& [name, workload] : case_.workloads)
      if (const Holding* holding = admission_.holding(workload.gang); holding && holding->evicted) {
        left = true;
        admission_.Forget(workload.gang, now);
        admission_.Wait(workload.gang, workload.ask);
      }
    return left || !result.admitted.empty();
  }

  // What the workload is, if that is not what it is to be.
  std::string Is(const std::string& name, const KueueCase::End& end) const {
    const auto at = case_.workloads.find(name);
    if (at == case_.workloads.end()) return name + " is not there";
    const Holding* holding = admission_.holding(at->second.gang);
    const std::string state = finished_.contains(at->second.gang) ? "finished" : holding ? "admitted" : "pending";
    if (state != end.state) {
      const std::string why =
          admission_.waits(at->second.gang) ? admission_.Explain(at->second.gang).message : std::string();
      return fmt::format("{} is {}, not {}: {}", name, state, end.state, why);
    }
    if (!holding || end.roles.empty()) return {};
    std::vector<KueueCase::Role> have, want = end.roles;
    for (const RoleAssignment& role : holding->roles) {
      KueueCase::Role& as = have.emplace_back(KueueCase::Role{role.name, role.count, {}});
      for (const auto& [resource, pick] : role.picks) as.flavors[resource] = pick.flavor;
    }
    std::ranges::sort(have);
    std::ranges::sort(want);
    if (have == want) return {};
    std::string text = name + " has";
    for (const KueueCase::Role& role : have)
      text += fmt::format(" {} {} of {}", role.count, role.name, fmt::join(role.flavors, ","));
    return text;
  }

  const KueueCase& case_;
  KueueAdmission admission_;
  std::map<model::GangId, std::string> names_;
  std::set<model::GangId> finished_;
  std::set<KueueCase::Eviction> evicted_;
};

}  // namespace

std::vector<KueueCase> ReadKueueCases(std::istream& in) { return Reader().Read(in); }

std::vector<std::string> RunKueueCase(const KueueCase& c) { return Run(c).Differences(); }

}  // namespace tutti::queue
