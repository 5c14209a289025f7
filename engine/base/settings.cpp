// Reading values and resolving the layers.
#include "base/json.h"
#include "base/units.h"
#include "base/words.h"
#include <colibri/settings.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace colibri {
namespace {

/// "--ctx takes a whole number from 1 to 4096, not 'x'."
Status illegal(const SettingInfo& info, std::string_view name, std::string_view text, std::string_view expected) {
  std::string message(name);
  message.append(" takes ").append(expected).append(", not '").append(text).append("'");
  if (!info.refusal.empty()) message.append(": ").append(info.refusal);
  message += '.';
  return Status(info.refusal.empty() ? Code::kUsage : Code::kUnavailable,
                info.refusal.empty() ? "bad_value" : "unavailable_value", std::move(message));
}

std::string plain(double number) {
  if (number == std::floor(number) && std::abs(number) < 1e18) return std::to_string(static_cast<std::int64_t>(number));
  std::string text(32, '\0');
  text.resize(
      static_cast<std::size_t>(std::to_chars(text.data(), text.data() + text.size(), number).ptr - text.data()));
  return text;
}

std::string rangeOf(const SettingInfo& info, std::string_view kind) {
  std::string text(kind);
  return text.append(" from ")
      .append(plain(info.least))
      .append(" to ")
      .append(info.most >= 9.2e18 ? "9223372036854775807" : plain(info.most));
}

std::optional<std::int64_t> wholeNumber(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool inRange(const SettingInfo& info, double number) {
  return number >= info.least && number <= info.most;
}

std::string choicesInWords(std::string_view choices) {
  std::string text;
  const std::vector<std::string> words = splitWords(choices, "|");
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

Result<SettingValue> parseOne(const SettingInfo& info, const std::string& text, std::string_view name) {
  switch (info.type) {
    case SettingType::kSize: {
      const auto size = parseSize(text, std::uint64_t{1} << 30);
      if (!size || !inRange(info, static_cast<double>(*size))) {
        return illegal(info, name, text, "a size of at least 1M, like 512M, 8G or 1.5GiB");
      }
      return SettingValue(static_cast<std::int64_t>(*size));
    }
    case SettingType::kInteger: {
      const auto number = wholeNumber(text);
      if (!number || !inRange(info, static_cast<double>(*number))) {
        return illegal(info, name, text, rangeOf(info, "a whole number"));
      }
      return SettingValue(*number);
    }
    case SettingType::kNumber: {
      double number = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number) ||
          !inRange(info, number)) {
        return illegal(info, name, text, rangeOf(info, "a number"));
      }
      return SettingValue(number);
    }
    case SettingType::kChoice:
      if (hasWord(info.choices, '|', text)) return SettingValue(text);
      return illegal(info, name, text, choicesInWords(info.choices));
    case SettingType::kSwitch:
    case SettingType::kFlag:
      if (text == "on" || text == "1" || text == "true") return SettingValue(true);
      if (text == "off" || text == "0" || text == "false") return SettingValue(false);
      return illegal(info, name, text, "on or off");
    case SettingType::kText: {
      if (info.choices.empty() || hasWord(info.choices, '|', text)) return SettingValue(text);
      const auto number = wholeNumber(text);
      if (number && inRange(info, static_cast<double>(*number))) return SettingValue(text);
      return illegal(info, name, text, choicesInWords(info.choices) + " or " + rangeOf(info, "a whole number"));
    }
    case SettingType::kList:
      break;
  }
  return illegal(info, name, text, "a list");
}

/// The texts that an environment variable stands for. Old switches say 0 where a choice says off.
std::vector<std::string> fromEnvironment(const SettingInfo& info, const std::string& name, const std::string& value) {
  if (info.type == SettingType::kList) return splitWords(value, ";,");
  // OpenMP allows one number a nesting level; the first is the outermost.
  if (name == "OMP_NUM_THREADS") return {value.substr(0, value.find(','))};
  // Its name asks for one of the two rules.
  if (name == "V41_INDEX_OWNER") return {value == "0" ? "vendor" : value == "1" ? "owner" : value};
  if (info.type == SettingType::kChoice && value == "0") return {"off"};
  return {value};
}

Result<std::vector<std::string>> fromJson(const SettingInfo& info, const Json& json) {
  const auto scalar = [](const Json& value) -> std::optional<std::string> {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_boolean()) return value.get<bool>() ? "on" : "off";
    if (value.is_number()) return value.dump();
    return std::nullopt;
  };
  std::vector<std::string> texts;
  const bool isArray = json.is_array() && info.type == SettingType::kList;
  for (const Json& value : isArray ? json : Json::array({json})) {
    const auto text = scalar(value);
    if (!text) return illegal(info, info.name, value.dump(), "a text, a number, true or false");
    texts.push_back(*text);
  }
  return texts;
}

bool inScope(const SettingInfo& info, std::span<const SettingScope> scopes) {
  for (const SettingScope scope : scopes) {
    if (info.scope == scope) return true;
  }
  return false;
}

Result<Json> readSettingsFile(const std::filesystem::path& file) {
  std::error_code error;
  if (file.empty() || !std::filesystem::exists(file, error)) return Json(Json::object());
  const std::string shown = file.string();
  Result<std::string> text = readFile(file, std::size_t{1} << 20);
  if (!text) return Status(Code::kUsage, "bad_settings_file", text.status().message());
  Result<Json> json = parseJson(*text, shown, "bad_settings_file", {std::size_t{1} << 20, 16});
  if (!json) return Status(Code::kUsage, "bad_settings_file", json.status().message());
  if (!json->is_object()) {
    std::string message = shown;
    return Status(Code::kUsage, "bad_settings_file",
                  message.append(" must hold one JSON object of settings, for example {\"ctx\": 8192}."));
  }
  return json;
}

Status checkEnvironmentNames(const Environment& environment) {
  for (const RetiredName& row : retiredNames()) {
    if (row.status == NameStatus::kBuild || row.name.substr(0, 2) == "--") continue;
    const std::string name(row.name);
    const auto value = environment(name);
    if (!value || value->empty() || hasWord(row.neutral, ' ', *value)) continue;
    std::string message = "The environment sets " + name + "=" + *value + ". ";
    message.append(row.sentence).append(" Unset it to go on.");
    return Status(Code::kUnavailable, "unavailable_name", std::move(message));
  }
  return Status::ok();
}

}  // namespace

Result<SettingValue> parseSetting(Setting setting, std::span<const std::string> texts, std::string_view name) {
  const SettingInfo& info = settingInfo(setting);
  if (info.type == SettingType::kList) {
    for (const std::string& text : texts) {
      if (text.empty()) return illegal(info, name, text, "texts that are not empty");
    }
    return SettingValue(std::vector<std::string>(texts.begin(), texts.end()));
  }
  if (texts.size() != 1) return illegal(info, name, std::to_string(texts.size()) + " values", "one value");
  return parseOne(info, texts[0], name);
}

Environment processEnvironment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

std::filesystem::path settingsFile(const Environment& environment) {
  if (!environment) return {};
  if (const auto folder = environment("XDG_CONFIG_HOME"); folder && !folder->empty()) {
    return std::filesystem::path(*folder) / "colibri" / "settings.json";
  }
  if (const auto home = environment("HOME"); home && !home->empty()) {
    return std::filesystem::path(*home) / ".config" / "colibri" / "settings.json";
  }
  return {};
}

std::filesystem::path dataFolder(const Environment& environment) {
  if (!environment) return {};
  if (const auto folder = environment("COLIBRI_DATA_DIR"); folder && !folder->empty()) return *folder;
  if (const auto folder = environment("XDG_DATA_HOME"); folder && !folder->empty()) {
    return std::filesystem::path(*folder) / "colibri";
  }
  if (const auto home = environment("HOME"); home && !home->empty()) {
    return std::filesystem::path(*home) / ".local" / "share" / "colibri";
  }
  return {};
}

Settings::Settings() {
  for (const SettingInfo& info : settingsTable()) {
    Entry entry;
    if (!info.defaultText.empty()) {
      const std::string text(info.defaultText);
      Result<SettingValue> value = parseSetting(info.id, std::span(&text, 1), info.name);
      if (value) entry.value = std::move(*value);
    } else if (info.type == SettingType::kList) {
      entry.value = std::vector<std::string>();
    }
    m_entries.push_back(std::move(entry));
  }
}

Result<Settings> Settings::load(const SettingLayers& layers, std::span<const SettingScope> scopes) {
  Settings settings;
  COLIBRI_ASSIGN_OR_RETURN(const Json file, readSettingsFile(layers.file));
  for (const auto& [key, value] : file.items()) {
    const SettingInfo* info = findSetting(key);
    if (info == nullptr) {
      // One key is left to the desktop app's own choices (theme, language, folders).
      if (key == "app") continue;
      std::string message = layers.file.string();
      message.append(" sets '").append(key).append("', which is no setting; coli settings lists them all.");
      return Status(Code::kUsage, "unknown_setting", std::move(message));
    }
    if (!inScope(*info, scopes)) continue;
    COLIBRI_ASSIGN_OR_RETURN(const std::vector<std::string> texts, fromJson(*info, value));
    const std::string name = layers.file.string() + ": " + key;
    COLIBRI_ASSIGN_OR_RETURN(SettingValue parsed, parseSetting(info->id, texts, name));
    settings.assign(info->id, std::move(parsed), SettingSource::kFile, layers.file.string());
  }
  if (layers.environment && inScope(settingInfo(Setting::kRam), scopes)) {
    COLIBRI_RETURN_IF_ERROR(checkEnvironmentNames(layers.environment));
  }
  for (const SettingInfo& info : settingsTable()) {
    if (!inScope(info, scopes)) continue;
    if (const auto given = layers.commandLine.find(info.id); given != layers.commandLine.end()) {
      const std::string flag = info.flag();
      COLIBRI_ASSIGN_OR_RETURN(SettingValue parsed, parseSetting(info.id, given->second, flag));
      settings.assign(info.id, std::move(parsed), SettingSource::kCommandLine, flag);
      continue;
    }
    if (!layers.environment) continue;
    for (const std::string& name : splitWords(info.environment, " ")) {
      const auto value = layers.environment(name);
      if (!value || value->empty()) continue;
      COLIBRI_ASSIGN_OR_RETURN(SettingValue parsed, parseSetting(info.id, fromEnvironment(info, name, *value), name));
      settings.assign(info.id, std::move(parsed), SettingSource::kEnvironment, name);
      break;
    }
  }
  // The two words for one thing exclude each other within a layer; a stronger layer overrules the other word.
  if (settings.isGiven(Setting::kCap) && settings.isGiven(Setting::kCacheExperts)) {
    if (settings.source(Setting::kCap) == settings.source(Setting::kCacheExperts)) {
      return Status(Code::kUsage, "cap_and_cache_experts",
                    "--cap and --cache-experts say the same thing in two ways; give only one of them.");
    }
    const bool capWins = settings.source(Setting::kCap) > settings.source(Setting::kCacheExperts);
    settings.assign(capWins ? Setting::kCacheExperts : Setting::kCap, std::monostate(), SettingSource::kDefault);
  }
  return settings;
}

const SettingValue& Settings::value(Setting setting) const {
  return m_entries[static_cast<std::size_t>(setting)].value;
}

SettingSource Settings::source(Setting setting) const {
  return m_entries[static_cast<std::size_t>(setting)].source;
}

const std::string& Settings::origin(Setting setting) const {
  return m_entries[static_cast<std::size_t>(setting)].origin;
}

bool Settings::isGiven(Setting setting) const {
  const SettingSource from = source(setting);
  return from != SettingSource::kDefault && from != SettingSource::kPlan;
}

void Settings::assign(Setting setting, SettingValue value, SettingSource source, std::string origin) {
  m_entries[static_cast<std::size_t>(setting)] = {std::move(value), source, std::move(origin)};
}

std::optional<std::int64_t> Settings::integer(Setting setting) const {
  const auto* number = std::get_if<std::int64_t>(&value(setting));
  return number == nullptr ? std::nullopt : std::optional<std::int64_t>(*number);
}

double Settings::number(Setting setting) const {
  const auto* number = std::get_if<double>(&value(setting));
  return number == nullptr ? 0 : *number;
}

bool Settings::isOn(Setting setting) const {
  const auto* on = std::get_if<bool>(&value(setting));
  return on != nullptr && *on;
}

std::string Settings::text(Setting setting) const {
  const auto* text = std::get_if<std::string>(&value(setting));
  return text == nullptr ? std::string() : *text;
}

std::vector<std::string> Settings::list(Setting setting) const {
  const auto* list = std::get_if<std::vector<std::string>>(&value(setting));
  return list == nullptr ? std::vector<std::string>() : *list;
}

}  // namespace colibri
