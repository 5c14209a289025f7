#pragma once
// Files of /proc and /sys, which are short and have no size of their own.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace colibri {

/// The text, at most 1 MiB of it; empty when there is no such file.
[[nodiscard]] inline std::string readSmall(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};
  // The cap keeps a mistaken path harmless.
  std::string text(std::size_t{1} << 20, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

/// The number that the file begins with.
[[nodiscard]] inline std::optional<std::uint64_t> readNumber(const std::filesystem::path& path) {
  std::istringstream text(readSmall(path));
  std::uint64_t value = 0;
  if (!(text >> value)) return std::nullopt;
  return value;
}

}  // namespace colibri
