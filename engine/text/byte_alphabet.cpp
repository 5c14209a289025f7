#include "text/byte_alphabet.h"

#include "text/utf8.h"

#include <array>
#include <cstdint>

namespace colibri {
namespace {

constexpr char32_t kFirstMoved = 0x100;
constexpr std::size_t kMoved = 68;

constexpr bool standsForItself(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
}

constexpr std::array<std::uint8_t, kMoved> makeMovedBytes() {
  std::array<std::uint8_t, kMoved> moved{};
  std::size_t count = 0;
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (!standsForItself(byte)) moved[count++] = static_cast<std::uint8_t>(byte);
  }
  return moved;
}
constexpr auto kMovedBytes = makeMovedBytes();

}  // namespace

std::string byteSymbol(unsigned char byte) {
  char32_t codePoint = byte;
  for (std::size_t i = 0; i < kMoved; ++i) {
    if (kMovedBytes[i] == byte) codePoint = kFirstMoved + static_cast<char32_t>(i);
  }
  std::string symbol;
  appendUtf8(codePoint, symbol);
  return symbol;
}

std::optional<std::string> bytesOfSpelling(std::string_view spelling) {
  std::string bytes;
  bytes.reserve(spelling.size());
  for (std::size_t position = 0; position < spelling.size();) {
    const Utf8Char c = readUtf8(spelling, position);
    if (c.kind != Utf8Char::Kind::kValid) return std::nullopt;
    if (c.codePoint < kFirstMoved && standsForItself(c.codePoint)) {
      bytes.push_back(static_cast<char>(static_cast<unsigned char>(c.codePoint)));
    } else if (c.codePoint >= kFirstMoved && c.codePoint < kFirstMoved + kMoved) {
      bytes.push_back(static_cast<char>(kMovedBytes[c.codePoint - kFirstMoved]));
    } else {
      return std::nullopt;
    }
    position += c.length;
  }
  return bytes;
}

}  // namespace colibri
