#pragma once
// Finds stop strings in text that arrives in pieces.

#include <string>
#include <string_view>
#include <vector>

namespace colibri {

/// Text that could still turn into a stop string is held back; the stop string itself is never released.
class StopMatcher {
public:
  explicit StopMatcher(std::vector<std::string> stops);
  /// Text that is now certain not to belong to a stop string. After a match nothing more is released.
  std::string push(std::string_view text);
  /// End of the text: what was held.
  std::string finish();
  [[nodiscard]] bool matched() const { return m_matched; }

private:
  std::vector<std::string> m_stops;
  std::string m_held;
  bool m_matched = false;
};

}  // namespace colibri
