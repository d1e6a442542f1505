// SPDX-License-Identifier: Apache-2.0
// The arguments of a command line: as Go's programs take them, and what is said of those that are wrong.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Error;
}  // namespace CLI

namespace tutti::app {

// Returns the arguments from `first` on, with -v=2 as -v2, and --kubeconfig= as an empty value: CLI11 would read "=2"
// from the first, and no value from the second.
std::vector<std::string> GoArguments(int argc, char** argv, int first = 1);

// Turns `help VERB` into `VERB --help`.
void TurnHelpIntoFlag(std::vector<std::string>& arguments);

// Says what is wrong with the verb of these arguments; empty: nothing. CLI11's own message does not name the verb.
std::string UnknownVerb(const CLI::App& main, const std::vector<std::string>& arguments);

// Says why the arguments could not be read, and which flag may have been meant.
std::string ParseFailure(const CLI::App* main, const CLI::Error& error);

}  // namespace tutti::app
