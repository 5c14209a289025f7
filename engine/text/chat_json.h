#pragma once
// JSON as a prompt needs it: keys in order, numbers with their digits, written as Python's json.dumps(…,
// ensure_ascii=False) does.

#include <colibri/status.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace colibri {

/// A JSON value. A repeated key keeps its first place and its last value; a lone surrogate escape is U+FFFD; an integer
/// keeps all its digits; a floating-point number is the shortest text that reads back the same, in Python's form.
class ChatJson {
public:
  enum class Kind { kNull, kBoolean, kNumber, kString, kArray, kObject };
  using Member = std::pair<std::string, ChatJson>;

  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
  static constexpr std::size_t kMaxValues = 1'000'000;
  static constexpr std::size_t kMaxDepth = 128;

  /// kUsage "invalid_json" when it is not JSON, not UTF-8, or beyond the limits. NaN and infinities are refused.
  static Result<ChatJson> parse(std::string_view text);

  ChatJson() = default;
  static ChatJson string(std::string text) { return ChatJson(Kind::kString, std::move(text)); }
  static ChatJson number(std::string digits) { return ChatJson(Kind::kNumber, std::move(digits)); }
  static ChatJson boolean(bool value) { return ChatJson(Kind::kBoolean, value ? "true" : "false"); }
  static ChatJson array() { return ChatJson(Kind::kArray, {}); }
  static ChatJson object() { return ChatJson(Kind::kObject, {}); }

  [[nodiscard]] Kind kind() const { return m_kind; }
  [[nodiscard]] bool isNull() const { return m_kind == Kind::kNull; }
  [[nodiscard]] bool isString() const { return m_kind == Kind::kString; }
  [[nodiscard]] bool isArray() const { return m_kind == Kind::kArray; }
  [[nodiscard]] bool isObject() const { return m_kind == Kind::kObject; }
  [[nodiscard]] bool isTrue() const { return m_kind == Kind::kBoolean && m_text == "true"; }
  [[nodiscard]] bool isFalse() const { return m_kind == Kind::kBoolean && m_text == "false"; }
  /// Text of a string or a number; "true", "false".
  [[nodiscard]] const std::string& text() const { return m_text; }
  /// Elements of an array.
  [[nodiscard]] const std::vector<ChatJson>& items() const { return m_items; }
  /// Members of an object.
  [[nodiscard]] const std::vector<Member>& members() const { return m_members; }
  /// Member of an object; null (never nullptr) when there is none or this is no object.
  [[nodiscard]] const ChatJson& operator[](std::string_view key) const;
  [[nodiscard]] bool contains(std::string_view key) const;
  /// Whether Python calls it false: null, false, 0, "", [], {}.
  [[nodiscard]] bool isEmpty() const;

  void append(ChatJson value) { m_items.push_back(std::move(value)); }
  /// Appends a member; the caller sees to it that the key is new.
  void append(std::string key, ChatJson value) { m_members.emplace_back(std::move(key), std::move(value)); }

  [[nodiscard]] std::string dump() const;

private:
  friend class ChatJsonBuilder;
  ChatJson(Kind kind, std::string text) : m_kind(kind), m_text(std::move(text)) {}
  void dumpTo(std::string& out) const;

  Kind m_kind = Kind::kNull;
  std::string m_text;
  std::vector<ChatJson> m_items;
  std::vector<Member> m_members;
};

/// Appends `text` as a JSON string with its quotes: escapes only what json.dumps(…, ensure_ascii=False) escapes.
void appendJsonString(std::string_view text, std::string& out);

}  // namespace colibri
