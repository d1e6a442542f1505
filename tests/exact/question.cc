// SPDX-License-Identifier: Apache-2.0
#include "tests/exact/question.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tutti::exact {
namespace {

int Pick(base::Random& random, int from, int to) { return static_cast<int>(random.Between(from, to)); }

void AddNodes(base::Random& random, int count, bool free, Question* question) {
  const int racks = Pick(random, 1, 4), zones = Pick(random, 1, std::min(racks, 3));
  for (int i = 0; i < count; ++i) {
    QuestionNode node;
    node.gpu_total = free ? 8 : (random.OneIn(4) ? 0 : 1 << Pick(random, 1, 3));
    node.gpu = free || random.OneIn(3) ? node.gpu_total : Pick(random, 0, node.gpu_total);
    node.cpu = free ? 32 : Pick(random, 0, 16);
    node.rack = Pick(random, 0, racks - 1);
    node.zone = node.rack % zones;
    if (!free && random.OneIn(12)) node.rack = -1;
    if (!free && random.OneIn(20)) node.zone = node.rack = -1;
    node.pool = Pick(random, 0, 1);
    question->nodes.push_back(node);
  }
}

QuestionClass RandomClass(base::Random& random, int most) {
  QuestionClass it;
  it.count = Pick(random, 1, most);
  it.cpu = Pick(random, 1, 5);
  it.gpu = random.OneIn(3) ? 0 : 1 << Pick(random, 0, 2);
  if (random.OneIn(3)) it.gpu = Pick(random, 0, 4);
  if (random.OneIn(5)) it.pool = Pick(random, 0, 1);
  return it;
}

}  // namespace

Question RandomGang(base::Random& random) {
  Question question;
  AddNodes(random, Pick(random, 2, 12), false, &question);
  QuestionGang gang;
  const int classes = Pick(random, 1, 4);
  int left = 16;
  for (int i = 0; i < classes && left > 0; ++i) {
    gang.classes.push_back(RandomClass(random, std::min(left, random.OneIn(2) ? 4 : 10)));
    left -= gang.classes.back().count;
  }
  // Gangs that ask for far more, or far less, than there is say little.
  int free_gpu = 0, free_cpu = 0;
  for (const QuestionNode& node : question.nodes) free_gpu += node.gpu, free_cpu += node.cpu;
  for (int tries = 0; tries < 12; ++tries) {
    int gpu = 0, cpu = 0;
    for (const QuestionClass& it : gang.classes) gpu += it.gpu * it.count, cpu += it.cpu * it.count;
    if (gpu <= free_gpu && cpu <= free_cpu) break;
    QuestionClass& it = gang.classes[random.Below(gang.classes.size())];
    if (gpu > free_gpu && it.gpu > 0)
      --it.gpu;
    else if (cpu > free_cpu && it.cpu > 1)
      --it.cpu;
    else if (it.count > 1)
      --it.count;
  }
  for (int a = 0; a < static_cast<int>(gang.classes.size()); ++a) {
    QuestionClass& it = gang.classes[static_cast<size_t>(a)];
    if (random.OneIn(8)) it.port = true;
    if (random.OneIn(5)) gang.apart.push_back({a, a, static_cast<Level>(random.Below(3))});
    for (int b = 0; b < a; ++b)
      if (random.OneIn(6)) gang.apart.push_back({b, a, static_cast<Level>(random.Below(3))});
    if (random.OneIn(6) && it.count > 3) {
      it.slice = it.count % 3 == 0 ? 3 : 2;
      it.count -= it.count % it.slice;
    } else if (random.OneIn(8)) {
      it.one = Pick(random, 1, 2);
    }
  }
  if (random.OneIn(4)) gang.one = Pick(random, 1, 2);
  for (QuestionClass& it : gang.classes) it.even = it.slice == 0 && it.one < 0 && random.OneIn(8);
  question.gangs.push_back(std::move(gang));
  return question;
}

Question RandomStream(base::Random& random) {
  Question question;
  AddNodes(random, Pick(random, 3, 8), true, &question);
  const int gangs = Pick(random, 3, 8);
  for (int g = 0; g < gangs; ++g) {
    QuestionGang gang;
    const int classes = random.OneIn(3) ? 2 : 1;
    for (int i = 0; i < classes; ++i) {
      QuestionClass it;
      it.gpu = 1 << Pick(random, 0, 3);
      it.count = Pick(random, 1, 16 / it.gpu > 6 ? 6 : 16 / it.gpu);
      it.cpu = it.gpu;
      gang.classes.push_back(it);
    }
    if (random.OneIn(4)) gang.one = Pick(random, 1, 2);
    question.gangs.push_back(std::move(gang));
  }
  return question;
}

int DomainOf(const Question& question, size_t node, Level level) {
  switch (level) {
    case Level::kNode: return static_cast<int>(node);
    case Level::kRack: return question.nodes[node].rack;
    case Level::kZone: return question.nodes[node].zone;
  }
  return -1;
}

int DomainCount(const Question& question, Level level) {
  int most = -1;
  for (size_t n = 0; n < question.nodes.size(); ++n) most = std::max(most, DomainOf(question, n, level));
  return most + 1;
}

namespace {

// How many of these counts by node are in each domain; the last entry is of the nodes without the label.
std::vector<int> ByDomain(const Question& question, const std::vector<int>& on, Level level) {
  std::vector<int> sums(static_cast<size_t>(DomainCount(question, level)) + 1);
  for (size_t n = 0; n < on.size(); ++n) {
    const int domain = DomainOf(question, n, level);
    sums[domain < 0 ? sums.size() - 1 : static_cast<size_t>(domain)] += on[n];
  }
  return sums;
}

bool IsEven(const Question& question, const std::vector<int>& on) {
  std::vector<int> sums = ByDomain(question, on, Level::kRack);
  if (sums.back() > 0) return false;
  std::erase(sums, 0);
  return sums.empty() || std::ranges::max(sums) - std::ranges::min(sums) <= 1;
}

bool InOne(const Question& question, const std::vector<int>& on, Level level) {
  const std::vector<int> sums = ByDomain(question, on, level);
  return sums.back() == 0 && std::ranges::count_if(sums, [](int sum) { return sum > 0; }) <= 1;
}

std::string CheckGang(const Question& question, const QuestionGang& gang, const std::vector<std::vector<int>>& on) {
  std::vector<int> all(question.nodes.size());
  for (size_t c = 0; c < gang.classes.size(); ++c) {
    const QuestionClass& it = gang.classes[c];
    if (std::accumulate(on[c].begin(), on[c].end(), 0) != it.count)
      return fmt::format("class {} is not there whole", c);
    for (size_t n = 0; n < all.size(); ++n) {
      all[n] += on[c][n];
      if (on[c][n] > 0 && it.pool >= 0 && question.nodes[n].pool != it.pool)
        return fmt::format("class {} is in the wrong pool", c);
    }
    if (it.one >= 0 && !InOne(question, on[c], static_cast<Level>(it.one)))
      return fmt::format("class {} is in several domains", c);
    if (it.even && !IsEven(question, on[c])) return fmt::format("class {} is in uneven parts", c);
    if (it.slice > 0) {
      std::vector<int> sums = ByDomain(question, on[c], Level::kRack);
      if (sums.back() > 0 || std::ranges::any_of(sums, [&](int sum) { return sum % it.slice != 0; }))
        return fmt::format("class {} has broken slices", c);
    }
  }
  for (size_t n = 0; n < all.size(); ++n) {
    int ports = 0;
    for (size_t c = 0; c < gang.classes.size(); ++c) ports += gang.classes[c].port ? on[c][n] : 0;
    if (ports > 1) return fmt::format("node {} gives a port twice", n);
  }
  for (const QuestionApart& apart : gang.apart) {
    const std::vector<int> a = ByDomain(question, on[static_cast<size_t>(apart.a)], apart.level);
    const std::vector<int> b = ByDomain(question, on[static_cast<size_t>(apart.b)], apart.level);
    for (size_t d = 0; d + 1 < a.size(); ++d)
      if (apart.a == apart.b ? a[d] > 1 : a[d] > 0 && b[d] > 0)
        return fmt::format("classes {} and {} are not apart", apart.a, apart.b);
  }
  if (gang.one >= 0 && !InOne(question, all, static_cast<Level>(gang.one))) return "the gang is in several domains";
  return {};
}

bool IsPlaced(const std::vector<std::vector<int>>& on) {
  return std::ranges::any_of(
      on, [](const std::vector<int>& of_class) { return std::accumulate(of_class.begin(), of_class.end(), 0) > 0; });
}

}  // namespace

std::string Check(const Question& question, const Layout& layout) {
  std::vector<int> cpu(question.nodes.size()), gpu(question.nodes.size());
  for (size_t g = 0; g < layout.size(); ++g) {
    if (!IsPlaced(layout[g])) continue;
    if (const std::string wrong = CheckGang(question, question.gangs[g], layout[g]); !wrong.empty())
      return fmt::format("gang {}: {}", g, wrong);
    for (size_t c = 0; c < layout[g].size(); ++c)
      for (size_t n = 0; n < cpu.size(); ++n) {
        cpu[n] += layout[g][c][n] * question.gangs[g].classes[c].cpu;
        gpu[n] += layout[g][c][n] * question.gangs[g].classes[c].gpu;
      }
  }
  for (size_t n = 0; n < cpu.size(); ++n)
    if (cpu[n] > question.nodes[n].cpu || gpu[n] > question.nodes[n].gpu)
      return fmt::format("node {} is over its room", n);
  return {};
}

int WholeNodes(const Question& question, const Layout& layout) {
  int whole = 0;
  for (size_t n = 0; n < question.nodes.size(); ++n) {
    bool free = question.nodes[n].gpu_total > 0 && question.nodes[n].gpu == question.nodes[n].gpu_total;
    for (const auto& gang : layout)
      for (const auto& of_class : gang) free = free && of_class[n] == 0;
    whole += free;
  }
  return whole;
}

int Placed(const Layout& layout) { return static_cast<int>(std::ranges::count_if(layout, IsPlaced)); }

}  // namespace tutti::exact
