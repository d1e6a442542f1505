// SPDX-License-Identifier: Apache-2.0
#include "app/ctl_top.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "app/listing.h"
#include "app/output.h"
#include "app/terminal.h"
#include "base/json.h"
#include "cluster/json_text.h"
#include "sim/objects/object.h"

namespace tutti::app {
namespace {

using base::Json;
using sim::Child;
using sim::DigString;

constexpr std::chrono::milliseconds kRenewal{2'000};
constexpr Listing::Kind kKinds[] = {Listing::Kind::kGangs, Listing::Kind::kQueues, Listing::Kind::kNodes};
constexpr size_t kHead = 2;  // lines above a table

bool Waits(const Json& gang) { return DigString(gang, "state").starts_with("waiting"); }

// "7 gangs: 2 waiting-for-nodes, 5 whole"
std::string CountsText(const Json& list) {
  std::map<std::string, int> states;
  const Json& gangs = Child(list, "gangs");
  for (const Json& gang : gangs) ++states[Shown(DigString(gang, "state"))];
  std::vector<std::string> counts;
  for (const auto& [state, count] : states) counts.push_back(fmt::format("{} {}", count, state));
  return fmt::format("{} gangs{}{}", gangs.size(), counts.empty() ? "" : ": ", fmt::join(counts, ", "));
}

class View {
 public:
  View(DoorClient& door, const std::string& ns, const base::Clock& clock) : door_(door), ns_(ns), clock_(clock) {}

  // Asks for what is shown. What cannot be had is a sentence in its place.
  base::Status Renew() {
    const auto gangs = Ask(Listing::Kind::kGangs);
    if (!gangs) return tl::make_unexpected(gangs.error());
    summary_ = CountsText(*gangs);
    problem_.clear();
    if (kind() == Listing::Kind::kGangs) {
      Take(*gangs);
    } else if (const auto list = Ask(kind())) {
      Take(*list);
    } else {
      lines_.clear();
      problem_ = list.error().message;
    }
    return {};
  }

  void Say(const std::string& problem) { problem_ = problem; }

  void Press(Terminal::Key key, size_t rows) {
    const size_t page = Page(rows), most = lines_.size() > 1 ? lines_.size() - 1 : 1;
    switch (key) {
      case Terminal::Key::kLeft: Turn(std::size(kKinds) - 1); break;
      case Terminal::Key::kRight: Turn(1); break;
      case Terminal::Key::kUp: first_ -= std::min<size_t>(first_, 1); break;
      case Terminal::Key::kDown: ++first_; break;
      case Terminal::Key::kPageUp: first_ -= std::min(first_, page); break;
      case Terminal::Key::kPageDown: first_ += page; break;
      case Terminal::Key::kHome: first_ = 0; break;
      case Terminal::Key::kNone:
      case Terminal::Key::kQuit: break;
    }
    first_ = std::min(first_, most > page ? most - page : 0);
  }

  std::vector<std::string> Lines(size_t rows) const {
    std::vector<std::string> lines = {summary_};
    std::string tabs;
    for (const Listing::Kind it : kKinds)
      tabs += it == kind() ? fmt::format("[{}s] ", WordOf(it)) : fmt::format(" {}s  ", WordOf(it));
    lines.push_back(tabs + "  arrows: other list, scroll; q: end");
    if (!problem_.empty()) lines.push_back(Shown(problem_));
    if (lines_.empty()) return lines;
    lines.push_back(lines_[0]);
    for (size_t i = 1 + first_; i < lines_.size() && lines.size() < rows; ++i) lines.push_back(lines_[i]);
    return lines;
  }

  // All that there is, once.
  base::Result<std::string> Whole() {
    std::string text;
    for (size_t i = 0; i < std::size(kKinds); ++i, Turn(1)) {
      if (const base::Status renewed = Renew(); !renewed) return tl::make_unexpected(renewed.error());
      if (i == 0) text = summary_ + "\n";
      text += fmt::format("\n{}s\n{}\n", WordOf(kind()),
                          problem_.empty() ? fmt::format("{}", fmt::join(lines_, "\n")) : Shown(problem_));
    }
    return text;
  }

 private:
  Listing::Kind kind() const { return kKinds[shown_]; }
  static size_t Page(size_t rows) { return rows > kHead + 2 ? rows - kHead - 1 : 1; }

  void Turn(size_t by) {
    shown_ = (shown_ + by) % std::size(kKinds);
    first_ = 0;
    lines_.clear();
  }

  Listing ListingOf(Listing::Kind of) const {
    Listing listing;
    listing.kind = of;
    listing.ns = ns_;
    listing.columns.namespaces = ns_.empty();
    return listing;
  }

  base::Result<Json> Ask(Listing::Kind of) {
    const auto answer = door_.Get(PathOf(ListingOf(of)));
    if (!answer) return tl::make_unexpected(answer.error());
    return cluster::ParseJson(*answer);
  }

  // Gangs that wait come first.
  void Take(Json list) {
    if (kind() == Listing::Kind::kGangs && Child(list, "gangs").is_array())
      std::stable_partition(list["gangs"].begin(), list["gangs"].end(), Waits);
    std::vector<size_t> widths;
    const std::string text =
        Table::Lines(TableOf(ListingOf(kind()), list, clock_.WallMs()).rows(), Table::kGetGap, &widths);
    lines_.clear();
    for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
      lines_.push_back(text.substr(at, end - at));
  }

  DoorClient& door_;
  const std::string ns_;
  const base::Clock& clock_;
  size_t shown_ = 0;   // of the kinds
  size_t first_ = 0;   // rows that are scrolled away
  std::string summary_, problem_;
  std::vector<std::string> lines_;  // of the table; its header is the first
};

}  // namespace

base::Status Top(DoorClient& door, const std::string& ns, const base::Clock& clock) {
  View view(door, ns, clock);
  if (!Terminal::IsThere()) {
    const auto text = view.Whole();
    return text ? Print(*text) : tl::make_unexpected(text.error());
  }
  if (const base::Status renewed = view.Renew(); !renewed) return renewed;
  Terminal terminal;
  base::Millis renewed_ms = clock.MonotonicMs();
  for (;;) {
    terminal.Draw(view.Lines(terminal.size().rows));
    const base::Millis age_ms = clock.MonotonicMs() - renewed_ms;
    const Terminal::Key key =
        terminal.Await(std::max(std::chrono::milliseconds(0), kRenewal - std::chrono::milliseconds(age_ms)));
    if (key == Terminal::Key::kQuit) return {};
    view.Press(key, terminal.size().rows);
    const bool turned = key == Terminal::Key::kLeft || key == Terminal::Key::kRight;
    if (!turned && clock.MonotonicMs() - renewed_ms < kRenewal.count()) continue;
    if (const base::Status renewed = view.Renew(); !renewed) view.Say(renewed.error().message);
    renewed_ms = clock.MonotonicMs();
  }
}

}  // namespace tutti::app
