#pragma once
// Reads tokenizer.json (Hugging Face `tokenizers`, schema 1.0) and refuses what Colibri does not do exactly.

#include "text/bpe.h"
#include <colibri/status.h>
#include <colibri/types.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace colibri {

/// A token that is searched in the text itself.
struct AddedToken {
  TokenId id = 0;
  std::string text;
  bool special = false;     ///< dropped when decoding without special tokens; does not matter for encoding
  bool normalized = false;  ///< searched after those that are not
};

/// The checked content of a tokenizer.json.
struct TokenizerFile {
  std::vector<std::string> vocabulary;  ///< by id, dense; in the byte alphabet, except the added tokens among them
  std::vector<Merge> merges;            ///< by rank
  std::array<TokenId, 256> byteIds{};   ///< token of each single byte
  std::vector<AddedToken> addedTokens;
  std::vector<std::string> patterns;  ///< of the Split steps

  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
  static constexpr int kMaxDepth = 64;
  static constexpr TokenId kMaxId = (1 << 20) - 1;
};

/// Errors are kCheckpoint "tokenizer_invalid" and say what is wrong.
Result<TokenizerFile> readTokenizerFile(std::string_view json);

}  // namespace colibri
