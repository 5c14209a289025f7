#pragma once
// Whether reading experts on a guess pays on this machine, found out by trying.

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace colibri {

/// Decode runs in blocks of tokens with guessed reads and without, alternating; the guesses stay on when their blocks
/// were faster by a clear margin, and stop for good when more of them were wasted than used. Nothing here has a part in
/// a result. Leader thread only.
class PrefetchGovernor {
public:
  enum class State { kOff, kTrying, kOn };

  explicit PrefetchGovernor(bool wanted) : m_state(wanted ? State::kTrying : State::kOff) {}

  [[nodiscard]] State state() const { return m_state; }
  /// Whether the next token may guess.
  [[nodiscard]] bool active() const {
    return m_state == State::kOn || (m_state == State::kTrying && m_token / kBlockTokens % 2 == 1);
  }
  /// One decoded token took `seconds`; totals of guessed reads that were used and given up unused so far.
  void tokenDone(double seconds, std::uint64_t used, std::uint64_t unused) {
    const std::uint64_t usedNow = used - std::exchange(m_used, used);
    const std::uint64_t unusedNow = unused - std::exchange(m_unused, unused);
    if (m_state == State::kOff) return;
    m_recentUsed = m_recentUsed * kKeep + static_cast<double>(usedNow);
    m_recentUnused = m_recentUnused * kKeep + static_cast<double>(unusedNow);
    if (m_recentUnused > m_recentUsed && m_recentUsed + m_recentUnused > kEnoughReads) {
      m_state = State::kOff;
      return;
    }
    if (m_state != State::kTrying) return;
    // The first token of a block pays for the other arm's leftovers.
    if (m_token % kBlockTokens != 0) m_seconds[m_token / kBlockTokens % 2].push_back(seconds);
    if (++m_token < kTrialTokens) return;
    m_state = median(m_seconds[1]) < kGain * median(m_seconds[0]) ? State::kOn : State::kOff;
  }

private:
  static constexpr std::uint64_t kBlockTokens = 8;
  static constexpr std::uint64_t kTrialTokens = 8 * kBlockTokens;
  static constexpr double kGain = 0.97;
  static constexpr double kKeep = 0.95;
  static constexpr double kEnoughReads = 16;

  static double median(std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  }

  State m_state;
  std::uint64_t m_token = 0;
  std::array<std::vector<double>, 2> m_seconds;  ///< without and with guesses
  std::uint64_t m_used = 0;
  std::uint64_t m_unused = 0;
  double m_recentUsed = 0;
  double m_recentUnused = 0;
};

}  // namespace colibri
