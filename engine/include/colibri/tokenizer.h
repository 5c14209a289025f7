#pragma once
// Byte-level BPE of the DeepSeek V4 families, exactly as the released tokenizer.json says.

#include <colibri/status.h>
#include <colibri/types.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace colibri {

/// A piece of a prompt. Control text may contain added tokens (<think>, <｜User｜>); literal text never becomes one.
struct TextSegment {
  bool control = false;
  std::string text;
};

/// Immutable after load; thread-safe.
class Tokenizer {
public:
  /// Reads `folder`/tokenizer.json. kCheckpoint "tokenizer_missing" or "tokenizer_invalid".
  static Result<std::shared_ptr<const Tokenizer>> load(const std::filesystem::path& folder);
  /// The same from the file's text.
  static Result<std::shared_ptr<const Tokenizer>> parse(std::string_view json);
  virtual ~Tokenizer() = default;

  /// Ids of `text`. matchAdded: added tokens in the text are recognised (template mode), else all is plain text.
  /// Invalid UTF-8 is legal: such bytes are tokenised one by one.
  [[nodiscard]] virtual std::vector<TokenId> encode(std::string_view text, bool matchAdded) const = 0;
  /// Segments as one prompt: adjacent literal text is joined before BPE; added tokens only in control segments.
  [[nodiscard]] virtual std::vector<TokenId> encode(std::span<const TextSegment> segments) const = 0;
  /// Text of the ids; invalid UTF-8 becomes U+FFFD (one per maximal invalid subpart). Unknown ids give U+FFFD.
  [[nodiscard]] virtual std::string decode(std::span<const TokenId> ids, bool skipSpecial = false) const = 0;
  /// Raw bytes of one token ("" for an unknown id).
  [[nodiscard]] virtual std::string_view bytes(TokenId id) const = 0;
  /// Id of an added token by its text.
  [[nodiscard]] virtual std::optional<TokenId> find(std::string_view addedToken) const = 0;
  /// Whether the file marks the token "special" (<｜User｜> and <think> are not).
  [[nodiscard]] virtual bool isSpecial(TokenId id) const = 0;
  /// 1 + the largest id that the file names. The model's head may have more rows; those must never be chosen.
  [[nodiscard]] virtual int vocabSize() const = 0;
};

/// Turns a stream of tokens into text that never has to be taken back: an incomplete character is held (at most 3
/// bytes).
class StreamingDetokenizer {
public:
  /// `tokenizer` must outlive this object. `skipSpecial`: as in Tokenizer::decode. All pushed text equals that decode.
  explicit StreamingDetokenizer(const Tokenizer& tokenizer, bool skipSpecial = false)
      : m_tokenizer(&tokenizer), m_skipSpecial(skipSpecial) {}
  /// Text that became final with this token.
  std::string push(TokenId id);
  /// The held bytes, as U+FFFD.
  std::string finish();

private:
  const Tokenizer* m_tokenizer;
  bool m_skipSpecial;
  std::string m_held;
};

}  // namespace colibri
