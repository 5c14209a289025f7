// The rows of the table and the names that are not in it.
#include <colibri/settings.h>

#include <algorithm>
#include <array>

namespace colibri {
namespace {

using enum SettingType;
using enum SettingScope;
using enum SettingApplies;
using enum NameStatus;

constexpr std::array kRows{
#define COLIBRI_SETTING(id, name, type, unit, defaultText, least, most, choices, environment, scope, applies, help, \
                        refusal)                                                                                    \
  SettingInfo{Setting::k##id, name,        type,  unit,    defaultText, least,  most,                               \
              choices,        environment, scope, applies, help,        refusal},
#include "base/settings.def"
#undef COLIBRI_SETTING
};

constexpr bool rowsFollowEnum() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].id) != i) return false;
  }
  return kRows.size() == static_cast<std::size_t>(Setting::kCount);
}
static_assert(rowsFollowEnum(), "enum Setting lists the rows of settings.def in their order");

constexpr std::array kNames{
#define COLIBRI_NAME(name, status, neutral, sentence) RetiredName{name, status, neutral, sentence},
#include "base/settings_names.def"
#undef COLIBRI_NAME
};

}  // namespace

std::string SettingInfo::flag() const {
  std::string text = "--";
  text.append(name);
  std::replace(text.begin() + 2, text.end(), '_', '-');
  return text;
}

std::span<const SettingInfo> settingsTable() {
  return kRows;
}

const SettingInfo& settingInfo(Setting setting) {
  return kRows[static_cast<std::size_t>(setting)];
}

const SettingInfo* findSetting(std::string_view name) {
  const auto found = std::find_if(kRows.begin(), kRows.end(), [&](const SettingInfo& row) { return row.name == name; });
  return found == kRows.end() ? nullptr : &*found;
}

std::span<const RetiredName> retiredNames() {
  return kNames;
}

const RetiredName* findRetiredName(std::string_view name) {
  const auto found =
      std::find_if(kNames.begin(), kNames.end(), [&](const RetiredName& row) { return row.name == name; });
  return found == kNames.end() ? nullptr : &*found;
}

std::string_view settingSourceName(SettingSource source) {
  switch (source) {
    case SettingSource::kDefault:
      return "default";
    case SettingSource::kPlan:
      return "plan";
    case SettingSource::kFile:
      return "file";
    case SettingSource::kEnvironment:
      return "env";
    case SettingSource::kCommandLine:
      return "cli";
  }
  return "default";
}

std::string_view nameStatusName(NameStatus status) {
  switch (status) {
    case kReplaced:
      return "replaced";
    case kNotNeeded:
      return "not needed";
    case kLater:
      return "later";
    case kBuild:
      return "build";
  }
  return "later";
}

}  // namespace colibri
