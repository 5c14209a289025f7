#pragma once
// Finds added tokens ("<think>", "<｜User｜>") in text.

#include <colibri/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace colibri {

/// A set of strings with ids, searched leftmost-longest without overlap. Immutable after the last add; then
/// thread-safe.
class AddedTokens {
public:
  /// Longest token that is accepted, in bytes; it bounds the work per position.
  static constexpr std::size_t kMaxBytes = 256;

  /// Adds a token of 1 to kMaxBytes bytes. False when the text is there already.
  bool add(std::string_view text, TokenId id);
  /// Id of exactly this text.
  [[nodiscard]] std::optional<TokenId> find(std::string_view text) const;

  struct Match {
    std::size_t begin = 0;
    std::size_t length = 0;
    TokenId id = 0;
  };
  /// The first match at or after `from`.
  [[nodiscard]] std::optional<Match> next(std::string_view text, std::size_t from) const;

private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFU;
  static constexpr TokenId kNoToken = -1;
  // A node of the trie; the children of a node are a list.
  struct Node {
    std::uint32_t child = kNone;
    std::uint32_t sibling = kNone;
    TokenId id = kNoToken;
    char byte = 0;
  };
  [[nodiscard]] std::uint32_t childOf(std::uint32_t node, char byte) const;

  std::vector<Node> m_nodes = std::vector<Node>(1);
  std::array<bool, 256> m_starts{};
};

}  // namespace colibri
