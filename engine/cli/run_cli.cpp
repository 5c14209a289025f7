#include "cli/run_cli.h"

#include "cli/commands.h"
#include <colibri/exit_code.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <iostream>
#include <new>
#include <string_view>

namespace colibri {
namespace {

/// Commands that belong to features which this version does not have.
constexpr std::array<std::string_view, 2> kLaterCommands{"serve", "pull"};

int report(Console& console, const Status& status, bool json) {
  if (!status.isOk() && !status.message().empty()) {
    if (json) printJson(console, errorJson(status));
    console.err << "coli: " << status.message() << std::endl;
  }
  console.out.flush();
  if (!console.out && status.isOk()) {
    console.err << "coli: standard output cannot be written; the output is incomplete." << std::endl;
    return exitCode(Code::kIo);
  }
  return exitCode(status.code());
}

Status usage(std::string message) {
  return Status(Code::kUsage, "usage", std::move(message));
}

/// The sentence for the first argument that names something which exists elsewhere or later; empty when there is none.
std::string retiredSentence(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    const std::string name = argument.substr(0, argument.find('='));
    if (name.compare(0, 2, "--") != 0) continue;
    if (const RetiredName* row = findRetiredName(name)) {
      std::string text = name;
      return text.append(" cannot be used: ").append(row->sentence);
    }
  }
  return {};
}

Status usageStatus(const CLI::App& root, const CLI::ParseError& error, const std::vector<std::string>& arguments) {
  if (std::string retired = retiredSentence(arguments); !retired.empty()) {
    return Status(Code::kUnavailable, "unavailable_option", std::move(retired));
  }
  std::string command = "coli";
  for (const CLI::App* used : root.get_subcommands()) command += " " + used->get_name();
  std::string message = error.what();
  while (!message.empty() && (message.back() == '.' || message.back() == '\n')) message.pop_back();
  std::replace(message.begin(), message.end(), '\n', ' ');
  return usage(message + ". See '" + command + " --help'.");
}

Status checkCommandName(const CLI::App& root, const std::vector<std::string>& arguments) {
  const std::string first = arguments.empty() ? std::string() : arguments.front();
  if (first.empty()) return usage("Name a command, for example 'coli run --prompt Hello'. 'coli --help' lists them.");
  const auto isNamed = [&](const CLI::App* command) { return command->get_name() == first; };
  if (first.front() == '-' || !root.get_subcommands(isNamed).empty()) return Status::ok();
  if (std::find(kLaterCommands.begin(), kLaterCommands.end(), first) != kLaterCommands.end()) {
    return Status(Code::kUnavailable, "unavailable_command", "'coli " + first + "' is not part of this version.");
  }
  return usage("There is no command '" + first + "'. 'coli --help' lists them.");
}

Status perform(const std::function<Status(Console&)>& action, Console& console) {
  // Libraries may throw; no exception leaves a command.
  try {
    return action(console);
  } catch (const std::bad_alloc&) {
    return Status(Code::kMemory, "out_of_memory", "The system has no memory left for this; free some or lower --ram.");
  } catch (const std::exception& error) {
    std::string message = "Colibri met an error that it did not expect: ";
    return Status(Code::kInternal, "internal", message.append(error.what()).append("."));
  }
}

}  // namespace

const char* versionText() {
  return COLIBRI_VERSION;
}

int runCli(const std::vector<std::string>& arguments, Console& console) {
  Invocation invocation;
  CLI::App root("Runs DeepSeek V4 and V4.1 Flash checkpoints that are larger than memory.", "coli");
  root.set_version_flag("--version", std::string("coli ") + versionText(), "Print the version");
  root.require_subcommand(1);
  root.get_formatter()->column_width(34);
  for (const auto add :
       {addRun, addChat, addInfo, addVerify, addTokenize, addDetokenize, addRender, addParse, addLogits, addOracle,
        addSettingsCommand, addSynth, addDoctor, addPlan, addMirror, addUsage, addEngram, addVision, addBench}) {
    add(root, invocation);
  }
  const bool json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
  if (const Status named = checkCommandName(root, arguments); !named.isOk()) return report(console, named, json);
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    root.parse(reversed);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      root.exit(error, console.out, console.err);
      return report(console, Status::ok(), false);
    }
    return report(console, usageStatus(root, error, arguments), json);
  } catch (const std::exception& error) {
    return report(console, usage(std::string(error.what()) + "."), json);
  }
  return report(console, perform(invocation.action, console), invocation.json);
}

}  // namespace colibri
