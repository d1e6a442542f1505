// SPDX-License-Identifier: Apache-2.0
#include "cluster/occupants.h"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "base/random.h"
#include "tests/support/catch.h"

namespace tutti::cluster {
namespace {

using model::Symbol;

Symbol Word(uint32_t n) { return Symbol(n); }

std::shared_ptr<PodClass> ClassOf(uint32_t id, Symbol ns, LabelEntries labels) {
  auto made = std::make_shared<PodClass>();
  made->id = model::ClassId(id);
  made->spec = std::make_shared<model::PodSpec>();
  made->ns = ns;
  made->labels = std::move(labels);
  return made;
}

TEST_CASE("Of many classes, those with a label are found without a look at the others") {
  OccupantIndex index;
  std::vector<std::shared_ptr<PodClass>> classes;
  const Symbol ns = Word(1), app = Word(2);
  for (uint32_t i = 0; i < 10'000; ++i) {
    classes.push_back(ClassOf(i, ns, {{app, Word(100 + i)}}));
    index.Record(*classes.back(), model::NodeId(i % 7), 1);
  }
  const std::vector<Symbol> values = {Word(105), Word(105), Word(4'000)};  // one of them twice
  CHECK(index.CountLabelled(ns, app, values) >= 2);
  size_t looked_at = 0;
  index.ForEachLabelled(ns, app, values, [&](const Occupants& occupants) {
    ++looked_at;
    CHECK((occupants.pod_class->id == model::ClassId(5) || occupants.pod_class->id == model::ClassId(3'900)));
  });
  CHECK(looked_at == 2);
  CHECK(index.CountLabelled(Word(9), app, values) == 0);
}

TEST_CASE("The index of labels says what a walk through all classes says, as pods come and go") {
  base::Random random(3);
  OccupantIndex index;
  std::vector<std::shared_ptr<PodClass>> classes;
  for (uint32_t i = 0; i < 60; ++i) {
    LabelEntries labels;
    for (uint32_t key = 10; key < 13; ++key)
      if (random.OneIn(2)) labels.emplace_back(Word(key), Word(20 + static_cast<uint32_t>(random.Below(4))));
    classes.push_back(ClassOf(i, Word(1 + i % 2), labels));
  }
  std::map<std::pair<size_t, uint32_t>, int> pods;  // by class and node
  for (int step = 0; step < 5'000; ++step) {
    const size_t which = random.Below(classes.size());
    const auto n = static_cast<uint32_t>(random.Below(3));
    int& there = pods[{which, n}];
    const int by = there > 0 && random.OneIn(2) ? -1 : 1;
    there += by;
    index.Record(*classes[which], model::NodeId(n), by);
    if (step % 10 != 0) continue;
    const Symbol ns = Word(1 + static_cast<uint32_t>(random.Below(2)));
    const Symbol key = Word(10 + static_cast<uint32_t>(random.Below(3)));
    const std::vector<Symbol> values = {Word(20), Word(22)};
    size_t wanted = 0, found = 0;
    for (const auto& [id, occupants] : index.all())
      for (const auto& [each, value] : occupants.pod_class->labels)
        wanted += occupants.pod_class->ns == ns && each == key && (value == values[0] || value == values[1]);
    REQUIRE(index.CountLabelled(ns, key, values) == wanted);
    index.ForEachLabelled(ns, key, values, [&](const Occupants&) { ++found; });
    REQUIRE(found == wanted);
  }
}

TEST_CASE("Only so many label keys are indexed, whatever selectors name") {
  OccupantIndex index;
  const auto one = ClassOf(1, Word(1), {{Word(5), Word(6)}});
  index.Record(*one, model::NodeId(0), 1);
  const std::vector<Symbol> values = {Word(6)};
  uint32_t indexed = 0;
  while (indexed < 10'000 && index.CountLabelled(Word(1), Word(1'000 + indexed), values)) ++indexed;
  CHECK(indexed < 1'000);
}

}  // namespace
}  // namespace tutti::cluster
