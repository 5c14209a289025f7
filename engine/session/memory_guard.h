#pragma once
// Keeps the process within its memory budget by what the system counts, not by what was planned.

#include "base/process_memory.h"
#include "store/expert_store.h"

#include <cstdint>
#include <functional>
#include <string>

namespace colibri {

/// Owner thread of the engine, but for the const calls. Page cache and mapped files do not count.
class MemoryGuard {
public:
  /// `budget`: bytes; what the process held before (`base`, an app's own memory) beyond the reserve that the plan
  /// leaves for it is allowed on top.
  MemoryGuard(std::uint64_t budget, std::uint64_t base, std::uint64_t reserve)
      : m_allowed(budget + (base > reserve ? base - reserve : 0)) {}

  /// Looks, at most every 100 ms. When the process holds too much, `spare` gives up what can be loaded again and
  /// returns its bytes; for the rest the expert cache becomes smaller. Returns a sentence for the user about that;
  /// empty otherwise.
  std::string check(ExpertStore& experts, const std::function<std::uint64_t()>& spare);

  [[nodiscard]] std::uint64_t bytes() const { return m_memory.bytes(); }
  [[nodiscard]] std::uint64_t peak() const { return m_memory.peak(); }

private:
  std::uint64_t m_allowed;
  AnonymousMemory m_memory{std::chrono::milliseconds(100)};
};

}  // namespace colibri
