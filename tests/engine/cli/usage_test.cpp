#include "base/words.h"
#include "cli_harness.h"

#include <gmock/gmock.h>

namespace colibri {
namespace {

using testing::HasSubstr;

TEST(Usage, HelpAndVersionGoToStandardOutput) {
  const Cli coli;
  const CliResult help = coli({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const char* command : {"run", "chat", "info", "verify", "tokenize", "detokenize", "render", "parse", "logits",
                              "oracle", "settings", "synth", "doctor", "mirror"}) {
    EXPECT_THAT(help.out, HasSubstr(command));
    EXPECT_EQ(coli({command, "--help"}).code, 0) << command;
  }
  EXPECT_TRUE(help.err.empty());
  const CliResult version = coli({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_EQ(version.out, std::string("coli ") + versionText() + "\n");
}

TEST(Usage, MistakesAreOneSentenceAndExitTwo) {
  const Cli coli;
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"--json"},
                                             {"dance"},
                                             {"run"},
                                             {"run", "--prompt", "a", "--tokens", "b"},
                                             {"run", "--prompt", "a", "--ctx", "0"},
                                             {"run", "--prompt", "a", "--top-p", "2"},
                                             {"run", "--prompt", "a", "--temperature", "hot"},
                                             {"run", "--prompt", "a", "--repeat", "0"},
                                             {"run", "--prompt", "a", "--ram", "much"},
                                             {"run", "--prompt", "a", "--cap", "1", "--cache-experts", "1"},
                                             {"run", "a", "b", "--prompt", "a"},
                                             {"run", "--prompt", "a", "--unknown"},
                                             {"verify", "--level", "deep"},
                                             {"tokenize"},
                                             {"tokenize", "--text", "a", "--file", "b"},
                                             {"tokenize", "--text", "a", "--lines"},
                                             {"detokenize", "--tokens", "1,x"},
                                             {"detokenize", "--tokens", "99999999999"},
                                             {"logits", "--tokens", "x"},
                                             {"parse", "--completion", "-", "--feed", "0"},
                                             {"render", "--messages", "-", "--dialect", "d"},
                                             {"synth", "--preset", "v9", "--out", "x"},
                                             {"oracle", "m"}}) {
    std::vector<std::string> withJson = arguments;
    if (withJson != std::vector<std::string>{"--json"}) withJson.emplace_back("--json");
    const CliResult result = coli(withJson);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(result.json().at("error").at("message").get<std::string>(), result.err.substr(6, result.err.size() - 7));
    EXPECT_TRUE(coli(arguments).out.empty() || arguments.front() == "--json");
  }
}

TEST(Usage, OptionsOfLaterFeaturesAreAbsentWithAReason) {
  const Cli coli;
  for (const char* option :
       {"--vram", "--gpu", "--checkpoints", "--checkpoint-dir", "--draft-log", "--model", "--ngen"}) {
    const CliResult result = coli({"run", "--prompt", "a", option, "x", "--json"});
    expectError(result, 2, "unavailable_option");
    EXPECT_THAT(result.err, HasSubstr(option));
    EXPECT_THAT(coli({"run", "--help"}).out, testing::Not(HasSubstr(std::string(option) + " ")));
  }
  for (const char* command : {"serve", "pull"}) {
    expectError(coli({command, "--json"}), 2, "unavailable_command");
  }
  expectError(coli({"run", "--prompt", "a", "--drafts", "auto", "--json"}), 2, "unavailable_value");
}

TEST(Usage, EverySettingIsAnOptionOfTheCommandsOfItsScope) {
  const Cli coli;
  const std::string run = coli({"run", "--help"}).out;
  const std::string logits = coli({"logits", "--help"}).out;
  for (const SettingInfo& info : settingsTable()) {
    EXPECT_THAT(run, HasSubstr(info.flag()));
    if (info.scope == SettingScope::kEngine) {
      EXPECT_THAT(logits, HasSubstr(info.flag()));
    } else {
      EXPECT_THAT(logits, testing::Not(HasSubstr(info.flag() + " ")));
    }
  }
}

TEST(SettingsCommand, ShowsTheWholeTableWithValuesAndSources) {
  Cli coli;
  const Scratch scratch;
  coli.environment["CTX"] = "123";
  coli.settingsFile = scratch.write("settings.json", R"({"temperature": 0.25})");
  const OrderedJson json = coli({"settings", "--json", "--ram", "2", "--stop", "x", "--stop", "y"}).json();
  ASSERT_EQ(json.at("settings").size(), settingsTable().size());
  std::map<std::string, OrderedJson> rows;
  for (const OrderedJson& row : json.at("settings")) rows[row.at("name")] = row;
  EXPECT_EQ(rows["ctx"].at("value"), 123);
  EXPECT_EQ(rows["ctx"].at("source"), "env");
  EXPECT_EQ(rows["ctx"].at("default"), 4096);
  EXPECT_EQ(rows["ram"].at("value"), 2LL << 30);
  EXPECT_EQ(rows["ram"].at("source"), "cli");
  EXPECT_EQ(rows["temperature"].at("source"), "file");
  EXPECT_EQ(rows["isa"].at("source"), "default");
  EXPECT_EQ(rows["stop"].at("value"), (OrderedJson{"x", "y"}));
  EXPECT_EQ(json.at("names").size(), retiredNames().size());
  EXPECT_EQ(coli({"settings"}).code, 0);
}

TEST(SettingsCommand, MarkdownIsTheReferencePage) {
  EXPECT_EQ(Cli()({"settings", "--markdown"}).out, settingsMarkdown());
}

TEST(SettingsCommand, RetiredEnvironmentNamesAreExplained) {
  Cli coli;
  coli.environment["DSV4_CUDA"] = "1";
  expectError(coli({"settings", "--json"}), 2, "unavailable_name");
  // Commands without weights do not care.
  EXPECT_EQ(coli({"parse", "--completion", "-", "--json"}).code, 0);
}

}  // namespace
}  // namespace colibri
