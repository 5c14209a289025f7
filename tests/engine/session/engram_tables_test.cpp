// Tables for n-grams: from a sidecar, from what was kept, derived; what is wrong with either is found.

#include "session/engram_tables.h"

#include "base/json.h"
#include "engine/io/test_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace colibri {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

const std::string kId = "0123456789abcdef0123456789abcdef";

std::string readText(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void writeText(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

/// One of the small checkpoints, its files that matter copied to a folder of the test's own.
class EngramTablesTest : public ::testing::Test {
protected:
  EngramTablesTest() {
    for (const char* name : {"config.json", "tokenizer.json", "dsv41_engram.json"})
      fs::copy(golden(name), model() / name);
    auto loaded = ModelConfig::load(model());
    EXPECT_TRUE(loaded.isOk()) << loaded.status().message();
    m_config = *loaded;
    auto tokenizer = Tokenizer::load(model());
    EXPECT_TRUE(tokenizer.isOk()) << tokenizer.status().message();
    m_tokenizer = *tokenizer;
  }

  static fs::path golden(const std::string& name) {
    return fs::path(COLIBRI_GOLDEN_DIR) / "v41" / "text" / "checkpoint" / name;
  }
  [[nodiscard]] const fs::path& model() const { return m_model.path(); }
  [[nodiscard]] const fs::path& data() const { return m_data.path(); }
  [[nodiscard]] fs::path kept() const { return engramTablesFile(data(), kId); }
  Result<EngramTables> open(const Tokenizer* tokenizer) {
    return openEngramTables(m_config, model(), tokenizer, data(), kId, &m_notices);
  }
  [[nodiscard]] EngramTables derived() const {
    auto tables = deriveEngramTables(m_config, *m_tokenizer);
    EXPECT_TRUE(tables.isOk()) << tables.status().message();
    return *tables;
  }

  TemporaryFolder m_model;
  TemporaryFolder m_data;
  ModelConfig m_config;
  std::shared_ptr<const Tokenizer> m_tokenizer;
  std::vector<std::string> m_notices;
};

TEST_F(EngramTablesTest, TheSidecarAgreesWithWhatIsDerived) {
  const auto sidecar = open(nullptr);
  ASSERT_TRUE(sidecar.isOk()) << sidecar.status().message();
  EXPECT_EQ(*sidecar, derived());
  EXPECT_EQ(sidecar->classOf.size(), 512U);
  EXPECT_EQ(*open(m_tokenizer.get()), *sidecar);
  EXPECT_FALSE(fs::exists(kept())) << "nothing was derived, nothing is kept";
}

TEST_F(EngramTablesTest, DerivedOnceAndKeptOutsideOfTheModelsFolder) {
  fs::remove(model() / "dsv41_engram.json");
  const auto tables = open(m_tokenizer.get());
  ASSERT_TRUE(tables.isOk()) << tables.status().message();
  EXPECT_EQ(*tables, derived());
  EXPECT_TRUE(fs::exists(kept()));
  EXPECT_FALSE(fs::exists(model() / "dsv41_engram.json"));
  // Now it opens without a tokenizer, too.
  const auto again = open(nullptr);
  ASSERT_TRUE(again.isOk()) << again.status().message();
  EXPECT_EQ(*again, *tables);
  EXPECT_TRUE(m_notices.empty());
  // What is kept is a whole sidecar.
  const auto parsed = parseEngramTables(m_config, readText(kept()), "kept");
  ASSERT_TRUE(parsed.isOk()) << parsed.status().message();
  EXPECT_EQ(*parsed, *tables);
}

TEST_F(EngramTablesTest, WhatWasKeptAndIsDamagedIsMadeAgain) {
  fs::remove(model() / "dsv41_engram.json");
  ASSERT_TRUE(open(m_tokenizer.get()).isOk());
  const std::string good = readText(kept());
  Json otherMap = Json::parse(good);
  // Still a possible map of as many classes, so only the vocabulary tells.
  otherMap["token_map"].back() = 0;
  otherMap["vocabulary"] = std::string(64, '0');
  Json otherRule = Json::parse(good);
  otherRule["class_rule"] = 0;
  Json otherMultiplier = Json::parse(good);
  otherMultiplier["multipliers"][1][3] = "4743119394496639";
  for (const std::string& bad : {std::string(), good.substr(0, good.size() / 2), std::string("[]"), std::string("nul"),
                                 otherMap.dump(), otherRule.dump(), otherMultiplier.dump()}) {
    writeText(kept(), bad);
    const auto tables = open(m_tokenizer.get());
    ASSERT_TRUE(tables.isOk()) << tables.status().message();
    EXPECT_EQ(*tables, derived());
    EXPECT_EQ(readText(kept()), good) << "from " << bad.substr(0, 40);
  }
  EXPECT_TRUE(m_notices.empty());
  // Without a tokenizer there is nothing to make it from.
  writeText(kept(), otherRule.dump());
  EXPECT_EQ(open(nullptr).status().id(), "tokenizer_missing");
}

TEST_F(EngramTablesTest, AFolderThatCannotBeWrittenIsANotice) {
  fs::remove(model() / "dsv41_engram.json");
  writeText(data() / "engram", "a file where the folder should be");
  const auto tables = open(m_tokenizer.get());
  ASSERT_TRUE(tables.isOk()) << tables.status().message();
  ASSERT_EQ(m_notices.size(), 1U);
  EXPECT_THAT(m_notices[0], AllOf(HasSubstr(kept().string()), HasSubstr("cannot be written")));
  // No folder, no id: nothing is kept and nothing said.
  m_notices.clear();
  EXPECT_TRUE(openEngramTables(m_config, model(), m_tokenizer.get(), {}, kId, &m_notices).isOk());
  EXPECT_TRUE(openEngramTables(m_config, model(), m_tokenizer.get(), data(), "", &m_notices).isOk());
  EXPECT_TRUE(openEngramTables(m_config, model(), m_tokenizer.get(), data(), "../../etc", nullptr).isOk());
  EXPECT_TRUE(m_notices.empty());
}

TEST_F(EngramTablesTest, WithoutATokenizerAndWithoutTables) {
  fs::remove(model() / "dsv41_engram.json");
  const auto tables = open(nullptr);
  EXPECT_EQ(tables.status().code(), Code::kCheckpoint);
  EXPECT_EQ(tables.status().id(), "tokenizer_missing");
  EXPECT_THAT(tables.status().message(), HasSubstr("tokenizer.json"));
}

TEST_F(EngramTablesTest, AWrongSidecarIsRefusedInWords) {
  const Json good = Json::parse(readText(golden("dsv41_engram.json")));
  struct Case {
    const char* what;
    std::function<void(Json&)> change;
  };
  const std::vector<Case> cases{
      {"token_map", [](Json& j) { j.erase("token_map"); }},
      {"token_map", [](Json& j) { j["token_map"].erase(7); }},
      {"token_map", [](Json& j) { j["token_map"][5] = 395; }},
      {"token_map", [](Json& j) { j["token_map"][5] = -1; }},
      {"token_map", [](Json& j) { j["token_map"][5] = 1.5; }},
      {"token_map", [](Json& j) { j["token_map"] = Json::object(); }},
      {"classes",
       [](Json& j) {
         for (auto& c : j["token_map"]) c = c == 395 ? Json(0) : c;
       }},
      {"primes", [](Json& j) { j["primes"][1][2][3] = 229; }},
      {"primes", [](Json& j) { j["primes"].erase(1); }},
      {"primes", [](Json& j) { j["primes"][0][0].push_back(109); }},
      {"offsets", [](Json& j) { j["offsets"][0][4] = 421; }},
      {"multipliers", [](Json& j) { j["multipliers"][0][0] = "19175827427814732"; }},
      {"multipliers", [](Json& j) { j["multipliers"][0][0] = 19175827427814731.0; }},
      {"multipliers", [](Json& j) { j["multipliers"][0][0] = "19175827427814731 "; }},
      {"multipliers", [](Json& j) { j["multipliers"][0][0] = "99999999999999999999"; }},
      {"multipliers", [](Json& j) { j["multipliers"][0] = nullptr; }},
      {"layer_ids", [](Json& j) { j["layer_ids"][1] = 5; }},
      {"num_embeddings", [](Json& j) { j["num_embeddings"][0] = 1525; }},
      {"pad_id", [](Json& j) { j["pad_id"] = 3; }},
      {"head_dim", [](Json& j) { j["head_dim"] = 64; }},
      {"compressed_vocab_size", [](Json& j) { j["compressed_vocab_size"] = 397; }},
  };
  for (const Case& c : cases) {
    Json changed = good;
    c.change(changed);
    writeText(model() / "dsv41_engram.json", changed.dump());
    const auto tables = open(nullptr);
    EXPECT_EQ(tables.status().code(), Code::kCheckpoint) << c.what;
    EXPECT_EQ(tables.status().id(), "engram_tables_invalid") << c.what;
    EXPECT_THAT(tables.status().message(),
                AllOf(HasSubstr(c.what), HasSubstr("dsv41_engram.json"), HasSubstr("Delete")))
        << changed.dump().substr(0, 80);
  }
  for (const std::string& text : {std::string(), std::string("[1,2]"), std::string("{\"token_map\":[0"),
                                  std::string(100, '['), "{\"token_map\":[],\"token_map\":[]}" + std::string()}) {
    writeText(model() / "dsv41_engram.json", text);
    EXPECT_EQ(open(nullptr).status().id(), "engram_tables_invalid") << text.substr(0, 20);
  }
}

TEST_F(EngramTablesTest, WholeNumbersDoForMultipliersAndExtrasAreOptional) {
  Json json = Json::parse(readText(golden("dsv41_engram.json")));
  json["multipliers"][0][0] = std::uint64_t{19175827427814731};
  for (const char* key : {"offsets", "layer_ids", "num_embeddings", "pad_id"}) json.erase(key);
  const auto tables = parseEngramTables(m_config, json.dump(), "it");
  ASSERT_TRUE(tables.isOk()) << tables.status().message();
  EXPECT_EQ(*tables, derived());
}

TEST_F(EngramTablesTest, ASidecarOfAnotherVocabularyIsFoundByTheTokenizer) {
  Json json = Json::parse(readText(golden("dsv41_engram.json")));
  // Possible as a map: the last token joins another class.
  const auto before = json["token_map"].back().get<int>();
  ASSERT_LT(before, 396);
  std::size_t at = json["token_map"].size();
  std::vector<int> uses(396);
  for (const Json& c : json["token_map"]) ++uses[c.get<std::size_t>()];
  while (uses[json["token_map"][--at].get<std::size_t>()] < 2) {
  }
  json["token_map"][at] = json["token_map"][at].get<int>() == 0 ? 1 : 0;
  writeText(model() / "dsv41_engram.json", json.dump());
  ASSERT_TRUE(open(nullptr).isOk());
  const auto tables = open(m_tokenizer.get());
  EXPECT_EQ(tables.status().id(), "engram_tables_invalid");
  EXPECT_THAT(tables.status().message(), HasSubstr("token " + std::to_string(at) + " "));
}

TEST_F(EngramTablesTest, ATokenizerWithOtherClassesDoesNotBelongHere) {
  fs::remove(model() / "dsv41_engram.json");
  ModelConfig config = m_config;
  config.engram.classes = 397;
  const auto tables = openEngramTables(config, model(), m_tokenizer.get(), {}, {}, nullptr);
  EXPECT_EQ(tables.status().code(), Code::kCheckpoint);
  EXPECT_THAT(tables.status().message(), AllOf(HasSubstr("396"), HasSubstr("397"), HasSubstr("tokenizer.json")));
}

TEST_F(EngramTablesTest, TheTextOfTablesIsASidecar) {
  const EngramTables tables = derived();
  EXPECT_EQ(Json::parse(engramTablesJson(m_config, tables)), Json::parse(readText(golden("dsv41_engram.json"))));
}

}  // namespace
}  // namespace colibri
