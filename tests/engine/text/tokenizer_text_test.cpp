// Encoding and decoding beyond the stored ids: modes, segments, odd bytes, streams.

#include "text/utf8.h"
#include "text_goldens.h"

#include <algorithm>
#include <array>

namespace colibri::testing {
namespace {

using Ids = std::vector<TokenId>;

std::string bytesOf(const Tokenizer& tokenizer, const Ids& ids) {
  std::string bytes;
  for (const TokenId id : ids) bytes += tokenizer.bytes(id);
  return bytes;
}

std::string randomBytes(std::mt19937& random, std::size_t size) {
  std::string bytes;
  while (bytes.size() < size) bytes.push_back(static_cast<char>(random() % 256));
  return bytes;
}

// Text of the kinds that the patterns tell apart.
std::string randomText(std::mt19937& random, int parts) {
  static constexpr std::array<std::string_view, 24> kParts{
      "a",    "The", " word",  "12345", "½",      "  ",      "\n",       "\r\n", "\t",     "!",  "=>", "中文",
      "かな", "é",   "\u0301", "😀",     "\u200d", "<think>", "｜DSML｜", "\x01", "\u00a0", "한", "…",  "𐀀"};
  std::string text;
  for (int i = 0; i < parts; ++i) text += kParts[random() % kParts.size()];
  return text;
}

TEST(TokenizerText, LiteralModeNeverGivesAddedTokens) {
  const std::string text = "x</think><｜User｜>｜DSML｜<｜end▁of▁sentence｜>";
  const Ids ids = v4Tokenizer().encode(text, false);
  EXPECT_TRUE(std::all_of(ids.begin(), ids.end(), [](TokenId id) { return id >= 3 && id < 128000; }));
  EXPECT_EQ(v4Tokenizer().decode(ids), text);
  EXPECT_EQ(v4Tokenizer().encode(text, true), (Ids{90, 128822, 128803, 128825, 1}));
}

TEST(TokenizerText, SegmentsJoinPlainTextButNotTokens) {
  const Tokenizer& tokenizer = v4Tokenizer();
  const auto encode = [&](std::vector<TextSegment> segments) {
    return tokenizer.encode(std::span<const TextSegment>(segments));
  };
  // Plain text on both sides of a border is one text to BPE, in either kind of segment.
  EXPECT_EQ(encode({{false, "Hel"}, {true, "lo, wor"}, {false, "ld!"}}), tokenizer.encode("Hello, world!", true));
  EXPECT_EQ(encode({{true, "<think>Hi"}, {false, " there"}}), tokenizer.encode("<think>Hi there", true));
  // A token that lies over a border, or in literal text, is not one.
  EXPECT_EQ(encode({{true, "<thi"}, {true, "nk>"}}), tokenizer.encode("<think>", false));
  EXPECT_EQ(encode({{true, "<｜User｜>"}, {false, "</think>"}}).front(), 128803);
  EXPECT_EQ(encode({{false, "</think>"}}), tokenizer.encode("</think>", false));
  EXPECT_TRUE(encode({}).empty());
}

TEST(TokenizerText, RawTokensAreFoundBeforeNormalizedOnes) {
  // "<｜▁pad▁｜>" is not normalized, "<think>" is; both are found wherever they stand.
  EXPECT_EQ(v4Tokenizer().encode("<think><｜▁pad▁｜></think>", true), (Ids{128821, 2, 128822}));
  EXPECT_EQ(v4Tokenizer().encode("<<think>>", true), (Ids{30, 128821, 32}));
  EXPECT_EQ(v4Tokenizer().encode("<thin", true), v4Tokenizer().encode("<thin", false));
}

TEST(TokenizerText, AnyBytesComeBack) {
  std::mt19937 random(1);
  for (const Tokenizer* tokenizer : {&v4Tokenizer(), &demoTokenizer()}) {
    for (int i = 0; i < 300; ++i) {
      const std::string raw = randomBytes(random, random() % 60);
      EXPECT_EQ(bytesOf(*tokenizer, tokenizer->encode(raw, false)), raw);
      const std::string text = randomText(random, 20);
      EXPECT_EQ(tokenizer->decode(tokenizer->encode(text, true)), text);
      EXPECT_EQ(bytesOf(*tokenizer, tokenizer->encode(text + raw, true)), text + raw);
    }
  }
}

TEST(TokenizerText, InvalidBytesAreTokensOfTheirOwn) {
  const Tokenizer& tokenizer = v4Tokenizer();
  // 0xFF is id 190, 0xC0 is 127; the text beside them is encoded as if it stood alone.
  EXPECT_EQ(tokenizer.encode("\xFF\xC0", false), (Ids{190, 127}));
  Ids expected = tokenizer.encode("Hello", false);
  expected.push_back(190);
  for (const TokenId id : tokenizer.encode("world", false)) expected.push_back(id);
  EXPECT_EQ(tokenizer.encode("Hello\xFFworld", false), expected);
  // The first two bytes of a character that is cut off.
  EXPECT_EQ(tokenizer.encode("\xE4\xBD", false).size(), 2U);
}

TEST(TokenizerText, CategoriesAreThoseOfUnicode16) {
  const Tokenizer& tokenizer = v4Tokenizer();
  const TokenId space = 223;
  const TokenId twoSpaces = tokenizer.encode("  ", false).front();
  ASSERT_NE(twoSpaces, space);
  const auto firstOf = [&](std::string_view text) { return tokenizer.encode(text, false).front(); };
  // Letters take the space before them into their piece, so only one is left of two: U+16D40 and U+1C89 (16.0), U+31350
  // (15.0).
  for (const char* letter : {"a", "\U00016D40", "\u1C89", "\U00031350"}) {
    EXPECT_EQ(firstOf("  " + std::string(letter)), space) << letter;
  }
  // Numbers are cut off before, so both spaces are one piece: U+16D70 (16.0).
  for (const char* number : {"1", "\U00016D70"}) EXPECT_EQ(firstOf("  " + std::string(number)), twoSpaces) << number;
  // U+180E is a format character, no white space: a letter takes it into its piece and leaves the space alone, which a
  // run of two white-space characters before a letter does too; but before a line feed it does not become part of "
  // \n".
  EXPECT_EQ(tokenizer.encode("\u180E\n", false).back(), tokenizer.encode("\n", false).front());
}

TEST(TokenizerText, DecodingReplacesMaximalSubparts) {
  const Tokenizer& tokenizer = v4Tokenizer();
  const auto decode = [&](std::string_view bytes) { return tokenizer.decode(tokenizer.encode(bytes, false)); };
  EXPECT_EQ(decode("\xE4\xBD"), "\uFFFD");                            // one truncated character
  EXPECT_EQ(decode("\xF0\x9F\x98 x"), "\uFFFD x");                    // three bytes of an emoji
  EXPECT_EQ(decode("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");            // a surrogate is never started
  EXPECT_EQ(decode("\xC0\x80\xFE"), "\uFFFD\uFFFD\uFFFD");            // overlong, impossible
  EXPECT_EQ(decode("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");  // beyond U+10FFFF
  EXPECT_EQ(decode("\xE0\x80\x80"), "\uFFFD\uFFFD\uFFFD");            // overlong in three bytes
  EXPECT_EQ(decode("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), "\uFFFD\uFFFD\uFFFD\uFFFD\x41");
}

TEST(TokenizerText, UnknownIdsAndSpecialTokens) {
  const Tokenizer& tokenizer = v4Tokenizer();
  EXPECT_EQ(tokenizer.decode(Ids{-1, 129280, 2'000'000}), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(tokenizer.bytes(129280), "");
  EXPECT_EQ(tokenizer.decode(Ids{0, 128803, 19923, 1}, true), "<｜User｜>Hello");
  EXPECT_EQ(tokenizer.decode(Ids{0, 19923}), "<｜begin▁of▁sentence｜>Hello");
  EXPECT_TRUE(tokenizer.isSpecial(1));
  EXPECT_FALSE(tokenizer.isSpecial(128821));
  EXPECT_FALSE(v41Tokenizer().isSpecial(128799));
  EXPECT_TRUE(tokenizer.isSpecial(128799));
  EXPECT_EQ(tokenizer.find("</think>"), 128822);
  EXPECT_EQ(tokenizer.find("Hello"), std::nullopt);
}

TEST(TokenizerText, StreamEqualsBatch) {
  std::mt19937 random(2);
  const Tokenizer& tokenizer = v4Tokenizer();
  for (int i = 0; i < 400; ++i) {
    Ids ids = tokenizer.encode("你好👨‍👩‍👧 " + randomText(random, 10) + randomBytes(random, 8), true);
    if (i % 3 == 0) ids.push_back(129280);
    if (i % 2 == 0) std::shuffle(ids.begin(), ids.end(), random);
    for (const bool skipSpecial : {false, true}) {
      StreamingDetokenizer stream(tokenizer, skipSpecial);
      std::string text;
      std::string raw;
      for (const TokenId id : ids) {
        text += stream.push(id);
        if (!(skipSpecial && tokenizer.isSpecial(id)))
          raw += tokenizer.bytes(id).empty() ? "\uFFFD" : tokenizer.bytes(id);
        // Never more than an incomplete character is held: what is out already is all but 3 bytes of the lossy whole.
        std::string whole;
        appendLossy(raw, true, whole);
        ASSERT_EQ(text, whole);
      }
      text += stream.finish();
      ASSERT_EQ(text, tokenizer.decode(ids, skipSpecial));
      ASSERT_EQ(stream.finish(), "");
    }
  }
}

TEST(TokenizerText, LongRunsOfOneKind) {
  // Each of these made some tokenizer quadratic. They end with the test's time limit if they do so here.
  constexpr std::size_t kSize = std::size_t{1} << 20;
  for (const std::string unit : {"a", " ", "\n", "\u200d", "😀\u200d", "!", "1", "中", "\xFF", "\u0301", "<", "  x",
                                 "\U00016D40\xFF", "<｜place▁holder▁no▁", "\x01"}) {
    std::string text;
    while (text.size() < kSize) text += unit;
    const Ids ids = v4Tokenizer().encode(text, true);
    EXPECT_EQ(bytesOf(v4Tokenizer(), ids), text) << unit;
  }
}

TEST(TokenizerText, DemoTokenizerHasItsOwnSmallVocabulary) {
  const Tokenizer& tokenizer = demoTokenizer();
  EXPECT_EQ(tokenizer.vocabSize(), 3072);
  EXPECT_EQ(tokenizer.find("<｜begin▁of▁sentence｜>"), 0);
  ASSERT_TRUE(tokenizer.find("<｜User｜>").has_value());
  const Ids ids = tokenizer.encode("<｜User｜>Hello<｜Assistant｜>", true);
  EXPECT_EQ(ids.front(), *tokenizer.find("<｜User｜>"));
  EXPECT_EQ(ids.back(), *tokenizer.find("<｜Assistant｜>"));
}

}  // namespace
}  // namespace colibri::testing
