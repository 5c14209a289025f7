// coli engram: classes and table rows of token sequences, without weights.
#include "cli_harness.h"
#include "support/golden_file.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

namespace colibri {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Rows = std::vector<std::vector<std::int64_t>>;

nlohmann::json readJson(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return nlohmann::json::parse(in);
}

/// The files of a model that the command may need, without its shards.
class BareModel {
public:
  explicit BareModel(const std::string& fixture,
                     const std::vector<std::string>& files = {"config.json", "tokenizer.json"}) {
    for (const std::string& file : files)
      std::filesystem::copy(goldenPath("v41/" + fixture + "/checkpoint/" + file), m_scratch.path(file));
  }
  [[nodiscard]] std::string path() const { return m_scratch.path("."); }
  [[nodiscard]] const Scratch& scratch() const { return m_scratch; }

private:
  Scratch m_scratch;
};

class EngramGoldens : public ::testing::TestWithParam<const char*> {};

TEST_P(EngramGoldens, RowsOfEveryCase) {
  const std::string fixture = GetParam();
  const BareModel model(fixture);
  const nlohmann::json golden = readJson(goldenPath("v41/" + fixture + "/golden.json"));
  const test::GoldenFile tensors("v41/" + fixture + "/golden.safetensors");
  const nlohmann::json layers =
      readJson(goldenPath("v41/" + fixture + "/checkpoint/config.json"))["text_config"]["engram_layer_ids"];
  std::vector<std::vector<int>> sequences;
  std::vector<std::string> names;
  for (const auto& entry : golden["cases"]) {
    std::vector<int> tokens = entry["prompt"];
    const auto& greedy = entry["runs"]["fp32"]["greedy"];
    // Each row after the prompt's was computed from the token chosen before it.
    for (std::size_t i = 0; i + 1 < greedy.size(); ++i) tokens.push_back(greedy[i]);
    sequences.push_back(std::move(tokens));
    names.push_back(entry["name"]);
  }
  const std::string file = model.scratch().write("tokens.json", nlohmann::json(sequences).dump());
  const CliResult result = Cli()({"engram", model.path(), "--tokens", file, "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const std::vector<OrderedJson> lines = result.lines();
  ASSERT_EQ(lines.size(), sequences.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i]["classes"].size(), sequences[i].size());
    const test::GoldenTensor& expected = tensors.tensor(names[i] + ".fp32.engram_rows");
    const auto rows = expected.as<std::int64_t>();
    const auto columns = static_cast<std::size_t>(expected.dim(2));
    const std::size_t positions = std::min<std::size_t>(static_cast<std::size_t>(expected.dim(0)), sequences[i].size());
    ASSERT_GE(positions, sequences[i].size() - 1) << names[i];
    for (std::size_t table = 0; table < layers.size(); ++table) {
      const Rows found = lines[i]["rows"][std::to_string(layers[table].get<int>())];
      ASSERT_EQ(found.size(), sequences[i].size());
      for (std::size_t position = 0; position < positions; ++position) {
        const auto first = rows.begin() + static_cast<std::ptrdiff_t>((position * layers.size() + table) * columns);
        ASSERT_EQ(found[position], std::vector<std::int64_t>(first, first + static_cast<std::ptrdiff_t>(columns)))
            << names[i] << " table " << table << " position " << position;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, EngramGoldens, ::testing::Values("text", "edge"),
                         [](const auto& given) { return std::string(given.param); });

TEST(Engram, ReleasedVocabularyAndConstants) {
  const Scratch scratch;
  nlohmann::json config = readJson(goldenPath("v41/text/checkpoint/config.json"));
  config["text_config"]["vocab_size"] = 129280;
  config["text_config"]["engram_layer_ids"] = {1, 14};
  config["text_config"]["num_hidden_layers"] = 15;
  nlohmann::json& ratios = config["text_config"]["compress_ratios"];
  ratios = {0, 0, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0};
  config["text_config"]["engram_num_embeddings"] = {384006168, 384016682};
  config["text_config"]["engram_n_heads"] = 8;
  config["text_config"]["engram_head_dim"] = 256;
  config["text_config"]["engram_vocab_size"] = 16000000;
  config["text_config"]["engram_compressed_vocab_size"] = 99092;
  scratch.write("config.json", config.dump());
  std::filesystem::copy(goldenPath("tokenizer/deepseek-v4.1/tokenizer.json"), scratch.path("tokenizer.json"));
  const nlohmann::json golden = readJson(goldenPath("v41/engram_rows.json"));
  nlohmann::json windows = nlohmann::json::array();
  for (const auto& window : golden["windows"]) windows.push_back(window["ids"]);
  const CliResult result =
      Cli()({"engram", scratch.path("."), "--tokens", scratch.write("tokens.json", windows.dump()), "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const std::vector<OrderedJson> lines = result.lines();
  ASSERT_EQ(lines.size(), 200U);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto& window = golden["windows"][i];
    EXPECT_EQ(lines[i]["classes"].get<std::vector<int>>(), window["classes"].get<std::vector<int>>()) << i;
    EXPECT_EQ(lines[i]["rows"]["1"].back().get<std::vector<std::int64_t>>(),
              window["rows_layer_1"].get<std::vector<std::int64_t>>())
        << i;
    EXPECT_EQ(lines[i]["rows"]["14"].back().get<std::vector<std::int64_t>>(),
              window["rows_layer_14"].get<std::vector<std::int64_t>>())
        << i;
  }
}

TEST(Engram, OneSequenceIsOneLineAndStandardInputWorks) {
  const BareModel model("text");
  Cli cli;
  cli.input = "[5, -1, 7]";
  const CliResult one = cli({"engram", model.path(), "--tokens", "-", "--json"});
  ASSERT_EQ(one.code, 0) << one.err;
  ASSERT_EQ(one.lines().size(), 1U);
  EXPECT_EQ(one.json()["classes"][1], -1);
  cli.input = "[[7], [], [5, -1, 7]]";
  const CliResult several = cli({"engram", model.path(), "--tokens", "-", "--json"});
  ASSERT_EQ(several.code, 0) << several.err;
  ASSERT_EQ(several.lines().size(), 3U);
  // An image hides what is before it.
  EXPECT_EQ(several.lines()[0]["rows"]["1"][0], one.json()["rows"]["1"][2]);
  EXPECT_TRUE(several.lines()[1]["classes"].empty());
  EXPECT_EQ(several.lines()[2], one.json());
  cli.input = "[]";
  EXPECT_EQ(cli({"engram", model.path(), "--tokens", "-", "--json"}).json()["rows"]["4"].size(), 0U);
  cli.input = "[5, -1]";
  const CliResult text = cli({"engram", model.path(), "--tokens", "-"});
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.out, AllOf(HasSubstr("token 5"), HasSubstr("layer 4:"), HasSubstr("image")));
}

TEST(Engram, BadIdsAndFilesAreRefusedInWords) {
  const BareModel model("text");
  Cli cli;
  for (const char* bad : {"[512]", "[-2]", "[1.5]", "[\"1\"]", "{}", "3", "[[1],2]", "[[1],[512]]",
                          "[18446744073709551615]", "[9223372036854775808]", "[1,[2]]"}) {
    cli.input = bad;
    const CliResult result = cli({"engram", model.path(), "--tokens", "-", "--json"});
    expectError(result, 2, "bad_tokens");
    EXPECT_EQ(result.lines().size(), 1U) << bad;
  }
  cli.input = "[[1],[2,512]]";
  EXPECT_THAT(cli({"engram", model.path(), "--tokens", "-"}).err, AllOf(HasSubstr("list 1"), HasSubstr("512")));
  cli.input = "[1";
  EXPECT_EQ(cli({"engram", model.path(), "--tokens", "-", "--json"}).code, 2);
  EXPECT_EQ(cli({"engram", model.path(), "--tokens", model.scratch().path("none.json"), "--json"}).code, 5);
  EXPECT_EQ(cli({"engram", model.path(), "--json"}).code, 2);
}

TEST(Engram, NeedsTablesOrATokenizer) {
  Cli cli;
  cli.input = "[1]";
  expectError(cli({"engram", "--tokens", "-", "--json"}), 2, "no_engram");
  const BareModel neither("text", {"config.json"});
  expectError(cli({"engram", neither.path(), "--tokens", "-", "--json"}), 3, "tokenizer_missing");
  neither.scratch().write("tokenizer.json", "{}");
  expectError(cli({"engram", neither.path(), "--tokens", "-", "--json"}), 3, "tokenizer_invalid");
}

TEST(Engram, ASidecarDoesWithoutATokenizer) {
  Cli cli;
  cli.input = "[1,2,3,4,5]";
  const BareModel sidecar("text", {"config.json", "dsv41_engram.json"});
  const CliResult result = cli({"engram", sidecar.path(), "--tokens", "-", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  sidecar.scratch().write("dsv41_engram.json", "{}");
  expectError(cli({"engram", sidecar.path(), "--tokens", "-", "--json"}), 3, "engram_tables_invalid");
  std::filesystem::remove(sidecar.scratch().path("dsv41_engram.json"));
  std::filesystem::copy(goldenPath("v41/text/checkpoint/tokenizer.json"), sidecar.scratch().path("tokenizer.json"));
  EXPECT_EQ(cli({"engram", sidecar.path(), "--tokens", "-", "--json"}).out, result.out);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(sidecar.path()), {}), 2) << "the folder is only read";
}

}  // namespace
}  // namespace colibri
