#pragma once
// The best k of a stream of scores, in room that does not grow with the stream.

#include <algorithm>
#include <cstdint>

namespace colibri {

/// Keeps the k best of scores that are offered in any order: by value, ties to the lower id (docs/numerics.md rule 7),
/// NaN below everything. The result is a function of the set alone.
class BestScores {
public:
  /// Words of room for k.
  [[nodiscard]] static std::size_t roomFor(int k) { return 2 * static_cast<std::size_t>(k) + kSlack; }
  /// `room` holds roomFor(k) words and outlives the object; k > 0.
  BestScores(std::uint64_t* room, int k) : m_room(room), m_k(k) {}

  void add(float score, std::uint32_t id) {
    const std::uint64_t entry = order(score, id);
    if (entry >= m_limit) return;
    m_room[m_count++] = entry;
    if (static_cast<std::size_t>(m_count) == roomFor(m_k)) compact();
  }
  /// Ids of the best ones (at most k), best first; their number.
  int takeBestFirst(std::int32_t* ids) {
    if (m_count > m_k) compact();
    std::sort(m_room, m_room + m_count);
    for (int i = 0; i < m_count; ++i) ids[i] = static_cast<std::int32_t>(m_room[i] & 0xffffffffU);
    return m_count;
  }
  /// The same, ascending ids.
  int takeAscending(std::int32_t* ids) {
    const int count = takeBestFirst(ids);
    std::sort(ids, ids + count);
    return count;
  }

private:
  static constexpr std::size_t kSlack = 256;

  // A number that is smaller the better: the score's bits in descending order, then the id.
  static std::uint64_t order(float score, std::uint32_t id) {
    std::uint32_t rank = 0xffffffffU;
    if (score == score) {
      const auto bits = __builtin_bit_cast(std::uint32_t, score == 0.0F ? 0.0F : score);
      rank = (bits & 0x80000000U) != 0 ? bits : 0x7fffffffU - bits;
    }
    return static_cast<std::uint64_t>(rank) << 32 | id;
  }

  void compact() {
    std::nth_element(m_room, m_room + m_k - 1, m_room + m_count);
    m_count = m_k;
    m_limit = m_room[m_k - 1];
  }

  std::uint64_t* m_room;
  std::uint64_t m_limit = ~std::uint64_t{0};  ///< what is not better cannot be among the best
  int m_k;
  int m_count = 0;
};

}  // namespace colibri
