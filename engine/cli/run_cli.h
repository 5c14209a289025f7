#pragma once
// `coli` as a function.

#include "cli/console.h"

#include <string>
#include <vector>

namespace colibri {

/// Runs one command line (without the program's name) to its end; returns the exit code. Writes only to the console's
/// streams.
int runCli(const std::vector<std::string>& arguments, Console& console);

/// "0.1.0", the number that `colibri --version` shows as well.
[[nodiscard]] const char* versionText();

}  // namespace colibri
