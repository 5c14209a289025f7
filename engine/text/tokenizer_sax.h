#pragma once
// One pass over tokenizer.json: the two big lists (model.vocab, model.merges) go straight into flat memory, the rest
// becomes a small document.

#include "base/json.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace colibri {

/// SAX handler for nlohmann::json::sax_parse. After a parse that returned false, `error()` says why.
class TokenizerSax : public nlohmann::json_sax<Json> {
public:
  /// A stretch of `pool`.
  struct Text {
    std::uint32_t offset = 0;
    std::uint32_t length = 0;
  };
  struct VocabularyEntry {
    Text text;
    std::int64_t id = 0;
  };

  [[nodiscard]] std::string_view view(Text text) const {
    return std::string_view(m_pool).substr(text.offset, text.length);
  }
  [[nodiscard]] const std::vector<VocabularyEntry>& vocabulary() const { return m_vocabulary; }
  /// Left and right of each merge.
  [[nodiscard]] const std::vector<std::pair<Text, Text>>& merges() const { return m_merges; }
  /// The file without the two lists.
  [[nodiscard]] const Json& document() const { return m_document; }
  [[nodiscard]] const std::string& error() const { return m_error; }

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override;
  bool number_float(number_float_t value, const string_t& text) override;
  bool string(string_t& value) override;
  bool binary(binary_t& value) override;
  bool start_object(std::size_t elements) override;
  bool key(string_t& name) override;
  bool end_object() override;
  bool start_array(std::size_t elements) override;
  bool end_array() override;
  bool parse_error(std::size_t position, const std::string& token, const nlohmann::detail::exception& e) override;

private:
  enum class Place : std::uint8_t { kDocument, kVocabulary, kMerges, kMergePair };

  bool put(Json value);
  Json* place(Json value);
  bool enter(Json container);
  bool leave();
  bool fail(std::string why);
  Text keep(std::string_view text);
  /// Whether the value that starts now is `model`.`name`.
  [[nodiscard]] bool isModelMember(std::string_view name) const;

  std::string m_pool;
  std::vector<VocabularyEntry> m_vocabulary;
  std::vector<std::pair<Text, Text>> m_merges;
  std::vector<Text> m_pair;
  Json m_document;
  std::vector<Json*> m_open;
  std::vector<std::string> m_keys;  ///< pending or current key at each open object
  Place m_place = Place::kDocument;
  std::size_t m_values = 0;
  Text m_vocabularyKey;
  std::string m_error;
};

}  // namespace colibri
