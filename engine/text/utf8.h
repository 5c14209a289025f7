#pragma once
// UTF-8 one character at a time, with the WHATWG rule for what is wrong: one U+FFFD per maximal invalid subpart.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace colibri {

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

/// What stands at one position of a byte string.
struct Utf8Char {
  enum class Kind : std::uint8_t {
    kValid,       ///< a complete character
    kInvalid,     ///< `length` bytes that are one maximal invalid subpart
    kIncomplete,  ///< the text ends inside what may still become a character
  };
  Kind kind = Kind::kInvalid;
  std::uint8_t length = 1;  ///< bytes, 1..4
  char32_t codePoint = 0;   ///< for kValid only
};

/// Reads the character at `position` (< bytes.size()).
[[nodiscard]] Utf8Char readUtf8(std::string_view bytes, std::size_t position);

/// Position of the first byte >= 0x80 at or after `position`, or the size.
[[nodiscard]] std::size_t skipAscii(std::string_view bytes, std::size_t position);

/// Appends the characters of `bytes` to `out`, U+FFFD for each invalid subpart. Returns how many bytes were used: all,
/// except an incomplete tail (at most 3 bytes) when `holdIncomplete` is set.
std::size_t appendLossy(std::string_view bytes, bool holdIncomplete, std::string& out);

/// Appends one code point (a scalar value) as UTF-8.
void appendUtf8(char32_t codePoint, std::string& out);

}  // namespace colibri
