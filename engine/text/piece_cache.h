#pragma once
// Remembers the ids of pieces seen in the same text: most words of a text occur again.

#include "text/index_table.h"
#include <colibri/types.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace colibri {

/// Direct-mapped, of fixed size: a new piece takes the slot of an older one, so no text can make it slow or large.
/// Keeps views of the pieces, which must stay in place until clear(). For one thread.
class PieceCache {
public:
  /// `textBytes`: size of the text to come.
  explicit PieceCache(std::size_t textBytes)
      : m_slots(std::bit_ceil(std::clamp<std::size_t>(textBytes / 16, 1, kMaxSlots))) {}

  void clear() { std::fill(m_slots.begin(), m_slots.end(), Slot{}); }

  /// Appends the ids of `piece` to `ids`: copied from where they stand in `ids` already, or by `encode()`, which
  /// appends them.
  template <typename Encode>
  void encode(std::string_view piece, std::vector<TokenId>& ids, const Encode& encode) {
    if (piece.size() > kMaxPiece) {
      encode();
      return;
    }
    Slot& slot = m_slots[mixBits(std::hash<std::string_view>()(piece)) & (m_slots.size() - 1)];
    const std::size_t begin = ids.size();
    if (slot.piece == piece) {
      ids.resize(begin + slot.count);
      std::copy_n(ids.begin() + static_cast<std::ptrdiff_t>(slot.first), slot.count,
                  ids.begin() + static_cast<std::ptrdiff_t>(begin));
      return;
    }
    encode();
    slot = {piece, begin, ids.size() - begin};
  }

private:
  static constexpr std::size_t kMaxSlots = std::size_t{1} << 14U;
  static constexpr std::size_t kMaxPiece = 64;
  struct Slot {
    std::string_view piece;
    std::size_t first = 0;  ///< where its ids begin in the output
    std::size_t count = 0;
  };
  std::vector<Slot> m_slots;
};

}  // namespace colibri
