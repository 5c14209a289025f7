#pragma once
// A hash index over rows that its owner keeps: open addressing, bounded probing, for tables built from a stranger's
// file.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace colibri {

/// Maps the hash of a row to the row's number; equality is asked of the caller. Not thread-safe while rows are added.
class IndexTable {
public:
  enum class Added {
    kNew,
    kPresent,  ///< an equal row is there already
    kCrowded,  ///< a run of collisions that no honest data has
  };

  /// Room for `rows` rows, at most half full.
  explicit IndexTable(std::size_t rows) : m_slots(std::bit_ceil(rows * 2 + 2)), m_mask(m_slots.size() - 1) {}

  /// `equal(row)`: whether the row with that number equals the one added. At most the promised number of rows may be
  /// added.
  template <typename Equal>
  Added add(std::uint64_t hash, std::uint32_t row, const Equal& equal) {
    const auto mark = static_cast<std::uint32_t>(hash >> 32U);
    std::size_t at = static_cast<std::size_t>(hash) & m_mask;
    for (int probe = 0; probe < kMaxProbes; ++probe, at = (at + 1) & m_mask) {
      Slot& slot = m_slots[at];
      if (slot.row == kEmpty) {
        slot = {row, mark};
        return Added::kNew;
      }
      if (slot.mark == mark && equal(slot.row)) return Added::kPresent;
    }
    return Added::kCrowded;
  }

  template <typename Equal>
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint64_t hash, const Equal& equal) const {
    const auto mark = static_cast<std::uint32_t>(hash >> 32U);
    std::size_t at = static_cast<std::size_t>(hash) & m_mask;
    for (int probe = 0; probe < kMaxProbes; ++probe, at = (at + 1) & m_mask) {
      const Slot& slot = m_slots[at];
      if (slot.row == kEmpty) return std::nullopt;
      if (slot.mark == mark && equal(slot.row)) return slot.row;
    }
    return std::nullopt;
  }

private:
  static constexpr std::uint32_t kEmpty = 0xFFFFFFFFU;
  static constexpr int kMaxProbes = 512;
  struct Slot {
    std::uint32_t row = kEmpty;
    std::uint32_t mark = 0;
  };
  std::vector<Slot> m_slots;
  std::size_t m_mask;
};

/// Finaliser of MurmurHash3: spreads the bits of a 64-bit key.
[[nodiscard]] inline std::uint64_t mixBits(std::uint64_t key) {
  key ^= key >> 33U;
  key *= 0xFF51AFD7ED558CCDU;
  key ^= key >> 33U;
  key *= 0xC4CEB9FE1A85EC53U;
  return key ^ (key >> 33U);
}

}  // namespace colibri
