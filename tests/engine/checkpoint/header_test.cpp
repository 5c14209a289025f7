// Every way in which a safetensors file can be wrong, and the odd ones that are right.
#include "checkpoint/header.h"

#include "checkpoint_files.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace colibri::testing {
namespace {

const Codes kSound;
const Codes kBad = {"bad_header"};
const Codes kCut = {"shard_truncated"};

/// Codes for a header of one object with these entries over `dataBytes` bytes.
Codes object(const std::string& entries, std::size_t dataBytes) {
  return codesOf(shardBytes("{" + entries + "}", dataBytes));
}

TEST(Header, LengthIsCheckedBeforeAnythingIsRead) {
  EXPECT_EQ(codesOf(""), kCut);
  EXPECT_EQ(codesOf("1234567"), kCut);
  EXPECT_EQ(codesOf(littleEndian(0)), kBad);
  EXPECT_EQ(codesOf(littleEndian(1) + "{"), kBad);
  EXPECT_EQ(codesOf(littleEndian(2) + "{}"), kSound);
  for (const std::uint64_t absurd : {~std::uint64_t{0}, std::uint64_t{1} << 63, std::uint64_t{100000001}}) {
    EXPECT_EQ(codesOf(littleEndian(absurd) + "{}"), kBad) << absurd;
  }
  EXPECT_EQ(codesOf(littleEndian(3) + "{}"), kCut);
  EXPECT_EQ(codesOf(littleEndian(1000) + "{}"), kCut);
  EXPECT_EQ(codesOf(littleEndian(5) + "{\"a\":"), kBad);  // cuts the JSON
  EXPECT_EQ(codesOf(littleEndian(4) + "{}xx"), kBad);     // takes in data
}

TEST(Header, DefaultLimitAppliesBelowTheHardOne) {
  const std::string header = "{" + std::string(4094, ' ') + "}";
  const TempFolder folder;
  writeFile(folder.path() / "x.safetensors", shardBytes(header, 0));
  HeaderLimits limits;
  limits.maxHeaderBytes = 4000;
  Codes codes;
  readShardHeader(
      folder.path() / "x.safetensors", "x", [&](const Finding& f) { codes.push_back(f.code); }, limits);
  EXPECT_EQ(codes, kBad);
  EXPECT_EQ(codesOf(shardBytes(header, 0)), kSound);
}

TEST(Header, TextAroundTheObject) {
  EXPECT_EQ(codesOf(shardBytes(" \t\r\n{} \n", 0)), kSound);
  for (const std::string& wrong :
       {std::string("{}\0", 3), std::string("\xEF\xBB\xBF{}"), std::string("{\0}\0", 4), std::string("[]"),
        std::string("12"), std::string("\"a\""), std::string("null"), std::string("{}{}"), std::string("{\"\xFF\":1}"),
        std::string("{,}"), std::string("// x\n{}")}) {
    EXPECT_EQ(codesOf(shardBytes(wrong, 0)), kBad) << wrong;
  }
}

TEST(Header, DuplicatesAreFoundAfterUnescaping) {
  const std::string a = entry("a", "U8", "[1]", 0, 1);
  EXPECT_EQ(object(a + "," + entry("b", "U8", "[1]", 1, 2), 2), kSound);
  EXPECT_EQ(object(a + "," + entry("a", "U8", "[1]", 1, 2), 2), kBad);
  EXPECT_EQ(object(a + "," + entry("\\u0061", "U8", "[1]", 1, 2), 2), kBad);
  EXPECT_EQ(object(R"("a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]})", 1), kBad);
  EXPECT_EQ(object(R"("a":{"dtype":"U8","shape":[1],"shape":[1],"data_offsets":[0,1]})", 1), kBad);
  EXPECT_EQ(object(R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"data_\u006fffsets":[0,1]})", 1), kBad);
  EXPECT_EQ(object(R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"x":1,"x":2})", 1), kBad);
  EXPECT_EQ(object(R"("__metadata__":{},"__metadata__":{})", 0), kBad);
  EXPECT_EQ(object(R"("__metadata__":{"k":"1","\u006b":"2"})", 0), kBad);
}

TEST(Header, MetadataAndEntries) {
  EXPECT_EQ(object(R"("__metadata__":{"format":"pt"})", 0), kSound);
  EXPECT_EQ(object(R"("__metadata__":{})", 0), kSound);
  for (const char* value : {"1", "null", "{}", "[\"a\"]"}) {
    EXPECT_EQ(object(std::string(R"("__metadata__":{"k":)") + value + "}", 0), kBad) << value;
  }
  EXPECT_EQ(object(R"("__metadata__":null)", 0), kBad);
  EXPECT_EQ(object(R"("__metadata__":{"k":")" + std::string(1100000, 'x') + "\"}", 0), kBad);
  EXPECT_EQ(object(R"("a":1)", 0), kBad);
  EXPECT_EQ(object(R"("a":{"shape":[1],"data_offsets":[0,1]})", 1), kBad);
  EXPECT_EQ(object(R"("a":{"dtype":"U8","data_offsets":[0,1]})", 1), kBad);
  EXPECT_EQ(object(R"("a":{"dtype":"U8","shape":[1]})", 1), kBad);
  EXPECT_EQ(object(R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"extra":{"deep":[1]}})", 1), kSound);
  EXPECT_EQ(object(R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"extra":[[[1]]]})", 1), kBad);
  EXPECT_EQ(
      object(R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"extra":")" + std::string(5000, 'x') + "\"}", 1),
      kBad);
}

TEST(Header, OffsetsArePlainIntegers) {
  const auto with = [](const std::string& offsets) {
    return object(R"("a":{"dtype":"U8","shape":[1],"data_offsets":)" + offsets + "}", 1);
  };
  EXPECT_EQ(with("[0,1]"), kSound);
  EXPECT_EQ(with(" [ 0 , 1 ] "), kSound);
  for (const char* wrong : {"[-0,1]", "[0,-1]", "[0.0,1]", "[0,1.0]", "[0,1e0]", "[0,1E3]", "[\"0\",1]", "[0,1,2]",
                            "[0]", "[]", "[0,01]", "[+0,1]", "[0,18446744073709551617]", "[0,9223372036854775808]",
                            "[0,null]", "null", "[0,1", "[0,0x1]", "[0,1,]"}) {
    EXPECT_EQ(with(wrong), kBad) << wrong;
  }
}

TEST(Header, ShapesArePlainIntegers) {
  const auto with = [](const std::string& shape) {
    return object(R"("a":{"dtype":"U8","shape":)" + shape + R"(,"data_offsets":[0,1]})", 1);
  };
  EXPECT_EQ(with("[]"), kSound);  // rank 0: one element
  EXPECT_EQ(with("[1,1,1,1,1,1,1,1]"), kSound);
  std::string rank1000 = "[1";
  for (int i = 1; i < 1000; ++i) rank1000 += ",1";
  for (const std::string& wrong :
       {std::string("[-1]"), std::string("[1.0]"), std::string("[[1]]"), std::string("\"1\""), rank1000 + "]",
        std::string("[1,1,1,1,1,1,1,1,1]"), std::string("[2]"), std::string("[0]"), std::string("{}")}) {
    EXPECT_EQ(with(wrong), kBad) << wrong.substr(0, 40);
  }
}

TEST(Header, BombsAreRefused) {
  EXPECT_EQ(codesOf(shardBytes(std::string(1000000, '['), 0)), kBad);
  EXPECT_EQ(object(R"("a":{"dtype":)" + std::string(1000000, '['), 0), kBad);
  EXPECT_EQ(object(R"("a":{"x":)" + std::string(1000000, '{'), 0), kBad);
  EXPECT_EQ(object(entry(std::string(513, 'n'), "U8", "[1]", 0, 1), 1), kBad);
  EXPECT_EQ(object(entry(std::string(512, 'n'), "U8", "[1]", 0, 1), 1), kSound);
  EXPECT_EQ(object(entry(std::string(20000000, 'n'), "U8", "[1]", 0, 1), 1), kBad);
  EXPECT_EQ(codesOf(littleEndian(33554433) + std::string(33554433, ' ')), kBad);  // white space above the default limit
}

TEST(Header, Names) {
  for (const char* wrong :
       {"", "a\\u0000b", "\\ud800", "\\udc00", "\\ud800\\u0041", "a\\n", "a\\x", "\\u00g0", "\\u001b[2J"}) {
    EXPECT_EQ(object(entry(wrong, "U8", "[1]", 0, 1), 1), kBad) << wrong;
  }
  for (const char* right : {"a/b", "a b", "\xC3\xA9", "\\u00e9", "\\ud83d\\ude00", "..", "\\\\", "\\/"}) {
    EXPECT_EQ(object(entry(right, "U8", "[1]", 0, 1), 1), kSound) << right;
  }
  EXPECT_EQ(object(entry("\xC3", "U8", "[1]", 0, 1), 1), kBad);
  EXPECT_EQ(object(entry("\xED\xA0\x80", "U8", "[1]", 0, 1), 1), kBad);  // surrogate
  EXPECT_EQ(object(entry("\xC0\x80", "U8", "[1]", 0, 1), 1), kBad);      // overlong
  EXPECT_EQ(object(entry("a\nb", "U8", "[1]", 0, 1), 1), kBad);          // raw control character
}

TEST(Header, Dtypes) {
  const struct {
    const char* name;
    int bits;
  } all[] = {{"BOOL", 8},    {"U8", 8},      {"I8", 8},      {"F4", 4},          {"F6_E2M3", 6},     {"F6_E3M2", 6},
             {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
             {"U16", 16},    {"F16", 16},    {"BF16", 16},   {"I32", 32},        {"U32", 32},        {"F32", 32},
             {"C64", 64},    {"F64", 64},    {"I64", 64},    {"U64", 64}};
  for (const auto& dtype : all) {
    const auto bytes = static_cast<std::uint64_t>(dtype.bits);  // eight elements
    EXPECT_EQ(object(entry("a", dtype.name, "[8]", 0, bytes), bytes), kSound) << dtype.name;
  }
  EXPECT_EQ(object(entry("a", "F4", "[3]", 0, 1), 1), kBad);
  EXPECT_EQ(object(entry("a", "bf16", "[1]", 0, 2), 2), kBad);
  std::vector<std::string> messages;
  codesOf(shardBytes("{" + entry("layer.weight", "F3_NEW", "[1]", 0, 1) + "}", 1), &messages);
  ASSERT_EQ(messages.size(), 1U);
  for (const char* part : {"F3_NEW", "layer.weight", "model.safetensors", "newer"}) {
    EXPECT_NE(messages[0].find(part), std::string::npos) << messages[0];
  }
}

TEST(Header, Tiling) {
  const std::string a = entry("a", "U8", "[4]", 0, 4);
  EXPECT_EQ(object(a, 4), kSound);
  EXPECT_EQ(object(entry("b", "U8", "[4]", 4, 8) + "," + a, 8), kSound);  // order in the text is free
  EXPECT_EQ(object(a + "," + entry("z", "F32", "[0]", 4, 4) + "," + entry("b", "U8", "[2]", 4, 6), 6), kSound);
  EXPECT_EQ(object(entry("a", "U8", "[4]", 1, 5), 5), kBad);            // first begin
  EXPECT_EQ(object(a + "," + entry("b", "U8", "[4]", 5, 9), 9), kBad);  // hole
  EXPECT_EQ(object(a + "," + entry("b", "U8", "[4]", 3, 7), 7), Codes{"tensor_overlap"});
  EXPECT_EQ(object(a + "," + entry("b", "U8", "[4]", 0, 4), 4), Codes{"tensor_overlap"});  // shared range
  EXPECT_EQ(object(R"("a":{"dtype":"U8","shape":[0],"data_offsets":[4,0]})", 4), kBad);    // end < begin
  EXPECT_EQ(object(entry("a", "U8", "[4]", 0, 0), 4), kBad);
  EXPECT_EQ(object(entry("a", "U8", "[5]", 0, 4), 4), kBad);
  EXPECT_EQ(object(entry("a", "U8", "[3]", 0, 4), 4), kBad);
  EXPECT_EQ(object(a + "," + entry("b", "U8", "[4]", 100, 104), 8), Codes{"tensor_out_of_bounds"});
  EXPECT_EQ(object(a, 3), kCut);
  EXPECT_EQ(object(a, 0), kCut);
  EXPECT_EQ(object(a, 5), Codes{"shard_too_long"});
  EXPECT_EQ(object("", 1), Codes{"shard_too_long"});
}

TEST(Header, SizesThatOverflow) {
  EXPECT_EQ(object(entry("a", "U8", "[4294967296,4294967296]", 0, 0), 0), kBad);
  EXPECT_EQ(object(entry("a", "U8", "[4611686018427387904,4,0]", 0, 0), 0), kBad);
  EXPECT_EQ(object(entry("a", "F64", "[1152921504606846976]", 0, 0), 0), kBad);
  EXPECT_EQ(object(entry("a", "U8", "[9223372036854775808]", 0, 0), 0), kBad);
  EXPECT_EQ(object(entry("a", "U8", "[4096,0]", 0, 0), 0), kSound);
}

TEST(Header, ManyTensorsOnOneRangeAreRefusedQuickly) {
  std::string entries;
  for (int i = 0; i < 100000; ++i) {
    if (i > 0) entries += ',';
    entries += entry("t" + std::to_string(i), "F32", "[2,2]", 0, 16);
  }
  const Codes codes = object(entries, 16);
  ASSERT_FALSE(codes.empty());
  EXPECT_LE(codes.size(), 10U);  // named, but not a hundred thousand times
  EXPECT_EQ(codes.front(), "tensor_overlap");
}

TEST(Header, TooManyTensorsAreRefused) {
  HeaderLimits limits;
  limits.maxTensors = 2;
  const auto three = "{" + entry("a", "U8", "[0]", 0, 0) + "," + entry("b", "U8", "[0]", 0, 0) + "," +
                     entry("c", "U8", "[0]", 0, 0) + "}";
  EXPECT_TRUE(parseHeader(three, "x"));
  EXPECT_EQ(parseHeader(three, "x", limits).status().id(), "bad_header");
}

TEST(Header, ImpostorsAreNamed) {
  const struct {
    const char* start;
    const char* word;
  } impostors[] = {{"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git-lfs"},
                   {"<!DOCTYPE html><html>", "web page"},
                   {"<html lang=en>", "web page"},
                   {"{\"error\":\"Access denied\"}", "error message"},
                   {"PK\x03\x04 rest of it", "zip"},
                   {"GGUF rest of the file", "GGUF"}};
  for (const auto& impostor : impostors) {
    std::vector<std::string> messages;
    EXPECT_EQ(codesOf(impostor.start, &messages), kBad);
    EXPECT_NE(messages.at(0).find(impostor.word), std::string::npos) << messages[0];
  }
  std::vector<std::string> messages;
  EXPECT_EQ(codesOf(std::string(4096, '\0'), &messages), kBad);
  EXPECT_NE(messages.at(0).find("not been finished"), std::string::npos);
}

TEST(Header, MessagesNameBothNumbersAndNeverSendControlCharacters) {
  std::vector<std::string> messages;
  codesOf(shardBytes("{" + entry("some.tensor", "U8", "[10]", 0, 7) + "}", 7), &messages);
  for (const char* part : {"model.safetensors", "some.tensor", "10 bytes", "give 7"}) {
    EXPECT_NE(messages.at(0).find(part), std::string::npos) << messages[0];
  }
  messages.clear();
  codesOf(shardBytes("{" + entry("x", "\\u001b[31mred\\u009b", "[1]", 0, 1) + "}", 1), &messages);
  EXPECT_EQ(messages.at(0).find('\x1b'), std::string::npos);
  EXPECT_EQ(messages.at(0).find("\xC2\x9B"), std::string::npos);
}

TEST(Header, OffsetsAreAbsoluteAndOddStartsAreFine) {
  const std::string header = "{" + entry("b", "U8", "[3]", 1, 4) + "," + entry("a", "U8", "[1]", 0, 1) + "}";
  const TempFolder folder;
  writeFile(folder.path() / "x.safetensors", shardBytes(header, 4));
  const ShardHeader read =
      readShardHeader(folder.path() / "x.safetensors", "x", [](const Finding& f) { ADD_FAILURE() << f.message; });
  ASSERT_TRUE(read.parsed);
  ASSERT_EQ(read.tensors.size(), 2U);
  EXPECT_EQ(read.headerBytes, 8 + header.size());
  EXPECT_EQ(read.tensors[0].name, "a");
  EXPECT_EQ(read.tensors[1].offset, 8 + header.size() + 1);
  EXPECT_EQ(read.tensors[1].bytes, 3U);
}

}  // namespace
}  // namespace colibri::testing
