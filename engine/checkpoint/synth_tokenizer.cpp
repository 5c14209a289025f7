#include "base/json.h"
#include "checkpoint/synth_presets.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace colibri {
namespace {

// Tokens that the chat format writes; a synthetic model has no use for the release's other placeholders.
constexpr std::array<std::string_view, 10> kChatTokens = {
    "<｜User｜>",      "<｜Assistant｜>", "<think>",         "</think>",      "｜DSML｜", "<｜latest_reminder｜>",
    "<｜begin▁sys｜>", "<｜end▁sys｜>",   kSynthSystemToken, kSynthImageToken};

constexpr std::array<std::string_view, 3> kSpecials = {"<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>",
                                                       "<｜▁pad▁｜>"};

constexpr std::array<std::string_view, 3> kSplits = {
    R"(\p{N}{1,3})", "[一-龥぀-ゟ゠-ヿ]+",
    // The released file has a real carriage return and line feed in its classes, not their escapes.
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^)"
    "\r\n"
    R"(\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[)"
    "\r\n"
    R"(]*|\s*[)"
    "\r\n"
    R"(]+|\s+(?!\S)|\s+)"};

std::string utf8(unsigned point) {
  if (point < 0x80) return std::string(1, static_cast<char>(point));
  std::string out(1, static_cast<char>(0xC0 | point >> 6));
  out.push_back(static_cast<char>(0x80 | (point & 63)));
  return out;
}

// The byte-level map of GPT-2: printable Latin-1 bytes stand for themselves, the others for U+0100 upward.
std::array<std::string, 256> byteAlphabet() {
  std::array<std::string, 256> letters;
  unsigned next = 256;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const bool plain = (byte >= 0x21 && byte < 0x7F) || (byte >= 0xA1 && byte < 0xAD) || byte >= 0xAE;
    letters[byte] = utf8(plain ? byte : next++);
  }
  return letters;
}

// A reader looks for each added token in every text, so a large vocabulary is filled with words that no merge makes.
int fillerWords(int vocabSize) {
  constexpr int kMostPlaceholders = 4000;
  return std::max(0, vocabSize - kMostPlaceholders - static_cast<int>(kSpecials.size() + 256 + kChatTokens.size()));
}

// Five letters, another word for each number below 26^5.
std::string fillerWord(int number) {
  std::string word(5, 'a');
  for (auto letter = word.rbegin(); letter != word.rend(); ++letter, number /= 26)
    *letter = static_cast<char>('a' + number % 26);
  return word;
}

}  // namespace

int synthTokenId(std::string_view chatToken, int vocabSize) {
  const auto* const at = std::find(kChatTokens.begin(), kChatTokens.end(), chatToken);
  return at == kChatTokens.end() ? 0
                                 : static_cast<int>(kSpecials.size() + 256) + fillerWords(vocabSize) +
                                       static_cast<int>(at - kChatTokens.begin());
}

OrderedJson synthTokenizerJson(int vocabSize) {
  OrderedJson vocab = OrderedJson::object();
  OrderedJson added = OrderedJson::array();
  int next = 0;
  const auto add = [&](std::string_view content, bool special) {
    added.push_back({{"id", next++},
                     {"content", content},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", special}});
  };
  for (const std::string_view special : kSpecials) {
    vocab[std::string(special)] = next;
    add(special, true);
  }
  for (const std::string& letter : byteAlphabet()) vocab[letter] = next++;
  // At the end of the list: looking each word up among the others first takes minutes.
  auto& words = vocab.get_ref<OrderedJson::object_t&>();
  for (int i = 0; i < fillerWords(vocabSize); ++i) words.emplace_back(fillerWord(i), next++);
  for (const std::string_view token : kChatTokens) add(token, false);
  const int fillers = vocabSize - next;
  for (int i = 0; i < fillers; ++i) add("<｜place▁holder▁no▁" + std::to_string(i) + "｜>", true);

  OrderedJson splits = OrderedJson::array();
  for (const std::string_view pattern : kSplits) {
    splits.push_back(
        {{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}});
  }
  splits.push_back({{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", false}});
  const OrderedJson level = {
      {"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}, {"use_regex", true}};
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", added},
          {"normalizer", {{"type", "Sequence"}, {"normalizers", OrderedJson::array()}}},
          {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", splits}}},
          {"post_processor", level},
          {"decoder", level},
          {"model",
           {{"type", "BPE"},
            {"dropout", nullptr},
            {"unk_token", nullptr},
            {"continuing_subword_prefix", nullptr},
            {"end_of_word_suffix", nullptr},
            {"fuse_unk", false},
            {"byte_fallback", false},
            {"vocab", vocab},
            {"merges", OrderedJson::array()}}}};
}

}  // namespace colibri
