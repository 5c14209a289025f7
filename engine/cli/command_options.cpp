// What several commands resolve alike.
#include "cli/commands.h"
#include <colibri/demo_model.h>

namespace colibri {
Result<Settings> resolveSettings(const Console& console, const GivenSettings& given, std::vector<SettingScope> scopes) {
  return Settings::load({given, console.environment, console.settingsFile}, scopes);
}

Result<std::filesystem::path> resolveModel(const Console& console, const std::string& model) {
  if (model.empty()) return findDemoModel(console.environment);
  return std::filesystem::path(model);
}

}  // namespace colibri
