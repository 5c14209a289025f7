#pragma once
// Settings and plans as JSON.

#include "base/json.h"
#include <colibri/engine.h>
#include <colibri/settings.h>

#include <string_view>

namespace colibri {

[[nodiscard]] std::string_view settingTypeName(SettingType type);
/// null where nothing is set.
[[nodiscard]] OrderedJson settingValueJson(const SettingValue& value);
/// {"ram":{"value":…,"source":…},…}: every setting of the scopes.
[[nodiscard]] OrderedJson resolvedSettingsJson(const Settings& settings, std::span<const SettingScope> scopes);

/// The plan of a loaded or planned engine: ram, vram, disks, prefill, prediction, advice, settings. Ranges are null
/// where nothing can be said.
[[nodiscard]] OrderedJson planJson(const EnginePlan& plan, const EngineOptions& options, const Settings& settings);

}  // namespace colibri
