#include "text/tokenizer_sax.h"

#include "text/tokenizer_file.h"

#include <utility>

namespace colibri {
namespace {

// Values outside of the two lists; the released files have about 10,000.
constexpr std::size_t kMaxDocumentValues = 1'000'000;

}  // namespace

bool TokenizerSax::fail(std::string why) {
  if (m_error.empty()) m_error = std::move(why);
  return false;
}

TokenizerSax::Text TokenizerSax::keep(std::string_view text) {
  const Text kept{static_cast<std::uint32_t>(m_pool.size()), static_cast<std::uint32_t>(text.size())};
  m_pool.append(text);
  return kept;
}

bool TokenizerSax::isModelMember(std::string_view name) const {
  return m_open.size() == 2 && m_open[1]->is_object() && m_keys[0] == "model" && m_keys[1] == name;
}

Json* TokenizerSax::place(Json value) {
  if (m_open.empty()) {
    m_document = std::move(value);
    return &m_document;
  }
  Json& parent = *m_open.back();
  if (parent.is_array()) {
    parent.push_back(std::move(value));
    return &parent.back();
  }
  return &(parent[m_keys.back()] = std::move(value));
}

bool TokenizerSax::put(Json value) {
  if (m_place != Place::kDocument) {
    return fail(m_place == Place::kVocabulary ? "model.vocab holds something that is not an id"
                                              : "model.merges holds something that is not a pair of tokens");
  }
  if (++m_values > kMaxDocumentValues) return fail("it holds too many values");
  place(std::move(value));
  return true;
}

bool TokenizerSax::enter(Json container) {
  if (m_place != Place::kDocument) return put(nullptr);
  if (m_open.size() >= static_cast<std::size_t>(TokenizerFile::kMaxDepth)) {
    return fail("it is nested deeper than " + std::to_string(TokenizerFile::kMaxDepth) + " levels");
  }
  if (++m_values > kMaxDocumentValues) return fail("it holds too many values");
  m_open.push_back(place(std::move(container)));
  m_keys.emplace_back();
  return true;
}

bool TokenizerSax::leave() {
  m_open.pop_back();
  m_keys.pop_back();
  return true;
}

bool TokenizerSax::number_unsigned(number_unsigned_t value) {
  if (m_place != Place::kVocabulary) return put(value);
  if (value > static_cast<number_unsigned_t>(TokenizerFile::kMaxId))
    return fail("model.vocab holds an id that is too large");
  m_vocabulary.push_back({m_vocabularyKey, static_cast<std::int64_t>(value)});
  return true;
}

bool TokenizerSax::number_float(number_float_t value, const string_t& /*text*/) {
  return put(value);
}

bool TokenizerSax::string(string_t& value) {
  switch (m_place) {
    case Place::kMerges: {
      const std::size_t space = value.find(' ');
      if (space == std::string::npos || space == 0 || space + 1 == value.size() ||
          value.find(' ', space + 1) != std::string::npos) {
        return fail("a merge is not two tokens with one space between them");
      }
      const Text left = keep(std::string_view(value).substr(0, space));
      const Text right = keep(std::string_view(value).substr(space + 1));
      m_merges.emplace_back(left, right);
      return true;
    }
    case Place::kMergePair:
      if (m_pair.size() == 2) return fail("a merge has more than two tokens");
      m_pair.push_back(keep(value));
      return true;
    case Place::kVocabulary:
    case Place::kDocument:
      break;
  }
  return put(std::move(value));
}

bool TokenizerSax::binary(binary_t& /*value*/) {
  return fail("it is not JSON text");
}

bool TokenizerSax::start_object(std::size_t /*elements*/) {
  if (m_place == Place::kDocument && isModelMember("vocab")) {
    m_place = Place::kVocabulary;
    place(Json::object());
    return true;
  }
  return enter(Json::object());
}

bool TokenizerSax::key(string_t& name) {
  if (m_place == Place::kVocabulary) {
    // A key that stands twice is found when the entries are indexed.
    m_vocabularyKey = keep(name);
    return true;
  }
  if (m_open.back()->contains(name)) return fail("the key \"" + name.substr(0, 80) + "\" stands twice in one object");
  m_keys.back() = std::move(name);
  return true;
}

bool TokenizerSax::end_object() {
  if (m_place == Place::kVocabulary) {
    m_place = Place::kDocument;
    return true;
  }
  return leave();
}

bool TokenizerSax::start_array(std::size_t /*elements*/) {
  if (m_place == Place::kDocument && isModelMember("merges")) {
    m_place = Place::kMerges;
    place(Json::array());
    return true;
  }
  if (m_place == Place::kMerges) {
    m_place = Place::kMergePair;
    m_pair.clear();
    return true;
  }
  return enter(Json::array());
}

bool TokenizerSax::end_array() {
  if (m_place == Place::kMergePair) {
    m_place = Place::kMerges;
    if (m_pair.size() != 2) return fail("a merge has fewer than two tokens");
    m_merges.emplace_back(m_pair[0], m_pair[1]);
    return true;
  }
  if (m_place == Place::kMerges) {
    m_place = Place::kDocument;
    return true;
  }
  return leave();
}

bool TokenizerSax::parse_error(std::size_t position, const std::string& /*token*/,
                               const nlohmann::detail::exception& /*e*/) {
  return fail("it is not valid JSON near byte " + std::to_string(position));
}

}  // namespace colibri
