#pragma once
// The tokenizer's patterns are defined over the general categories of Unicode 16.0 and over the White_Space property;
// Debian 12's PCRE2 10.42 knows Unicode 14.0. Characters whose class differs are replaced, before matching, by one of
// the same class and the same length in bytes that every version knows, so that the patterns themselves stay the
// file's.

#include <string_view>

namespace colibri {

/// Stand-in for `codePoint` in the text that the patterns see, as UTF-8 of the same length; empty when none is needed.
[[nodiscard]] std::string_view patternStandIn(char32_t codePoint);

/// The smallest code point with a stand-in: everything below needs no look-up.
inline constexpr char32_t kFirstStandIn = 0x0897;

}  // namespace colibri
