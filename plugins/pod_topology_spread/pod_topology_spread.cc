// SPDX-License-Identifier: Apache-2.0
#include "plugins/pod_topology_spread/pod_topology_spread.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/json.h"
#include "plugins/common/args.h"
#include "plugins/common/label_syntax.h"
#include "plugins/common/size_limits.h"
#include "plugins/pod_topology_spread/constraints.h"

namespace tutti::plugins {
namespace {

using framework::Dirty;
using framework::RefusedBy;
using framework::Verdict;
using model::NodeId;

constexpr const char* kHostname = "kubernetes.io/hostname";
constexpr const char *kHard = "DoNotSchedule", *kSoft = "ScheduleAnyway";

std::vector<model::TopologySpread> SystemDefaults() {
  model::TopologySpread host, zone;
  host.topology_key = kHostname;
  host.max_skew = 3;
  host.hard = false;
  zone.topology_key = "topology.kubernetes.io/zone";
  zone.max_skew = 5;
  zone.hard = false;
  return {host, zone};
}

// Returns the least total of a constraint, or 0 while there are fewer domains than minDomains.
int64_t Floor(const Constraint& c) { return c.counts.live_domains() < c.min_domains ? 0 : c.counts.Least(); }

bool Blocked(const Constraint& c, uint32_t domain, int64_t floor) {
  return c.counts.Total(domain) + (c.selects_itself ? 1 : 0) - floor > c.max_skew;
}

class SpreadFilter final : public framework::FilterState {
 public:
  SpreadFilter(std::span<const model::TopologySpread> wanted, const cluster::PodClass& pod_class,
               const cluster::Snapshot& snapshot)
      : hostname_(snapshot.symbols().Intern(kHostname)),
        constraints_(Constraints::Kind::kHard, Constraints::Nodes::kWithAllKeys, wanted, pod_class, snapshot) {}

  bool empty() const { return constraints_.empty(); }

  Verdict Check(NodeId n) const override {
    return Judge(n, [](const Constraint&) { return true; });
  }
  // Shares all keys but the host's: a host is a domain of few nodes, others may have many.
  bool Shares(std::vector<model::Symbol>* keys) const override {
    for (const Constraint& c : constraints_.list())
      if (c.key != hostname_) keys->push_back(c.key);
    return !keys->empty();
  }
  Verdict CheckShared(NodeId n) const override {
    return Judge(n, [this](const Constraint& c) { return c.key != hostname_; });
  }
  Verdict CheckOwn(NodeId n) const override {
    return Judge(n, [this](const Constraint& c) { return c.key == hostname_; });
  }
  void CheckSome(RefusedBy mine, std::span<const NodeId> nodes, std::span<RefusedBy> refused_by) const override {
    for (const Constraint& c : constraints_.list()) {
      const int64_t floor = Floor(c);
      for (size_t i = 0; i < nodes.size(); ++i) {
        const uint32_t domain = c.counts.DomainOf(nodes[i]);
        const bool refused = domain == SpreadCounts::kNone || Blocked(c, domain, floor);
        if (refused && refused_by[i] == framework::kNobody) refused_by[i] = mine;
      }
    }
  }
  void Explain(NodeId n, std::vector<std::string>* reasons) const override {
    reasons->emplace_back(Check(n) == Verdict::kNever
                              ? "node(s) didn't match pod topology spread constraints (missing required label)"
                              : "node(s) didn't match pod topology spread constraints");
  }

  int64_t Most(std::span<const int32_t> room, std::span<const cluster::PodClass* const> others) const override {
    int64_t most = FilterState::Most(room, others);
    if (others.empty())
      for (const Constraint& c : constraints_.list())
        if (c.counts_itself) most = std::min(most, Most(c, room));
    return most;
  }

  Pods FollowsPods() const override { return Pods::kAll; }
  void PodChanged(const cluster::PodClass& other, NodeId n, int32_t by, Dirty& dirty) override {
    int64_t floor = 0;
    constraints_.PodChanged(
        other, n, by, [&](const Constraint& c) { floor = Floor(c); },
        [&](const Constraint& c) { MarkFlipped(c, n, by, floor, dirty); });
  }
  void PodTried(const cluster::PodClass& other, NodeId n, int32_t by, Dirty&) override {
    constraints_.PodTried(other, n, by);
  }
  size_t memory() const override { return constraints_.memory(); }
  bool FollowsNodes() const override { return true; }
  void NodesChanged(std::span<const NodeId> nodes, Dirty& dirty) override {
    const Around around(*this, dirty);
    for (const NodeId n : nodes) constraints_.NodeChanged(n, around.before, around.after);
  }

 private:
  // Adds the nodes of domains that a change blocked or freed to Dirty.
  struct Around {
    Around(SpreadFilter& filter, Dirty& dirty)
        : before([&filter](const Constraint& c) { filter.blocked_ = filter.BlockedDomains(c); }),
          after([&filter, &dirty](const Constraint& c) { filter.MarkFlipped(c, dirty); }) {}
    Constraints::Around before, after;
  };

  // Checks the constraints that `asked` selects.
  template <typename Asked>
  Verdict Judge(NodeId n, Asked asked) const {
    for (const Constraint& c : constraints_.list()) {
      if (!asked(c)) continue;
      const uint32_t domain = c.counts.DomainOf(n);
      if (domain == SpreadCounts::kNone) return Verdict::kNever;
      if (Blocked(c, domain, Floor(c))) return Verdict::kNotNow;
    }
    return Verdict::kFits;
  }

  // Returns the most pods that the constraint allows: no domain can end more than the skew above the least one. Nodes
  // that are not eligible do not limit it, because the filters that refuse them may be disabled.
  static int64_t Most(const Constraint& c, std::span<const int32_t> room) {
    std::vector<int64_t> domains(c.counts.domains());
    int64_t sum = 0;
    for (uint32_t n = 0; n < room.size(); ++n) {
      const uint32_t domain = c.counts.DomainOf(NodeId(n));
      if (domain == SpreadCounts::kNone) continue;
      (c.counts.Eligible(NodeId(n)) ? domains[domain] : sum) += room[n];
    }
    int64_t floor = Floor(c);
    if (c.counts.live_domains() >= c.min_domains) {
      floor = std::numeric_limits<int64_t>::max();
      for (uint32_t d = 0; d < domains.size(); ++d)
        if (c.counts.Live(d)) floor = std::min(floor, c.counts.Total(d) + domains[d]);
    }
    for (uint32_t d = 0; d < domains.size(); ++d)
      if (domains[d] > 0) sum += std::clamp<int64_t>(floor - c.counts.Total(d) + c.max_skew, 0, domains[d]);
    return sum;
  }

  // Adds nodes to Dirty after n got `by` pods; `before` is the floor before that. Only the total of n's domain changed.
  void MarkFlipped(const Constraint& c, NodeId n, int64_t by, int64_t before, Dirty& dirty) const {
    const uint32_t mine = c.counts.DomainOf(n);
    if (mine == SpreadCounts::kNone) return;
    const int64_t floor = Floor(c);
    const auto look = [&](uint32_t d) {
      const int64_t more = c.counts.Total(d) + (c.selects_itself ? 1 : 0) - c.max_skew;
      const int64_t was = d == mine ? more - by : more;
      if ((more > floor) != (was > before)) dirty.Domain(c.key, c.counts.Value(d));
    };
    if (floor == before) return look(mine);
    for (uint32_t d = 0; d < c.counts.domains(); ++d) look(d);
  }
  std::vector<char> BlockedDomains(const Constraint& c) const {
    std::vector<char> blocked(c.counts.domains());
    const int64_t floor = Floor(c);
    for (uint32_t d = 0; d < blocked.size(); ++d) blocked[d] = Blocked(c, d, floor);
    return blocked;
  }
  void MarkFlipped(const Constraint& c, Dirty& dirty) const {
    const std::vector<char> now = BlockedDomains(c);
    for (uint32_t d = 0; d < now.size(); ++d) {
      if (d >= blocked_.size() || now[d] != blocked_[d]) dirty.Domain(c.key, c.counts.Value(d));
    }
  }

  const model::Symbol hostname_;
  Constraints constraints_;
  std::vector<char> blocked_;  // domains blocked before the change at hand
};

class SpreadScore final : public framework::ScoreState {
 public:
  SpreadScore(Constraints::Nodes nodes, std::span<const model::TopologySpread> wanted,
              const cluster::PodClass& pod_class, const cluster::Snapshot& snapshot)
      : hostname_(snapshot.symbols().Intern(kHostname)),
        constraints_(Constraints::Kind::kSoft, nodes, wanted, pod_class, snapshot),
        weights_(constraints_.list().size()) {}

  bool empty() const { return constraints_.empty(); }

  int64_t Score(NodeId n) const override {
    if (!constraints_.LooksAt(n)) return framework::kNoScore;
    double score = 0;
    for (size_t i = 0; i < weights_.size(); ++i) {
      const Constraint& c = constraints_.list()[i];
      const uint32_t domain = c.counts.DomainOf(n);
      if (domain == SpreadCounts::kNone) continue;
      const int64_t count = c.key == hostname_ ? c.counts.OnNode(n) : c.counts.Total(domain);
      score += static_cast<double>(count) * weights_[i] + static_cast<double>(c.max_skew - 1);
    }
    return std::llround(score);
  }

  Pods FollowsPods() const override { return Pods::kAll; }
  void PodChanged(const cluster::PodClass& other, NodeId n, int32_t by, Dirty& dirty) override {
    constraints_.PodChanged(
        other, n, by, [](const Constraint&) {},
        [&](const Constraint& c) { MarkDomain(c, c.counts.DomainOf(n), dirty); });
  }
  size_t memory() const override { return constraints_.memory(); }
  bool FollowsNodes() const override { return true; }
  void NodesChanged(std::span<const NodeId> nodes, Dirty& dirty) override {
    for (const NodeId n : nodes) {
      const auto mark = [&](const Constraint& c) {
        if (c.counts.OnNode(n) != 0) MarkDomain(c, c.counts.DomainOf(n), dirty);
      };
      constraints_.NodeChanged(n, mark, mark);
    }
  }

  // Shares all keys but the host's. Own() returns the node's count for one constraint by hosts, so sharing needs at
  // most one.
  bool Shares(std::vector<model::Symbol>* keys) const override {
    const std::vector<Constraint>& list = constraints_.list();
    for (const Constraint& c : list)
      if (c.key != hostname_) keys->push_back(c.key);
    return std::ranges::count(list, hostname_, &Constraint::key) <= 1;
  }
  int64_t Own(NodeId n) const override {
    for (const Constraint& c : constraints_.list())
      if (c.key == hostname_) return c.counts.DomainOf(n) == SpreadCounts::kNone ? -1 : c.counts.OnNode(n);
    return 0;
  }

  bool FollowsFeasible() const override { return true; }
  bool FeasibleChanged(std::span<const RefusedBy> refused_by) override {
    return Weigh([&](auto tell) {
      for (uint32_t n = 0; n < refused_by.size(); ++n)
        if (refused_by[n] == framework::kNobody) tell(NodeId(n), 1);
    });
  }
  void FeasibleChanged(std::span<const Alike> feasible) override {
    Weigh([&](auto tell) {
      for (const Alike& alike : feasible) tell(alike.best, alike.nodes);
    });
  }

 private:
  // Computes each constraint's weight from the number of domains of the feasible nodes, which `each` passes. True when
  // a weight changed.
  template <typename Each>
  bool Weigh(Each each) {
    bool changed = false;
    for (size_t i = 0; i < weights_.size(); ++i) {
      const double weight = std::log(static_cast<double>(FeasibleDomains(constraints_.list()[i], each) + 2));
      changed |= weight != weights_[i];
      weights_[i] = weight;
    }
    return changed;
  }
  template <typename Each>
  size_t FeasibleDomains(const Constraint& c, Each each) const {
    const bool by_host = c.key == hostname_;
    // The last entry is for nodes without the key: they are one domain, as in kube-scheduler.
    std::vector<char> seen(by_host ? 0 : c.counts.domains() + 1);
    size_t nodes = 0, domains = 0;
    each([&](NodeId n, size_t alike) {
      if (!constraints_.LooksAt(n)) return;
      nodes += alike;
      if (by_host) return;
      domains += !std::exchange(seen[std::min<size_t>(c.counts.DomainOf(n), seen.size() - 1)], 1);
    });
    return by_host ? nodes : domains;
  }
  void MarkDomain(const Constraint& c, uint32_t domain, Dirty& dirty) {
    if (c.key == hostname_ || domain == SpreadCounts::kNone) return;  // its node is asked again anyway
    dirty.Domain(c.key, c.counts.Value(domain));
  }

  const model::Symbol hostname_;
  Constraints constraints_;
  std::vector<double> weights_;
};

// Reads one of defaultConstraints; `at` names it in complaints.
base::Result<model::TopologySpread> ReadConstraint(const base::Json& c, const std::string& at) {
  if (!c.is_object()) return base::Invalid(at + ": must be an object");
  if (const auto checked = CheckFields(c, at,
                                       {"maxSkew", "topologyKey", "whenUnsatisfiable", "labelSelector", "minDomains",
                                        "nodeAffinityPolicy", "nodeTaintsPolicy", "matchLabelKeys"});
      !checked)
    return tl::make_unexpected(checked.error());
  const auto skew = Field<int64_t>(c, at, "maxSkew", 0);
  if (!skew) return tl::make_unexpected(skew.error());
  if (*skew <= 0) return base::Invalid(at + ".maxSkew: not in valid range (0, inf)");
  const auto key = Field<std::string>(c, at, "topologyKey", "");
  if (!key) return tl::make_unexpected(key.error());
  if (!IsQualifiedName(*key)) return base::Invalid(at + ".topologyKey: must be a label key");
  const auto when = Field<std::string>(c, at, "whenUnsatisfiable", "");
  if (!when) return tl::make_unexpected(when.error());
  if (*when != kHard && *when != kSoft)
    return base::Invalid(at + ".whenUnsatisfiable: supported values: \"DoNotSchedule\", \"ScheduleAnyway\"");
  if (c.contains("labelSelector"))
    return base::Invalid(at + ".labelSelector: constraint must not define a selector, as they deduced for each pod");
  model::TopologySpread spread;
  spread.max_skew = static_cast<int32_t>(std::min<int64_t>(*skew, std::numeric_limits<int32_t>::max()));
  spread.topology_key = *key;
  spread.hard = *when == kHard;
  const auto domains = Field<int64_t>(c, at, "minDomains", 1);
  if (!domains) return tl::make_unexpected(domains.error());
  spread.min_domains = static_cast<int32_t>(std::min<int64_t>(*domains, std::numeric_limits<int32_t>::max()));
  for (const auto& [field, policy] : {std::pair("nodeAffinityPolicy", &spread.node_affinity_policy),
                                      std::pair("nodeTaintsPolicy", &spread.node_taints_policy)}) {
    const auto said = Field<std::string>(c, at, field, "");
    if (!said) return tl::make_unexpected(said.error());
    *policy = *said;
  }
  return spread;
}

}  // namespace

base::Result<std::shared_ptr<PodTopologySpread>> PodTopologySpread::Make(const base::Json& args) {
  const std::string path = "PodTopologySpreadArgs";
  if (const auto checked = CheckFields(args, path, {"defaultConstraints", "defaultingType"}); !checked)
    return tl::make_unexpected(checked.error());
  if (const auto checked = CheckList(args, path, "defaultConstraints"); !checked)
    return tl::make_unexpected(checked.error());
  const auto type = Field<std::string>(args, path, "defaultingType", "System");
  if (!type) return tl::make_unexpected(type.error());
  if (*type != "System" && *type != "List")
    return base::Invalid(fmt::format(
        "{}.defaultingType: unsupported value \"{}\": supported values: \"List\", \"System\"", path, *type));
  const bool has_defaults =
      args.is_object() && args.contains("defaultConstraints") && !args["defaultConstraints"].empty();
  if (has_defaults && *type == "System")
    return base::Invalid(path + ".defaultingType: System when .defaultConstraints are not empty");
  auto plugin = std::make_shared<PodTopologySpread>();
  if (*type == "System") {
    plugin->system_defaults_ = true;
    plugin->defaults_ = SystemDefaults();
  }
  if (!has_defaults) return plugin;
  for (size_t i = 0; i < args["defaultConstraints"].size(); ++i) {
    const std::string at = fmt::format("{}.defaultConstraints[{}]", path, i);
    auto spread = ReadConstraint(args["defaultConstraints"][i], at);
    if (!spread) return tl::make_unexpected(spread.error());
    for (const model::TopologySpread& other : plugin->defaults_)
      if (other.topology_key == spread->topology_key && other.hard == spread->hard)
        return base::Invalid(
            fmt::format("{}: Duplicate value: \"{{{}, {}}}\"", at, spread->topology_key, spread->hard ? kHard : kSoft));
    plugin->defaults_.push_back(*std::move(spread));
    const auto same = [&](const model::TopologySpread& other) { return other.hard == plugin->defaults_.back().hard; };
    if (std::ranges::count_if(plugin->defaults_, same) > static_cast<ptrdiff_t>(kMostSpreadConstraints))
      return base::Invalid(fmt::format("{}: no more than {} with one whenUnsatisfiable", at, kMostSpreadConstraints));
  }
  return plugin;
}

std::vector<model::TopologySpread> PodTopologySpread::ConstraintsOf(const cluster::PodClass& pod_class) const {
  if (!pod_class.spec->spread.empty()) return pod_class.spec->spread;
  if (!pod_class.selected_by) return {};
  std::vector<model::TopologySpread> constraints = defaults_;
  for (model::TopologySpread& constraint : constraints) constraint.selector = *pod_class.selected_by;
  return constraints;
}

std::unique_ptr<framework::FilterState> PodTopologySpread::PrepareFilter(const cluster::PodClass& pod_class,
                                                                         const cluster::Snapshot& snapshot) const {
  const std::vector<model::TopologySpread> wanted = ConstraintsOf(pod_class);
  if (std::ranges::none_of(wanted, &model::TopologySpread::hard)) return nullptr;
  return std::make_unique<SpreadFilter>(wanted, pod_class, snapshot);
}

std::unique_ptr<framework::ScoreState> PodTopologySpread::PrepareScore(const cluster::PodClass& pod_class,
                                                                       const cluster::Snapshot& snapshot) const {
  const std::vector<model::TopologySpread> wanted = ConstraintsOf(pod_class);
  if (std::ranges::all_of(wanted, &model::TopologySpread::hard)) return nullptr;
  // With kube-scheduler's default constraints, a node without a zone still counts for its host.
  const bool each = system_defaults_ && pod_class.spec->spread.empty();
  return std::make_unique<SpreadScore>(each ? Constraints::Nodes::kWithItsKey : Constraints::Nodes::kWithAllKeys,
                                       wanted, pod_class, snapshot);
}

}  // namespace tutti::plugins
