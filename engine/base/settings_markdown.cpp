// docs/settings.md from the table.
#include "base/words.h"
#include <colibri/settings.h>

#include <array>
#include <utility>

namespace colibri {
namespace {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '|') result += '\\';
    result += c;
  }
  return result;
}

std::string code(std::string_view text) {
  std::string result("`");
  return result.append(text).append("`");
}

std::string valuesOf(const SettingInfo& info) {
  switch (info.type) {
    case SettingType::kSize:
      return "size";
    case SettingType::kInteger:
      return info.unit.empty() ? "number" : std::string(info.unit);
    case SettingType::kNumber:
      return "number";
    case SettingType::kSwitch:
      return "`on\\|off`";
    case SettingType::kFlag:
      return "no value";
    case SettingType::kList:
      return std::string(info.unit).append(", repeat");
    case SettingType::kChoice:
    case SettingType::kText:
      break;
  }
  if (info.choices.empty()) return "text";
  std::string text = "`";
  text.append(escaped(info.choices));
  if (info.type == SettingType::kText) text += "\\|N";
  return text + "`";
}

std::string defaultOf(const SettingInfo& info) {
  if (!info.defaultText.empty()) return code(info.defaultText);
  return info.scope == SettingScope::kEngine && info.type != SettingType::kList ? "planned" : "none";
}

void appendRows(std::string& page, SettingScope scope) {
  page += "| option | values | default | environment | key in the file | meaning |\n|---|---|---|---|---|---|\n";
  for (const SettingInfo& info : settingsTable()) {
    if (info.scope != scope) continue;
    std::string names;
    for (const std::string& name : splitWords(info.environment, " ")) {
      if (!names.empty()) names += ", ";
      names += code(name);
    }
    page += "| " + code(info.flag()) + " | " + valuesOf(info) + " | " + defaultOf(info) + " | " + names + " | `";
    page.append(info.name).append("` | ").append(escaped(info.help)).append(" |\n");
  }
  page += '\n';
}

}  // namespace

std::string settingsMarkdown() {
  std::string page =
      "# Settings\n\n"
      "This page is written by `coli settings --markdown` from the table in `engine/base/settings.def`; change that, "
      "not\n"
      "this. A value on the command line wins over the environment, which wins over the configuration file\n"
      "(`colibri/settings.json` in `$XDG_CONFIG_HOME`, else in `~/.config`), which wins over the default or the plan.\n"
      "`coli settings` shows every value in force and where it came from.\n\n"
      "Sizes are written like `512M`, `8G` or `1.5GiB`; K, M, G and T are binary. A value that cannot take effect is "
      "an\n"
      "error with its reason, never ignored.\n\n"
      "The file holds one JSON object, for example `{\"ram\": \"24G\", \"ctx\": 8192, \"temperature\": 0.7}`.\n\n"
      "## Engine\n\nFor every command that loads weights; they take effect when a model is loaded.\n\n";
  appendRows(page, SettingScope::kEngine);
  page += "## Answers\n\nFor `run` and `chat`; they take effect with the next answer.\n\n";
  appendRows(page, SettingScope::kAnswer);
  page +=
      "## Names from elsewhere\n\n"
      "Names that other engines or earlier documents use for these models. Those in the tables above work as they "
      "are.\n"
      "For each of the rest this says what to do; when such a variable asks for something that cannot happen, the\n"
      "command ends with this sentence (exit code 2). Build variables are not read.\n\n"
      "| name | | what to do |\n|---|---|---|\n";
  for (const SettingInfo& info : settingsTable()) {
    for (const std::string& name : splitWords(info.environment, " ")) {
      page += "| " + code(name) + " | alias | Sets " + code(info.flag()) + ". |\n";
    }
  }
  for (const RetiredName& row : retiredNames()) {
    page += "| `";
    page.append(row.name).append("` | ").append(nameStatusName(row.status)).append(" | ").append(escaped(row.sentence));
    page += " |\n";
  }
  return page;
}

}  // namespace colibri
