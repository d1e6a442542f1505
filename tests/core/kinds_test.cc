// SPDX-License-Identifier: Apache-2.0
// Which objects reach which dialect, and that to find out costs no allocation.
#include <cstdlib>
#include <new>

#include "core/cycle.h"
#include "dialects/dialect.h"
#include "plugins/registry.h"
#include "tests/support/catch.h"

namespace tutti::core {
namespace {

thread_local int64_t allocations = 0;  // so far

}  // namespace
}  // namespace tutti::core

[[gnu::noinline]] void* operator new(size_t size) {
  ++tutti::core::allocations;
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace tutti::core {
namespace {

// Counts the objects that it is told of.
class KindCounter final : public dialects::Dialect {
 public:
  struct Counts {
    int put = 0, dropped = 0;
    friend bool operator==(const Counts&, const Counts&) = default;
  };

  KindCounter(std::vector<model::ObjectKind> kinds, Counts* counts) : kinds_(std::move(kinds)), counts_(counts) {}

  std::string_view name() const override { return "counter"; }
  const std::vector<model::ObjectKind>& Kinds() const override { return kinds_; }
  void Put(std::shared_ptr<const model::Object>, dialects::Touched*) override { ++counts_->put; }
  void Drop(std::string_view, std::string_view, std::string_view, dialects::Touched*) override { ++counts_->dropped; }
  std::optional<dialects::Membership> MembershipOf(const model::Pod&) const override { return std::nullopt; }
  model::GangSpec Describe(const model::GangKey&) const override { return {}; }

 private:
  const std::vector<model::ObjectKind> kinds_;
  Counts* const counts_;
};

const model::ObjectKind& Widgets() {
  static const model::ObjectKind kind{"test.tutti.dev", "widgets", "Widget", {"v1"}};
  return kind;
}

cluster::FeedEvent Changed(const model::ObjectKind& kind) {
  auto object = std::make_shared<model::Object>();
  object->group = kind.group;
  object->resource = kind.resource;
  object->kind = kind.kind;
  object->version = kind.versions.front();
  object->meta.name = "one";
  object->body = std::make_shared<const base::Json>(base::Json::object());
  return cluster::ObjectChanged{std::move(object)};
}

cluster::FeedEvent Gone(const model::ObjectKind& kind) { return cluster::ObjectGone{kind.Name(), "", "one", "uid"}; }

// A core whose dialects are those of every user, and these.
struct KindRig {
  base::VirtualClock clock{0};
  std::unique_ptr<Cycle> cycle;

  explicit KindRig(std::vector<std::unique_ptr<dialects::Dialect>> more) {
    Options options;
    options.profiles.push_back(plugins::DefaultProfile("tutti"));
    dialects::DialectList dialects = dialects::MakeDialects();
    for (auto& dialect : more) dialects.push_back(std::move(dialect));
    cycle = std::make_unique<Cycle>(std::move(options), std::move(dialects), clock, nullptr, nullptr);
  }
};

std::vector<std::unique_ptr<dialects::Dialect>> Counters(
    const std::vector<std::pair<model::ObjectKind, KindCounter::Counts*>>& list) {
  std::vector<std::unique_ptr<dialects::Dialect>> counters;
  for (const auto& [kind, counts] : list) counters.push_back(std::make_unique<KindCounter>(std::vector{kind}, counts));
  return counters;
}

TEST_CASE("An object reaches every dialect that reads its kind, and no other, also where the core reads it itself") {
  const model::ObjectKind namespaces{"", "namespaces", "Namespace", {"v1"}};
  const model::ObjectKind volumes{"", "persistentvolumes", "PersistentVolume", {"v1"}};
  KindCounter::Counts first, second, of_namespaces, of_volumes;
  KindRig rig(
      Counters({{Widgets(), &first}, {Widgets(), &second}, {namespaces, &of_namespaces}, {volumes, &of_volumes}}));
  rig.cycle->Apply(Changed(Widgets()));
  CHECK(first == KindCounter::Counts{1, 0});
  CHECK(second == KindCounter::Counts{1, 0});
  CHECK(of_namespaces == KindCounter::Counts{});
  for (const model::ObjectKind& kind : {namespaces, volumes}) {
    rig.cycle->Apply(Changed(kind));
    rig.cycle->Apply(Gone(kind));
  }
  rig.cycle->Apply(Gone(Widgets()));
  CHECK(first == KindCounter::Counts{1, 1});
  CHECK(second == KindCounter::Counts{1, 1});
  CHECK(of_namespaces == KindCounter::Counts{1, 1});
  CHECK(of_volumes == KindCounter::Counts{1, 1});
}

TEST_CASE("A kind is asked for once, however many dialects read it, and the core waits for its list") {
  KindCounter::Counts counts;
  const KindRig rig(Counters({{Widgets(), &counts}, {Widgets(), &counts}}));
  const std::vector<model::ObjectKind> kinds = rig.cycle->Kinds();
  CHECK(std::ranges::count(kinds, Widgets()) == 1);
  rig.cycle->Apply(cluster::KindSynced{"pods"});
  rig.cycle->Apply(cluster::KindSynced{"nodes"});
  for (const model::ObjectKind& kind : kinds)
    if (kind != Widgets()) rig.cycle->Apply(cluster::KindSynced{kind.Name()});
  CHECK_FALSE(rig.cycle->synced());
  rig.cycle->Apply(cluster::KindSynced{Widgets().Name(), false});
  CHECK(rig.cycle->synced());
}

TEST_CASE("To find what an object's change concerns allocates nothing") {
  KindCounter::Counts counts;
  const KindRig rig(Counters({{Widgets(), &counts}}));
  const cluster::FeedEvent changed = Changed(Widgets()), gone = Gone(Widgets());
  const int64_t before = allocations;
  CHECK(before > 0);
  rig.cycle->Apply(changed);
  rig.cycle->Apply(gone);
  CHECK(allocations == before);
  CHECK(counts == KindCounter::Counts{1, 1});
}

}  // namespace
}  // namespace tutti::core
