#pragma once
// Splitting short lists in text.

#include <string>
#include <string_view>
#include <vector>

namespace colibri {

/// Non-empty parts of `text` between any of `separators`.
[[nodiscard]] inline std::vector<std::string> splitWords(std::string_view text, std::string_view separators) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = text.find_first_of(separators);
    if (end != 0) words.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return words;
}

/// True when `word` is one of the parts of `list`.
[[nodiscard]] inline bool hasWord(std::string_view list, char separator, std::string_view word) {
  for (const std::string& part : splitWords(list, std::string_view(&separator, 1))) {
    if (part == word) return true;
  }
  return false;
}

}  // namespace colibri
