// coli bench on the demo model, for moments: what is checked is that the figures are there and hold together. No rate
// is judged here.
#include "cli_harness.h"

#include <gmock/gmock.h>

namespace colibri {
namespace {

using ::testing::HasSubstr;

OrderedJson bench(const Cli& cli, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "bench");
  arguments.insert(arguments.end(), {"--quick", "--json"});
  const CliResult result = cli(arguments);
  EXPECT_EQ(result.code, 0) << result.err;
  return result.code == 0 ? result.json() : OrderedJson();
}

TEST(BenchCommand, IoShowsEachFigureBesideItsCeiling) {
  const Cli cli;
  using Arguments = std::vector<std::string>;
  for (const Arguments& how : {Arguments{"--io"}, Arguments{"--io", "--backend", "threads"}}) {
    const OrderedJson report = bench(cli, how);
    ASSERT_EQ(report.at("io").size(), 3U) << report.dump();
    EXPECT_TRUE(report.at("turn").empty());
    EXPECT_TRUE(report.at("kernels").empty());
    const OrderedJson& experts = report.at("io").at(0);
    EXPECT_EQ(experts.at("name"), "expert_reads");
    EXPECT_EQ(experts.at("path"), demoModel());
    EXPECT_GT(experts.at("bytes_per_s").get<double>(), 0);
    EXPECT_GT(experts.at("read_ceiling_bytes_per_s").get<double>(), 0);
    EXPECT_NEAR(experts.at("ratio").get<double>(),
                experts.at("bytes_per_s").get<double>() / experts.at("read_ceiling_bytes_per_s").get<double>(), 1e-9);
    EXPECT_EQ(experts.at("block_bytes").get<std::uint64_t>() % 4096, 0U);
    const OrderedJson& small = report.at("io").at(1);
    EXPECT_EQ(small.at("name"), "small_reads");
    EXPECT_EQ(small.at("block_bytes"), 4096);
    EXPECT_GT(small.at("iops").get<double>(), 0);
    const OrderedJson& matvec = report.at("io").at(2);
    EXPECT_EQ(matvec.at("name"), "fp4_matvec_beside_reads");
    EXPECT_GT(matvec.at("alone_bytes_per_s").get<double>(), 0);
    EXPECT_GT(matvec.at("read_bytes_per_s").get<double>(), 0);
  }
}

TEST(BenchCommand, IoTakesTheReadSettings) {
  const Cli cli;
  OrderedJson report = bench(cli, {"--io", "--queue-depth", "3", "--direct", "off"});
  EXPECT_EQ(report.at("io").at(0).at("queue_depth"), 3);
  EXPECT_EQ(report.at("io").at(0).at("direct"), false);
  EXPECT_FALSE(report.at("io").at(0).at("reason").get<std::string>().empty());
}

TEST(BenchCommand, MirrorsGetTheirOwnRows) {
  const Scratch scratch;
  std::filesystem::copy(demoModel(), scratch.path("copy"), std::filesystem::copy_options::recursive);
  const OrderedJson report = bench(Cli(), {"--io", "--mirror", scratch.path("copy")});
  ASSERT_EQ(report.at("io").size(), 6U);
  EXPECT_EQ(report.at("io").at(1).at("path"), scratch.path("copy"));
}

TEST(BenchCommand, TurnCountsWhatItReadsAndHoldsTogether) {
  const Cli cli;
  const OrderedJson report = bench(cli, {"--turn", "--max-tokens", "6", "--cache-experts", "3"});
  ASSERT_EQ(report.at("turn").size(), 2U) << report.dump();
  EXPECT_TRUE(report.at("io").empty());
  for (const OrderedJson& turn : report.at("turn")) {
    EXPECT_EQ(turn.at("decoded_tokens"), 5);
    EXPECT_EQ(turn.at("expert_slots"), 3);
    EXPECT_GT(turn.at("misses").get<int>(), 0) << "three slots cannot hold a token's experts";
    EXPECT_GT(turn.at("bytes_read").get<double>(), 0);
    EXPECT_GE(turn.at("bytes_read_over_missed").get<double>(), 1);
    EXPECT_NEAR(turn.at("split_over_wall").get<double>(), 1, 0.05);
    EXPECT_EQ(turn.at("compute_source"), "measured");
    EXPECT_GT(turn.at("compute_s").get<double>(), 0);
    const double limit = std::max(turn.at("compute_s").get<double>(), turn.at("disk_limit_s").get<double>());
    EXPECT_NEAR(turn.at("decode_over_limit").get<double>(), turn.at("decode_s").get<double>() / limit, 1e-9);
  }
  const OrderedJson all = bench(cli, {"--turn", "--max-tokens", "4"});
  EXPECT_EQ(all.at("turn").at(1).at("misses"), 0) << "everything fits, and the turn was made before";
  EXPECT_EQ(all.at("turn").at(1).at("decode_over_limit"), 1);
}

TEST(BenchCommand, EngramShowsEachTableBesideItsCeiling) {
  const std::string model = goldenPath("v41/text/checkpoint");
  const OrderedJson report = bench(Cli(), {model, "--engram"});
  ASSERT_EQ(report.at("engram").size(), 2U) << report.dump();
  EXPECT_TRUE(report.at("io").empty());
  EXPECT_TRUE(report.at("turn").empty());
  for (const OrderedJson& table : report.at("engram")) {
    EXPECT_EQ(table.at("name"), "row_reads");
    EXPECT_EQ(table.at("path"), model);
    EXPECT_EQ(table.at("block_bytes"), 4096);
    EXPECT_GE(table.at("queue_depth").get<int>(), 32);
    EXPECT_GT(table.at("rows_per_s").get<double>(), 0);
    EXPECT_GT(table.at("read_ceiling_iops").get<double>(), 0);
    // All of so small a table stays in the cache.
    EXPECT_GE(table.at("iops").get<double>(), 0);
  }
  EXPECT_EQ(report.at("engram").at(0).at("layer"), 1);
  EXPECT_EQ(report.at("engram").at(1).at("layer"), 4);
  EXPECT_EQ(bench(Cli(), {model, "--engram", "--queue-depth", "40"}).at("engram").at(0).at("queue_depth"), 40);
  EXPECT_THAT(Cli()({"bench", model, "--engram", "--quick"}).out, HasSubstr("table of layer 4"));
}

TEST(BenchCommand, TextNamesTheFigures) {
  const CliResult result = Cli()({"bench", "--quick", "--max-tokens", "3"});
  ASSERT_EQ(result.code, 0) << result.err;
  for (const char* word : {"Expert reads", "4 KiB reads", "fp4 matvec", "cold", "warm", "drive busy"}) {
    EXPECT_THAT(result.out, HasSubstr(word));
  }
}

TEST(BenchCommand, WhatThisVersionLacksIsSaid) {
  const Cli cli;
  expectError(cli({"bench", "--kernels", "--json"}), 2, "unavailable_bench");
  expectError(cli({"bench", "--engram", "--io", "--quick", "--json"}), 2, "no_engram");
  expectError(cli({"bench", "--turn", "--max-tokens", "1", "--json"}), 2, "usage");
  expectError(cli({"bench", "--turn", "--ram", "1M", "--quick", "--json"}), 4, "memory_budget");
}

TEST(BenchCommand, LeavesNoTrace) {
  const Scratch scratch;
  Cli cli;
  cli.environment["COLIBRI_DATA_DIR"] = scratch.path("data");
  (void)bench(cli, {"--max-tokens", "3"});
  EXPECT_FALSE(std::filesystem::exists(scratch.path("data") + "/usage")) << "a benchmark is no use of the model";
}

}  // namespace
}  // namespace colibri
