#pragma once
// Which slot of a cache to give up: a clock whose hand counts uses down.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace colibri {

/// Each slot has a count of uses since it was filled, which the passing hand takes down by one; a slot that the hand
/// finds at zero is the victim. What was used once leaves after one round, what is used often stays for several, and
/// old fame decays. Better than LRU on nearly every route of clock_policy_test.cpp. Not
/// thread-safe. Knows nothing of what the slots hold.
class ClockPolicy {
public:
  explicit ClockPolicy(std::size_t slots) : m_uses(slots, 0) {}

  void filled(std::size_t slot) { m_uses[slot] = 0; }
  void used(std::size_t slot) {
    if (m_uses[slot] < kMostUses) ++m_uses[slot];
  }

  /// The next slot to give up among those for which `evictable(slot)` holds; nothing when there is none. Slots that may
  /// not go are passed without losing uses. O(slots) at worst.
  template <typename Evictable>
  std::optional<std::size_t> victim(const Evictable& evictable) {
    bool any = false;
    for (std::size_t step = 0, round = m_uses.size(); any || step < round; ++step) {
      const std::size_t slot = m_hand;
      m_hand = m_hand + 1 == m_uses.size() ? 0 : m_hand + 1;
      if (!evictable(slot)) continue;
      if (m_uses[slot] == 0) return slot;
      any = true;
      --m_uses[slot];
    }
    return std::nullopt;
  }

private:
  static constexpr std::uint8_t kMostUses = 7;
  std::vector<std::uint8_t> m_uses;
  std::size_t m_hand = 0;
};

}  // namespace colibri
