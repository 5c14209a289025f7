#pragma once
// Which slot holds a sector: an open hash table of fixed size.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace colibri {

/// Keys are any but kNoKey; at most `capacity` at once. Not thread-safe.
class EngramSectorIndex {
public:
  static constexpr std::uint64_t kNoKey = ~std::uint64_t{0};
  static constexpr std::uint32_t kNoSlot = 0xffffffffU;
  /// Upper bound of the memory for one key.
  static constexpr std::size_t kBytesPerKey = 4 * sizeof(std::uint64_t) + 4 * sizeof(std::uint32_t);

  explicit EngramSectorIndex(std::size_t capacity)
      : m_mask(std::bit_ceil(2 * capacity + 1) - 1), m_keys(m_mask + 1, kNoKey), m_slots(m_mask + 1, kNoSlot) {}

  [[nodiscard]] std::uint32_t find(std::uint64_t key) const { return m_slots[place(key)]; }

  void insert(std::uint64_t key, std::uint32_t slot) {
    const std::size_t at = place(key);
    m_keys[at] = key;
    m_slots[at] = slot;
  }

  /// Moves the keys behind it up, so that none is cut off from where it belongs.
  void erase(std::uint64_t key) {
    std::size_t hole = place(key);
    if (m_keys[hole] != key) return;
    for (std::size_t at = (hole + 1) & m_mask; m_keys[at] != kNoKey; at = (at + 1) & m_mask) {
      const std::size_t home = homeOf(m_keys[at]);
      if (((at - home) & m_mask) < ((at - hole) & m_mask)) continue;
      m_keys[hole] = m_keys[at];
      m_slots[hole] = m_slots[at];
      hole = at;
    }
    m_keys[hole] = kNoKey;
    m_slots[hole] = kNoSlot;
  }

private:
  [[nodiscard]] std::size_t homeOf(std::uint64_t key) const {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15U) >> 20) & m_mask;
  }
  // Where the key is, or would be.
  [[nodiscard]] std::size_t place(std::uint64_t key) const {
    std::size_t at = homeOf(key);
    while (m_keys[at] != key && m_keys[at] != kNoKey) at = (at + 1) & m_mask;
    return at;
  }

  std::size_t m_mask;
  std::vector<std::uint64_t> m_keys;
  std::vector<std::uint32_t> m_slots;
};

}  // namespace colibri
