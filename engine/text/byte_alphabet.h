#pragma once
// The printable spelling of bytes in a byte-level vocabulary (GPT-2's map): 0x21-0x7E, 0xA1-0xAC and 0xAE-0xFF stand
// for themselves, the other 68 bytes are U+0100, U+0101, … in increasing order.

#include <optional>
#include <string>
#include <string_view>

namespace colibri {

/// The symbol of a byte, as UTF-8.
[[nodiscard]] std::string byteSymbol(unsigned char byte);

/// The bytes that `spelling` stands for; nothing when a character of it is not in the alphabet.
[[nodiscard]] std::optional<std::string> bytesOfSpelling(std::string_view spelling);

}  // namespace colibri
