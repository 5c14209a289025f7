#pragma once
// Declaring a command's options, without the option parser's own headers (which are slow to compile).

#include "cli/console.h"
#include <colibri/settings.h>
#include <colibri/status.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}

namespace colibri {

/// What the command line asked for. An action whose Status is kFindings or kCancelled has said all there is to say when
/// its message is empty.
struct Invocation {
  std::function<Status(Console&)> action;
  bool json = false;
};

/// Values of table settings as they stand on the command line.
using GivenSettings = std::map<Setting, std::vector<std::string>>;

enum class Need { kOptional, kRequired };

/// One command being declared. Targets must live as long as the action (a shared options struct). Flags are written
/// "--name", positional arguments "NAME".
class Command {
public:
  Command(CLI::App& root, Invocation& invocation, const std::string& name, const std::string& help);

  /// The optional MODEL folder.
  Command& model(std::string& target);
  Command& text(const std::string& name, std::string& target, const std::string& help, Need need = Need::kOptional);
  Command& choice(const std::string& name, std::string& target, std::vector<std::string> words, const std::string& help,
                  Need need = Need::kOptional);
  Command& number(const std::string& name, std::int64_t& target, std::int64_t least, std::int64_t most,
                  const std::string& help);
  Command& flag(const std::string& name, bool& target, const std::string& help);
  /// Files, one or more at each mention.
  Command& files(const std::string& name, std::vector<std::string>& target, const std::string& help);
  /// One value at each mention.
  Command& list(const std::string& name, std::vector<std::string>& target, const std::string& help);
  /// Exactly one of these options, which were declared before.
  Command& exactlyOne(std::initializer_list<const char*> names);
  /// The options of all settings in `scope`, but for one whose name means something else here.
  Command& settings(SettingScope scope, GivenSettings& given, std::optional<Setting> leftOut = std::nullopt);
  Command& json();
  /// What to do when this command was named; `json` tells whether --json was given.
  void runs(std::function<Status(Console&, bool json)> action);

private:
  CLI::App* m_app;
  Invocation* m_invocation;
};

}  // namespace colibri
