#pragma once
// What a command sees of the world: streams, environment, interrupts. Tests make their own.

#include "base/json.h"
#include "cli/interrupts.h"
#include <colibri/settings.h>
#include <colibri/status.h>

#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <string>

namespace colibri {

struct Console {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  Environment environment;
  std::filesystem::path settingsFile;
  bool inIsTerminal = false;
  bool outIsTerminal = false;
  bool errIsTerminal = false;
  Interrupts interrupts;
};

/// One line of JSON on standard output, handed on at once. Invalid UTF-8 in texts becomes U+FFFD.
void printJson(Console& console, const OrderedJson& json);
/// The same text without printing.
[[nodiscard]] std::string jsonText(const OrderedJson& json, int indent = -1);

/// A file named on the command line, or standard input for "-". kIo when it cannot be read.
Result<std::string> readInput(Console& console, const std::filesystem::path& path, std::size_t maxBytes);
/// The same as JSON. kUsage when it is not valid.
Result<Json> readJsonInput(Console& console, const std::filesystem::path& path, std::size_t maxBytes);

/// {"error":{…}} of a Status. Its detail becomes an object: "key=value" words where it has that form.
[[nodiscard]] OrderedJson errorJson(const Status& status);

}  // namespace colibri
