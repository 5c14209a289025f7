#pragma once
// Sizes in words and back. For people memory is binary (GiB), files and drives are decimal (GB).

#include <colibri/status.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace colibri {

/// Reads "512M", "8G", "1.5GiB", "100k", "4096B"; K, M, G, T are binary, with or without "iB" or "B", any case. A
/// number without a unit is times `bareUnit`. kUsage for anything else, negative, not finite or beyond 2^62.
Result<std::uint64_t> parseSize(std::string_view text, std::uint64_t bareUnit = 1);

/// "7.24 GiB", "512 MiB", "96 bytes".
[[nodiscard]] std::string binarySize(std::uint64_t bytes);
/// "159.6 GB", "13.4 MB", "96 bytes".
[[nodiscard]] std::string decimalSize(double bytes);

}  // namespace colibri
