#include "text/token_classes.h"

#include "text/byte_alphabet.h"
#include "text/utf8.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace colibri {
namespace {

/// A text that is nothing but white space is this while texts are stripped.
constexpr char32_t kLoneSpace = 0xE000;

bool isFoldedSpace(char32_t c) {
  return c == U' ' || c == U'\t' || c == U'\r' || c == U'\n';
}

/// Unicode's White_Space property.
bool isWhiteSpace(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

class Normaliser {
public:
  /// The chain of the released code on valid UTF-8: NFKC, NFD, no marks, lower case, white space. False when the text
  /// cannot be decomposed (it would be absurdly long).
  bool normalise(std::string_view text, std::string& out) {
    if (!decompose(text)) return false;
    for (std::size_t i = 0; i < m_size; ++i) m_points[i] = utf8proc_tolower(m_points[i]);
    foldSpaces();
    std::size_t begin = 0;
    if (m_size == 1 && at(0) == U' ') {
      m_points[0] = static_cast<utf8proc_int32_t>(kLoneSpace);
    } else {
      while (begin < m_size && isWhiteSpace(at(begin))) ++begin;
      while (m_size > begin && isWhiteSpace(at(m_size - 1))) --m_size;
    }
    out.clear();
    for (std::size_t i = begin; i < m_size; ++i) appendUtf8(at(i) == kLoneSpace ? U' ' : at(i), out);
    return true;
  }

private:
  [[nodiscard]] char32_t at(std::size_t i) const { return static_cast<char32_t>(m_points[i]); }

  // NFD after NFKC is NFKD: composing and decomposing again by canonical rules changes nothing that is decomposed.
  bool decompose(std::string_view text) {
    constexpr auto kOptions = static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | UTF8PROC_STRIPMARK);
    const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
    const auto length = static_cast<utf8proc_ssize_t>(text.size());
    utf8proc_ssize_t size = 0;
    while (true) {
      const auto room = static_cast<utf8proc_ssize_t>(m_points.size());
      size = utf8proc_decompose(bytes, length, m_points.data(), room, kOptions);
      if (size <= room) break;
      m_points.resize(static_cast<std::size_t>(size));
    }
    m_size = size < 0 ? 0 : static_cast<std::size_t>(size);
    return size >= 0;
  }

  // Each run becomes one space.
  void foldSpaces() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < m_size; ++i) {
      const bool isSpace = isFoldedSpace(at(i));
      if (isSpace && kept > 0 && at(kept - 1) == U' ') continue;
      m_points[kept++] = isSpace ? U' ' : m_points[i];
    }
    m_size = kept;
  }

  std::vector<utf8proc_int32_t> m_points = std::vector<utf8proc_int32_t>(256);
  std::size_t m_size = 0;
};

/// The token as the vocabulary spells it.
std::string spelling(std::string_view bytes) {
  std::string symbols;
  for (const char byte : bytes) symbols += byteSymbol(static_cast<unsigned char>(byte));
  return symbols;
}

}  // namespace

Result<std::vector<std::int32_t>> tokenClasses(const Tokenizer& tokenizer, int vocabSize) {
  std::vector<std::int32_t> classes;
  classes.reserve(static_cast<std::size_t>(std::max(vocabSize, 0)));
  std::unordered_map<std::string, std::int32_t> classOfKey;
  classOfKey.reserve(classes.capacity());
  Normaliser normaliser;
  std::string text;
  std::string key;
  for (TokenId id = 0; id < vocabSize; ++id) {
    const std::string_view bytes = tokenizer.bytes(id);
    text.clear();
    appendLossy(bytes, /*holdIncomplete=*/false, text);
    if (text.find(kReplacementCharacter) != std::string::npos) {
      key = spelling(bytes);
    } else {
      if (!normaliser.normalise(text, key)) {
        return Status(Code::kCheckpoint, "tokenizer_invalid",
                      "tokenizer.json cannot be used: the text of token " + std::to_string(id) +
                          " cannot be normalised. Download the file again.");
      }
      if (key.empty()) key = text;
    }
    classes.push_back(classOfKey.try_emplace(key, static_cast<std::int32_t>(classOfKey.size())).first->second);
  }
  return classes;
}

}  // namespace colibri
