// Constants and rows of the n-gram hashes: the released ones, the small checkpoints' beyond 2^53, hostile numbers.

#include "model/engram_hash.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

namespace colibri {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

nlohmann::json goldenJson(const std::string& name) {
  std::ifstream in(std::filesystem::path(COLIBRI_GOLDEN_DIR) / "v41" / name, std::ios::binary);
  EXPECT_TRUE(in.good()) << name;
  return nlohmann::json::parse(in);
}

EngramConfig released() {
  EngramConfig config;
  config.layers = {1, 14};
  config.rows = {384006168, 384016682};
  config.maxNgram = 4;
  config.heads = 8;
  config.headDim = 256;
  config.primeStart = 16000000;
  config.padToken = 2;
  config.classes = 99092;
  return config;
}

EngramHash releasedHash() {
  auto hash = EngramHash::make(released(), 2);
  EXPECT_TRUE(hash.isOk()) << hash.status().message();
  return *hash;
}

std::vector<std::int64_t> rowsOf(const EngramHash& hash, int table, std::span<const std::int32_t> classes) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(hash.columns()));
  hash.rows(table, classes, rows.data());
  return rows;
}

TEST(EngramHash, ReleasedConstants) {
  const EngramHash hash = releasedHash();
  ASSERT_EQ(hash.tables.size(), 2U);
  EXPECT_EQ(hash.tables[0].primes.front(), 16000057);
  EXPECT_EQ(hash.tables[1].primes.back(), 16000889);
  EXPECT_EQ(hash.tables[0].offsets[3], 48000217);
  EXPECT_EQ(hash.tables[0].offsets.back(), 368005705);
  EXPECT_EQ(hash.tables[1].offsets.back(), 368015793);
  EXPECT_THAT(hash.tables[0].multipliers,
              ElementsAre(76632096046245U, 4839876093313U, 35959672319349U, 73987337458391U));
  EXPECT_THAT(hash.tables[1].multipliers,
              ElementsAre(67716810739261U, 51510806800915U, 30921347202721U, 82619226485591U));
}

TEST(EngramHash, RowsOfTheSpecificationsSequence) {
  constexpr std::array<std::int32_t, 8> kClasses{0, 5, 17, 99091, kDeadClass, 42, 7, 123};
  constexpr std::array<std::size_t, 7> kColumns{0, 1, 7, 8, 15, 16, 23};
  struct Case {
    std::size_t position;
    int table;
    std::array<std::int64_t, 7> rows;
  };
  const std::vector<Case> cases{
      {0, 0, {5702652, 24393184, 121476532, 131476717, 247482304, 257520185, 380066193}},
      {0, 1, {14361964, 29977809, 120604547, 132225184, 252505246, 261362261, 372375971}},
      {1, 0, {11226917, 28385813, 113884074, 136388899, 254590090, 268359617, 377806529}},
      {1, 1, {7960361, 20358449, 113957370, 136099190, 243115322, 265679316, 380929865}},
      {3, 0, {379248, 18191193, 114357284, 141971515, 245587010, 264890446, 369009118}},
      {3, 1, {4638160, 20030499, 113837035, 128337784, 243983564, 267085132, 382608907}},
      {5, 0, {5873501, 24050256, 118868640, 140595404, 244787595, 271646719, 382017429}},
      {5, 1, {10351927, 26447585, 124020605, 133745174, 243486376, 262965089, 380843614}},
      {7, 0, {9314804, 16612206, 121408812, 137516876, 250463398, 258932062, 375198402}},
      {7, 1, {8484457, 27600383, 119883674, 138717015, 245403635, 265705424, 368637320}},
  };
  const EngramHash hash = releasedHash();
  for (const Case& c : cases) {
    const std::size_t length = std::min<std::size_t>(c.position + 1, 4);
    const auto rows = rowsOf(hash, c.table, std::span(kClasses).subspan(c.position + 1 - length, length));
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      EXPECT_EQ(rows[kColumns[i]], c.rows[i])
          << "position " << c.position << " table " << c.table << " column " << kColumns[i];
    }
  }
}

TEST(EngramHash, GoldenWindows) {
  const nlohmann::json golden = goldenJson("engram_rows.json");
  const EngramHash hash = releasedHash();
  for (std::size_t table = 0; table < 2; ++table) {
    std::vector<std::int64_t> primes;
    for (const auto& size : golden["primes"][table]) {
      for (const auto& prime : size) primes.push_back(prime);
    }
    EXPECT_EQ(hash.tables[table].primes, primes);
    EXPECT_EQ(hash.tables[table].offsets, golden["offsets"][table].get<std::vector<std::int64_t>>());
  }
  std::size_t windows = 0;
  for (const auto& window : golden["windows"]) {
    const auto classes = window["classes"].get<std::vector<std::int32_t>>();
    EXPECT_EQ(rowsOf(hash, 0, classes), window["rows_layer_1"].get<std::vector<std::int64_t>>()) << windows;
    EXPECT_EQ(rowsOf(hash, 1, classes), window["rows_layer_14"].get<std::vector<std::int64_t>>()) << windows;
    ++windows;
  }
  EXPECT_EQ(windows, 200U);
}

class SmallCheckpoints : public ::testing::TestWithParam<const char*> {};

TEST_P(SmallCheckpoints, ConstantsOfTheirSidecar) {
  const std::string folder = std::string(GetParam()) + "/checkpoint/";
  auto config = ModelConfig::fromJson(goldenJson(folder + "config.json"));
  ASSERT_TRUE(config.isOk()) << config.status().message();
  const nlohmann::json sidecar = goldenJson(folder + "dsv41_engram.json");
  auto hash = EngramHash::make(config->engram, sidecar["token_map"][config->engram.padToken]);
  ASSERT_TRUE(hash.isOk()) << hash.status().message();
  ASSERT_EQ(hash->tables.size(), sidecar["layer_ids"].size());
  std::uint64_t largest = 0;
  for (std::size_t i = 0; i < hash->tables.size(); ++i) {
    const EngramHash::Table& table = hash->tables[i];
    EXPECT_EQ(table.layer, sidecar["layer_ids"][i]);
    EXPECT_EQ(table.offsets, sidecar["offsets"][i].get<std::vector<std::int64_t>>());
    std::vector<std::int64_t> primes;
    for (const auto& size : sidecar["primes"][i]) {
      for (const auto& prime : size) primes.push_back(prime);
    }
    EXPECT_EQ(table.primes, primes);
    std::vector<std::string> multipliers;
    for (const std::uint64_t multiplier : table.multipliers) {
      multipliers.push_back(std::to_string(multiplier));
      largest = std::max(largest, multiplier);
    }
    EXPECT_EQ(multipliers, sidecar["multipliers"][i].get<std::vector<std::string>>());
  }
  EXPECT_GT(largest, std::uint64_t{1} << 53);
}

INSTANTIATE_TEST_SUITE_P(All, SmallCheckpoints, ::testing::Values("text", "long", "dspark", "edge", "vision"),
                         [](const auto& fixture) { return std::string(fixture.param); });

TEST(EngramHash, LookBackEndsAtTheSequencesStartAndAtImages) {
  const EngramHash hash = releasedHash();
  const std::int32_t pad = hash.padClass;
  EXPECT_EQ(rowsOf(hash, 0, std::vector{9}), rowsOf(hash, 0, std::vector{pad, pad, pad, 9}));
  EXPECT_EQ(rowsOf(hash, 0, std::vector{8, 9}), rowsOf(hash, 0, std::vector{pad, pad, 8, 9}));
  // What lies before an image counts no more.
  EXPECT_EQ(rowsOf(hash, 1, std::vector{5, kDeadClass, 8, 9}), rowsOf(hash, 1, std::vector{8, 9}));
  EXPECT_EQ(rowsOf(hash, 1, std::vector{5, 8, 9, kDeadClass}), rowsOf(hash, 1, std::vector{pad, pad, pad, pad}));
  EXPECT_NE(rowsOf(hash, 0, std::vector{5, 8, 9}), rowsOf(hash, 0, std::vector{8, 9}));
  // Only the last maxNgram classes count.
  EXPECT_EQ(rowsOf(hash, 0, std::vector{77, 1, 2, 3, 4}), rowsOf(hash, 0, std::vector{1, 2, 3, 4}));
}

TEST(EngramHash, RowsStayInTheirColumn) {
  const EngramHash hash = releasedHash();
  for (const std::int32_t c : {0, 1, 50000, 99091}) {
    for (int table = 0; table < 2; ++table) {
      const auto rows = rowsOf(hash, table, std::vector{c, 99091, c, 99091});
      const EngramHash::Table& constants = hash.tables[static_cast<std::size_t>(table)];
      for (std::size_t column = 0; column < rows.size(); ++column) {
        EXPECT_GE(rows[column], constants.offsets[column]);
        EXPECT_LT(rows[column], constants.offsets[column] + constants.primes[column]);
      }
    }
  }
}

TEST(EngramHash, RefusesWhatDoesNotFit) {
  const auto messageOf = [](const EngramConfig& config, std::int32_t pad) {
    const auto hash = EngramHash::make(config, pad);
    EXPECT_FALSE(hash.isOk());
    EXPECT_EQ(hash.status().code(), Code::kCheckpoint);
    EXPECT_EQ(hash.status().id(), "config_invalid");
    return hash.status().message();
  };
  EngramConfig config = released();
  ++config.rows[1];
  EXPECT_THAT(messageOf(config, 2), HasSubstr("layer 14"));
  EXPECT_THAT(messageOf(released(), 99092), HasSubstr("engram_pad_token_id"));
  EXPECT_THAT(messageOf(released(), -1), HasSubstr("engram_pad_token_id"));
  config = released();
  config.primeStart = std::int64_t{1} << 62;
  EXPECT_THAT(messageOf(config, 2), HasSubstr("engram_"));
  config = released();
  config.heads = 1 << 20;
  EXPECT_THAT(messageOf(config, 2), HasSubstr("engram_"));
  config = released();
  config.rows.pop_back();
  EXPECT_THAT(messageOf(config, 2), HasSubstr("engram_"));
}

TEST(EngramHash, TheLargestNumbersAreFoundSoon) {
  EngramConfig config = released();
  config.maxNgram = 8;
  config.heads = 64;
  config.primeStart = std::int64_t{1} << 32;
  config.layers.clear();
  config.rows.clear();
  for (int layer = 0; layer < 64; ++layer) {
    config.layers.push_back(layer);
    config.rows.push_back(std::int64_t{448} << 32);
  }
  // The first table does not fit; nothing further is computed.
  EXPECT_FALSE(EngramHash::make(config, 2).isOk());
  // The first primes above 2^32 are known.
  config.layers = {0};
  config.maxNgram = 2;
  config.heads = 3;
  config.rows = {4294967311 + 4294967357 + 4294967371};
  const auto hash = EngramHash::make(config, 2);
  ASSERT_TRUE(hash.isOk()) << hash.status().message();
  EXPECT_THAT(hash->tables[0].primes, ElementsAre(4294967311, 4294967357, 4294967371));
}

}  // namespace
}  // namespace colibri
