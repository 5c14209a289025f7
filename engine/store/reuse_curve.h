#pragma once
// How often an LRU cache of any size would have held what was asked for: Mattson's stack distances, one pass for all
// sizes.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace colibri {

/// Stack distances of a stream of accesses to `items` things. An access at distance d (d other things were touched
/// since this one was last) hits in every LRU cache of more than d slots; a first touch hits in none. Accesses count
/// with a weight that halves every `halfLife` recorded accesses, so the curve follows a change of habits. Method:
/// R. L. Mattson et al., "Evaluation techniques for storage hierarchies", 1970; the number of distinct things since a
/// time stamp comes from a Fenwick tree over stamps. Not thread-safe.
class ReuseCurve {
public:
  /// `halfLife` 0: nothing is ever forgotten. Takes 28 bytes an item.
  explicit ReuseCurve(std::size_t items, double halfLife = 0);

  /// One access, which counts for the curve only when `record`; either way it moves `item` to the top of the stack.
  /// O(log items), no allocation; items that do not exist are ignored.
  void touch(std::size_t item, bool record);

  /// Share of the recorded accesses that an LRU cache of `slots` would have answered, first touches being misses; 0
  /// when nothing was recorded. O(items).
  [[nodiscard]] double hitRate(std::uint64_t slots) const;
  /// The share of first touches alone: what no cache that starts empty can answer.
  [[nodiscard]] double firstTouchRate() const;
  /// Weight of all recorded accesses, in the latest access's unit.
  [[nodiscard]] double weight() const;

  /// Weights by distance and of first touches, for storing. Weights are in the latest access's unit.
  [[nodiscard]] std::vector<double> distances() const;
  [[nodiscard]] double firstTouches() const { return m_firstTouches / m_unit; }
  /// Replaces the curve, not the stack. `distances` has one finite weight >= 0 an item; false, and nothing changed,
  /// when it has not.
  bool restore(std::span<const double> distances, double firstTouches);

private:
  static constexpr std::uint32_t kNever = 0xffffffffU;
  void mark(std::size_t stamp, bool present);
  /// Marked stamps up to and including `stamp`.
  [[nodiscard]] std::size_t markedUpTo(std::size_t stamp) const;
  void renumber();
  void add(double& bin);

  std::vector<std::uint32_t> m_stampOf;  ///< by item: last touch
  std::vector<std::uint32_t> m_itemAt;   ///< by stamp; kNever where the item has moved on
  std::vector<std::uint32_t> m_tree;     ///< Fenwick tree over stamps, from index 1
  std::uint32_t m_nextStamp = 0;
  std::size_t m_touched = 0;  ///< items on the stack

  double m_growth = 1;  ///< each access weighs this times the one before, which is decay without touching old bins
  double m_unit = 1;    ///< weight of the latest access
  std::vector<double> m_distances;
  double m_firstTouches = 0;
};

}  // namespace colibri
