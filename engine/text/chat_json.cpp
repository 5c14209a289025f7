#include "text/chat_json.h"

#include "base/json.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>

namespace colibri {
namespace {

constexpr std::size_t kEscapeLength = 6;  // \uXXXX

// The UTF-16 unit of a \uXXXX escape at `position`.
std::optional<unsigned> escapedUnit(std::string_view text, std::size_t position) {
  if (position + kEscapeLength > text.size() || text[position] != '\\' || text[position + 1] != 'u')
    return std::nullopt;
  const char* begin = text.data() + position + 2;
  unsigned unit = 0;
  const auto [end, error] = std::from_chars(begin, begin + 4, unit, 16);
  if (error != std::errc() || end != begin + 4) return std::nullopt;
  return unit;
}

// The same JSON with each lone surrogate escape written as \ufffd, which has the same length. In JSON a backslash
// stands only in strings; text that is not JSON is refused afterwards in any case.
std::string replaceLoneSurrogates(std::string_view text) {
  std::string fixed(text);
  for (std::size_t at = fixed.find('\\'); at != std::string::npos; at = fixed.find('\\', at)) {
    const auto unit = escapedUnit(fixed, at);
    if (!unit) {
      at += 2;
    } else if (*unit >= 0xD800 && *unit < 0xDC00) {
      const auto second = escapedUnit(fixed, at + kEscapeLength);
      if (second && *second >= 0xDC00 && *second < 0xE000) {
        at += 2 * kEscapeLength;
      } else {
        fixed.replace(at, kEscapeLength, "\\ufffd");
        at += kEscapeLength;
      }
    } else {
      if (*unit >= 0xDC00 && *unit < 0xE000) fixed.replace(at, kEscapeLength, "\\ufffd");
      at += kEscapeLength;
    }
  }
  return fixed;
}

// Python's repr: the shortest digits, with an exponent below 1e-4 and from 1e16 on.
std::string pythonFloat(double value) {
  std::array<char, 64> buffer{};
  const auto written =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
  std::string_view text(buffer.data(), static_cast<std::size_t>(written.ptr - buffer.data()));
  const bool negative = text.front() == '-';
  if (negative) text.remove_prefix(1);
  const std::size_t mark = text.find('e');
  int exponent = 0;
  std::string_view power = text.substr(mark + 1);
  if (power.front() == '+') power.remove_prefix(1);
  std::from_chars(power.data(), power.data() + power.size(), exponent);
  std::string digits(1, text.front());
  if (mark > 2) digits += text.substr(2, mark - 2);

  std::string out = negative ? "-" : "";
  const auto count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    out += digits.front();
    if (count > 1) out += "." + digits.substr(1);
    const int magnitude = exponent < 0 ? -exponent : exponent;
    return out + (exponent < 0 ? "e-" : "e+") + (magnitude < 10 ? "0" : "") + std::to_string(magnitude);
  }
  if (exponent < 0) return out + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  if (count <= exponent + 1)
    return out + digits + std::string(static_cast<std::size_t>(exponent + 1 - count), '0') + ".0";
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  return out + digits.substr(0, whole) + "." + digits.substr(whole);
}

}  // namespace

// Builds the value while the text is read.
class ChatJsonBuilder : public nlohmann::json_sax<Json> {
public:
  [[nodiscard]] ChatJson take() { return std::move(m_root); }
  [[nodiscard]] const std::string& error() const { return m_error; }

  bool null() override { return add(ChatJson()); }
  bool boolean(bool value) override { return add(ChatJson::boolean(value)); }
  bool number_integer(number_integer_t value) override { return add(ChatJson::number(std::to_string(value))); }
  bool number_unsigned(number_unsigned_t value) override { return add(ChatJson::number(std::to_string(value))); }
  bool number_float(number_float_t value, const string_t& text) override {
    // An integer beyond 64 bits arrives here too, with its digits.
    const bool integer = text.find_first_of(".eE") == std::string::npos;
    return add(ChatJson::number(integer ? text : pythonFloat(value)));
  }
  bool string(string_t& value) override { return add(ChatJson::string(std::move(value))); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*elements*/) override { return open(ChatJson::object()); }
  bool start_array(std::size_t /*elements*/) override { return open(ChatJson::array()); }
  bool key(string_t& name) override {
    m_open.back()->m_members.emplace_back(std::move(name), ChatJson());
    return true;
  }
  bool end_object() override {
    foldRepeatedKeys(m_open.back()->m_members);
    m_open.pop_back();
    return true;
  }
  bool end_array() override {
    m_open.pop_back();
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*e*/) override {
    m_error = "not valid JSON near byte " + std::to_string(position);
    return false;
  }

private:
  bool add(ChatJson value) { return place(std::move(value)) != nullptr; }

  ChatJson* place(ChatJson value) {
    if (++m_values > ChatJson::kMaxValues) {
      m_error = "more than " + std::to_string(ChatJson::kMaxValues) + " values";
      return nullptr;
    }
    if (m_open.empty()) return &(m_root = std::move(value));
    ChatJson& parent = *m_open.back();
    if (parent.isObject()) return &(parent.m_members.back().second = std::move(value));
    parent.m_items.push_back(std::move(value));
    return &parent.m_items.back();
  }

  bool open(ChatJson container) {
    if (m_open.size() >= ChatJson::kMaxDepth) {
      m_error = "nested deeper than " + std::to_string(ChatJson::kMaxDepth) + " levels";
      return false;
    }
    ChatJson* placed = place(std::move(container));
    if (placed == nullptr) return false;
    m_open.push_back(placed);
    return true;
  }

  static void foldRepeatedKeys(std::vector<ChatJson::Member>& members) {
    if (members.size() < 2) return;
    std::map<std::string, std::size_t> first;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const auto [found, isNew] = first.emplace(members[i].first, kept);
      if (!isNew) {
        members[found->second].second = std::move(members[i].second);
        continue;
      }
      if (kept != i) members[kept] = std::move(members[i]);
      ++kept;
    }
    members.resize(kept);
  }

  ChatJson m_root;
  std::vector<ChatJson*> m_open;
  std::size_t m_values = 0;
  std::string m_error;
};

Result<ChatJson> ChatJson::parse(std::string_view text) {
  const auto refuse = [](const std::string& why) {
    return Status(Code::kUsage, "invalid_json", "The JSON is refused: " + why + ".");
  };
  if (text.size() > kMaxBytes) return refuse("more than " + std::to_string(kMaxBytes) + " bytes");
  ChatJsonBuilder builder;
  const std::string fixed =
      text.find("\\u") == std::string_view::npos ? std::string(text) : replaceLoneSurrogates(text);
  if (!Json::sax_parse(fixed.data(), fixed.data() + fixed.size(), &builder)) {
    return refuse(builder.error().empty() ? "not valid JSON" : builder.error());
  }
  return builder.take();
}

const ChatJson& ChatJson::operator[](std::string_view key) const {
  static const ChatJson kNull;
  for (const Member& member : m_members) {
    if (member.first == key) return member.second;
  }
  return kNull;
}

bool ChatJson::contains(std::string_view key) const {
  for (const Member& member : m_members) {
    if (member.first == key) return true;
  }
  return false;
}

bool ChatJson::isEmpty() const {
  switch (m_kind) {
    case Kind::kNull:
      return true;
    case Kind::kBoolean:
      return isFalse();
    case Kind::kNumber:
      return m_text.find_first_of("123456789") == std::string::npos;
    case Kind::kString:
      return m_text.empty();
    case Kind::kArray:
      return m_items.empty();
    case Kind::kObject:
      return m_members.empty();
  }
  return false;
}

std::string ChatJson::dump() const {
  std::string out;
  dumpTo(out);
  return out;
}

void ChatJson::dumpTo(std::string& out) const {
  const auto separator = [&, first = true]() mutable {
    if (!first) out += ", ";
    first = false;
  };
  switch (m_kind) {
    case Kind::kNull:
      out += "null";
      return;
    case Kind::kBoolean:
    case Kind::kNumber:
      out += m_text;
      return;
    case Kind::kString:
      appendJsonString(m_text, out);
      return;
    case Kind::kArray: {
      out += '[';
      auto next = separator;
      for (const ChatJson& item : m_items) {
        next();
        item.dumpTo(out);
      }
      out += ']';
      return;
    }
    case Kind::kObject: {
      out += '{';
      auto next = separator;
      for (const auto& [key, value] : m_members) {
        next();
        appendJsonString(key, out);
        out += ": ";
        value.dumpTo(out);
      }
      out += '}';
      return;
    }
  }
}

void appendJsonString(std::string_view text, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += "\\u00";
          out += kHex[static_cast<std::size_t>(c) >> 4U];
          out += kHex[static_cast<std::size_t>(c) & 0xFU];
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

}  // namespace colibri
