// coli usage: shows and forgets what is recorded.
#include "cli_harness.h"
#include "store/usage_history.h"

#include <gmock/gmock.h>

namespace colibri {
namespace {

using ::testing::HasSubstr;

class UsageCommand : public ::testing::Test {
protected:
  void SetUp() override { m_cli.environment["COLIBRI_DATA_DIR"] = m_scratch.path("data"); }

  /// Records something for the demo model, as a turn would.
  void record() {
    const OrderedJson empty = m_cli({"usage", "--json"}).json();
    UsageHistory history(empty.at("experts").get<std::size_t>());
    for (int round = 0; round < 10; ++round) {
      for (std::size_t expert = 0; expert < 5; ++expert) history.used(expert, true);
    }
    history.used(7, false);
    ASSERT_TRUE(history.save(m_scratch.path("data"), empty.at("model_id").get<std::string>()).isOk());
  }

  Scratch m_scratch;
  Cli m_cli;
};

TEST_F(UsageCommand, ShowsWhatIsRecorded) {
  OrderedJson usage = m_cli({"usage", "--json"}).json();
  EXPECT_EQ(usage.at("accesses"), 0);
  EXPECT_EQ(usage.at("file_bytes"), 0);
  EXPECT_TRUE(usage.at("hit_rates").empty());
  EXPECT_EQ(usage.at("model_id"), m_cli({"info", "--json"}).json().at("model_id"));

  record();
  const CliResult shown = m_cli({"usage", demoModel(), "--json"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  usage = shown.json();
  EXPECT_EQ(usage.at("accesses"), 51);
  EXPECT_EQ(usage.at("decode_accesses"), 50);
  EXPECT_EQ(usage.at("experts_seen"), 6);
  EXPECT_NEAR(usage.at("hit_rates").back().at("hit_rate").get<double>(), 0.9, 0.01);
  EXPECT_EQ(usage.at("hit_rates").back().at("slots"), usage.at("experts"));
  EXPECT_NEAR(usage.at("first_touch_rate").get<double>(), 0.1, 0.01);
  EXPECT_EQ(usage.at("file_bytes"), std::filesystem::file_size(usage.at("file").get<std::string>()));
  const std::string text = m_cli({"usage"}).out;
  EXPECT_THAT(text, HasSubstr("50 of them by generated tokens"));
  EXPECT_THAT(text, HasSubstr("would have held"));
}

TEST_F(UsageCommand, ForgetsAModelOrAll) {
  record();
  expectError(m_cli({"usage", "--forget", "--json"}), 2, "usage");
  expectError(m_cli({"usage", "--all", "--json"}), 2, "usage");
  expectError(m_cli({"usage", demoModel(), "--all", "--forget", "--json"}), 2, "usage");
  EXPECT_EQ(m_cli({"usage", "--json"}).json().at("accesses"), 51) << "nothing of that deleted anything";
  EXPECT_EQ(m_cli({"usage", demoModel(), "--forget"}).code, 0);
  EXPECT_EQ(m_cli({"usage", "--json"}).json().at("accesses"), 0);
  record();
  EXPECT_EQ(m_cli({"usage", "--forget", "--all", "--json"}).json().at("forgotten"), "all");
  EXPECT_EQ(m_cli({"usage", "--json"}).json().at("accesses"), 0);
  EXPECT_EQ(m_cli({"usage", "--forget", "--all"}).code, 0) << "nothing left to forget is fine";
}

TEST_F(UsageCommand, DamageAndMissingFoldersAreSentences) {
  record();
  const OrderedJson usage = m_cli({"usage", "--json"}).json();
  std::ofstream(usage.at("file").get<std::string>(), std::ios::app) << "x";
  const CliResult damaged = m_cli({"usage", "--json"});
  EXPECT_EQ(damaged.code, 0);
  EXPECT_EQ(damaged.json().at("accesses"), 0);
  EXPECT_THAT(damaged.err, HasSubstr("starts anew"));
  m_cli.environment.erase("COLIBRI_DATA_DIR");
  expectError(m_cli({"usage", "--json"}), 2, "no_data_folder");
  m_cli.environment["COLIBRI_DATA_DIR"] = m_scratch.path("data");
  expectError(m_cli({"usage", m_scratch.path("nowhere"), "--json"}), 3,
              m_cli({"info", m_scratch.path("nowhere"), "--json"}).json()["error"]["code"]);
}

}  // namespace
}  // namespace colibri
