// SPDX-License-Identifier: Apache-2.0
#include "tests/exact/solver.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tutti::exact {
namespace {

// x: members of a class on a node. p: the gang is placed. y: the gang or class is in this domain. z: a class is present
// in a domain. s: slices in a rack. m: the smaller part of a class in even parts; u: a rack holds one. w: the node
// stays whole.
class Equations {
 public:
  Equations(const Question& question, Goal goal) : q_(question), goal_(goal) {
    for (size_t g = 0; g < q_.gangs.size(); ++g) AddGang(g);
    AddNodes();
  }

  std::string Text() const {
    return fmt::format("Maximize\n obj: {}\nSubject To\n{}Bounds\n{}Generals\n{}\nBinaries\n{}\nEnd\n", objective_,
                       rows_, bounds_, generals_, binaries_);
  }

 private:
  static std::string X(size_t g, size_t c, size_t n) { return fmt::format("x_{}_{}_{}", g, c, n); }
  void Row(const std::string& row) { rows_ += fmt::format(" r{}: {}\n", ++row_, row); }
  std::string SumIn(size_t g, size_t c, Level level, int domain) const {
    std::string sum;
    for (size_t n = 0; n < q_.nodes.size(); ++n)
      if (DomainOf(q_, n, level) == domain) sum += fmt::format(" + {}", X(g, c, n));
    return sum;
  }

  void AddGang(size_t g) {
    const QuestionGang& gang = q_.gangs[g];
    const std::string placed = fmt::format("p_{}", g);
    binaries_ += " " + placed;
    objective_ += fmt::format(" + {} {}", goal_ == Goal::kMost ? 1000 : 16 << (q_.gangs.size() - 1 - g), placed);
    for (size_t c = 0; c < gang.classes.size(); ++c) {
      const QuestionClass& it = gang.classes[c];
      std::string all;
      for (size_t n = 0; n < q_.nodes.size(); ++n) {
        all += fmt::format(" + {}", X(g, c, n));
        generals_ += " " + X(g, c, n);
        bounds_ +=
            fmt::format(" 0 <= {} <= {}\n", X(g, c, n), it.pool >= 0 && q_.nodes[n].pool != it.pool ? 0 : it.count);
      }
      Row(fmt::format("{} - {} {} = 0", all, it.count, placed));
      if (it.slice > 0) AddSlices(g, c);
      if (it.even) AddEven(g, c);
      if (it.one >= 0) AddOne(g, {c}, static_cast<Level>(it.one), fmt::format("y_{}_{}", g, c));
    }
    if (gang.one >= 0) {
      std::vector<size_t> all;
      for (size_t c = 0; c < gang.classes.size(); ++c) all.push_back(c);
      AddOne(g, all, static_cast<Level>(gang.one), fmt::format("y_{}", g));
    }
    for (size_t n = 0; n < q_.nodes.size(); ++n) {
      std::string ports;
      for (size_t c = 0; c < gang.classes.size(); ++c)
        if (gang.classes[c].port) ports += fmt::format(" + {}", X(g, c, n));
      if (!ports.empty()) Row(ports + " <= 1");
    }
    for (size_t i = 0; i < gang.apart.size(); ++i) AddApart(g, i);
  }

  void AddSlices(size_t g, size_t c) {
    const int racks = DomainCount(q_, Level::kRack);
    for (int d = 0; d < racks; ++d) {
      const std::string sum = SumIn(g, c, Level::kRack, d);
      if (sum.empty()) continue;
      generals_ += fmt::format(" s_{}_{}_{}", g, c, d);
      Row(fmt::format("{} - {} s_{}_{}_{} = 0", sum, q_.gangs[g].classes[c].slice, g, c, d));
    }
    if (const std::string outside = SumIn(g, c, Level::kRack, -1); !outside.empty()) Row(outside + " = 0");
  }

  void AddEven(size_t g, size_t c) {
    const int count = q_.gangs[g].classes[c].count;
    const std::string least = fmt::format("m_{}_{}", g, c);
    generals_ += " " + least;
    bounds_ += fmt::format(" 0 <= {} <= {}\n", least, count);
    for (int d = 0; d < DomainCount(q_, Level::kRack); ++d) {
      const std::string sum = SumIn(g, c, Level::kRack, d);
      if (sum.empty()) continue;
      const std::string used = fmt::format("u_{}_{}_{}", g, c, d);
      binaries_ += " " + used;
      Row(fmt::format("{} - {} {} <= 0", sum, count, used));
      Row(fmt::format("{} - {} <= 1", sum, least));
      Row(fmt::format("{} - {} - {} {} >= -{}", sum, least, count, used, count));
    }
    if (const std::string outside = SumIn(g, c, Level::kRack, -1); !outside.empty()) Row(outside + " = 0");
  }

  void AddOne(size_t g, const std::vector<size_t>& classes, Level level, const std::string& name) {
    std::string all;
    for (int d = 0; d < DomainCount(q_, level); ++d) {
      all += fmt::format(" + {}_{}", name, d);
      binaries_ += fmt::format(" {}_{}", name, d);
    }
    if (!all.empty()) Row(all + " <= 1");
    for (const size_t c : classes) {
      for (int d = 0; d < DomainCount(q_, level); ++d)
        if (const std::string sum = SumIn(g, c, level, d); !sum.empty())
          Row(fmt::format("{} - {} {}_{} <= 0", sum, q_.gangs[g].classes[c].count, name, d));
      if (const std::string outside = SumIn(g, c, level, -1); !outside.empty()) Row(outside + " = 0");
    }
  }

  void AddApart(size_t g, size_t i) {
    const QuestionApart& apart = q_.gangs[g].apart[i];
    const auto a = static_cast<size_t>(apart.a), b = static_cast<size_t>(apart.b);
    for (int d = 0; d < DomainCount(q_, apart.level); ++d) {
      const std::string in_a = SumIn(g, a, apart.level, d), in_b = SumIn(g, b, apart.level, d);
      if (in_a.empty()) continue;
      if (a == b) {
        Row(in_a + " <= 1");
        continue;
      }
      const std::string za = fmt::format("z_{}_{}_{}_a", g, i, d), zb = fmt::format("z_{}_{}_{}_b", g, i, d);
      binaries_ += fmt::format(" {} {}", za, zb);
      Row(fmt::format("{} - {} {} <= 0", in_a, q_.gangs[g].classes[a].count, za));
      Row(fmt::format("{} - {} {} <= 0", in_b, q_.gangs[g].classes[b].count, zb));
      Row(fmt::format("{} + {} <= 1", za, zb));
    }
  }

  void AddNodes() {
    for (size_t n = 0; n < q_.nodes.size(); ++n) {
      std::string cpu, gpu;
      for (size_t g = 0; g < q_.gangs.size(); ++g)
        for (size_t c = 0; c < q_.gangs[g].classes.size(); ++c) {
          const QuestionClass& it = q_.gangs[g].classes[c];
          if (it.cpu > 0) cpu += fmt::format(" + {} {}", it.cpu, X(g, c, n));
          if (it.gpu > 0) gpu += fmt::format(" + {} {}", it.gpu, X(g, c, n));
        }
      const QuestionNode& node = q_.nodes[n];
      if (!cpu.empty()) Row(fmt::format("{} <= {}", cpu, node.cpu));
      if (!gpu.empty()) Row(fmt::format("{} <= {}", gpu, node.gpu));
      if (q_.gangs.size() == 1 || node.gpu_total == 0 || node.gpu < node.gpu_total) continue;
      binaries_ += fmt::format(" w_{}", n);
      objective_ += fmt::format(" + w_{}", n);
      if (!cpu.empty()) Row(fmt::format("{} + {} w_{} <= {}", cpu, node.cpu, n, node.cpu));
    }
  }

  const Question& q_;
  const Goal goal_;
  int row_ = 0;
  std::string objective_, rows_, bounds_, generals_, binaries_;
};

Layout Empty(const Question& question) {
  Layout layout;
  for (const QuestionGang& gang : question.gangs)
    layout.emplace_back(gang.classes.size(), std::vector<int>(question.nodes.size()));
  return layout;
}

}  // namespace

std::string Program(const Question& question, Goal goal) { return Equations(question, goal).Text(); }

base::Result<std::optional<Values>> SolveProgram(const std::string& program, int limit_s) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  const std::string base = (folder / fmt::format("tutti-exact-{}", getpid())).string();
  std::ofstream(base + ".lp") << program;
  const std::string command = fmt::format(
      "cbc {0}.lp -seconds {1} -ratioGap 0 -allowableGap 0 -solve -solution {0}.sol >{0}.log 2>&1", base, limit_s);
  const int status = std::system(command.c_str());
  std::ifstream solution(base + ".sol");
  std::string first;
  std::getline(solution, first);
  const auto forget = [&base] {
    for (const char* suffix : {".lp", ".sol", ".log"}) std::filesystem::remove(base + suffix);
  };
  if (status == 0 && first.starts_with("Stopped on time")) {
    forget();
    return std::nullopt;
  }
  if (status != 0 || !first.starts_with("Optimal"))
    return base::Invalid(
        fmt::format("cbc ended with {} and said \"{}\"; see {}.lp and {}.log", status, first, base, base));
  Values values;
  for (std::string line; std::getline(solution, line);) {
    std::istringstream words(line);
    std::string number, name;
    double value = 0;
    words >> number >> name >> value;
    values[name] = value;
  }
  forget();
  return values;
}

base::Result<std::optional<Layout>> Solve(const Question& question, Goal goal, int limit_s) {
  const auto values = SolveProgram(Program(question, goal), limit_s);
  if (!values) return tl::unexpected(values.error());
  if (!*values) return std::nullopt;
  Layout layout = Empty(question);
  for (const auto& [name, value] : **values) {
    size_t g = 0, c = 0, n = 0;
    if (std::sscanf(name.c_str(), "x_%zu_%zu_%zu", &g, &c, &n) == 3)
      layout[g][c][n] = static_cast<int>(std::lround(value));
  }
  return layout;
}

}  // namespace tutti::exact
