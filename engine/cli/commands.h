#pragma once
// The commands of `coli`. Each add…() declares its options on the root; when its command was named, it leaves the
// action to run.

#include "cli/command.h"
#include <colibri/settings.h>
#include <colibri/status.h>

#include <memory>
#include <string>
#include <vector>

namespace colibri {

/// Resolves the layers of settings for a command.
Result<Settings> resolveSettings(const Console& console, const GivenSettings& given,
                                 std::vector<SettingScope> scopes = {SettingScope::kEngine});
/// The folder named, or the bundled demo model.
Result<std::filesystem::path> resolveModel(const Console& console, const std::string& model);

/// An outcome that is said already: exit 1 and no message.
[[nodiscard]] inline Status quietFindings() {
  return Status(Code::kFindings, "findings", "");
}
[[nodiscard]] inline Status quietCancelled() {
  return Status(Code::kCancelled, "cancelled", "");
}

void addRun(CLI::App& root, Invocation& invocation);
void addChat(CLI::App& root, Invocation& invocation);
void addInfo(CLI::App& root, Invocation& invocation);
void addVerify(CLI::App& root, Invocation& invocation);
void addTokenize(CLI::App& root, Invocation& invocation);
void addDetokenize(CLI::App& root, Invocation& invocation);
void addRender(CLI::App& root, Invocation& invocation);
void addParse(CLI::App& root, Invocation& invocation);
void addLogits(CLI::App& root, Invocation& invocation);
void addOracle(CLI::App& root, Invocation& invocation);
void addSettingsCommand(CLI::App& root, Invocation& invocation);
void addSynth(CLI::App& root, Invocation& invocation);
void addDoctor(CLI::App& root, Invocation& invocation);
void addPlan(CLI::App& root, Invocation& invocation);
void addUsage(CLI::App& root, Invocation& invocation);
void addEngram(CLI::App& root, Invocation& invocation);
void addVision(CLI::App& root, Invocation& invocation);
void addBench(CLI::App& root, Invocation& invocation);
void addMirror(CLI::App& root, Invocation& invocation);

}  // namespace colibri
