#include "cli_harness.h"

#include <gmock/gmock.h>

namespace colibri {
namespace {

TEST(TextCommands, TokenizeAndDetokenizeAreInverse) {
  const Cli coli;
  const std::string text = "Hello, wörld! 你好 🦜\n  <think>";
  const OrderedJson plain = coli({"tokenize", demoModel(), "--text", text, "--json"}).json();
  ASSERT_FALSE(plain.at("tokens").empty());
  std::string ids;
  for (const OrderedJson& id : plain.at("tokens")) ids += (ids.empty() ? "" : ",") + id.dump();
  EXPECT_EQ(coli({"detokenize", demoModel(), "--tokens", ids, "--json"}).json().at("text"), text);
  EXPECT_EQ(coli({"detokenize", "--tokens", ids}).out, text);
  const OrderedJson special = coli({"tokenize", "--special", "--text", "<think>", "--json"}).json();
  EXPECT_EQ(special.at("tokens").size(), 1U);
  EXPECT_GT(coli({"tokenize", "--text", "<think>", "--json"}).json().at("tokens").size(), 1U);
}

TEST(TextCommands, TokenizeReadsFilesLinesAndStandardInput) {
  Cli coli;
  const Scratch scratch;
  const OrderedJson expected = coli({"tokenize", "--text", "a\nb", "--json"}).json();
  EXPECT_EQ(coli({"tokenize", "--file", scratch.write("text", "a\nb"), "--json"}).json(), expected);
  coli.input = "a\nb";
  EXPECT_EQ(coli({"tokenize", "--file", "-", "--json"}).json(), expected);
  const CliResult lines =
      coli({"tokenize", "--lines", "--file", scratch.write("lines", "\"a\\nb\"\n\"\"\n"), "--json"});
  ASSERT_EQ(lines.lines().size(), 2U);
  EXPECT_EQ(lines.lines()[0], expected);
  EXPECT_EQ(lines.lines()[1].at("tokens").size(), 0U);
  expectError(coli({"tokenize", "--lines", "--file", scratch.write("bad", "\"a\"\n5\n"), "--json"}), 2, "bad_line");
  expectError(coli({"tokenize", "--file", scratch.path("absent"), "--json"}), 5, "read_failed");
  expectError(coli({"tokenize", scratch.path("absent"), "--text", "a", "--json"}), 3, "tokenizer_missing");
}

TEST(TextCommands, RenderGivesTheExactPrompt) {
  Cli coli;
  coli.input = R"({"messages":[{"role":"user","content":"Hi"}],"thinking":false})";
  const std::string expected = "<｜begin▁of▁sentence｜><｜User｜>Hi<｜Assistant｜></think>";
  EXPECT_EQ(coli({"render", "--messages", "-"}).out, expected);
  const OrderedJson json = coli({"render", "--messages", "-", "--json"}).json();
  EXPECT_EQ(json.at("prompt"), expected);
  EXPECT_EQ(json.at("images").size(), 0U);
  EXPECT_EQ(json.at("tokens").front(), 0);
  coli.input = R"({"messages":[{"role":"user","content":"Hi"}],"thinking":true})";
  EXPECT_EQ(coli({"render", "--messages", "-", "--dialect", "a"}).out,
            "<｜begin▁of▁sentence｜><｜User｜>Hi<｜Assistant｜><think>");
  coli.input = "{";
  EXPECT_EQ(coli({"render", "--messages", "-", "--json"}).code, 2);
  coli.input = R"([{"role":"cat","content":"Hi"}])";
  EXPECT_EQ(coli({"render", "--messages", "-", "--json"}).code, 2);
}

TEST(TextCommands, ParseTakesAnyTextInAnyPieces) {
  Cli coli;
  coli.input =
      "I should look.</think>Let me see.\n\n<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"look\">\n<｜DSML｜parameter "
      "name=\"where\" string=\"true\">here</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>";
  OrderedJson whole = coli({"parse", "--thinking", "--completion", "-", "--json"}).json();
  EXPECT_EQ(whole.at("content"), "Let me see.");
  EXPECT_EQ(whole.at("reasoning_content"), "I should look.");
  EXPECT_EQ(whole.at("finish"), "tool_calls");
  ASSERT_EQ(whole.at("tool_calls").size(), 1U);
  EXPECT_EQ(whole["tool_calls"][0]["type"], "function");
  EXPECT_EQ(whole["tool_calls"][0]["function"]["name"], "look");
  EXPECT_EQ(whole["tool_calls"][0]["function"]["arguments"], R"({"where": "here"})");
  whole["tool_calls"][0].erase("id");
  for (const char* feed : {"1", "2", "3", "7", "1000"}) {
    OrderedJson pieces = coli({"parse", "--thinking", "--completion", "-", "--feed", feed, "--json"}).json();
    pieces["tool_calls"][0].erase("id");
    EXPECT_EQ(pieces, whole) << feed;
  }
  for (const std::string& text :
       std::vector<std::string>{"", std::string(1, '\0'), "\xff\xfe", "<｜DSML｜", "</think></think>"}) {
    coli.input = text;
    const CliResult result = coli({"parse", "--completion", "-", "--json"});
    EXPECT_EQ(result.code, 0);
    EXPECT_TRUE(result.json().contains("content"));
  }
}

TEST(CheckpointCommands, InfoOfTheDemoModelAddsUp) {
  const Cli coli;
  const OrderedJson info = coli({"info", "--json"}).json();
  EXPECT_EQ(info.at("model_type"), "deepseek_v4");
  EXPECT_EQ(info.at("geometry"), "5L x 32E");
  EXPECT_EQ(info.at("experts_per_token"), 4);
  EXPECT_EQ(info.at("shards"), 8);
  std::uint64_t sum = 0;
  for (const auto& [name, bytes] : info.at("bytes").items()) {
    if (name != "total") sum += bytes.get<std::uint64_t>();
  }
  EXPECT_EQ(sum, info.at("bytes").at("total").get<std::uint64_t>());
  for (const char* key : {"layers", "experts_per_layer", "tensors", "expert_bytes", "routed_bytes_per_token",
                          "dense_bytes_per_token", "context_limit", "model_id", "features"}) {
    EXPECT_TRUE(info.contains(key)) << key;
  }
  EXPECT_EQ(coli({"info"}).code, 0);
  EXPECT_EQ(coli({"info", "/no/such/model", "--json"}).code, 3);
}

TEST(CheckpointCommands, VerifyFindsTheDemoModelSoundAndACutShardNot) {
  const Cli coli;
  const CliResult sound = coli({"verify", "--level", "full", "--json"});
  EXPECT_EQ(sound.code, 0) << sound.out;
  const OrderedJson summary = sound.lines().back().at("summary");
  EXPECT_EQ(summary.at("ok"), true);
  EXPECT_EQ(summary.at("shards"), 8);

  const Scratch scratch;
  const std::filesystem::path copy = scratch.path("copy");
  std::filesystem::copy(demoModel(), copy);
  const auto shard = copy / "model-00003-of-00008.safetensors";
  std::filesystem::permissions(shard, std::filesystem::perms::owner_all);
  std::filesystem::resize_file(shard, std::filesystem::file_size(shard) - 1);
  const CliResult cut = coli({"verify", copy.string(), "--json"});
  EXPECT_EQ(cut.code, 1);
  EXPECT_TRUE(cut.err.empty()) << cut.err;
  bool found = false;
  for (const OrderedJson& line : cut.lines()) {
    if (!line.contains("finding")) continue;
    const OrderedJson& finding = line.at("finding");
    if (finding.at("code") != "shard_truncated") continue;
    found = true;
    EXPECT_EQ(finding.at("severity"), "error");
    EXPECT_EQ(finding.at("file"), "model-00003-of-00008.safetensors");
    EXPECT_EQ(finding.at("expected_bytes").get<std::uint64_t>(), finding.at("actual_bytes").get<std::uint64_t>() + 1);
    EXPECT_FALSE(finding.at("message").get<std::string>().empty());
    EXPECT_FALSE(finding.at("fix").get<std::string>().empty());
  }
  EXPECT_TRUE(found) << cut.out;
  EXPECT_EQ(cut.lines().back().at("summary").at("ok"), false);
  EXPECT_EQ(coli({"run", copy.string(), "--prompt", "a", "--json"}).code, 3);
}

TEST(CheckpointCommands, VerifyComparesWithAManifest) {
  const Cli coli;
  const Scratch scratch;
  const std::string manifest =
      scratch.write("manifest.json", R"({"model-00001-of-00008.safetensors":")" + std::string(64, '0') + "\"}");
  const CliResult result = coli({"verify", "--level", "full", "--manifest", manifest, "--json"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, testing::HasSubstr("hash_mismatch"));
  expectError(coli({"verify", "--manifest", manifest, "--json"}), 2, "usage");
}

}  // namespace
}  // namespace colibri
