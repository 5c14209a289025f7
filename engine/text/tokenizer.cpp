#include "base/json.h"
#include "text/added_tokens.h"
#include "text/bpe.h"
#include "text/byte_alphabet.h"
#include "text/piece_cache.h"
#include "text/pretokenizer.h"
#include "text/tokenizer_file.h"
#include "text/utf8.h"
#include <colibri/tokenizer.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace colibri {
namespace {

class BpeTokenizer final : public Tokenizer {
public:
  BpeTokenizer(const TokenizerFile& file, Pretokenizer pretokenizer, Bpe bpe)
      : m_pretokenizer(std::move(pretokenizer)), m_bpe(std::move(bpe)) {
    std::size_t size = file.vocabulary.size();
    for (const AddedToken& token : file.addedTokens) size = std::max(size, static_cast<std::size_t>(token.id) + 1);
    m_special.resize(size);
    std::vector<const std::string*> spellings(size, nullptr);
    for (std::size_t id = 0; id < file.vocabulary.size(); ++id) spellings[id] = &file.vocabulary[id];
    for (const AddedToken& token : file.addedTokens) {
      const auto id = static_cast<std::size_t>(token.id);
      spellings[id] = &token.text;
      m_special[id] = token.special;
      (token.normalized ? m_normalized : m_raw).add(token.text, token.id);
    }
    m_offsets.reserve(size + 1);
    m_offsets.push_back(0);
    for (const std::string* spelling : spellings) {
      if (spelling != nullptr) m_bytes += bytesOfSpelling(*spelling).value_or(*spelling);
      m_offsets.push_back(static_cast<std::uint32_t>(m_bytes.size()));
    }
    m_bytes.shrink_to_fit();
  }

  [[nodiscard]] std::vector<TokenId> encode(std::string_view text, bool matchAdded) const override {
    Encoder encoder(*this, text.size());
    if (!matchAdded) {
      encoder.plain(text);
    } else {
      splitAdded(
          text, [&](std::string_view plain) { encoder.plain(plain); }, [&](TokenId id) { encoder.token(id); });
    }
    return encoder.take();
  }

  [[nodiscard]] std::vector<TokenId> encode(std::span<const TextSegment> segments) const override {
    std::size_t size = 0;
    for (const TextSegment& segment : segments) size += segment.text.size();
    Encoder encoder(*this, size);
    std::string plain;  // text since the last added token: its pieces may reach over segments
    for (const TextSegment& segment : segments) {
      if (!segment.control) {
        plain += segment.text;
        continue;
      }
      splitAdded(
          segment.text, [&](std::string_view part) { plain += part; },
          [&](TokenId id) {
            encoder.plainOnce(plain);
            plain.clear();
            encoder.token(id);
          });
    }
    encoder.plainOnce(plain);
    return encoder.take();
  }

  [[nodiscard]] std::string decode(std::span<const TokenId> ids, bool skipSpecial) const override {
    std::string raw;
    for (const TokenId id : ids) {
      if (skipSpecial && isSpecial(id)) continue;
      const std::string_view token = bytes(id);
      raw += token.empty() ? kReplacementCharacter : token;
    }
    std::string text;
    text.reserve(raw.size());
    appendLossy(raw, /*holdIncomplete=*/false, text);
    return text;
  }

  [[nodiscard]] std::string_view bytes(TokenId id) const override {
    if (id < 0 || id >= vocabSize()) return {};
    const auto at = static_cast<std::size_t>(id);
    return std::string_view(m_bytes).substr(m_offsets[at], m_offsets[at + 1] - m_offsets[at]);
  }

  [[nodiscard]] std::optional<TokenId> find(std::string_view addedToken) const override {
    const auto raw = m_raw.find(addedToken);
    return raw ? raw : m_normalized.find(addedToken);
  }

  [[nodiscard]] bool isSpecial(TokenId id) const override {
    return id >= 0 && id < vocabSize() && m_special[static_cast<std::size_t>(id)];
  }

  [[nodiscard]] int vocabSize() const override { return static_cast<int>(m_offsets.size()) - 1; }

private:
  // One call of encode: everything that is not shared between threads.
  class Encoder {
  public:
    Encoder(const BpeTokenizer& tokenizer, std::size_t textSize)
        : m_tokenizer(tokenizer), m_cache(textSize), m_sink([this](std::string_view piece) { this->piece(piece); }) {
      m_ids.reserve(textSize / 3 + 1);
    }
    void token(TokenId id) { m_ids.push_back(id); }
    // `text` stays where it is until take().
    void plain(std::string_view text) { m_tokenizer.m_pretokenizer.split(text, m_sink); }
    // The same for text that goes away.
    void plainOnce(std::string_view text) {
      plain(text);
      m_cache.clear();
    }
    std::vector<TokenId> take() { return std::move(m_ids); }

  private:
    void piece(std::string_view text) {
      const auto encodePiece = [&] { m_tokenizer.m_bpe.encode(text, m_scratch, m_ids); };
      if (text.size() == 1) {
        encodePiece();
      } else {
        m_cache.encode(text, m_ids, encodePiece);
      }
    }

    const BpeTokenizer& m_tokenizer;
    PieceCache m_cache;
    Pretokenizer::Sink m_sink;
    Bpe::Scratch m_scratch;
    std::vector<TokenId> m_ids;
  };

  template <typename OnPlain, typename OnToken>
  static void splitWith(const AddedTokens& tokens, std::string_view text, const OnPlain& onPlain,
                        const OnToken& onToken) {
    std::size_t done = 0;
    while (const auto match = tokens.next(text, done)) {
      if (match->begin > done) onPlain(text.substr(done, match->begin - done));
      onToken(match->id);
      done = match->begin + match->length;
    }
    if (done < text.size()) onPlain(text.substr(done));
  }

  // Two searches one after the other: the second only sees what the first has left over.
  template <typename OnPlain, typename OnToken>
  void splitAdded(std::string_view text, const OnPlain& onPlain, const OnToken& onToken) const {
    splitWith(
        m_raw, text, [&](std::string_view rest) { splitWith(m_normalized, rest, onPlain, onToken); }, onToken);
  }

  Pretokenizer m_pretokenizer;
  Bpe m_bpe;
  AddedTokens m_raw;         ///< not normalized
  AddedTokens m_normalized;  ///< normalized
  std::string m_bytes;       ///< bytes of all tokens
  std::vector<std::uint32_t> m_offsets;
  std::vector<bool> m_special;
};

}  // namespace

Result<std::shared_ptr<const Tokenizer>> Tokenizer::parse(std::string_view json) {
  COLIBRI_ASSIGN_OR_RETURN(TokenizerFile file, readTokenizerFile(json));
  COLIBRI_ASSIGN_OR_RETURN(Pretokenizer pretokenizer, Pretokenizer::create(file.patterns));
  Bpe bpe(file.byteIds, std::move(file.merges));
  if (!bpe.isConsistent()) {
    return Status(Code::kCheckpoint, "tokenizer_invalid",
                  "tokenizer.json cannot be used: a merge stands twice in its list.");
  }
  return std::shared_ptr<const Tokenizer>(
      std::make_shared<BpeTokenizer>(file, std::move(pretokenizer), std::move(bpe)));
}

Result<std::shared_ptr<const Tokenizer>> Tokenizer::load(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "tokenizer.json";
  auto json = readFile(path, TokenizerFile::kMaxBytes);
  if (!json) {
    const bool missing = json.status().id() == "missing_file";
    return Status(Code::kCheckpoint, missing ? "tokenizer_missing" : "tokenizer_invalid",
                  missing ? "There is no tokenizer.json in " + folder.string() +
                                ". Copy it from the original model's folder; it is needed for text."
                          : json.status().message());
  }
  auto tokenizer = parse(*json);
  if (!tokenizer) return tokenizer.status().within(folder.string());
  return tokenizer;
}

}  // namespace colibri
