#include "text/tokenizer_file.h"

#include "text/added_tokens.h"
#include "text/byte_alphabet.h"
#include "text/tokenizer_sax.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace colibri {
namespace {

// The three Split steps of every released DeepSeek V4 tokenizer. Another pattern would cut text elsewhere, so it is
// refused.
constexpr std::array<std::string_view, 3> kPatterns{
    R"(\p{N}{1,3})",
    "[\xE4\xB8\x80-\xE9\xBE\xA5\xE3\x81\x80-\xE3\x82\x9F\xE3\x82\xA0-\xE3\x83\xBF]+",
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^)"
    "\r\n"
    R"(\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[)"
    "\r\n"
    R"(]*|\s*[)"
    "\r\n"
    R"(]+|\s+(?!\S)|\s+)",
};

Status invalid(const std::string& why) {
  return {Code::kCheckpoint, "tokenizer_invalid", "tokenizer.json cannot be used: " + why + "."};
}

// A member of an object; null when there is none.
const Json& member(const Json& object, const char* name) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(name);
  return found == object.end() ? kNull : *found;
}

std::string text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

bool isOff(const Json& value) {
  return value.is_null() || value == Json(false) || value == Json("") || value == Json(0.0);
}

Status checkPlainMembers(const Json& document) {
  for (const char* name : {"truncation", "padding"}) {
    if (!isOff(member(document, name))) return invalid(std::string(name) + " is set, which Colibri does not do");
  }
  const Json& normalizer = member(document, "normalizer");
  if (!normalizer.is_null() &&
      !(text(member(normalizer, "type")) == "Sequence" && member(normalizer, "normalizers") == Json::array())) {
    return invalid("it has a normalizer, which the DeepSeek V4 tokenizers do not have");
  }
  const Json& postProcessor = member(document, "post_processor");
  if (!postProcessor.is_null() && text(member(postProcessor, "type")) != "ByteLevel") {
    return invalid("its post_processor is not ByteLevel, so it would add tokens of its own");
  }
  if (text(member(member(document, "decoder"), "type")) != "ByteLevel") return invalid("its decoder is not ByteLevel");
  const Json& model = member(document, "model");
  if (text(member(model, "type")) != "BPE") return invalid("its model is not BPE");
  for (const char* name : {"dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
                           "byte_fallback", "ignore_merges"}) {
    if (!isOff(member(model, name)))
      return invalid(std::string("model.") + name + " is set, which Colibri does not do");
  }
  return Status::ok();
}

Result<std::vector<std::string>> readPatterns(const Json& preTokenizer) {
  const Json& steps = member(preTokenizer, "pretokenizers");
  if (text(member(preTokenizer, "type")) != "Sequence" || !steps.is_array() || steps.size() != kPatterns.size() + 1) {
    return invalid(
        "its pre_tokenizer is not the sequence of three Split steps and ByteLevel that the DeepSeek V4 families use");
  }
  std::vector<std::string> patterns;
  for (std::size_t i = 0; i < kPatterns.size(); ++i) {
    const Json& step = steps[i];
    const std::string which = "step " + std::to_string(i + 1) + " of its pre_tokenizer";
    if (text(member(step, "type")) != "Split" || text(member(step, "behavior")) != "Isolated" ||
        !isOff(member(step, "invert"))) {
      return invalid(which + " is not an isolating Split");
    }
    patterns.push_back(text(member(member(step, "pattern"), "Regex")));
    if (patterns.back() != kPatterns[i]) {
      return invalid(which + " has another pattern than the DeepSeek V4 families, so text would be cut elsewhere");
    }
  }
  const Json& last = steps[kPatterns.size()];
  if (text(member(last, "type")) != "ByteLevel" || !isOff(member(last, "add_prefix_space")) ||
      member(last, "use_regex") != Json(false)) {
    return invalid(
        "the last step of its pre_tokenizer is not ByteLevel without a regular expression and a prefix space");
  }
  return patterns;
}

Result<AddedToken> readAddedToken(const Json& entry) {
  const Json& id = member(entry, "id");
  AddedToken token;
  token.text = text(member(entry, "content"));
  if (!id.is_number_integer() || id < 0 || id > TokenizerFile::kMaxId) return invalid("an added token has no valid id");
  token.id = id.get<TokenId>();
  const std::string which = "the added token " + std::to_string(token.id);
  if (token.text.empty() || token.text.size() > AddedTokens::kMaxBytes) {
    return invalid(which + " is empty or longer than " + std::to_string(AddedTokens::kMaxBytes) + " bytes");
  }
  for (const char* name : {"single_word", "lstrip", "rstrip"}) {
    if (!isOff(member(entry, name))) return invalid(which + " sets " + name + ", which Colibri does not do");
  }
  token.special = member(entry, "special") == Json(true);
  token.normalized = member(entry, "normalized") == Json(true);
  return token;
}

// The vocabulary by id, and the index of its strings.
class Vocabulary {
public:
  explicit Vocabulary(const TokenizerSax& sax) : m_sax(&sax), m_index(sax.vocabulary().size()) {}

  Status build(std::vector<std::string>& byId) {
    const auto& entries = m_sax->vocabulary();
    if (entries.empty()) return invalid("model.vocab is missing or empty");
    byId.assign(entries.size(), {});
    for (std::uint32_t row = 0; row < entries.size(); ++row) {
      const std::string_view name = m_sax->view(entries[row].text);
      const auto id = static_cast<std::size_t>(entries[row].id);
      if (name.empty()) return invalid("model.vocab holds an empty token");
      if (id >= byId.size() || !byId[id].empty()) {
        return invalid("the ids of model.vocab are not 0 to " + std::to_string(byId.size() - 1) + ", each once");
      }
      const auto same = [&](std::uint32_t other) { return m_sax->view(entries[other].text) == name; };
      switch (m_index.add(hash(name), row, same)) {
        case IndexTable::Added::kNew:
          break;
        case IndexTable::Added::kPresent:
          return invalid("the token \"" + std::string(name.substr(0, 80)) + "\" stands twice in model.vocab");
        case IndexTable::Added::kCrowded:
          return invalid("model.vocab is made of colliding names");
      }
      byId[id] = name;
    }
    return Status::ok();
  }

  [[nodiscard]] std::optional<TokenId> find(std::string_view name) const {
    const auto& entries = m_sax->vocabulary();
    const auto row =
        m_index.find(hash(name), [&](std::uint32_t other) { return m_sax->view(entries[other].text) == name; });
    if (!row) return std::nullopt;
    return static_cast<TokenId>(entries[*row].id);
  }

private:
  static std::uint64_t hash(std::string_view name) { return mixBits(std::hash<std::string_view>()(name)); }

  const TokenizerSax* m_sax;
  IndexTable m_index;
};

Status readMerges(const TokenizerSax& sax, const Vocabulary& vocabulary, TokenizerFile& file) {
  file.merges.reserve(sax.merges().size());
  std::string joined;
  for (std::size_t rank = 0; rank < sax.merges().size(); ++rank) {
    const auto& [left, right] = sax.merges()[rank];
    joined.assign(sax.view(left)).append(sax.view(right));
    const auto leftId = vocabulary.find(sax.view(left));
    const auto rightId = vocabulary.find(sax.view(right));
    // The released lists are in the order of the vocabulary, which saves the third look-up; any other order is as
    // legal.
    const std::size_t usual = 259 + rank;
    const bool isUsual = usual < file.vocabulary.size() && file.vocabulary[usual] == joined;
    const auto result = isUsual ? static_cast<TokenId>(usual) : vocabulary.find(joined);
    if (!leftId || !rightId || !result) {
      return invalid("merge " + std::to_string(rank) + " names a token that is not in model.vocab");
    }
    file.merges.push_back({*leftId, *rightId, *result});
  }
  return Status::ok();
}

Status readAddedTokens(const Json& list, const Vocabulary& vocabulary, TokenizerFile& file) {
  if (!list.is_null() && !list.is_array()) return invalid("added_tokens is not a list");
  std::set<TokenId> ids;
  std::set<std::string> texts;
  for (const Json& entry : list) {
    COLIBRI_ASSIGN_OR_RETURN(AddedToken token, readAddedToken(entry));
    const auto inVocabulary = vocabulary.find(token.text);
    const bool idTaken = token.id < static_cast<TokenId>(file.vocabulary.size());
    if (!ids.insert(token.id).second || !texts.insert(token.text).second ||
        (inVocabulary && *inVocabulary != token.id) || (idTaken && inVocabulary != token.id)) {
      return invalid("the added token " + std::to_string(token.id) + " collides with another token");
    }
    file.addedTokens.push_back(std::move(token));
  }
  return Status::ok();
}

}  // namespace

Result<TokenizerFile> readTokenizerFile(std::string_view json) {
  if (json.size() > TokenizerFile::kMaxBytes) {
    return invalid("it has " + std::to_string(json.size()) + " bytes, more than the limit of " +
                   std::to_string(TokenizerFile::kMaxBytes));
  }
  TokenizerSax sax;
  if (!Json::sax_parse(json.data(), json.data() + json.size(), &sax)) {
    return invalid(sax.error().empty() ? "it is not valid JSON" : sax.error());
  }
  const Json& document = sax.document();
  COLIBRI_RETURN_IF_ERROR(checkPlainMembers(document));
  TokenizerFile file;
  COLIBRI_ASSIGN_OR_RETURN(file.patterns, readPatterns(member(document, "pre_tokenizer")));
  Vocabulary vocabulary(sax);
  COLIBRI_RETURN_IF_ERROR(vocabulary.build(file.vocabulary));
  for (unsigned byte = 0; byte < 256; ++byte) {
    const auto id = vocabulary.find(byteSymbol(static_cast<unsigned char>(byte)));
    if (!id) return invalid("the token of byte " + std::to_string(byte) + " is missing");
    file.byteIds[byte] = *id;
  }
  COLIBRI_RETURN_IF_ERROR(readMerges(sax, vocabulary, file));
  COLIBRI_RETURN_IF_ERROR(readAddedTokens(member(document, "added_tokens"), vocabulary, file));
  return file;
}

}  // namespace colibri
