#include "cli/command.h"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace colibri {
namespace {

std::string helpOf(const SettingInfo& info) {
  std::string text(info.help);
  if (!info.choices.empty()) text.append(" [").append(info.choices).append("]");
  if (!info.defaultText.empty() && info.type != SettingType::kFlag) {
    text.append(" (default ").append(info.defaultText).append(")");
  }
  return text;
}

std::string typeNameOf(const SettingInfo& info) {
  switch (info.type) {
    case SettingType::kSize:
      return "SIZE";
    case SettingType::kInteger:
      return "N";
    case SettingType::kNumber:
      return "X";
    case SettingType::kSwitch:
      return "on|off";
    case SettingType::kList:
      return info.unit == "folders" ? "DIR" : "TEXT";
    case SettingType::kChoice:
      return "WORD";
    case SettingType::kFlag:
    case SettingType::kText:
      break;
  }
  return "TEXT";
}

/// One value at each mention, so that MODEL may follow the last one.
void takeMany(CLI::Option& option) {
  option.type_size(1)->expected(1, 1 << 20)->allow_extra_args(false);
  option.multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace

Command::Command(CLI::App& root, Invocation& invocation, const std::string& name, const std::string& help)
    : m_app(root.add_subcommand(name, help)), m_invocation(&invocation) {}

Command& Command::model(std::string& target) {
  return text("MODEL", target, "Folder with config.json; the bundled demo model when absent");
}

Command& Command::text(const std::string& name, std::string& target, const std::string& help, Need need) {
  CLI::Option* option = m_app->add_option(name, target, help);
  option->type_name("TEXT");
  if (need == Need::kRequired) option->required();
  return *this;
}

Command& Command::choice(const std::string& name, std::string& target, std::vector<std::string> words,
                         const std::string& help, Need need) {
  CLI::Option* option = m_app->add_option(name, target, help);
  option->type_name("WORD")->check(CLI::IsMember(std::move(words)));
  if (need == Need::kRequired) option->required();
  return *this;
}

Command& Command::number(const std::string& name, std::int64_t& target, std::int64_t least, std::int64_t most,
                         const std::string& help) {
  m_app->add_option(name, target, help)->type_name("N")->check(CLI::Range(least, most));
  return *this;
}

Command& Command::flag(const std::string& name, bool& target, const std::string& help) {
  m_app->add_flag(name, target, help);
  return *this;
}

Command& Command::files(const std::string& name, std::vector<std::string>& target, const std::string& help) {
  m_app->add_option(name, target, help)->type_name("FILE")->expected(1, 1 << 20);
  return *this;
}

Command& Command::list(const std::string& name, std::vector<std::string>& target, const std::string& help) {
  takeMany(*m_app->add_option(name, target, help)->type_name("DIR"));
  return *this;
}

Command& Command::exactlyOne(std::initializer_list<const char*> names) {
  CLI::Option_group* group = m_app->add_option_group("Input", "One of these");
  for (const char* name : names) group->add_option(m_app->get_option(name));
  group->require_option(1);
  return *this;
}

Command& Command::settings(SettingScope scope, GivenSettings& given, std::optional<Setting> leftOut) {
  for (const SettingInfo& info : settingsTable()) {
    if (info.scope != scope || leftOut == info.id) continue;
    const Setting id = info.id;
    const char* group = scope == SettingScope::kEngine ? "Engine" : "Answer";
    if (info.type == SettingType::kFlag) {
      m_app
          ->add_flag_callback(
              info.flag(), [&given, id] { given[id] = {"on"}; }, helpOf(info))
          ->group(group);
      continue;
    }
    CLI::Option* option = m_app->add_option_function<std::vector<std::string>>(
        info.flag(), [&given, id](const std::vector<std::string>& values) { given[id] = values; }, helpOf(info));
    option->type_name(typeNameOf(info))->group(group);
    if (info.type == SettingType::kList) {
      takeMany(*option);
    } else {
      option->type_size(1)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::Throw);
    }
  }
  return *this;
}

Command& Command::json() {
  m_app->add_flag("--json", m_invocation->json, "Print machine-readable output");
  return *this;
}

void Command::runs(std::function<Status(Console&, bool)> action) {
  m_app->callback([invocation = m_invocation, action = std::move(action)] {
    invocation->action = [invocation, action](Console& console) { return action(console, invocation->json); };
  });
}

}  // namespace colibri
