// SPDX-License-Identifier: Apache-2.0
#include "app/terminal.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <string_view>
#include <utility>

#include "app/output.h"
#include "base/text.h"

namespace tutti::app {
namespace {

constexpr const char* kEnter = "\x1b[?1049h\x1b[?25l";  // the other screen, without a cursor
constexpr const char* kLeave = "\x1b[?25h\x1b[?1049l";

volatile std::sig_atomic_t asked_to_end = 0;

constexpr std::pair<std::string_view, Terminal::Key> kKeys[] = {
    {"\x1b[A", Terminal::Key::kUp},       {"\x1bOA", Terminal::Key::kUp},        {"\x1b[B", Terminal::Key::kDown},
    {"\x1bOB", Terminal::Key::kDown},     {"\x1b[C", Terminal::Key::kRight},     {"\x1bOC", Terminal::Key::kRight},
    {"\x1b[D", Terminal::Key::kLeft},     {"\x1bOD", Terminal::Key::kLeft},      {"\x1b[5~", Terminal::Key::kPageUp},
    {"\x1b[6~", Terminal::Key::kPageDown}, {"\x1b[H", Terminal::Key::kHome},     {"\x1bOH", Terminal::Key::kHome},
    {"\t", Terminal::Key::kRight},        {"q", Terminal::Key::kQuit},           {"Q", Terminal::Key::kQuit},
    {"\x03", Terminal::Key::kQuit},
};

}  // namespace

bool Terminal::IsThere() { return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1; }

Terminal::Terminal() {
  for (const int signal : {SIGTERM, SIGHUP}) std::signal(signal, [](int) { asked_to_end = 1; });
  std::signal(SIGWINCH, [](int) {});  // ends the wait for a key
  tcgetattr(STDIN_FILENO, &before_);
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
  tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  (void)Print(kEnter);
}

Terminal::~Terminal() {
  (void)Print(kLeave);
  tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

Terminal::Size Terminal::size() const {
  winsize window{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_row == 0 || window.ws_col == 0) return {};
  return {window.ws_row, window.ws_col};
}

void Terminal::Draw(const std::vector<std::string>& lines) {
  const Size now = size();
  std::string text;
  for (size_t i = 0; i < std::min(lines.size(), now.rows); ++i)
    text += fmt::format("\x1b[{};1H{}\x1b[K", i + 1, CutToColumns(lines[i], now.columns));
  if (!Print(text + "\x1b[J")) asked_to_end = 1;
}

Terminal::Key Terminal::Next() {
  while (!typed_.empty()) {
    for (const auto& [bytes, key] : kKeys)
      if (typed_.starts_with(bytes)) {
        typed_.erase(0, bytes.size());
        return key;
      }
    typed_.erase(0, 1);
  }
  return Key::kNone;
}

Terminal::Key Terminal::Await(std::chrono::milliseconds patience) {
  if (const Key key = Next(); key != Key::kNone) return key;
  if (asked_to_end != 0) return Key::kQuit;
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (poll(&input, 1, static_cast<int>(patience.count())) <= 0) return asked_to_end != 0 ? Key::kQuit : Key::kNone;
  std::array<char, 64> bytes{};
  const ssize_t count = read(STDIN_FILENO, bytes.data(), bytes.size());
  if (count <= 0) return Key::kQuit;  // the terminal is gone
  typed_.append(bytes.data(), static_cast<size_t>(count));
  return Next();
}

std::string CutToColumns(const std::string& text, size_t columns) {
  size_t end = 0;
  for (size_t i = 0; i < columns && end < text.size(); ++i) end += std::max<size_t>(1, base::CharacterAt(text, end));
  return text.substr(0, end);
}

}  // namespace tutti::app
