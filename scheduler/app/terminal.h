// SPDX-License-Identifier: Apache-2.0
// Terminal: a program draws on all of the terminal, and reads its keys. What was there before is back when the Terminal
// ends. Ctrl-C is a key; SIGTERM and SIGHUP ask for the end like the key q.
#pragma once

#include <termios.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace tutti::app {

class Terminal {
 public:
  enum class Key { kNone, kQuit, kUp, kDown, kLeft, kRight, kPageUp, kPageDown, kHome };
  struct Size {
    size_t rows = 24, columns = 80;
  };

  // Whether standard input and standard output are terminals.
  static bool IsThere();

  // REQUIRES: IsThere(), and there is no other one.
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  Size size() const;
  // Shows these lines, cut to the size.
  void Draw(const std::vector<std::string>& lines);
  // Returns the next key that has a meaning; kNone: there was none within `patience`, or the size has changed.
  Key Await(std::chrono::milliseconds patience);

 private:
  Key Next();

  termios before_{};
  std::string typed_;  // and not looked at yet
};

// The beginning of `text` of so many columns, one for each character.
std::string CutToColumns(const std::string& text, size_t columns);

}  // namespace tutti::app
