// Every stored id of the reference library, for both families.

#include "text_goldens.h"

namespace colibri::testing {
namespace {

using Ids = std::vector<TokenId>;

TEST(TokenizerGolden, StoredVectorsOfBothFamilies) {
  const auto cases = goldenJson("tokenizer/golden_vectors.json");
  ASSERT_GT(cases.size(), 30U);
  for (const auto& entry : cases) {
    const auto text = entry.at("text").get<std::string>();
    EXPECT_EQ(v4Tokenizer().encode(text, true), entry.at("v4").get<Ids>()) << text;
    EXPECT_EQ(v41Tokenizer().encode(text, true), entry.at("v4.1").get<Ids>()) << text;
  }
}

TEST(TokenizerGolden, StoredFuzzTexts) {
  const auto cases = goldenJson("tokenizer/golden_fuzz_v4.json");
  ASSERT_GE(cases.size(), 1000U);
  for (const auto& entry : cases) {
    const auto text = entry.at("text").get<std::string>();
    const auto ids = entry.at("ids").get<Ids>();
    EXPECT_EQ(v4Tokenizer().encode(text, true), ids) << text;
    EXPECT_EQ(v4Tokenizer().decode(ids), text);
  }
}

TEST(TokenizerGolden, TableOfDistinctCases) {
  struct Case {
    std::string text;
    Ids ids;
  };
  Ids manyA(37, 89086);
  manyA.push_back(39535);
  const std::vector<Case> both{
      {"Hello, world!", {19923, 14, 2058, 3}},
      {"  \n\n  x", {6776, 223, 1527}},
      {"line\r\nline2\r\n", {1836, 204, 201, 1836, 20, 204, 201}},
      {"don't I'll we've", {20385, 1664, 342, 5922, 579, 5270}},
      {"1234567890", {6895, 18009, 25744, 18}},
      {"中文 English 混排123测试", {21134, 3947, 223, 5764, 2774, 6895, 10251}},
      {"한국어 텍스트", {5634, 17564, 9227, 61291, 238, 45652}},
      {"ⅣⅫ①½²³४५६", {23603, 99, 23603, 107, 16994, 23951, 1628, 5826, 50350, 49930, 52491}},
      {"😀👍🏽👨‍👩‍👧",
       {28927, 225, 92526, 40965, 124, 25730, 104, 46088, 25730, 105, 46088, 25730, 103}},
      {std::string(300, 'a'), manyA},
      {std::string(130, ' ') + "x", {69933, 223, 1527}},
      {std::string(20, '\n'), {93614, 13318}},
      {"<｜DSML｜ calls>\n<｜DSML｜ invoke name=\"f\">\n<｜DSML｜ parameter name=\"n\" string=\"false\">5</｜DSML｜ "
       "parameter>\n"
       "</｜DSML｜ invoke>\n</｜DSML｜ calls>",
       {30,     128825, 10699, 1018, 30,     128825, 34756, 2329, 1281,   72,    3816, 30,
        128825, 10767,  2329,  1281, 80,     4,      3418,  1281, 19836,  3320,  23,   1718,
        128825, 10767,  1018,  1718, 128825, 34756,  1018,  1718, 128825, 10699, 32}},
  };
  for (const Case& entry : both) {
    EXPECT_EQ(v4Tokenizer().encode(entry.text, true), entry.ids) << entry.text;
    EXPECT_EQ(v41Tokenizer().encode(entry.text, true), entry.ids) << entry.text;
  }
  const std::string systemTurn = "<｜begin▁of▁sentence｜><｜System｜>S<｜User｜>U<｜Assistant｜></think>";
  EXPECT_EQ(v41Tokenizer().encode(systemTurn, true), (Ids{0, 128799, 53, 128803, 55, 128804, 128822}));
  EXPECT_EQ(v4Tokenizer().encode(systemTurn, true),
            (Ids{0, 30, 28217, 8375, 28217, 32, 53, 128803, 55, 128804, 128822}));
  EXPECT_EQ(v41Tokenizer().encode("before<｜deepseek_image｜>after", true), (Ids{35975, 129264, 15479}));
  EXPECT_EQ(v4Tokenizer().encode("before<｜image｜>after", true), (Ids{35975, 129279, 15479}));
}

TEST(TokenizerGolden, EveryVocabularyEntryIsReachable) {
  // Each token's own bytes, as plain text, decode to themselves; the vocabulary sizes are the released ones.
  EXPECT_EQ(v4Tokenizer().vocabSize(), 129280);
  EXPECT_EQ(v41Tokenizer().vocabSize(), 129280);
  for (TokenId id = 3; id < 128000; ++id) {
    const std::string_view bytes = v4Tokenizer().bytes(id);
    ASSERT_FALSE(bytes.empty()) << id;
    std::string joined;
    for (const TokenId part : v4Tokenizer().encode(bytes, false)) joined += v4Tokenizer().bytes(part);
    ASSERT_EQ(joined, bytes) << id;
  }
}

}  // namespace
}  // namespace colibri::testing
