#pragma once
// Strict, non-recursive reading of JSON in place: for headers and index files, which are large, flat and from
// strangers.

#include <cstdint>
#include <string>
#include <string_view>

namespace colibri {

/// Walks over `text`, which must outlive it. Every call skips white space first and returns false when the text is not
/// what was asked for; the first failure's words stay in error() and the position in position(). Nothing is allocated
/// beyond the string that is being read.
class JsonCursor {
public:
  explicit JsonCursor(std::string_view text) : m_text(text) {}

  /// Consumes `expected` or fails.
  [[nodiscard]] bool expect(char expected);
  /// Consumes `wanted` when it is next; never fails.
  [[nodiscard]] bool consume(char wanted);
  /// True when only white space is left.
  [[nodiscard]] bool atEnd();
  /// A string of at most `maxBytes` bytes after unescaping; `out` is valid UTF-8.
  [[nodiscard]] bool string(std::string& out, std::size_t maxBytes);
  /// Plain decimal digits, no sign, no leading zero, no fraction or exponent, < 2^63.
  [[nodiscard]] bool natural(std::uint64_t& out);
  /// Any one value, nested at most `maxDepth` containers deep and at most `maxBytes` long. Keys are not compared.
  [[nodiscard]] bool skipValue(int maxDepth, std::size_t maxBytes);
  /// Records `why` as the error (when it is the first) and returns false.
  bool fail(std::string why);

  [[nodiscard]] const std::string& error() const { return m_error; }
  [[nodiscard]] std::size_t position() const { return m_at; }

private:
  void skipSpace();
  bool escape(std::string& out);
  bool hexUnit(std::uint32_t& unit);
  bool skipScalar();

  std::string_view m_text;
  std::size_t m_at = 0;
  std::string m_error;
  std::string m_scratch;
};

/// `text` printable and in double quotes.
[[nodiscard]] std::string inQuotes(std::string_view text);

/// Whether `text` is well-formed UTF-8 (no overlong forms, no surrogates, nothing above U+10FFFF).
[[nodiscard]] bool isValidUtf8(std::string_view text);

/// `text` for a message: control characters, quotes and non-ASCII escapes made harmless for a terminal, cut at
/// `maxBytes`.
[[nodiscard]] std::string printable(std::string_view text, std::size_t maxBytes = 120);

}  // namespace colibri
