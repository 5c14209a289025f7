// coli settings
#include "base/words.h"
#include "cli/commands.h"
#include "cli/setting_json.h"

#include <iomanip>
#include <iostream>

namespace colibri {
namespace {

OrderedJson rowJson(const SettingInfo& info, const Settings& settings) {
  OrderedJson row{{"name", info.name},
                  {"option", info.flag()},
                  {"type", settingTypeName(info.type)},
                  {"unit", info.unit},
                  {"default", settingValueJson(Settings().value(info.id))}};
  if (info.type == SettingType::kSize || info.type == SettingType::kInteger || info.type == SettingType::kNumber) {
    // 2^62 and 2^63 are limits of the type, not of the setting.
    row["minimum"] = info.least;
    if (info.most < 4e18) row["maximum"] = info.most;
  }
  if (!info.choices.empty()) row["choices"] = splitWords(info.choices, "|");
  row["environment"] = splitWords(info.environment, " ");
  row["scope"] = info.scope == SettingScope::kEngine ? "engine" : "answer";
  row["applies"] = info.applies == SettingApplies::kLoad ? "load" : "turn";
  row["help"] = info.help;
  row["value"] = settingValueJson(settings.value(info.id));
  row["source"] = settingSourceName(settings.source(info.id));
  row["origin"] = settings.origin(info.id);
  return row;
}

OrderedJson tableJson(const Console& console, const Settings& settings) {
  OrderedJson rows = OrderedJson::array();
  for (const SettingInfo& info : settingsTable()) rows.push_back(rowJson(info, settings));
  OrderedJson names = OrderedJson::array();
  for (const RetiredName& name : retiredNames()) {
    names.push_back({{"name", name.name}, {"status", nameStatusName(name.status)}, {"sentence", name.sentence}});
  }
  return {{"file", console.settingsFile.string()}, {"settings", rows}, {"names", names}};
}

void printTable(std::ostream& out, const Console& console, const Settings& settings) {
  for (const SettingInfo& info : settingsTable()) {
    const OrderedJson value = settingValueJson(settings.value(info.id));
    std::string shown = value.is_null()     ? std::string(info.scope == SettingScope::kEngine ? "planned" : "none")
                        : value.is_string() ? value.get<std::string>()
                                            : jsonText(value);
    if (value.is_boolean()) shown = value.get<bool>() ? "on" : "off";
    out << std::left << std::setw(20) << info.flag() << std::setw(16) << shown << std::setw(9)
        << settingSourceName(settings.source(info.id)) << info.help << '\n';
  }
  if (!console.settingsFile.empty()) out << "\nConfiguration file: " << console.settingsFile.string() << '\n';
}

struct Options {
  bool markdown = false;
  GivenSettings given;
};

Status showSettings(Console& console, const Options& options, bool json) {
  if (options.markdown) {
    console.out << settingsMarkdown();
    return Status::ok();
  }
  COLIBRI_ASSIGN_OR_RETURN(const Settings settings,
                           resolveSettings(console, options.given, {SettingScope::kEngine, SettingScope::kAnswer}));
  if (json) {
    printJson(console, tableJson(console, settings));
  } else {
    printTable(console.out, console, settings);
  }
  return Status::ok();
}

}  // namespace

void addSettingsCommand(CLI::App& root, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  Command(root, invocation, "settings", "All settings, their values and where they come from")
      .flag("--markdown", options->markdown, "Print the reference page docs/settings.md")
      .settings(SettingScope::kEngine, options->given)
      .settings(SettingScope::kAnswer, options->given)
      .json()
      .runs([options](Console& console, bool json) { return showSettings(console, *options, json); });
}

}  // namespace colibri
