#include "text/unicode_supplement.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace colibri {
namespace {

enum class Class : std::uint8_t { kLetter, kMark, kNumber, kPunctuation, kSymbol, kOther };

struct Range {
  char32_t first;
  char32_t last;
  Class charClass;
};

// Assigned in Unicode 15.0, 15.1 or 16.0 (source: UnicodeData.txt of 16.0 against 14.0, categories L, M, N, P, S).
// U+180E is a format character since Unicode 6.3, which PCRE2's \s still counts as white space. In ascending order.
constexpr auto kRanges = std::to_array<Range>({
    {0x00897, 0x00897, Class::kMark},        {0x00CF3, 0x00CF3, Class::kMark},
    {0x00ECE, 0x00ECE, Class::kMark},        {0x0180E, 0x0180E, Class::kOther},
    {0x01B4E, 0x01B4F, Class::kPunctuation}, {0x01B7F, 0x01B7F, Class::kPunctuation},
    {0x01C89, 0x01C8A, Class::kLetter},      {0x02427, 0x02429, Class::kSymbol},
    {0x02FFC, 0x02FFF, Class::kSymbol},      {0x031E4, 0x031E5, Class::kSymbol},
    {0x031EF, 0x031EF, Class::kSymbol},      {0x0A7CB, 0x0A7CD, Class::kLetter},
    {0x0A7DA, 0x0A7DC, Class::kLetter},      {0x105C0, 0x105F3, Class::kLetter},
    {0x10D40, 0x10D49, Class::kNumber},      {0x10D4A, 0x10D65, Class::kLetter},
    {0x10D69, 0x10D6D, Class::kMark},        {0x10D6E, 0x10D6E, Class::kPunctuation},
    {0x10D6F, 0x10D85, Class::kLetter},      {0x10D8E, 0x10D8F, Class::kSymbol},
    {0x10EC2, 0x10EC4, Class::kLetter},      {0x10EFC, 0x10EFF, Class::kMark},
    {0x1123F, 0x11240, Class::kLetter},      {0x11241, 0x11241, Class::kMark},
    {0x11380, 0x11389, Class::kLetter},      {0x1138B, 0x1138B, Class::kLetter},
    {0x1138E, 0x1138E, Class::kLetter},      {0x11390, 0x113B5, Class::kLetter},
    {0x113B7, 0x113B7, Class::kLetter},      {0x113B8, 0x113C0, Class::kMark},
    {0x113C2, 0x113C2, Class::kMark},        {0x113C5, 0x113C5, Class::kMark},
    {0x113C7, 0x113CA, Class::kMark},        {0x113CC, 0x113D0, Class::kMark},
    {0x113D1, 0x113D1, Class::kLetter},      {0x113D2, 0x113D2, Class::kMark},
    {0x113D3, 0x113D3, Class::kLetter},      {0x113D4, 0x113D5, Class::kPunctuation},
    {0x113D7, 0x113D8, Class::kPunctuation}, {0x113E1, 0x113E2, Class::kMark},
    {0x116D0, 0x116E3, Class::kNumber},      {0x11B00, 0x11B09, Class::kPunctuation},
    {0x11BC0, 0x11BE0, Class::kLetter},      {0x11BE1, 0x11BE1, Class::kPunctuation},
    {0x11BF0, 0x11BF9, Class::kNumber},      {0x11F00, 0x11F01, Class::kMark},
    {0x11F02, 0x11F02, Class::kLetter},      {0x11F03, 0x11F03, Class::kMark},
    {0x11F04, 0x11F10, Class::kLetter},      {0x11F12, 0x11F33, Class::kLetter},
    {0x11F34, 0x11F3A, Class::kMark},        {0x11F3E, 0x11F42, Class::kMark},
    {0x11F43, 0x11F4F, Class::kPunctuation}, {0x11F50, 0x11F59, Class::kNumber},
    {0x11F5A, 0x11F5A, Class::kMark},        {0x1342F, 0x1342F, Class::kLetter},
    {0x13440, 0x13440, Class::kMark},        {0x13441, 0x13446, Class::kLetter},
    {0x13447, 0x13455, Class::kMark},        {0x13460, 0x143FA, Class::kLetter},
    {0x16100, 0x1611D, Class::kLetter},      {0x1611E, 0x1612F, Class::kMark},
    {0x16130, 0x16139, Class::kNumber},      {0x16D40, 0x16D6C, Class::kLetter},
    {0x16D6D, 0x16D6F, Class::kPunctuation}, {0x16D70, 0x16D79, Class::kNumber},
    {0x18CFF, 0x18CFF, Class::kLetter},      {0x1B132, 0x1B132, Class::kLetter},
    {0x1B155, 0x1B155, Class::kLetter},      {0x1CC00, 0x1CCEF, Class::kSymbol},
    {0x1CCF0, 0x1CCF9, Class::kNumber},      {0x1CD00, 0x1CEB3, Class::kSymbol},
    {0x1D2C0, 0x1D2D3, Class::kNumber},      {0x1DF25, 0x1DF2A, Class::kLetter},
    {0x1E030, 0x1E06D, Class::kLetter},      {0x1E08F, 0x1E08F, Class::kMark},
    {0x1E4D0, 0x1E4EB, Class::kLetter},      {0x1E4EC, 0x1E4EF, Class::kMark},
    {0x1E4F0, 0x1E4F9, Class::kNumber},      {0x1E5D0, 0x1E5ED, Class::kLetter},
    {0x1E5EE, 0x1E5EF, Class::kMark},        {0x1E5F0, 0x1E5F0, Class::kLetter},
    {0x1E5F1, 0x1E5FA, Class::kNumber},      {0x1E5FF, 0x1E5FF, Class::kPunctuation},
    {0x1F6DC, 0x1F6DC, Class::kSymbol},      {0x1F774, 0x1F776, Class::kSymbol},
    {0x1F77B, 0x1F77F, Class::kSymbol},      {0x1F7D9, 0x1F7D9, Class::kSymbol},
    {0x1F8B2, 0x1F8BB, Class::kSymbol},      {0x1F8C0, 0x1F8C1, Class::kSymbol},
    {0x1FA75, 0x1FA77, Class::kSymbol},      {0x1FA87, 0x1FA89, Class::kSymbol},
    {0x1FA8F, 0x1FA8F, Class::kSymbol},      {0x1FAAD, 0x1FAAF, Class::kSymbol},
    {0x1FABB, 0x1FABF, Class::kSymbol},      {0x1FAC6, 0x1FAC6, Class::kSymbol},
    {0x1FACE, 0x1FACF, Class::kSymbol},      {0x1FADA, 0x1FADC, Class::kSymbol},
    {0x1FADF, 0x1FADF, Class::kSymbol},      {0x1FAE8, 0x1FAE9, Class::kSymbol},
    {0x1FAF7, 0x1FAF8, Class::kSymbol},      {0x1FBCB, 0x1FBEF, Class::kSymbol},
    {0x2B739, 0x2B739, Class::kLetter},      {0x2EBF0, 0x2EE5D, Class::kLetter},
    {0x31350, 0x323AF, Class::kLetter},
});

// Of three and of four bytes: neither ASCII nor in the CJK and kana ranges of the second pattern.
constexpr std::string_view standIn(Class charClass, bool fourBytes) {
  switch (charClass) {
    case Class::kLetter:
      return fourBytes ? "\xF0\x90\x80\x80" : "\xEA\x80\x80";  // U+10000, U+A000
    case Class::kMark:
      return fourBytes ? "\xF0\x90\x87\xBD" : "\xE2\x83\x90";  // U+101FD, U+20D0
    case Class::kNumber:
      return fourBytes ? "\xF0\x90\x84\x87" : "\xE2\x85\xA0";  // U+10107, U+2160
    case Class::kPunctuation:
      return fourBytes ? "\xF0\x90\x84\x80" : "\xE2\x80\xA0";  // U+10100, U+2020
    case Class::kSymbol:
      return fourBytes ? "\xF0\x9F\x98\x80" : "\xE2\x86\x90";  // U+1F600, U+2190
    case Class::kOther:
      return fourBytes ? "\xF3\xA0\x80\x81" : "\xE2\x80\x8B";  // U+E0001, U+200B
  }
  return {};
}

}  // namespace

std::string_view patternStandIn(char32_t codePoint) {
  const auto* range = std::lower_bound(kRanges.begin(), kRanges.end(), codePoint,
                                       [](const Range& r, char32_t value) { return r.last < value; });
  if (range == kRanges.end() || codePoint < range->first) return {};
  return standIn(range->charClass, codePoint >= 0x10000);
}

}  // namespace colibri
