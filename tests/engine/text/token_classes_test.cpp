// Classes of tokens: the released map, the small checkpoints' maps, and each step of the rule.

#include "text/token_classes.h"

#include "engine/text/text_goldens.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace colibri {
namespace {

using testing::goldenJson;
using testing::goldenPath;
using testing::goldenText;
using testing::loadTokenizer;
using testing::v41Tokenizer;

std::vector<std::int32_t> classesOf(const Tokenizer& tokenizer, int vocabSize) {
  auto classes = tokenClasses(tokenizer, vocabSize);
  EXPECT_TRUE(classes.isOk()) << classes.status().message();
  return classes.isOk() ? *classes : std::vector<std::int32_t>();
}

TEST(TokenClasses, ReleasedMap) {
  constexpr int kVocabulary = 129280;
  const std::string bytes = goldenText("tokenizer/engram_token_map_u32le.bin");
  ASSERT_EQ(bytes.size(), std::size_t{4} * kVocabulary);
  std::vector<std::int32_t> expected(kVocabulary);
  std::memcpy(expected.data(), bytes.data(), bytes.size());
  const std::vector<std::int32_t> classes = classesOf(v41Tokenizer(), kVocabulary);
  ASSERT_EQ(classes.size(), expected.size());
  const auto [first, other] = std::mismatch(classes.begin(), classes.end(), expected.begin());
  ASSERT_TRUE(first == classes.end()) << "id " << first - classes.begin() << ": " << *first << " for " << *other;

  std::map<std::int32_t, int> sizes;
  for (const std::int32_t c : classes) ++sizes[c];
  EXPECT_EQ(sizes.size(), 99092U);
  EXPECT_EQ(classes.size() - sizes.size(), 30188U);
  const auto largest =
      std::max_element(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  EXPECT_EQ(largest->second, 163);
  EXPECT_EQ(std::count_if(sizes.begin(), sizes.end(), [](const auto& entry) { return entry.second > 1; }), 15502);
}

TEST(TokenClasses, SmallCheckpoints) {
  for (const std::string name : {"text", "long", "dspark", "edge", "vision"}) {
    const auto tokenizer = loadTokenizer(goldenPath("v41/" + name + "/checkpoint"));
    ASSERT_TRUE(tokenizer) << name;
    const auto expected =
        goldenJson("v41/" + name + "/checkpoint/dsv41_engram.json")["token_map"].get<std::vector<std::int32_t>>();
    EXPECT_EQ(classesOf(*tokenizer, static_cast<int>(expected.size())), expected) << name;
  }
}

/// A vocabulary of given texts, for the rule alone.
class Texts final : public Tokenizer {
public:
  explicit Texts(std::vector<std::string> texts) : m_texts(std::move(texts)) {}
  [[nodiscard]] std::vector<TokenId> encode(std::string_view, bool) const override { return {}; }
  [[nodiscard]] std::vector<TokenId> encode(std::span<const TextSegment>) const override { return {}; }
  [[nodiscard]] std::string decode(std::span<const TokenId>, bool) const override { return {}; }
  [[nodiscard]] std::string_view bytes(TokenId id) const override {
    return id < vocabSize() ? std::string_view(m_texts[static_cast<std::size_t>(id)]) : std::string_view();
  }
  [[nodiscard]] std::optional<TokenId> find(std::string_view) const override { return std::nullopt; }
  [[nodiscard]] bool isSpecial(TokenId) const override { return false; }
  [[nodiscard]] int vocabSize() const override { return static_cast<int>(m_texts.size()); }

private:
  std::vector<std::string> m_texts;
};

bool areOneClass(const std::string& a, const std::string& b) {
  const std::vector<std::int32_t> classes = classesOf(Texts({a, b}), 2);
  return classes.size() == 2 && classes[0] == classes[1];
}

TEST(TokenClasses, WhatIsTheSame) {
  EXPECT_TRUE(areOneClass("Word", " word"));
  EXPECT_TRUE(areOneClass("caf\u00e9", "CAFE"));   // marks and case
  EXPECT_TRUE(areOneClass("\ufb01", "fi"));        // compatibility form
  EXPECT_TRUE(areOneClass("\uff21", "a"));         // full width
  EXPECT_TRUE(areOneClass("\u0130", "i"));         // a dotted capital I loses its dot as a mark
  EXPECT_TRUE(areOneClass("a\t\r\n b", "A b"));    // runs of white space
  EXPECT_TRUE(areOneClass("\n\n", " "));           // nothing but white space is one space
  EXPECT_TRUE(areOneClass("\u00a0", " "));         // NFKC makes a space of it
  EXPECT_TRUE(areOneClass("\u2028x\u0085", "x"));  // Unicode white space is stripped, but not folded
  EXPECT_TRUE(areOneClass("\ue000", " "));         // the stand-in itself
  EXPECT_TRUE(areOneClass("a\ue000b", "a b"));
  EXPECT_TRUE(areOneClass("\u0391", "\u03b1"));  // other scripts have cases too
}

TEST(TokenClasses, WhatDiffers) {
  EXPECT_FALSE(areOneClass("a b", "ab"));
  EXPECT_FALSE(areOneClass(" ", ""));
  EXPECT_FALSE(areOneClass("\u03c2", "\u03c3"));  // a final sigma: no context rule, and no folding
  EXPECT_FALSE(areOneClass("\u00df", "ss"));      // lower case, not case folding
  EXPECT_FALSE(areOneClass("\xff", "\xfe"));      // pieces of characters are themselves
  EXPECT_FALSE(areOneClass(" \xe4", "\xe4"));     // not even stripped
}

TEST(TokenClasses, ATextThatVanishesIsItself) {
  EXPECT_FALSE(areOneClass("\u0301", "\u0302"));  // marks alone
  EXPECT_FALSE(areOneClass("\u2028", "\u0085"));  // white space alone that does not fold
  EXPECT_TRUE(areOneClass("\u0301", "\u0301"));
}

TEST(TokenClasses, PiecesOfCharactersAndTextsShareOneSetOfKeys) {
  // 0xe4 is spelt "ä"; as a text that letter loses its mark, so it is another key.
  EXPECT_FALSE(areOneClass("\xe4", "\u00e4"));
  // 0xf0 is spelt "ð", which is also the lower case of a whole letter.
  EXPECT_TRUE(areOneClass("\xf0", "\u00d0"));
}

TEST(TokenClasses, NumbersInOrderOfFirstUseAndOneForIdsWithoutAToken) {
  const Texts tokenizer({"b", "a", "B", "", "c"});
  EXPECT_EQ(classesOf(tokenizer, 8), (std::vector<std::int32_t>{0, 1, 0, 2, 3, 2, 2, 2}));
  EXPECT_EQ(classesOf(tokenizer, 3), (std::vector<std::int32_t>{0, 1, 0}));
  EXPECT_TRUE(classesOf(tokenizer, 0).empty());
}

}  // namespace
}  // namespace colibri
