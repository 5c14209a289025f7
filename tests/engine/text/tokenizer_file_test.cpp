// tokenizer.json from strangers: what is refused, and that the order of the vocabulary does not matter.

#include "text_goldens.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

namespace colibri::testing {
namespace {

using Json = nlohmann::json;
using Edit = std::function<void(Json&)>;

// The demo's file with merges cut to the first few, small enough to edit often.
const Json& smallFile() {
  static const Json file = [] {
    Json json =
        Json::parse(readWholeFile(std::filesystem::path(COLIBRI_RESOURCE_DIR) / "demo-model" / "tokenizer.json"));
    constexpr int kMerges = 100;
    Json& model = json["model"];
    for (auto it = model["vocab"].begin(); it != model["vocab"].end();) {
      it = it.value().get<int>() >= 259 + kMerges ? model["vocab"].erase(it) : std::next(it);
    }
    while (model["merges"].size() > kMerges) model["merges"].erase(model["merges"].size() - 1);
    return json;
  }();
  return file;
}

Status parseEdited(const Edit& edit) {
  Json json = smallFile();
  edit(json);
  return Tokenizer::parse(json.dump()).status();
}

TEST(TokenizerFile, TheSmallFileItselfIsFine) {
  EXPECT_TRUE(parseEdited([](Json&) {}).isOk()) << parseEdited([](Json&) {}).message();
}

TEST(TokenizerFile, WhatCannotBeDoneExactlyIsRefusedInWords) {
  const std::map<std::string, Edit> edits{
      {"model is not BPE", [](Json& j) { j["model"]["type"] = "Unigram"; }},
      {"no model", [](Json& j) { j.erase("model"); }},
      {"no vocabulary", [](Json& j) { j["model"].erase("vocab"); }},
      {"vocabulary is a list",
       [](Json& j) {
         j["model"]["vocab"] = Json::array({1, 2});
       }},
      {"negative id", [](Json& j) { j["model"]["vocab"]["!"] = -3; }},
      {"huge id", [](Json& j) { j["model"]["vocab"]["!"] = 1'000'000'000'000; }},
      {"id is text", [](Json& j) { j["model"]["vocab"]["!"] = "3"; }},
      {"id twice", [](Json& j) { j["model"]["vocab"]["!"] = 4; }},
      {"hole in the ids", [](Json& j) { j["model"]["vocab"]["!"] = 360; }},
      {"byte missing",
       [](Json& j) {
         j["model"]["vocab"].erase("!");
         j["model"]["vocab"]["nothing"] = 3;
       }},
      {"nested vocabulary",
       [](Json& j) {
         j["model"]["vocab"]["!"] = Json::object({{"a", 1}});
       }},
      {"merge of one", [](Json& j) { j["model"]["merges"][0] = "ab"; }},
      {"merge of three", [](Json& j) { j["model"]["merges"][0] = "a b c"; }},
      {"merge of unknown", [](Json& j) { j["model"]["merges"][0] = "zzzz qqqq"; }},
      {"merge twice", [](Json& j) { j["model"]["merges"][1] = j["model"]["merges"][0]; }},
      {"merge is a number", [](Json& j) { j["model"]["merges"][0] = 5; }},
      {"pair of three",
       [](Json& j) {
         j["model"]["merges"][0] = Json::array({"a", "b", "c"});
       }},
      {"dropout", [](Json& j) { j["model"]["dropout"] = 0.1; }},
      {"ignore_merges", [](Json& j) { j["model"]["ignore_merges"] = true; }},
      {"byte_fallback", [](Json& j) { j["model"]["byte_fallback"] = true; }},
      {"normalizer",
       [](Json& j) {
         j["normalizer"] = {{"type", "NFC"}};
       }},
      {"post processor",
       [](Json& j) {
         j["post_processor"] = {{"type", "TemplateProcessing"}};
       }},
      {"decoder",
       [](Json& j) {
         j["decoder"] = {{"type", "WordPiece"}};
       }},
      {"truncation",
       [](Json& j) {
         j["truncation"] = {{"max_length", 5}};
       }},
      {"pattern", [](Json& j) { j["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = R"(\p{N}{1,4})"; }},
      {"behaviour", [](Json& j) { j["pre_tokenizer"]["pretokenizers"][1]["behavior"] = "Removed"; }},
      {"inverted", [](Json& j) { j["pre_tokenizer"]["pretokenizers"][1]["invert"] = true; }},
      {"a step less", [](Json& j) { j["pre_tokenizer"]["pretokenizers"].erase(1); }},
      {"prefix space", [](Json& j) { j["pre_tokenizer"]["pretokenizers"][3]["add_prefix_space"] = true; }},
      {"own regex", [](Json& j) { j["pre_tokenizer"]["pretokenizers"][3]["use_regex"] = true; }},
      {"added id twice", [](Json& j) { j["added_tokens"][1]["id"] = j["added_tokens"][0]["id"]; }},
      {"added text twice", [](Json& j) { j["added_tokens"][4]["content"] = j["added_tokens"][3]["content"]; }},
      {"added id of another", [](Json& j) { j["added_tokens"][3]["id"] = 70; }},
      {"added id huge", [](Json& j) { j["added_tokens"][3]["id"] = 2'000'000'000; }},
      {"added empty", [](Json& j) { j["added_tokens"][3]["content"] = ""; }},
      {"added long", [](Json& j) { j["added_tokens"][3]["content"] = std::string(300, 'x'); }},
      {"lstrip", [](Json& j) { j["added_tokens"][3]["lstrip"] = true; }},
      {"added is an object", [](Json& j) { j["added_tokens"] = Json::object(); }},
  };
  for (const auto& [name, edit] : edits) {
    const Status status = parseEdited(edit);
    EXPECT_EQ(status.code(), Code::kCheckpoint) << name;
    EXPECT_EQ(status.id(), "tokenizer_invalid") << name;
    EXPECT_GT(status.message().size(), 30U) << name;
  }
}

TEST(TokenizerFile, DamagedTextIsRefused) {
  const std::string good = smallFile().dump();
  ASSERT_TRUE(Tokenizer::parse(good).isOk());
  for (std::size_t length = 0; length < good.size(); length += 97) {
    EXPECT_EQ(Tokenizer::parse(std::string_view(good).substr(0, length)).status().id(), "tokenizer_invalid") << length;
  }
  const std::vector<std::string> bad{"null",
                                     "[]",
                                     "{}",
                                     "{\"model\":{}}",
                                     good + "x",
                                     std::string(200'000, '['),
                                     "{\"a\":" + std::string(70, '[') + std::string(70, ']') + "}"};
  for (const std::string& text : bad) EXPECT_EQ(Tokenizer::parse(text).status().id(), "tokenizer_invalid");
  // A key twice, in the vocabulary and elsewhere.
  std::string twice = good;
  const std::size_t vocabulary = twice.find("\"vocab\":{") + 9;
  EXPECT_EQ(Tokenizer::parse(twice.insert(vocabulary, "\"!\":3,")).status().id(), "tokenizer_invalid");
  EXPECT_NE(Tokenizer::parse("{\"model\":{},\"model\":{}}").status().message().find("twice"), std::string::npos);
  // Millions of values outside of the lists.
  std::string many = "{\"x\":[";
  for (int i = 0; i < 1'100'000; ++i) many += "0,";
  EXPECT_NE(Tokenizer::parse(many + "0]}").status().message().find("too many"), std::string::npos);
}

TEST(TokenizerFile, MissingFileHasItsOwnId) {
  EXPECT_EQ(Tokenizer::load(goldenPath("tokenizer")).status().id(), "tokenizer_missing");
  EXPECT_TRUE(Tokenizer::load(goldenPath("tokenizer/deepseek-v4.1")).isOk());
}

TEST(TokenizerFile, MergesAsPairsMeanTheSame) {
  Json json = smallFile();
  for (Json& merge : json["model"]["merges"]) {
    const auto text = merge.get<std::string>();
    const std::size_t space = text.find(' ');
    merge = Json::array({text.substr(0, space), text.substr(space + 1)});
  }
  const auto pairs = Tokenizer::parse(json.dump());
  const auto strings = Tokenizer::parse(smallFile().dump());
  ASSERT_TRUE(pairs.isOk()) << pairs.status().message();
  const std::string text = "The cat and the other thing are there, then that.";
  EXPECT_EQ((*pairs)->encode(text, true), (*strings)->encode(text, true));
}

TEST(TokenizerFile, RanksComeFromTheListNotFromTheIds) {
  // The same vocabulary under other ids: each id of the result is the renamed one.
  Json json = smallFile();
  const auto size = static_cast<int>(json["model"]["vocab"].size());
  std::vector<int> renamed(static_cast<std::size_t>(size));
  std::iota(renamed.begin(), renamed.end(), 0);
  std::mt19937 random(3);
  std::shuffle(renamed.begin() + 3, renamed.end(), random);
  for (auto& [name, id] : json["model"]["vocab"].items()) id = renamed[id.get<std::size_t>()];
  const auto shuffled = Tokenizer::parse(json.dump());
  const auto usual = Tokenizer::parse(smallFile().dump());
  ASSERT_TRUE(shuffled.isOk()) << shuffled.status().message();
  const std::string text = "The cat and the other thing are there, then that. <think>in on at</think>";
  auto expected = (*usual)->encode(text, true);
  for (TokenId& id : expected) {
    if (id < size) id = renamed[static_cast<std::size_t>(id)];
  }
  EXPECT_EQ((*shuffled)->encode(text, true), expected);
}

TEST(TokenizerFile, HeapEqualsTheDefinition) {
  // Merging by the book: find the lowest rank, leftmost, apply, start again.
  const Json& json = smallFile();
  std::map<std::pair<std::string, std::string>, std::size_t> ranks;
  for (std::size_t rank = 0; rank < json["model"]["merges"].size(); ++rank) {
    const auto text = json["model"]["merges"][rank].get<std::string>();
    const std::size_t space = text.find(' ');
    ranks[{text.substr(0, space), text.substr(space + 1)}] = rank;
  }
  const auto tokenizer = Tokenizer::parse(json.dump());
  ASSERT_TRUE(tokenizer.isOk());
  std::mt19937 random(4);
  for (int i = 0; i < 500; ++i) {
    std::vector<std::string> symbols;
    std::string piece;
    for (std::size_t k = 0; k < 2 + random() % 40; ++k) {
      piece += "theinaorsd"[random() % 10];
      symbols.emplace_back(1, piece.back());
    }
    for (;;) {
      std::size_t best = symbols.size();
      std::size_t bestRank = ranks.size();
      for (std::size_t k = 0; k + 1 < symbols.size(); ++k) {
        const auto found = ranks.find({symbols[k], symbols[k + 1]});
        if (found != ranks.end() && found->second < bestRank) {
          bestRank = found->second;
          best = k;
        }
      }
      if (best == symbols.size()) break;
      symbols[best] += symbols[best + 1];
      symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    }
    std::vector<TokenId> expected;
    for (const std::string& symbol : symbols) expected.push_back(json["model"]["vocab"][symbol].get<TokenId>());
    ASSERT_EQ((*tokenizer)->encode(piece, false), expected) << piece;
  }
}

}  // namespace
}  // namespace colibri::testing
