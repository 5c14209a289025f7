#pragma once
// Weights in memory that are more than any processor cache holds, and how fast one thread can read them at all.

#include "base/buffer.h"
#include <colibri/status.h>

#include <cstddef>
#include <cstdint>

namespace colibri {

/// A working set that weights come from memory with, not from a cache.
inline constexpr std::size_t kWorkingSetBytes = std::size_t{1600} << 20;

/// One expert matrix of V4.1 Flash: `n` outputs of `k` inputs.
struct MatrixShape {
  int n = 2304;
  int k = 5120;
  [[nodiscard]] std::size_t fp4CodeBytes() const { return static_cast<std::size_t>(n) * k / 2; }
  [[nodiscard]] std::size_t fp4ScaleBytes() const { return static_cast<std::size_t>(n) * k / 32; }
};

/// Memory full of bits that serve as weights of any kind: as scales they keep everything finite.
class WorkingSet {
public:
  /// kMemory when the system refuses.
  static Result<WorkingSet> create(std::size_t bytes);
  [[nodiscard]] const std::uint8_t* data() const { return m_memory.as<std::uint8_t>(); }
  [[nodiscard]] std::size_t size() const { return m_memory.size(); }
  /// Bytes a second of the calling thread's own time in one pass over everything with the widest loads there are; the
  /// best of `passes`.
  [[nodiscard]] double readRate(int passes = 5) const;

private:
  explicit WorkingSet(Buffer memory) : m_memory(std::move(memory)) {}
  Buffer m_memory;
};

/// Processor time that the calling thread has used. Other work on the machine disturbs it less than wall time.
[[nodiscard]] double threadSeconds();

}  // namespace colibri
