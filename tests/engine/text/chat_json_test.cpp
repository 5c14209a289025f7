// JSON as Python would write it back.

#include "text/chat_json.h"

#include "text_goldens.h"

namespace colibri::testing {
namespace {

std::string redumped(std::string_view text) {
  const auto parsed = ChatJson::parse(text);
  return parsed ? parsed->dump() : "refused";
}

TEST(ChatJson, NumbersAreWrittenAsPythonDoes) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"1e5", "100000.0"},
      {"1e-5", "1e-05"},
      {"1e16", "1e+16"},
      {"1.0", "1.0"},
      {"0.1", "0.1"},
      {"-0.0", "-0.0"},
      {"-0", "0"},
      {"123456789012345678901234567890", "123456789012345678901234567890"},
      {"-99999999999999999999", "-99999999999999999999"},
      {"18446744073709551615", "18446744073709551615"},
      {"9007199254740993", "9007199254740993"},
      {"1.5e300", "1.5e+300"},
      {"123456789.125", "123456789.125"},
      {"0.0001", "0.0001"},
      {"0.00001234", "1.234e-05"},
      {"9999999999999998.0", "9999999999999998.0"},
      {"12345678901234567.0", "1.2345678901234568e+16"},
      {"5e-324", "5e-324"},
      {"100.50", "100.5"},
      {"1E2", "100.0"},
      {"0e7", "0.0"},
      {"1e999", "refused"},
      {"NaN", "refused"},
      {"Infinity", "refused"},
      {"01", "refused"},
      {"+1", "refused"}};
  for (const auto& [text, expected] : cases) EXPECT_EQ(redumped(text), expected) << text;
}

TEST(ChatJson, ObjectsKeepTheirOrderAndRepeatedKeysTheirFirstPlace) {
  EXPECT_EQ(redumped(R"({"a":1,"b":2,"a":3})"), R"({"a": 3, "b": 2})");
  EXPECT_EQ(redumped(R"({"z":[1,{"y":null},true],"a":{},"b":[],"a":"x","z":0})"), R"({"z": 0, "a": "x", "b": []})");
}

TEST(ChatJson, StringsEscapeOnlyWhatTheyMust) {
  EXPECT_EQ(redumped("\"\\u007f\\u2028/\\/é\\u00e9\""), "\"\u007f\u2028//éé\"");
  EXPECT_EQ(redumped(R"("\u001f\u0000\b\f\n\r\t\"\\")"), R"("\u001f\u0000\b\f\n\r\t\"\\")");
  EXPECT_EQ(redumped(R"("\ud83d\ude00")"), "\"😀\"");
  // Lone surrogates, alone and beside good escapes.
  EXPECT_EQ(redumped(R"("\ud800")"), "\"\uFFFD\"");
  EXPECT_EQ(redumped(R"("\ud800\u0041\udc00\\ud800\ud83d\ud83d\ude00")"), "\"\uFFFDA\uFFFD\\\\ud800\uFFFD😀\"");
  EXPECT_EQ(redumped("\"\xFF\""), "refused");
}

TEST(ChatJson, LimitsAreKept) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(ChatJson::parse(nested(ChatJson::kMaxDepth)).isOk());
  EXPECT_FALSE(ChatJson::parse(nested(ChatJson::kMaxDepth + 1)).isOk());
  EXPECT_FALSE(ChatJson::parse(std::string(1'000'000, '[')).isOk());
  std::string many = "[0";
  for (std::size_t i = 0; i < ChatJson::kMaxValues; ++i) many += ",0";
  EXPECT_FALSE(ChatJson::parse(many + "]").isOk());
  for (const char* bad : {"", "{", "[1,]", "{\"a\"}", "1 2", "'a'", "\"\\x\"", "\"\\u12\"", "\\", "\"a\nb\""}) {
    EXPECT_EQ(redumped(bad), "refused") << bad;
  }
}

}  // namespace
}  // namespace colibri::testing
