#pragma once
// One ledger of every long-lived buffer, by purpose.

#include <colibri/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

namespace colibri {

/// Stable name of a tag as it stands in JSON ("expert_cache").
[[nodiscard]] std::string_view memoryTagName(MemoryTag tag);

/// Counts bytes held per tag. Thread-safe; the engine owns one.
class Ledger {
public:
  void add(MemoryTag tag, std::int64_t bytes);
  [[nodiscard]] std::int64_t bytes(MemoryTag tag) const;
  [[nodiscard]] std::int64_t total() const;
  /// Highest total so far.
  [[nodiscard]] std::int64_t peak() const { return m_peak.load(std::memory_order_relaxed); }

private:
  std::array<std::atomic<std::int64_t>, static_cast<std::size_t>(MemoryTag::kCount)> m_bytes{};
  std::atomic<std::int64_t> m_peak{0};
};

}  // namespace colibri
