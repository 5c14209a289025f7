#include "checkpoint/json_cursor.h"

#include <cstring>
#include <utility>

namespace colibri {
namespace {

void appendUtf8(std::string& out, std::uint32_t point) {
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xC0 | point >> 6);
    put(0x80 | (point & 63));
  } else if (point < 0x10000) {
    put(0xE0 | point >> 12);
    put(0x80 | (point >> 6 & 63));
    put(0x80 | (point & 63));
  } else {
    put(0xF0 | point >> 18);
    put(0x80 | (point >> 12 & 63));
    put(0x80 | (point >> 6 & 63));
    put(0x80 | (point & 63));
  }
}

// Bytes of the sequence that starts at `at`, 0 when it is malformed.
std::size_t utf8Length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() - at < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  }
  const unsigned char second = byte(at + 1);
  if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) || (lead == 0xF0 && second < 0x90) ||
      (lead == 0xF4 && second > 0x8F)) {
    return 0;
  }
  return length;
}

}  // namespace

bool JsonCursor::fail(std::string why) {
  if (m_error.empty()) m_error = std::move(why) + " (byte " + std::to_string(m_at) + ")";
  return false;
}

void JsonCursor::skipSpace() {
  while (m_at < m_text.size() &&
         (m_text[m_at] == ' ' || m_text[m_at] == '\n' || m_text[m_at] == '\t' || m_text[m_at] == '\r')) {
    ++m_at;
  }
}

bool JsonCursor::expect(char expected) {
  if (consume(expected)) return true;
  if (m_at >= m_text.size()) return fail(std::string("it ends where '") + expected + "' should stand");
  return fail(std::string("'") + expected + "' expected, found '" + printable(m_text.substr(m_at, 1)) + "'");
}

bool JsonCursor::consume(char wanted) {
  skipSpace();
  if (m_at >= m_text.size() || m_text[m_at] != wanted) return false;
  ++m_at;
  return true;
}

bool JsonCursor::atEnd() {
  skipSpace();
  return m_at >= m_text.size();
}

bool JsonCursor::string(std::string& out, std::size_t maxBytes) {
  if (!expect('"')) return false;
  out.clear();
  while (true) {
    const std::size_t start = m_at;
    bool ascii = true;
    while (m_at < m_text.size()) {
      const auto c = static_cast<unsigned char>(m_text[m_at]);
      if (c == '"' || c == '\\' || c < 0x20) break;
      ascii = ascii && c < 0x80;
      ++m_at;
    }
    const std::string_view run = m_text.substr(start, m_at - start);
    if (out.size() + run.size() > maxBytes)
      return fail("a string is longer than " + std::to_string(maxBytes) + " bytes");
    if (!ascii && !isValidUtf8(run)) return fail("a string is not valid UTF-8");
    out.append(run);
    if (m_at >= m_text.size()) return fail("it ends inside a string");
    const char c = m_text[m_at];
    if (c == '"') {
      ++m_at;
      return true;
    }
    if (c != '\\') return fail("a control character stands inside a string");
    ++m_at;
    if (!escape(out)) return false;
    if (out.size() > maxBytes) return fail("a string is longer than " + std::to_string(maxBytes) + " bytes");
  }
}

bool JsonCursor::hexUnit(std::uint32_t& unit) {
  if (m_text.size() - m_at < 4) return fail("it ends inside an escape");
  unit = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = m_text[m_at++];
    unsigned digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<unsigned>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      digit = static_cast<unsigned>(c - 'a') + 10;
    } else if (c >= 'A' && c <= 'F') {
      digit = static_cast<unsigned>(c - 'A') + 10;
    } else {
      return fail("an escape has no four hex digits");
    }
    unit = unit << 4 | digit;
  }
  return true;
}

bool JsonCursor::escape(std::string& out) {
  if (m_at >= m_text.size()) return fail("it ends inside an escape");
  static constexpr std::string_view kFrom = "\"\\/bfnrt";
  static constexpr std::string_view kTo = "\"\\/\b\f\n\r\t";
  const char c = m_text[m_at++];
  if (const auto i = kFrom.find(c); i != std::string_view::npos) {
    out.push_back(kTo[i]);
    return true;
  }
  if (c != 'u') return fail("an unknown escape");
  std::uint32_t point = 0;
  if (!hexUnit(point)) return false;
  if (point >= 0xDC00 && point <= 0xDFFF) return fail("an unpaired surrogate");
  if (point >= 0xD800 && point <= 0xDBFF) {
    if (m_text.substr(m_at, 2) != "\\u") return fail("an unpaired surrogate");
    m_at += 2;
    std::uint32_t low = 0;
    if (!hexUnit(low)) return false;
    if (low < 0xDC00 || low > 0xDFFF) return fail("an unpaired surrogate");
    point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
  }
  appendUtf8(out, point);
  return true;
}

bool JsonCursor::natural(std::uint64_t& out) {
  skipSpace();
  const std::size_t start = m_at;
  std::uint64_t value = 0;
  while (m_at < m_text.size() && m_text[m_at] >= '0' && m_text[m_at] <= '9') {
    const auto digit = static_cast<std::uint64_t>(m_text[m_at] - '0');
    if (value > (0x7fffffffffffffffULL - digit) / 10) return fail("a number is 2^63 or more");
    value = value * 10 + digit;
    ++m_at;
  }
  const std::size_t digits = m_at - start;
  if (digits == 0) return fail("a non-negative integer expected");
  if (digits > 1 && m_text[start] == '0') return fail("a number has a leading zero");
  if (m_at < m_text.size() && std::strchr(".eE+-", m_text[m_at]) != nullptr && m_text[m_at] != '\0') {
    return fail("a plain integer expected, without fraction or exponent");
  }
  out = value;
  return true;
}

bool JsonCursor::skipScalar() {
  if (m_text[m_at] == '"') return string(m_scratch, m_text.size());
  const std::size_t start = m_at;
  while (m_at < m_text.size() && std::string_view(",]}: \n\t\r\"[{").find(m_text[m_at]) == std::string_view::npos)
    ++m_at;
  const std::string_view word = m_text.substr(start, m_at - start);
  if (word == "true" || word == "false" || word == "null") return true;
  // number = [-] int [frac] [exp]
  std::size_t i = 0;
  const auto digits = [&] {
    const std::size_t from = i;
    while (i < word.size() && word[i] >= '0' && word[i] <= '9') ++i;
    return i - from;
  };
  if (i < word.size() && word[i] == '-') ++i;
  const bool zero = i < word.size() && word[i] == '0';
  const std::size_t whole = digits();
  bool good = whole > 0 && !(zero && whole > 1);
  if (good && i < word.size() && word[i] == '.') {
    ++i;
    good = digits() > 0;
  }
  if (good && i < word.size() && (word[i] == 'e' || word[i] == 'E')) {
    ++i;
    if (i < word.size() && (word[i] == '+' || word[i] == '-')) ++i;
    good = digits() > 0;
  }
  if (good && i == word.size()) return true;
  m_at = start;
  return fail("a value expected");
}

bool JsonCursor::skipValue(int maxDepth, std::size_t maxBytes) {
  skipSpace();
  const std::size_t start = m_at;
  std::string open;  // one bracket a level
  bool expectValue = true;
  while (true) {
    skipSpace();
    if (m_at - start > maxBytes) return fail("a value is longer than " + std::to_string(maxBytes) + " bytes");
    if (m_at >= m_text.size()) return fail("it ends inside a value");
    if (expectValue) {
      const char c = m_text[m_at];
      if (c == '{' || c == '[') {
        if (static_cast<int>(open.size()) >= maxDepth) return fail("nested too deep");
        ++m_at;
        open.push_back(c);
        if (!consume(c == '{' ? '}' : ']')) {
          if (c == '{' && (!string(m_scratch, m_text.size()) || !expect(':'))) return false;
          continue;
        }
        open.pop_back();
      } else if (!skipScalar()) {
        return false;
      }
    }
    expectValue = false;
    if (m_at - start > maxBytes) return fail("a value is longer than " + std::to_string(maxBytes) + " bytes");
    if (open.empty()) return true;
    if (consume(',')) {
      if (open.back() == '{' && (!string(m_scratch, m_text.size()) || !expect(':'))) return false;
      expectValue = true;
      continue;
    }
    if (!expect(open.back() == '{' ? '}' : ']')) return false;
    open.pop_back();
  }
}

bool isValidUtf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8Length(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string printable(std::string_view text, std::size_t maxBytes) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  const bool cut = text.size() > maxBytes;
  text = text.substr(0, maxBytes);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8Length(text, at);
    const auto c = static_cast<unsigned char>(text[at]);
    // C1 controls (U+0080…U+009F) are terminal escapes too.
    const bool control =
        length == 0 || c < 0x20 || c == 0x7F || (c == 0xC2 && static_cast<unsigned char>(text[at + 1]) < 0xA0);
    if (control) {
      out += "\\x";
      out += kHex[c >> 4];
      out += kHex[c & 15];
      ++at;
    } else {
      out.append(text.substr(at, length));
      at += length;
    }
  }
  if (cut) out += "…";
  return out;
}

std::string inQuotes(std::string_view text) {
  std::string out(1, '"');
  out += printable(text);
  out += '"';
  return out;
}

}  // namespace colibri
