#include "text/utf8.h"

#include <cstring>

namespace colibri {
namespace {

// Number of continuation bytes that a lead byte asks for and the range of the first of them (Unicode table 3-7).
struct Lead {
  int following = -1;
  unsigned low = 0x80;
  unsigned high = 0xBF;
};

Lead leadOf(unsigned byte) {
  if (byte < 0x80) return {0};
  if (byte >= 0xC2 && byte <= 0xDF) return {1};
  if (byte == 0xE0) return {2, 0xA0, 0xBF};
  if (byte == 0xED) return {2, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {2};
  if (byte == 0xF0) return {3, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {3};
  if (byte == 0xF4) return {3, 0x80, 0x8F};
  return {};
}

}  // namespace

Utf8Char readUtf8(std::string_view bytes, std::size_t position) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(bytes[i])); };
  const unsigned first = at(position);
  const Lead lead = leadOf(first);
  if (lead.following < 0) return {};
  if (lead.following == 0) return {Utf8Char::Kind::kValid, 1, static_cast<char32_t>(first)};
  char32_t value = first & (0x3FU >> lead.following);
  for (int i = 1; i <= lead.following; ++i) {
    const auto length = static_cast<std::uint8_t>(i);
    if (position + length >= bytes.size()) return {Utf8Char::Kind::kIncomplete, length, 0};
    const unsigned next = at(position + length);
    const bool fits = i == 1 ? next >= lead.low && next <= lead.high : (next & 0xC0U) == 0x80U;
    if (!fits) return {Utf8Char::Kind::kInvalid, length, 0};
    value = (value << 6U) | (next & 0x3FU);
  }
  return {Utf8Char::Kind::kValid, static_cast<std::uint8_t>(lead.following + 1), value};
}

std::size_t skipAscii(std::string_view bytes, std::size_t position) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080U;
  while (position + 8 <= bytes.size()) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + position, 8);
    if ((word & kHighBits) != 0) break;
    position += 8;
  }
  while (position < bytes.size() && static_cast<unsigned char>(bytes[position]) < 0x80) ++position;
  return position;
}

std::size_t appendLossy(std::string_view bytes, bool holdIncomplete, std::string& out) {
  std::size_t position = 0;
  while (position < bytes.size()) {
    const std::size_t plain = skipAscii(bytes, position);
    out.append(bytes.substr(position, plain - position));
    position = plain;
    if (position == bytes.size()) break;
    const Utf8Char c = readUtf8(bytes, position);
    if (c.kind == Utf8Char::Kind::kIncomplete && holdIncomplete) break;
    if (c.kind == Utf8Char::Kind::kValid) {
      out.append(bytes.substr(position, c.length));
    } else {
      out.append(kReplacementCharacter);
    }
    position += c.length;
  }
  return position;
}

void appendUtf8(char32_t codePoint, std::string& out) {
  const auto byte = [&](char32_t value) { out.push_back(static_cast<char>(static_cast<unsigned char>(value))); };
  const auto tail = [&](unsigned shift) { byte(0x80U | ((codePoint >> shift) & 0x3FU)); };
  if (codePoint < 0x80) {
    byte(codePoint);
  } else if (codePoint < 0x800) {
    byte(0xC0U | (codePoint >> 6U));
    tail(0);
  } else if (codePoint < 0x10000) {
    byte(0xE0U | (codePoint >> 12U));
    tail(6);
    tail(0);
  } else {
    byte(0xF0U | (codePoint >> 18U));
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace colibri
