#pragma once
// Byte-pair merging of one piece of text.

#include "text/index_table.h"
#include <colibri/types.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace colibri {

/// One merge: the tokens `left` and `right` side by side become `result`. Its rank is its place in the list.
struct Merge {
  TokenId left = 0;
  TokenId right = 0;
  TokenId result = 0;
};

/// Immutable after creation; thread-safe.
class Bpe {
public:
  /// Working memory, reused between pieces; one a thread.
  class Scratch {
    friend class Bpe;
    struct Node {
      TokenId id = 0;
      std::uint32_t previous = 0;
      std::uint32_t next = 0;
      std::uint32_t rank = 0;  ///< of the merge with `next`
    };
    std::vector<Node> m_nodes;
    std::vector<std::uint64_t> m_heap;
  };

  /// `byteIds`: the token of each single byte.
  Bpe(const std::array<TokenId, 256>& byteIds, std::vector<Merge> merges);

  /// False when a pair stands twice in the list; `encode` must not be used then.
  [[nodiscard]] bool isConsistent() const { return m_consistent; }

  /// Appends the ids of `piece` to `ids`: the merge of the lowest rank first, the leftmost among equals, until none is
  /// left. O(n log n). A piece has less than 2^32 - 1 bytes.
  void encode(std::string_view piece, Scratch& scratch, std::vector<TokenId>& ids) const;

private:
  [[nodiscard]] std::uint32_t rankOf(TokenId left, TokenId right) const;

  std::array<TokenId, 256> m_byteIds;
  std::vector<Merge> m_merges;
  IndexTable m_index;
  bool m_consistent = true;
};

}  // namespace colibri
